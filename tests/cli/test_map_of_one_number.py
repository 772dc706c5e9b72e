"""Who holds which interval of a number: `dse map` with one range."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dse.model.tables import design_names
from dse.parametric.decision_map import DecisionMap, find_map
from dse.study import study
from tests.conftest import STUDIES, everything, problem_of, run_dse

CRYPTO = STUDIES / "crypto_interface_100gbps.yaml"
T4 = ("interface.device", "[sparc_t4_instruction, sparc_t4_engine]")
SETTOP = STUDIES / "settop_116mbps.yaml"


def least_power(device: str, *overrides: tuple[str, str]) -> float:
    """Return the least total power behind one interface, over every design."""
    found = everything(problem_of(CRYPTO, ("interface.device", device), *overrides))
    return float(found.loss[found.feasible][:, 1].min(initial=np.inf))


def test_granularity_where_instruction_and_engine_change_places() -> None:
    document = study.read_study(CRYPTO, [T4])
    found = find_map(document, ["granularity=1500B..64KiB"], prefer="total_power", by=["device"])
    assert [(i.low, i.high, i.name) for i in found.intervals] == [
        (1500, 3925, "sparc_t4_instruction"),
        (3926, 65536, "sparc_t4_engine"),
    ]
    for size, better in (("3925 B", "sparc_t4_instruction"), ("3926 B", "sparc_t4_engine")):
        power = {name: least_power(name, ("workload.granularity", size)) for name in T4_NAMES}
        assert min(power, key=power.__getitem__) == better
    # both keep a core busy for as long: the engine for 435 cycles of 3 GHz, an instruction for 115,
    # 16 cycles of the pipelines and the time on the link, which ten u16 outrun; seven u16 more leak
    time_s = 435 / 3e9 - 7 * 1.11e-3 / 30 * (8 * 3926) / 100e9
    size_byte = (time_s - 115 / 3e9 - 16 / 645.15625e6) * 16 * 3e9
    assert 3925 < size_byte < 3926


T4_NAMES = ("sparc_t4_instruction", "sparc_t4_engine")


def require_least_power(found: DecisionMap, rate: float, *asked: Any) -> None:
    """Compare who holds a rate with every design of the study at that rate."""
    problem = problem_of(*asked, ("workload.rate", f"{rate!r} bit/s"))
    designs = everything(problem)
    best = int(np.argmin(np.where(designs.feasible, designs.loss[:, 1], np.inf)))
    held = next(i for i in found.intervals if i.low <= rate <= i.high)
    assert held.name == design_names(problem, designs.points[[best]])[0], rate


def test_a_sweep_agrees_with_every_design_on_a_grid() -> None:
    """The least power at random rates is where the table says."""
    document = study.read_study(SETTOP)
    found = find_map(document, ["rate=0.05..60Gbps"], prefer="power", counts=True)
    assert found.intervals[0].low == 0.05e9
    assert found.intervals[-1].high == 60e9
    for one, other in pairwise(found.intervals):
        assert 0 < other.low / one.high - 1 < 1e-6
        assert one.name != other.name
    random = np.random.default_rng(0)
    for rate in np.exp(random.uniform(np.log(0.05e9), np.log(60e9), 60)).tolist():
        require_least_power(found, rate, SETTOP)


def test_files_table_and_json_agree(tmp_path: Path) -> None:
    arguments = ["map", str(SETTOP), "rate=100..900Mbps", "--prefer", "power"]
    text = run_dse(*arguments, "--out", str(tmp_path / "out")).stdout
    facts = json.loads(run_dse(*arguments, "--json").stdout)
    with (tmp_path / "out" / "crossovers.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(float(row["from_bit_per_s"]), row["answer"]) for row in rows] == [
        (entry["from_bit_per_s"], entry["answer"]) for entry in facts["intervals"]
    ]
    assert json.loads((tmp_path / "out" / "crossovers.json").read_text()) == facts
    assert all(row["answer"] in text for row in rows)
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {f"crossovers.{kind}" for kind in ("csv", "json", "png", "svg")}
