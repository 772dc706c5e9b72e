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
from dse.contract.papers import Claim, Laboratory
from dse.reproduction.study_runner import StudyRunner

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
def fails() -> float:
    raise ZeroDivisionError("division by zero")


def row(printed: str = "2", tolerance: str = "", ours: str = "quantity(u1)", **cells: str) -> str:
    given = {"name": "paper-1", "where": "I", "statement": "a number", "inputs": "I: table"}
    given |= {"printed": printed, "tolerance": tolerance, "ours": ours} | cells
    return ",".join(f'"{given.get(name, "")}"' for name in CLAIM_COLUMNS) + "\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "claims.csv"


def read(table: Path, text: str) -> Claim:
    table.write_text(text, encoding="utf-8")
    (claim,) = read_claims(table, functions)
    return claim


def test_a_row_becomes_a_claim(table: Path) -> None:
    text = row("1.53", "rounded", where="V, fig. 9", unit="ns", reason="why", inputs="I: table; a")
    claim = read(table, REMARKS + HEADER + text)
    assert claim.ours is not None
    assert claim.ours(LABORATORY) == 2.0
    assert vars(claim) | {"ours": None} == {
        "name": "paper-1",
        "paper": "paper",
        "where": "V, fig. 9",
        "statement": "a number",
        "printed": 1.53,
        "unit": "ns",
        "ours": None,
        "tolerance": 0.005 / 1.53,
        "reason": "why",
        "inputs": ("I: table", "a"),
    }


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("-0.6", -0.6),
        ("1e-9", 1e-9),
        ("true", True),
        ("FALSE", False),
        ("< 0.5", "< 0.5"),
        ("at all 199 rates", "at all 199 rates"),
        ("quantity(u16, 1e3)", 3000.0),
    ],
)
def test_what_is_printed(table: Path, printed: str, value: object) -> None:
    found = read(table, HEADER + row(printed)).printed
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("printed", "tolerance", "relative"),
    [
        ("16", "", 0.0),
        ("16", "rounded", 0.5 / 16),
        ("1.60", "rounded", 0.005 / 1.6),
        ("-0.6", "rounded", 0.05 / 0.6),
        ("0.4789", "rounded to 0.01", 0.005 / 0.4789),
        ("16", "1e-9", 1e-9),
    ],
)
def test_tolerances(table: Path, printed: str, tolerance: str, relative: float) -> None:
    claim = read(table, HEADER + row(printed, tolerance))
    assert claim.tolerance == pytest.approx(relative, rel=1e-8)


def test_half_way_between_two_printed_numbers_is_tolerated(table: Path) -> None:
    claim = read(table, HEADER + row("161.3", "rounded to 0.1"))
    assert abs(161.25 - 161.3) / 161.3 <= claim.tolerance


@pytest.mark.parametrize(
    ("ours", "answer"),
    [("quantity(u1, 2.5)", 5.0), ("quantity(u1, inf)", float("inf")), ("asks(u1)", True)],
)
def test_calls(table: Path, ours: str, answer: object) -> None:
    claim = read(table, HEADER + row(ours=ours))
    assert claim.ours is not None
    assert claim.ours(LABORATORY) == answer


def test_a_claim_that_cannot_be_checked_calls_nothing(table: Path) -> None:
    assert read(table, HEADER + row(ours="", inputs="none")).ours is None


def test_a_table_saved_by_a_spreadsheet(table: Path) -> None:
    """It begins with a byte-order mark, quotes remarks with commas, and ends lines its own way."""
    text = (
        '\ufeff"# tolerance: empty, or rounded",,,,,,,,\n' + HEADER + row("TRUE", ours="asks(u1)")
    )
    assert read(table, text.replace("\n", "\r\n")).printed is True


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (
            row(ours="quantty(u1)"),
            "'quantty' is not a known function; did you mean 'quantity'?",
        ),
        (row(ours="x()"), "'x' is not a known function; known: quantity, asks, fails"),
        (row(ours="quantity u1"), "'quantity u1' is no call; write a function and arguments, as "),
        (
            row(ours="quantity()"),
            "quantity(): missing a required argument: 'design'; quantity takes design: 'str', "
            "factor: 'float' = 1.0",
        ),
        (row(ours="asks()"), "asks(): missing a required argument: 'design'; asks takes design: "),
        (row(ours="fails(1)"), "fails(1): too many positional arguments; fails takes nothing"),
        (
            row("fails()"),
            "fails() cannot be computed: ZeroDivisionError: division by zero; repair the call, "
            "or write what is printed",
        ),
        (row("16", "about"), "'about' is no tolerance of 16; write 'rounded' if its digits show"),
        (row("quantity(u1)", "rounded"), "'rounded' is no tolerance of quantity(u1); write "),
        (row("u16", "rounded"), "only a number but 0 has a tolerance, not u16; leave it out"),
        (row("0", "rounded"), "only a number but 0 has a tolerance, not 0; leave it out"),
        (row(statement=" "), "statement is empty; fill it in"),
        (
            "paper-1,I,a number,2,,\n",
            "this row has more or fewer cells than the header; quote a cell that contains a comma",
        ),
        (
            row().replace('"2"', "2,5"),
            "this row has more or fewer cells than the header; quote a cell that contains a comma",
        ),
    ],
)
def test_a_faulty_row_is_told_with_its_line(table: Path, written: str, fault: str) -> None:
    good = [row(name=f"paper-{number}") for number in (2, 3)]
    with pytest.raises(ClaimTableError) as caught:
        read(table, REMARKS + HEADER + good[0] + written + good[1])
    assert str(caught.value).startswith(f"{table}:4: {fault}")


def test_every_faulty_row_is_told_at_once(table: Path) -> None:
    with pytest.raises(ClaimTableError) as caught:
        read(table, HEADER + row() + row() + row(name="paper-2", ours="x"))
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == [
        f"{table}:3",
        f"{table}:4",
    ]
    assert "'paper-1' stands twice; names are unique: rename one" in str(caught.value)


def test_columns_that_are_missing_or_unknown(table: Path) -> None:
    with pytest.raises(ClaimTableError) as caught:
        read(table, REMARKS + HEADER.replace("printed", "printd") + row())
    assert str(caught.value).splitlines() == [
        f"{table}:2: the column 'printed' is missing; the columns are {', '.join(CLAIM_COLUMNS)}",
        f"{table}:2: 'printd' is not a column of claims; did you mean 'printed'?",
    ]


def test_quotes_that_do_not_match(table: Path) -> None:
    with pytest.raises(ValueError, match="check the quotes of this row") as caught:
        read(table, HEADER + row() + '"paper-2,"I"\n')
    assert str(caught.value).startswith(f"{table}:3: ")
