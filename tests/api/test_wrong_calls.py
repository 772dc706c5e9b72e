"""Each wrong call of a public function, and the sentence that it gets."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse
from dse.api import fit as fits
from dse.api.arguments import argument_kind
from dse.contract import Platform
from dse.contract.generators import Generator
from dse.errors import DseError
from dse.objectives.catalogue import platform_called, vendor_peak
from dse.objectives.logca.paper.devices import logca
from dse.objectives.roofline.model import EnergyRoofline
from dse.plugins import registry
from tests.conftest import STUDIES
from tests.objectives.test_energy_roofline import roofline

SMALL = STUDIES / "settop_116mbps.yaml"
MIXED = STUDIES / "des_100gbps.yaml"
SWEPT = STUDIES / "des_fft_sweep.yaml"
INTERFACES = STUDIES / "crypto_interface_100gbps.yaml"


ROWS = "give rows of whole numbers, shape (n, 6): a position on each axis"
STUDY = "the path of a study, YAML text, a dict or a Study"
RUN = "the folder of a run, or a Result that was saved"
COUNT = "a whole number, 1 or more"
FINITE = "it must be zero or more and finite"
T2 = logca("ultrasparc_t2", "aes")

REFUSED: tuple[tuple[Callable[[], object], str], ...] = (
    (lambda: dse.run(5), f"study=5: give {STUDY}"),
    (lambda: dse.explain(object()), f"source=<object>: give {STUDY}, a Result or its folder"),
    (lambda: dse.verify(5), f"run=5: give {RUN}"),
    (lambda: dse.diff("a", 5), f"second=5: give {RUN}"),
    (lambda: dse.verify("a", trials=0), f"trials=0: give {COUNT}"),
    (lambda: dse.verify("a", trials=True), f"trials=True: give {COUNT}"),
    (
        lambda: dse.uncertainty(SMALL, seed=4294967296),
        "seed=4294967296: give a whole number, 0 to 4294967295",
    ),
    (lambda: dse.run(SMALL, seed=1.5), "seed=1.5: give a whole number, 0 to 4294967295"),
    (lambda: dse.run(SMALL, budget=2.5, method="random"), f"budget=2.5: give {COUNT}"),
    (lambda: dse.run(SMALL, out=5), "out=5: give a path"),
    (
        lambda: dse.run(SMALL, overrides=5),
        "overrides=5: give {'workload.rate': '73 Gbps'} or 'workload.rate=73 Gbps'",
    ),
    (lambda: dse.run(SMALL, progress=5), "progress=5: give a function"),
    (
        lambda: dse.explain("a", 5),
        "design=5: give '1 u8 + 2 u16', 'des.u8=1 des.u16=2', or a dict of these",
    ),
    (lambda: dse.answer(SMALL, flips=1), "flips=1: give True or False"),
    (lambda: dse.flips(SMALL, only=5), "only=5: give a text or a list of texts"),
    (lambda: dse.reproduce(["logca"]), "papers=['logca']: give a text"),
    (
        lambda: dse.load(SMALL, overrides="workload.rate"),
        "'workload.rate'; it must be NAME=VALUE; write workload.rate=73 Gbps",
    ),
    (
        lambda: dse.load(SMALL, overrides={"search.budget": np.nan}),
        "('search.budget', nan); it must be NAME=VALUE, as YAML has it; write "
        "workload.rate=73 Gbps",
    ),
    (
        lambda: dse.load(SMALL, overrides=["search.seed=1", "search.seed=2"]),
        "search.seed: 2; it is 1 already; write it once",
    ),
    (
        lambda: dse.uncertainty(SMALL, sobol=True, width="x"),
        "width 'x': 'x' is not a finite number; write for instance '10 %'",
    ),
    (lambda: dse.uncertainty(SMALL, width="5 %"), "width: only with --sobol; leave it out"),
    (
        lambda: dse.uncertainty(SWEPT),
        "the study sweeps workload.rate, and an uncertainty is of one answer; set one value: "
        "workload.rate=1 Gbit/s",
    ),
    (
        lambda: dse.load(SMALL).with_({"workload.rate": "50 Gbit/s"}, rate="9 Gbps"),
        "workload.rate: 9 Gbps; it is 50 Gbit/s already; write it once",
    ),
    (
        lambda: dse.fit.core("none.csv"),
        "table: 'none.csv'; there is no file 'none.csv'; check the path",
    ),
    (
        lambda: dse.explain(MIXED, {}),
        'how many of each design of des is open; add for instance "des.u1=1"; those that are '
        "not named are then 0",
    ),
    (
        lambda: dse.problem(MIXED).evaluate([[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, -1, 0]]),
        "row 1: -1 is no position on des.u8, which has 6 values; give 0 to 5",
    ),
    (
        lambda: dse.problem(MIXED).evaluate(np.array([[0, 0, 0, 0, 99, 0]])),
        "row 0: 99 is no position on des.u8, which has 6 values; give 0 to 5",
    ),
    (
        lambda: dse.problem(MIXED).evaluate(np.full((1, 6), 0.5)),
        f"float64 of shape (1, 6) is no designs; {ROWS}",
    ),
    (
        lambda: dse.problem(MIXED).evaluate(np.zeros((1, 6), dtype=bool)),
        f"bool of shape (1, 6) is no designs; {ROWS}",
    ),
    (
        lambda: dse.problem(MIXED).evaluate([0, 0, 0, 0, 0, 0]),
        f"int64 of shape (6,) is no designs; {ROWS}",
    ),
    (
        lambda: dse.problem(MIXED).evaluate(np.zeros((2, 5), dtype=np.int64)),
        f"int64 of shape (2, 5) is no designs; {ROWS}",
    ),
    (
        lambda: dse.problem(MIXED).evaluate([[0], [0, 1]]),
        f"object of shape (2,) is no designs; {ROWS}",
    ),
    (lambda: dse.problem(MIXED).evaluate("abc"), f"<U3 of shape () is no designs; {ROWS}"),
    (
        lambda: dse.problem(MIXED).describe([[0], [0, 1]]),
        f"object of shape (2,) is no designs; {ROWS}",
    ),
    (lambda: replace(T2, index=0), "index is 0.0; it must be above zero and finite"),
    (lambda: replace(T2, overhead=np.nan), f"overhead is nan; {FINITE}"),
    (lambda: replace(T2, latency=-3), f"latency is -3.0; {FINITE}"),
    (lambda: replace(T2, exponent=np.inf), "exponent is inf; it must be above zero and finite"),
    (
        lambda: replace(T2, acceleration=0),
        "acceleration is 0.0; it must be above zero (infinity is allowed)",
    ),
    (
        lambda: replace(T2, latency_per_byte=1),
        "latency_per_byte is 1; it states whether latency counts per byte; write True or False",
    ),
    (lambda: T2.speedup(-1), f"granularity is -1.0; {FINITE}"),
    (lambda: roofline(0, 1, 1, 1, 1, 1), "time_per_op = 0.0 is not above zero"),
    (lambda: roofline(1, 1, 1, -2, 1, 1), "energy_per_byte = -2.0 is negative; write 0 or more"),
    (
        lambda: roofline(1, np.inf, 1, 1, 1, 1),
        "time_per_byte is infinite; only power_cap may be, for an uncapped platform",
    ),
    (lambda: roofline(1, 2, 3, 4, 5, 4).times(0), "copies = 0.0 is not above zero"),
    (
        lambda: roofline(1, 2, 3, 4, 5, 4).power(-1.0),
        "intensity -1.0 is negative; it runs from 0 to infinity",
    ),
    (
        lambda: EnergyRoofline.of(Platform(name="box"), precision="double"),
        "platform 'box' has no memory_byte_per_s, double_op_per_s, double_j_per_op; choose "
        "another precision or platform",
    ),
    (
        lambda: EnergyRoofline.of(platform_called("desktop_cpu"), precision="half"),
        "precision 'half' is unknown; write single or double",
    ),
    (
        lambda: vendor_peak("titan"),
        "no platform is called 'titan'; known: desktop_cpu, nuc_cpu, nuc_gpu, apu_cpu, "
        "apu_gpu, gtx_580, gtx_680, gtx_titan, xeon_phi, pandaboard, arndale_cpu, arndale_gpu",
    ),
    (
        lambda: dse.uncertainty(MIXED, sobol=True, of="area=10 %"),
        "of: only without --sobol; leave it out",
    ),
    (
        lambda: dse.uncertainty(MIXED, sobol=True, width="150 %"),
        "a width of 150 %: it must be above 0 and below 100 %; write for instance '10 %'",
    ),
    (
        lambda: dse.uncertainty(MIXED, sobol=True, samples=1),
        "1 samples: a power of two from 2 on is needed; write for instance 1024",
    ),
    (
        lambda: dse.uncertainty(MIXED, sobol=True, samples=100),
        "100 samples: a power of two from 2 on is needed; write for instance 1024",
    ),
    (
        lambda: registry.get(Generator, "jacobi")(side=5),
        "jacobi: side cannot be 5; one of 1, 2, 3, 4",
    ),
    (
        lambda: registry.get(Generator, "jacobi")(sides=4),
        "'sides' is no parameter of generator 'jacobi'; did you mean 'side'?",
    ),
    (
        lambda: registry.get(Generator, "aes256")(unroll=2, structure="column"),
        "aes256: columns belong to one round; unroll has to be 1",
    ),
    (
        lambda: dse.characterise("a.v"),
        "hardware='a.v': describe it: dse.verilog('a.v', ...)\nlibrary: no file; name a .lib file",
    ),
    (
        lambda: dse.reproduce("rooflines"),
        "'rooflines' is not a paper with claims to check; did you mean 'roofline'?",
    ),
)
"""Wrong calls, and their errors word for word."""


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_a_wrong_call_is_refused_in_these_words(call: Callable[[], object], message: str) -> None:
    with pytest.raises((DseError, ValueError)) as refused:
        call()
    assert str(refused.value) == message


def sentence(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> str:
    with pytest.raises(DseError) as refused:
        function(*args, **named)
    return str(refused.value)


def test_every_argument_has_a_kind() -> None:
    public = [getattr(dse, name) for name in dse.__all__]
    fitting = [
        found
        for name, found in inspect.getmembers(fits, inspect.isfunction)
        if found.__module__ == fits.__name__ and name != "__getattr__"
    ]
    functions = {*filter(inspect.isfunction, public), *fitting}
    assert {dse.answer, dse.reproduce, dse.fit.core, dse.characterise} <= functions
    for function in functions:
        assert inspect.unwrap(function) is not function, f"{function.__name__} is not checked"
        shape = inspect.signature(function, eval_str=True)
        assert all(map(argument_kind, shape.parameters.values()))


def test_a_remedy_for_one_design_is_one_that_works() -> None:
    lines = sentence(dse.explain, (INTERFACES,), {}).splitlines()
    found = [line.split('"')[1] for line in lines]
    assert "workload.granularity=64 KiB" in found
    for source, remedies in ((INTERFACES, found), (MIXED, "des.u1=1")):
        assert dse.explain(source, remedies).terms


def test_the_folder_of_a_run_is_named_as_what_it_is(tmp_path: Path) -> None:
    dse.run(SMALL, out=tmp_path / "w")
    folder = str(tmp_path / "w")
    said = sentence(dse.run, (folder,), {})
    assert said.endswith("/w' is the folder of a run; name a study; `answer` takes runs")
    assert sentence(dse.answer, (tmp_path / "v",), {}).endswith("/v'; check the path")
    assert dse.answer(folder).pick.name == "1 u1"
