"""Tables of claims: what a row becomes, and every fault with its line and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from dse.contract.claim_table import (
    CLAIM_COLUMNS,
    ClaimFunctions,
    ClaimTableError,
    read_claims,
)
from dse.contract.papers import (
    Claim,
    ClaimAnswer,
    ClaimValue,
    Laboratory,
    PrintedNumbers,
    last_digit,
)
from dse.papers.study_runner import StudyRunner

functions = ClaimFunctions()
LABORATORY = StudyRunner()
REMARKS = "# source: a paper\n"
HEADER = ",".join(CLAIM_COLUMNS) + "\n"


@functions
def quantity(design: str, factor: float = 1.0) -> float:
    return len(design) * factor


@functions
def asks(laboratory: Laboratory, design: str) -> bool:
    return laboratory is LABORATORY and design == "u1"


@functions
def moved(printed: PrintedNumbers, number: str) -> float:
    return printed.read("number", number.split()[0])


@functions
def nothing() -> float:
    return 0.0


def row(printed: str = "2", rounded_to: str = "", ours: str = "quantity(u1)", **cells: str) -> str:
    given = {"name": "paper-1", "where": "I", "statement": "a number", "inputs": "I: table"}
    given |= {"printed": printed, "rounded_to": rounded_to, "ours": ours} | cells
    return ",".join(f'"{given.get(name, "")}"' for name in CLAIM_COLUMNS) + "\n"


def contradiction(**cells: str) -> str:
    given = {"verdict": "contradicts itself", "against": "II: 3", "reason": "why"}
    return row(**(given | cells))


def reading(readings: str = "one = quantity(u1); two = quantity(u16)", **cells: str) -> str:
    given = {"verdict": "depends on a reading", "readings": readings, "reason": "why"}
    return row(**({"ours": ""} | given | cells))


def answer(given: ClaimAnswer | None) -> ClaimValue:
    assert given is not None
    return given(LABORATORY, PrintedNumbers())


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "claims.csv"


def read(table: Path, text: str) -> Claim:
    table.write_text(text, encoding="utf-8")
    (claim,) = read_claims(table, functions)
    return claim


def claims(table: Path, *rows: str) -> tuple[Claim, ...]:
    table.write_text(HEADER + "".join(rows), encoding="utf-8")
    return read_claims(table, functions)


def test_a_row_becomes_a_claim(table: Path) -> None:
    text = row("1.53", where="V, fig. 9", unit="ns", reason="why", inputs="I: table; a")
    claim = read(table, REMARKS + HEADER + text)
    assert answer(claim.ours) == 2.0
    assert vars(claim) | {"ours": None, "rounding": None} == {
        "name": "paper-1",
        "paper": "paper",
        "source": "a paper",
        "where": "V, fig. 9",
        "statement": "a number",
        "printed": 1.53,
        "unit": "ns",
        "rounding": None,
        "ours": None,
        "verdict": "",
        "against": "",
        "readings": {},
        "refers_to": "",
        "reason": "why",
        "inputs": ("I: table", "a"),
        "place": f"{table}:3",
    }
    assert claim.rounding == pytest.approx((1.525, 1.535))


@pytest.mark.parametrize(
    ("printed", "rounded_to", "rounding"),
    [
        ("140", "1", (139.5, 140.5)),
        ("-0.6", "", (-0.65, -0.55)),
        ("0.4789", "0.01", (0.4739, 0.4839)),
        ("1", "0", (1.0, 1.0)),
        ("512", "octave", (256.0, 1024.0)),
        ("u16", "", None),
    ],
)
def test_rounding(
    table: Path, printed: str, rounded_to: str, rounding: tuple[float, float] | None
) -> None:
    found = read(table, HEADER + row(printed, rounded_to)).rounding
    assert found == (rounding and pytest.approx(rounding))


def test_a_table_saved_by_a_spreadsheet(table: Path) -> None:
    """It begins with a byte-order mark, quotes remarks with commas, and ends lines its own way."""
    text = '\ufeff"# source: I, ""A"", 2014",,,,,,,,,,,,\n' + HEADER + row("TRUE", ours="asks(u1)")
    claim = read(table, text.replace("\n", "\r\n"))
    assert (claim.printed, claim.source) == (True, 'I, "A", 2014')


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (row(ours="x()"), "'x()' calls none of the functions quantity, asks, moved, nothing"),
        (row(ours="quantity u1"), "'quantity u1' calls none of the functions quantity, asks"),
        (row(ours="quantity()"), "missing a required argument: 'design'"),
        (row(ours="nothing(1)"), "too many positional arguments"),
        (row("16", "about"), "could not convert string to float: 'about'"),
        (row(verdict="a fit"), "'a fit' is no judgement: contradicts itself, residual of a fit"),
        (reading("one = x(); two ="), "'x()' calls none of the functions quantity, asks, moved"),
    ],
)
def test_a_faulty_row_is_told_with_its_line(table: Path, written: str, fault: str) -> None:
    with pytest.raises(ClaimTableError) as caught:
        read(table, REMARKS + HEADER + row(name="paper-2") + written)
    assert str(caught.value).startswith(f"{table}:4: {fault}")


def test_columns_that_are_missing_or_unknown(table: Path) -> None:
    with pytest.raises(ClaimTableError) as caught:
        read(table, REMARKS + HEADER.replace("printed", "printd") + row())
    assert str(caught.value) == f"{table}:2: the columns are {', '.join(CLAIM_COLUMNS)}"


def test_quotes_that_do_not_match(table: Path) -> None:
    with pytest.raises(ValueError, match="check the quotes of this row") as caught:
        read(table, HEADER + row() + '"paper-2,"I"\n')
    assert str(caught.value).startswith(f"{table}:3: ")


# Printed numbers: the digit that counts, and inputs moved within their rounding


@pytest.mark.parametrize(
    ("written", "others", "unit"),
    [
        ("1.30", [], 0.01),
        ("16", [], 1.0),
        ("-0.6", [], 0.1),
        ("140", [], 10.0),
        ("140", ["151", "119"], 1.0),  # another entry shows three digits
        ("100", ["151"], 1.0),
        ("1500", ["15", "4", "3e3"], 100.0),  # two digits are shown
        ("3530", ["99.4", "107"], 10.0),  # three digits, with and without a point
        ("20", ["9.5", ""], 1.0),  # an empty cell shows nothing
        ("2.9e4", [], 1e3),
        ("0", [], 1.0),
    ],
)
def test_the_last_digit_that_counts(written: str, others: list[str], unit: float) -> None:
    assert last_digit(written, others) == unit


def test_a_number_is_read_as_printed_and_remembered() -> None:
    printed = PrintedNumbers()
    assert printed.read("area", "5226") == 5226.0
    assert printed.share("power", "0.93") == 1.0
    assert list(printed.names) == ["area", "power"]


def test_a_number_is_moved_by_half_a_unit_of_its_last_digit() -> None:
    printed = PrintedNumbers({"area": 1, "clock": -1})
    assert printed.read("area", "5226") == 5226.5
    assert printed.read("clock", "140", ["151"]) == 139.5
    assert printed.read("power", "0.93") == 0.93
    assert printed.share("area", "5226") == 5226.5 / 5226
