"""Names that would be formulas of a spreadsheet or steer a terminal are written as plain text."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dse
from dse.files.csv import as_written, inert, is_number
from dse.runs import finished
from tests.conftest import run_dse

NAMES = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@x", "'quoted", "-3", "plain")
TABLE = "name,area_um2,power_mw,tool\n" + "".join(
    f'"{name}",{1 + row},{9 - row},=A{row}\n' for row, name in enumerate(NAMES)
)
STUDY = "designs: t.csv\nobjectives: {area: minimise, power: minimise}\n"


@given(st.text())
def test_a_cell_is_inert_and_stands_for_its_text(text: str) -> None:
    cell = inert(text)
    assert as_written(cell) == text
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or is_number(cell)


def test_formulas_are_inert_in_a_run_which_is_read_back(write, tmp_path: Path) -> None:
    write(TABLE, "t.csv")
    run = dse.run(write(STUDY), out=tmp_path / "run")
    with (tmp_path / "run" / "front.csv").open(newline="") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    assert {"'=1+1", "'@x", "-3", "plain", "'=A0"} <= {*cells}
    assert not [c for c in cells if c.startswith(("=", "+", "-", "@")) and not is_number(c)]
    ((_, index),) = finished.read_run(tmp_path / "run").points()
    assert len(index) == len(run.front) == len(NAMES)
    assert set(run.front["design"]) == {*NAMES}


@pytest.mark.parametrize("command", ["check", "run"])
def test_escape_sequences_of_names_stay_text(command: str, write, tmp_path: Path) -> None:
    write(TABLE.replace("=A", "\x1b[2Ja"), "t.csv")
    write(STUDY, "s\x1b[31m.yaml")
    done = run_dse(command, "s\x1b[31m.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "\\x1b[31m" in done.stdout
