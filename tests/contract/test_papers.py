"""Printed numbers: the digit that counts, and inputs moved within their rounding."""

from __future__ import annotations

import pytest

from dse.contract.papers import PrintedNumbers, last_digit


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
