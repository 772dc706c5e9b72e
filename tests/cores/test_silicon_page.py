"""The page on silicon has how far lines through our tables are off."""

from __future__ import annotations

import numpy as np
import pytest

from dse.contract import Core
from dse.cores.characterised import LIBRARIES
from dse.plugins import registry
from tests.conftest import ROOT
from tests.cores.test_characterised import CORES, off_a_line, rows_of

_, _, SECTION = (ROOT / "docs" / "silicon.md").read_text("utf-8").partition("Functions of today\n")
LINES = [line.strip("| ").split(" | ") for line in SECTION.splitlines() if line.startswith("| ")]
LAWS = [line for line in LINES if len(line) == 6 and line[0][0] == "`"]
TODAY = [line[0].strip("`") for line in LAWS]


def energy_of_cycle(row: dict[str, str]) -> float:
    return float(row["energy_pj"]) / float(row["cycles_per_task"])


@pytest.mark.parametrize("line", LAWS, ids=TODAY)
def test_errors_of_lines_are_those_of_the_tables(line: list[str]) -> None:
    core = line[0].strip("`")
    for place, library in enumerate(LIBRARIES):
        cells = [cell.split(" · ")[place] for cell in line[1:5]]
        rows = rows_of(f"{core}_{library}") if f"{core}_{library}" in CORES else {}
        plain = {float(name[1:]): row for name, row in rows.items() if name[1:].isdigit()}
        if len(plain) < 3:
            assert cells == ["-"] * 4
            continue
        over = [*plain]
        energies = [energy_of_cycle(row) for row in plain.values()]
        off = [
            off_a_line(over, [float(row["area_um2"]) for row in plain.values()]),
            off_a_line(over, [1 / float(row["clock_mhz"]) for row in plain.values()]),
            off_a_line(over, energies),
            off_a_line([one**2 for one in over], energies),
        ]
        np.testing.assert_allclose([float(cell) for cell in cells], 100 * np.array(off), atol=0.06)
        holds = "refused" not in line[5] or f"; refused in {library}" not in line[5]
        lawful = "law" in registry.get(Core, f"{core}_{library}").models
        assert lawful == (not line[5].startswith("refused") and holds)
