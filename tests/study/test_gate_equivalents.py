"""Areas in gate equivalents: of tables of cores, of laws and of packages; never mixed with m2."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dse
from dse import contract
from dse.errors import StudyError
from dse.model.designs import Designs, check_metrics
from dse.search import run_search
from dse.study import study
from dse.testing import check_core
from tests.conftest import run_dse

CORES = """design,area_AREA,clock_mhz,cycles_per_block,power_mw
half,11500,650,22,3.3
iterative,19800,600,11,6.1
pipe,198000,900,1,74
"""
GATES, MICROMETRES = CORES.replace("AREA", "ge"), CORES.replace("AREA", "um2")
CHAIN = """workload: {rate: 40 Gbit/s, granularity: 16 KiB}
stages:
  - {name: aes, table: FIRST, values: {payload: 128 bit}, fleet: mixed}
  - {name: mac, table: SECOND, values: {payload: 128 bit}, fleet: mixed}
objectives: {area: minimise, power: minimise}
constraints: [power <= 65 mW]
"""
LINK = "interface: {overhead: 100 ns, link: 16 GB/s, in_flight: 8, buffer_area: 0.3 um2/bit}\n"


@pytest.fixture
def chain(write):
    """Return a function that writes a chain of two stages over tables of cores."""
    write(GATES, "gates.csv")
    write(MICROMETRES, "metres.csv")

    def to_file(first: str, second: str, more: str = ""):
        return write(CHAIN.replace("FIRST", first).replace("SECOND", second) + more)

    return to_file


def told(path, **overrides: str) -> str:
    """Return what is wrong with a study."""
    with pytest.raises(StudyError) as caught:
        study.ready(study.read_study(path, list(overrides.items())))
    return "\n".join(str(fault).partition(": ")[2] for fault in caught.value.faults)


@pytest.mark.parametrize("method", ["compose", "enumerate"])
def test_gate_equivalents_compose_like_square_metres(chain, method) -> None:
    metres = dse.run(chain("metres.csv", "metres.csv"), method=method)
    gates = dse.run(chain("gates.csv", "gates.csv"), method=method)
    shared = [name for name in metres.front.columns if "area" not in name]
    assert len(gates.front) > 1
    assert gates.front[shared].equals(metres.front[shared])
    assert gates.front["area_ge"].tolist() == pytest.approx(metres.front["area_m2"] * 1e12)
    assert not [name for name in gates.front.columns if name.endswith("_m2")]
    assert not [name for name in metres.front.columns if name.endswith("_ge")]


def test_the_sum_over_instances_and_stages_is_that_by_hand(chain) -> None:
    counts = {"aes.half": "3", "aes.pipe": "1", "mac.iterative": "6"}
    path = chain("gates.csv", "gates.csv")
    assert "351.3 kGE" in str(dse.explain(path, overrides=counts))
    row = dse.run(path, overrides=counts | {"constraints": "[]"}).front.iloc[0]
    assert row["area_ge"] == 3 * 11500 + 198000 + 6 * 19800


def test_an_area_is_bounded_in_its_own_unit(chain) -> None:
    path = chain("gates.csv", "gates.csv")
    front = dse.run(path, overrides={"constraints": "[area_ge <= 300 kGE]"}).front
    assert len(front) > 0
    assert front["area_ge"].max() <= 300e3
    assert "a value in GE is needed, not one in m2" in told(path, constraints="[area <= 1 mm2]")
    assert "area_m2 needs area in m2, of which a stage has no values" in told(
        path, objectives="{area_m2: minimise}"
    )
    assert "or drop the constraint" in told(path, constraints="[area_m2 <= 1 mm2]")
    assert "area_ge needs area in GE" in told(
        chain("metres.csv", "metres.csv"), objectives="{area_ge: minimise}"
    )


@pytest.mark.parametrize("wanted", ["objectives={area: minimise}", "constraints=[area <= 1 kGE]"])
def test_a_chain_of_two_units_has_no_area_and_says_so(chain, wanted) -> None:
    path = chain("gates.csv", "metres.csv")
    name, _, value = wanted.partition("=")
    message = told(path, **{"objectives": "{power: minimise}", name: value})
    assert "stages give their areas in different units, which never add" in message
    found = dse.run(path, overrides={"objectives": "{power: minimise}"})
    assert any("which never add" in note for note in found.manifest["notes"])
    assert not [name for name in found.front.columns if "area" in name.partition(".")[0]]


def test_buffers_of_an_interface_are_no_part_of_gate_equivalents(chain) -> None:
    notes = dse.load(chain("gates.csv", "gates.csv", LINK)).notes
    assert "areas in GE leave out the buffers of the interface, whose area is in m2" in notes
    for path in (chain("gates.csv", "gates.csv"), chain("metres.csv", "metres.csv", LINK)):
        assert not [note for note in dse.load(path).notes if "GE" in note]


def test_a_table_with_both_has_two_areas(chain, write) -> None:
    head, *rows = GATES.splitlines()
    both = [f"{head},area_um2", *(f"{row},{place + 1}" for place, row in enumerate(rows))]
    write("\n".join(both) + "\n", "gates.csv")
    path = chain("gates.csv", "gates.csv")
    assert "several quantities have this name; write area_ge or area_m2" in told(path)
    goals = {"objectives": "{area_ge: minimise, area_m2: minimise}"}
    assert {"area_ge", "area_m2"} <= {*dse.run(path, overrides=goals).front.columns}


def test_their_uncertainty_is_drawn_and_the_least_area_preferred(chain) -> None:
    path = chain("gates.csv", "gates.csv", "prefer: area\n")
    found = dse.uncertainty(path, of={"area": "20 %"}, samples=50)
    drawn = [entry["column"] for entry in found.to_dict()["certainty"]["uncertain"]]
    assert drawn == ["area_ge", "area_ge"]
    assert ", the design with the least area." in str(found)


def test_a_fitted_record_and_a_power_that_no_design_has(write, tmp_path) -> None:
    """A law for gate equivalents, and none for power, which the table lacks."""
    table = "n,area_kge,clock_mhz,cycles_per_task,payload_bit\n" + "".join(
        f"{n},{10 + 5 * n},500,{32 // n},128\n" for n in (1, 2, 4, 8)
    )
    write(table, "cores.csv")
    fitted = dse.fit.core(tmp_path / "cores.csv", over=["n"], out=tmp_path / "core.yaml")
    assert {"area_ge", "clock"} <= set(fitted.laws)
    assert not {"area", "dynamic_power", "leakage_power"} & set(fitted.laws)
    path = write(
        "workload: {rate: 10 Gbit/s}\n"
        "stages: [{core: core.yaml, parameters: {n: [2, 8]}}]\n"
        "objectives: {area: minimise}\n"
    )
    front = dse.run(path).front
    # 2 lanes take 16 cycles, 4 Gbit/s; 8 take 4 cycles, 16 Gbit/s
    assert front["area_ge"].tolist() == pytest.approx([50e3])
    assert "of which a stage has no values" in told(path, objectives="{power: minimise}")
    assert "area ge" in run_dse("list", str(tmp_path / "core.yaml")).stdout.replace("_", " ")


def core(**columns: contract.Column) -> contract.Core:
    """Return the core of a package with two designs."""

    def table() -> contract.CoreMetrics:
        """Two designs."""
        one = np.ones(2)
        return contract.CoreMetrics(
            clock_hz=one * 1e9,
            payload_bit=one * 64,
            cycles_per_task=one * 8,
            latency_cycles=one * 8,
            tasks_in_flight=one,
            read_byte=one * 8,
            written_byte=one * 8,
            extrapolated=one * 0,
            **columns,
        )

    model = contract.Model(function=table, designs=("a", "b"), source="made up")
    return contract.Core(name="made_up", summary="made up", models={"table": model})


def test_a_package_may_give_gate_equivalents_and_no_power() -> None:
    check_core(core(area_ge=np.array([12e3, 40e3])))
    check_core(core(area_m2=np.ones(2), area_ge=np.ones(2)))
    with pytest.raises(AssertionError, match="no values of area"):
        check_core(core())
    for wrong in ([1.0, np.nan], [1.0, 0.0], [1.0, np.inf]):
        with pytest.raises(AssertionError, match=r"area_ge is .* must be finite and positive"):
            check_core(core(area_ge=np.array(wrong)))
    with pytest.raises(AssertionError, match="dynamic_power_w is nan"):
        check_core(core(area_ge=np.ones(2), leakage_power_w=np.ones(2)))


def test_random_chains_have_the_front_of_brute_force(chain) -> None:
    random = np.random.default_rng(3)
    problem = study.prepare(study.read_study(chain("gates.csv", "gates.csv"))).problem
    for _ in range(10):
        stages = []
        for stage in problem.stages:
            area = random.uniform(5e3, 2e5, len(stage.designs.names))
            metrics = replace(stage.designs.metrics, area_ge=area)
            check_metrics("drawn", stage.designs.names, metrics)
            stages.append(replace(stage, designs=Designs(stage.designs.names, metrics)))
        drawn = replace(problem, stages=tuple(stages))
        settings = study.SearchSettings()
        composed, every = (
            run_search(drawn, replace(settings, method=name)).front_index.tolist()
            for name in ("compose", "enumerate")
        )
        assert sorted(composed) == sorted(every)


BLOCKS = """design,area_lc,block_rams,clock_mhz,payload_bit,cycles_per_task
slim,500,0,80,16,8
ram,200,2,90,16,4
"""
FPGA = """stages: [{table: t.csv, fleet: mixed, instances: {from: 0, to: 8}}]
workload: {rate: 1 Gbit/s}
objectives: {area: minimise, block_rams: minimise}
constraints: [block_rams <= 5]
"""


@pytest.mark.parametrize("method", ["compose", "enumerate"])
def test_blocks_of_an_fpga_add_over_a_fleet(write, method) -> None:
    write(BLOCKS, "t.csv")
    path = write(FPGA)
    front = dse.run(path, method=method).front
    assert front[["t.slim", "t.ram", "area_lc", "block_rams"]].to_numpy().tolist() == [
        [2, 2, 1400, 4],
        [4, 1, 2200, 2],
        [7, 0, 3500, 0],
    ]
    assert told(path, constraints="[multipliers <= 5]") == (
        "'multipliers <= 5'; multipliers needs multipliers, of which a stage has no values; "
        "add them to its table, or drop the constraint"
    )
