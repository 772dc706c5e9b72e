"""Verdicts by hand: inputs that were rounded, and judgements that do not fit what is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dse.contract.papers import (
    CONTRADICTION,
    READING,
    Claim,
    ClaimAnswer,
    ClaimValue,
    PrintedNumbers,
)
from dse.errors import ContractError
from dse.papers.reproduce import Reproduction
from dse.papers.study_runner import StudyRunner
from dse.papers.verdicts import (
    AGREES,
    DIFFERS,
    WITHIN,
    CheckedClaim,
    check_claim,
)

LABORATORY = StudyRunner()
Follows = Callable[[PrintedNumbers], ClaimValue]


def gives(value: ClaimValue) -> ClaimAnswer:
    return lambda laboratory, printed: value


def follows(function: Follows) -> ClaimAnswer:
    return lambda laboratory, printed: function(printed)


def claim(printed: ClaimValue, ours: ClaimAnswer | None, **fields: Any) -> Claim:
    given: dict[str, Any] = {
        "name": "paper-1",
        "paper": "paper",
        "where": "Table 1",
        "statement": "a number",
        "printed": printed,
        "ours": ours,
        "inputs": ("Table 1: table",),
        "place": "claims.csv:7",
    }
    return Claim(**(given | fields))


def check(printed: ClaimValue, ours: ClaimAnswer | None, **fields: Any) -> CheckedClaim:
    return check_claim(claim(printed, ours, **fields), LABORATORY)


def bandwidth(printed: PrintedNumbers) -> float:
    """Table I, u8, of the paper on cores: performance in Mtask/s of 64 bit."""
    return printed.read("bandwidth", "20.64") / 64 * 1e3


def efficiency(printed: PrintedNumbers) -> float:
    """Rises with one input and falls with the other."""
    return printed.read("work", "8") / printed.read("power", "4")


def faster(printed: PrintedNumbers) -> str:
    return "r2" if printed.read("r2", "1.0") > printed.read("r4", "1.1") - 0.06 else "r4"


@pytest.mark.parametrize(
    ("printed", "rounding", "ours", "verdict", "within"),
    [
        # 20.64 is 20.635 to 20.645: 322.42 to 322.58, and 322.6 is 322.55 to 322.65
        (322.6, (322.55, 322.65), bandwidth, WITHIN, (322.421875, 322.578125)),
        (322.5, (322.45, 322.55), bandwidth, AGREES, None),
        # 7.5 to 8.5 over 3.5 to 4.5; a range that passes over what is printed agrees
        (2.3, (2.25, 2.35), efficiency, WITHIN, (7.5 / 4.5, 8.5 / 3.5)),
        (1.7, (1.65, 1.75), efficiency, WITHIN, (7.5 / 4.5, 8.5 / 3.5)),
        ("> 2.4", None, efficiency, WITHIN, (7.5 / 4.5, 8.5 / 3.5)),
        ("> 1.9", None, efficiency, AGREES, None),
        ("r2", None, faster, WITHIN, None),
        ("r4", None, faster, AGREES, None),
    ],
)
def test_the_rounding_of_inputs_is_propagated(
    printed: ClaimValue,
    rounding: tuple[float, float] | None,
    ours: Follows,
    verdict: str,
    within: tuple[float, float] | None,
) -> None:
    row = check(printed, follows(ours), rounding=rounding)
    ends = within and pytest.approx(within, rel=1e-12)
    assert (row.verdict, row.answer.within) == (verdict, ends)


def contradiction(printed: ClaimValue, ours: ClaimAnswer, **fields: Any) -> CheckedClaim:
    return check(printed, ours, verdict=CONTRADICTION, against="Table 2: 8 and 4", **fields)


def test_a_contradiction_stays_one_within_rounding() -> None:
    row = contradiction(2.7, follows(efficiency), rounding=(2.65, 2.75))
    ends = pytest.approx((7.5 / 4.5, 8.5 / 3.5))
    assert (row.verdict, row.answer.within) == (CONTRADICTION, ends)
    assert contradiction("fixed", gives("per byte")).verdict == CONTRADICTION
    assert contradiction("does not exist", gives(676e3)).verdict == CONTRADICTION


def test_each_reading_tells_what_it_gives() -> None:
    readings = {"a round": gives(16.0), "a task": gives(1.0), "an instruction": None}
    row = check(16.0, None, verdict=READING, rounding=(15.5, 16.5), readings=readings)
    assert [(reading.words, reading.ours, reading.agreement) for reading in row.readings] == [
        ("a round", 16.0, AGREES),
        ("a task", 1.0, DIFFERS),
        ("an instruction", None, ""),
    ]
    assert (row.verdict, row.answer.ours, row.relative_error) == (READING, None, None)


def test_relative_error_is_ours_less_printed_over_printed() -> None:
    errors = [
        check(printed, gives(ours), verdict=CONTRADICTION, against="").relative_error
        for printed, ours in ((8.0, 10.0), (-8.0, -10.0), ("< 6", 7.0), (8.0, "none"))
    ]
    assert errors == [0.25, -0.25, None, None]


def test_a_claim_that_cannot_be_computed_is_an_error() -> None:
    def broken(_: PrintedNumbers) -> float:
        raise ZeroDivisionError("division by zero")

    with pytest.raises(ContractError) as caught:
        check(1.0, follows(broken))
    assert str(caught.value) == (
        "claims.csv:7: claim 'paper-1' cannot be computed: ZeroDivisionError: division by zero; "
        "repair its `ours`, or omit it and state the reason"
    )


ROOT = {"verdict": CONTRADICTION, "against": "Table 2: 3", "reason": "why"}


def example() -> Reproduction:
    """One root with a part, one that agrees, one that does within rounding, one with readings."""
    readings: dict[str, ClaimAnswer | None] = {"one": gives(True), "two": gives(False)}
    claims = (
        claim(2.0, gives(3.0), name="paper-a", rounding=(1.5, 2.5), unit="mW", **ROOT),
        claim(2.0, gives(4.0), name="paper-b", refers_to="paper-a", **ROOT),
        claim(3.0, gives(3.0), name="paper-c"),
        claim(2.3, follows(efficiency), name="paper-d", rounding=(2.25, 2.35)),
        claim(True, None, name="paper-e", verdict=READING, readings=readings, reason="why"),
    )
    return Reproduction(tuple(check_claim(one, LABORATORY) for one in claims))


def test_findings_are_counted_once() -> None:
    found = example()
    assert [row.claim.name for row in found.contradictions] == ["paper-a"]
    assert found.summary().splitlines() == [
        "1 contradiction inside the papers, each with its place",
        "contradicts itself: 1, agrees: 1, agrees within the inputs' rounding: 1, residual of a "
        "fit: 0, depends on a reading: 1, cannot be checked: 0; parts of these: 1",
    ]
    data = found.to_dict()
    assert data["contradictions"] == data["counts"][CONTRADICTION] == 1
    assert sum(data["counts"].values()) + data["parts_of_others"] == len(data["claims"])


def test_text_tells_each_claim_and_why() -> None:
    lines = example().text(width=200).splitlines()
    assert lines[2].split("  ")[-1] == "contradicts itself [1]"
    assert "2 (1.6667 to 2.4286)" in lines[5]
    assert "one: yes; two: no" in lines[6]
    assert "[1]  against Table 2: 3; why" in lines
