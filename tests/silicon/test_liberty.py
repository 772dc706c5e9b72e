"""Liberty files: the toy library as records, and every fault at its place."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from dse.errors import StudyError
from dse.silicon import liberty
from dse.silicon.cells import LookupTable, TableStack
from dse.silicon.liberty import read_liberty
from dse.silicon.public import check_library_files
from tests.silicon.toy import TOY, toy

NS, PF, PJ = 1e-9, 1e-12, 1e-12


def test_the_toy_library() -> None:
    library = toy()
    assert (library.name, library.voltage_v, library.temperature_c) == ("toy", 1.0, 25.0)
    assert library.corner == "typical"
    assert library.sources == ("toy.lib",)
    assert library.notes == ("leakage is the mean over the states in 1 cell",)
    assert len(library.cells) == 13
    assert [name for name, cell in library.cells.items() if cell.dont_use] == ["INV_WEAK"]
    assert [name for name, cell in library.cells.items() if cell.latch] == ["LATCH"]


@pytest.mark.parametrize(("pin", "delay"), [("A", 0.04), ("B", 0.06)])
def test_tables_are_slew_by_load_whichever_variable_comes_first(pin: str, delay: float) -> None:
    """The table of B is written load by slew; both go on beyond their last entries."""
    arc = next(arc for arc in toy().cells["NOR2"].pins["Y"].arcs if arc.related_pin == pin)
    assert arc.cell_rise is not None
    for slew, load in ((0, 0), (0.3, 0.02), (2.0, 0.3)):
        expected = delay + 0.1 * slew + 2 * load
        assert arc.cell_rise.at(slew * NS, load * PF) / NS == pytest.approx(expected)


def test_a_stack_reads_tables_of_any_shape() -> None:
    draw = np.random.default_rng(1)
    tables = [
        LookupTable(np.arange(n) * 1.5, np.arange(m) + 0.5, draw.random((n, m)))
        for n, m in ((1, 1), (1, 3), (4, 1), (2, 5), (3, 3))
    ]
    which = draw.integers(0, len(tables), 200)
    rows, columns = draw.uniform(-1, 8, (2, 200))
    found = TableStack(tables).at(which, rows, columns)
    single = [tables[k].at(x, y) for k, x, y in zip(which, rows, columns, strict=True)]
    assert found == pytest.approx(np.array(single))
    on_entries = tables[4].at(np.array([0.0, 1.5, 3.0]), np.array([2.5, 0.5, 1.5]))
    assert on_entries == pytest.approx(tables[4].values[[0, 1, 2], [2, 0, 1]])


def test_packed_and_split_files_are_the_same_library(tmp_path: Path) -> None:
    text = TOY.read_text()
    (tmp_path / "toy.lib.gz").write_bytes(gzip.compress(text.encode()))
    packed = read_liberty(tmp_path / "toy.lib.gz")
    head, tail = text[: text.index("  cell (INV)")], text[text.index("  cell (DFF)") :]
    (tmp_path / "gates.lib").write_text(text[: text.index("  cell (DFF)")] + "}\n")
    (tmp_path / "flip_flops.lib").write_text(head + tail)
    split = read_liberty(tmp_path / "gates.lib", tmp_path / "flip_flops.lib")
    for library in (packed, split):
        assert list(library.cells) == list(toy().cells)
        assert library.cells["DFF"].area_m2 == toy().cells["DFF"].area_m2
        assert library.notes == toy().notes
    assert split.sources == ("gates.lib", "flip_flops.lib")


def test_files_that_are_not_one_library(tmp_path: Path) -> None:
    (tmp_path / "hot.lib").write_text(
        TOY.read_text().replace("temperature : 25", "temperature : 85")
    )
    with pytest.raises(StudyError) as caught:
        read_liberty(TOY, tmp_path / "hot.lib")
    first, second, *_ = str(caught.value).splitlines()
    assert first == (
        "temperature_c: hot.lib has 85, toy.lib 25; files of one library have one corner; "
        "give files of one corner"
    )
    assert second.endswith(
        "hot.lib:49:3: INV: cell (INV); two cells have this name; remove one of them"
    )


def test_wide_cells_edges_and_supply_rails(tmp_path: Path) -> None:
    """Cells of several bits are left out, and energy of rails of 0 V."""
    text = TOY.read_text().rstrip()[:-1]
    text += """
      cell (TWO) { area : 4 ;
        pin (D0) { direction : input; capacitance : 0.03; }
        pin (D1) { direction : input; capacitance : 0.04; rise_capacitance : 0.04;
          fall_capacitance : 0.05; rise_capacitance_range (0.03, 0.06); }
        pin (Y) { direction : output; function : "D0 * D1";
          internal_power () { related_pin : "D0 D1"; related_pg_pin : VSS;
            power (scalar) { values ("1"); } }
          internal_power () { related_pin : "D0 D1"; related_pg_pin : VDD;
            power (scalar) { values ("2"); } } } }
      cell (WIDE) { area : 4; ff_bank (IQ, IQN, 2) { } }
      cell (PAIR) { area : 4; bundle (D) { members (D0, D1); direction : input; } }
      cell (RAM) { area : 100; bus (d) { bus_type : word; direction : input; } }
    }
    """
    (tmp_path / "more.lib").write_text(text)
    library = read_liberty(tmp_path / "more.lib")
    two = library.cells["TWO"]
    assert [two.pins[pin].capacitance_f / PF for pin in ("D0", "D1")] == [0.03, 0.04]
    assert two.pins["D0"].edge_capacitance_f is None
    assert two.pins["D1"].edge_capacitance_f == pytest.approx((0.06 * PF, 0.05 * PF))
    assert [power.related_pin for power in two.pins["Y"].power] == ["D0", "D1"]
    assert two.pins["Y"].power[0].fall is two.pins["Y"].power[0].rise
    assert "WIDE" not in library.cells
    assert library.notes[0] == (
        "cells with banks of bits, buses or bundles are omitted: WIDE, PAIR, RAM"
    )
    assert library.notes[2] == "energy drawn from rails of 0 V is omitted: 1 group"


EDITS = {
    'time_unit : "1ns";': (
        "",
        "6:1: time_unit is a number, then ps or ns or us; write 'time_unit : \"1ns\";'",
    ),
    'leakage_power_unit : "1nW"': (
        'leakage_power_unit : "1nH"',
        "11:3: 1nH; leakage_power_unit is a number, then pW or nW or uW or mW; "
        "write 'leakage_power_unit : \"1nW\";'",
    ),
    "capacitive_load_unit (1, pf)": (
        "capacitive_load_unit (1, F)",
        "13:3: 1 F; capacitive_load_unit is a number, then ff or pf; "
        "write 'capacitive_load_unit (1, pf);'",
    ),
    'function : "!A"': (
        'function : "!B"',
        "56:7: INV.Y.function: '!B': 'B' is no pin; known: A",
    ),
    'values ("0.02, 0.22", "0.12, 0.32")': (
        'values ("0.02, 0.22", "0.12")',
        "60:29: INV.Y.cell_rise: 3 values; the table is 2 x 2; write one value for each pair",
    ),
    'values ("0.01, 0.11", "0.11, 0.21")': (
        'values ("0.01, 0.11", "0.11, O.21")',
        "61:29: INV.Y.cell_fall: 'O.21'; a table has numbers; write a number",
    ),
    "rise_transition (plane)": (
        "rise_transition (plain)",
        "62:9: INV.Y.rise_transition: rise_transition (plain); 'plain' is not a template of this "
        "library; did you mean 'plane'?",
    ),
    "cell_leakage_power : 2": (
        "cell_leakage_power : much",
        "71:5: BUF.cell_leakage_power: 'much'; it must be a number; write one",
    ),
    "cell (NAND2)": (
        "cell (INV)",
        "89:3: INV: cell (INV); two cells have this name; remove one of them",
    ),
    'related_pin : "B";': (
        'related_pin : "D";',
        "107:9: INV.Y.related_pin: 'D'; the cell has no such pin; known: A, B, Y",
    ),
    'related_pin : "CK"; timing_type : setup_rising;': (
        'related_pin : "C"; timing_type : setup_rising;',
        "381:19: DFF.D.related_pin: 'C'; the cell has no such pin; did you mean 'CK'?",
    ),
}


def test_comments_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    text = TOY.read_text()
    for right, commented in (
        ("library (toy) {", "library /* a */ (toy /* b } */) // c {\n{"),
        ("time_unit : ", "time_unit /* d; */ : /* e */ "),
        ("area : 1;", "area : 1 // f ;\n;"),
        ('related_pin : "A";', 'related_pin : "A" /* "B" */;'),
        ('index_1 ("0, 1");', 'index_1 (/* g " */ "0, 1");'),
        ("nom_process : 1;", 'nom_process : 1; comment : "http://toy /* of words";'),
    ):
        assert right in text
        text = text.replace(right, commented, 1)
    (tmp_path / "toy.lib").write_text("\ufeff" + text, encoding="utf-8")
    assert repr(read_liberty(tmp_path / "toy.lib").cells) == repr(toy().cells)


def test_every_fault_at_once_at_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TOY.read_text()
    for right, (wrong, _) in EDITS.items():
        assert right in text, right
        text = text.replace(right, wrong, 1)
    monkeypatch.chdir(tmp_path)
    Path("bad.lib").write_text(text)
    with pytest.raises(StudyError) as caught:
        read_liberty("bad.lib")
    assert str(caught.value).splitlines() == [f"bad.lib:{told}" for _, told in EDITS.values()]


LOST = {
    "library (l) {\n  cell (a) {\n": "2:3: 'cell (a) {'; this group is not closed; ",
    "library (l) {\n}\n}\n": "3:1: '}'; a bracket closes that was not opened; ",
    "library (l) {\n  area = 3;\n}": "2:3: 'area = 3;'; a statement is 'name : value;' or "
    "'name (values) {'; ",
}


@pytest.mark.parametrize("text", LOST)
def test_text_that_is_no_liberty(text: str, tmp_path: Path) -> None:
    path = tmp_path / "lost.lib"
    path.write_text(text)
    with pytest.raises(StudyError) as caught:
        read_liberty(path)
    remedy = "look for a missing bracket, quote or ';' before"
    assert str(caught.value) == f"{path}:{LOST[text]}{remedy}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"^library: no file; name a \.lib file$"):
        check_library_files([])
    with pytest.raises(StudyError, match=r"did you mean 'toy\.lib'\?"):
        check_library_files([TOY.with_name("toys.lib")])
    (tmp_path / "cut.lib.gz").write_bytes(gzip.compress(TOY.read_bytes())[:200])
    with pytest.raises(StudyError, match=r"the file cannot be unpacked: .*; fetch it again"):
        read_liberty(tmp_path / "cut.lib.gz")


def test_a_file_that_unpacks_without_end_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liberty, "_MOST_BYTE", 1_000_000)
    (tmp_path / "bomb.lib.gz").write_bytes(gzip.compress(bytes(2_000_000)))
    with pytest.raises(StudyError, match="the file unpacks to more than 1 MB; split it by groups"):
        read_liberty(tmp_path / "bomb.lib.gz")
