"""Boolean expressions of liberty."""

from __future__ import annotations

import pytest

from dse.silicon.cells import FunctionError, truth_table

TABLES = {
    "A": "01010101",
    "!A": "10101010",
    "A'": "10101010",
    "A B": "00010001",
    "A*B + C": "00011111",
    "A&B|C": "00011111",
    "A ^ B ^ C": "01101001",
    "!(A ^ B C)": "11111001",
    "A B ^ C": "00010100",
    "(A + B)' C": "00001000",
    "!A'": "01010101",
    "!A B' + 1 C 0": "10001000",
    "1": "11111111",
}
"""Of A, B, C: entry k has A where bit 0 of k is 1, B bit 1, C bit 2."""


@pytest.mark.parametrize("function", TABLES)
def test_tables(function: str) -> None:
    found = truth_table(function, ["A", "B", "C"])
    assert "".join(str(int(value)) for value in found) == TABLES[function]


FAULTS = {
    "A + ": "'A + ': it ends too early; write names with ! ' ^ * & + | ( )",
    "(A": "'(A': a bracket is not closed; write names with ! ' ^ * & + | ( )",
    "A)": "'A)': ')' does not belong here; write names with ! ' ^ * & + | ( )",
    "A @ B": "'A @ B': '@' is no pin; known: A, B, C",
    "AA": "'AA': 'AA' is no pin; did you mean 'A'?",
}


@pytest.mark.parametrize("function", FAULTS)
def test_faults(function: str) -> None:
    with pytest.raises(FunctionError) as caught:
        truth_table(function, ["A", "B", "C"])
    assert str(caught.value) == FAULTS[function]


def test_too_many_pins() -> None:
    with pytest.raises(FunctionError, match=r"more than 2\*\*16 entries"):
        truth_table("A", [f"P{i}" for i in range(17)])


@pytest.mark.parametrize("function", ["(" * 5000 + "A" + ")" * 5000, "!" * 5000 + "A"])
def test_a_function_that_is_too_deep(function: str) -> None:
    with pytest.raises(FunctionError, match=r"brackets and ! are more than 100 deep; simplify it$"):
        truth_table(function, ["A"])
    assert truth_table("!(" * 48 + "A" + ")" * 48, ["A"]).tolist() == [False, True]
