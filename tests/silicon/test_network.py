"""What joins a fleet, in the rows of a table of its cores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dse
from dse.errors import StudyError
from dse.silicon.yosys import found_yosys
from tests.silicon.toy import TOY

pytestmark = pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")

FIGURES = ("area_um2", "dynamic_power_mw", "settled_power_mw", "leakage_power_uw")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Networks of 2, 4 and 8 instances, and a core without and with them."""
    folder = tmp_path_factory.mktemp("network")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        over = ("instances=2,4,8", "word_bit=8")
        dse.characterise(
            "network", library=TOY, over=over, clock="100 MHz", tasks=40, out=folder / "network.csv"
        )
        characterise_core(folder, "core.csv")
        characterise_core(folder, "joined.csv", joined_by=folder / "network.csv")
    return folder


def characterise_core(folder: Path, name: str, **options: Any) -> None:
    over = ("side=1,2", "cell_bit=8")
    options |= {"library": TOY, "over": over, "targets": "fastest", "tasks": 40}
    dse.characterise("jacobi", out=folder / name, **options)


def rows(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, comment="#", index_col=0)


def slopes(path: Path) -> dict[str, float]:
    """Return what an instance adds: powers for each MHz."""
    networks = rows(path)
    powers = [name for name in FIGURES if "leakage" not in name and "power" in name]
    values = networks[[*FIGURES]].copy()
    values[powers] = values[powers].div(networks.clock_mhz, axis=0)
    return {name: np.polyfit(networks.instances, values[name], 1)[0] for name in FIGURES}


def test_a_row_is_the_core_and_what_it_adds_to_the_network(made: Path) -> None:
    """By another least squares; powers at the clock of each row."""
    alone, joined, added = (
        rows(made / "core.csv"),
        rows(made / "joined.csv"),
        slopes(made / "network.csv"),
    )
    assert added["area_um2"] > 0
    for name in FIGURES:
        times = alone.clock_mhz if name.endswith("_mw") else 1.0
        np.testing.assert_allclose(joined[name], alone[name] + added[name] * times, rtol=1e-5)
    np.testing.assert_allclose(joined.area_um2 - joined.network_area_um2, alone.area_um2, rtol=1e-5)
    energy = joined.dynamic_power_mw * joined.cycles_per_task / joined.clock_mhz * 1e3
    np.testing.assert_allclose(joined.energy_pj, energy, rtol=1e-5)
    ratio = joined.gate_equivalents / alone.gate_equivalents
    np.testing.assert_allclose(ratio, joined.area_um2 / alone.area_um2, rtol=1e-5)
    for same in ("clock_mhz", "least_period_ns", "cells", "cycles_per_task"):
        np.testing.assert_array_equal(joined[same], alone[same])


def test_the_table_says_what_is_in_it_and_what_is_not(made: Path) -> None:
    told = [line for line in (made / "joined.csv").read_text().splitlines() if "# network" in line]
    assert told[0].startswith(f"# network: {made / 'network.csv'}, sha256 ")
    assert told[0].endswith("; 2 to 8 instances; least squares")
    assert told[1].startswith("# network, in each row: ")
    assert "; root mean square errors " in told[1]
    assert told[2].startswith("# network, in no row, once for each fleet: ")


def test_a_fleet_counts_it_once_for_each_instance(made: Path) -> None:
    study = {
        "stages": [{"table": str(made / "joined.csv"), "name": "cores"}],
        "objectives": {"area": "minimise"},
    }
    area = rows(made / "joined.csv").area_um2["n2"]
    for count in (1, 3):
        found = dse.evaluate(study, design=f"cores.n2={count}")
        terms = {one.name: one.value for one in found.terms}
        assert terms["area_m2"] == pytest.approx(count * area * 1e-12, rel=1e-6)


def test_a_core_that_outruns_the_network_says_so(made: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow.csv"
    text = (made / "network.csv").read_text()
    least = rows(made / "network.csv").least_period_ns["n8"]
    slow.write_text(text.replace(f"{least:.7g}", "1000"))
    characterise_core(made, "slow.csv", joined_by=slow)
    told = (made / "slow.csv").read_text()
    assert "# note: faster than the slowest of the networks, 1 MHz, which would need" in told
    assert "faster than" not in (made / "joined.csv").read_text()


WRONG = {
    "library": ("# library: toy", "# library: other", "library other; that of the cores is toy"),
    "column": ("instances", "cores", "a table of networks has a column 'instances'"),
    "cell": ("n8,8,", "n8,eight,", "'eight'"),
    "twice": ("n8,8,", "n8,4,", "instances that stand twice; a line has one network for each"),
    "rows": ("n8,", "#n8,", "2 rows; a line needs 3 networks or more"),
}


@pytest.mark.parametrize("what", WRONG)
def test_faults_of_a_table_of_networks(made: Path, tmp_path: Path, what: str) -> None:
    before, after, told = WRONG[what]
    text = (made / "network.csv").read_text()
    assert before in text
    wrong = tmp_path / "wrong.csv"
    if what == "rows":
        wrong.write_text("\n".join(one for one in text.splitlines() if not one.startswith("n8,")))
    else:
        wrong.write_text(text.replace(before, after))
    with pytest.raises(StudyError) as raised:
        characterise_core(made, "none.csv", joined_by=wrong)
    assert told in str(raised.value)
    assert not (made / "none.csv").exists()
