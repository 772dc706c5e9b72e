"""The verdict on a claim: computed if possible, else a judgement checked against computation.

A number agrees when the result for the printed inputs is within the rounding of the printed
number.  It agrees within the inputs' rounding when the result is so for some values that these may
have had before they were rounded: each is moved by half a unit of its last digit, separately and
then all together in the way that raises or lowers the answer, which encloses it if it rises or
falls with each input.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from dse.contract.papers import (
    CONTRADICTION,
    DOES_NOT_EXIST,
    ORDERS,
    READING,
    RESIDUAL,
    Claim,
    ClaimAnswer,
    ClaimValue,
    Laboratory,
    PrintedNumbers,
)
from dse.errors import FOREIGN, ContractError

AGREES: Final = "agrees"
WITHIN: Final = "agrees within the inputs' rounding"
UNCHECKED: Final = "cannot be checked"
DIFFERS: Final = "does not agree"
"""Verdicts on a reading or a side of a contradiction, whose claim needs a judgement."""
VERDICTS = (CONTRADICTION, AGREES, WITHIN, RESIDUAL, READING, UNCHECKED)

Agreement = Literal["agrees", "agrees within the inputs' rounding", "does not agree", ""]
Question = Callable[[PrintedNumbers], ClaimValue]

BOUND = re.compile(r"(<=|>=|<|>) *(\S+)")
_TIE = 1e-9
"""A value half-way between two printed ones may have been rounded to either."""


@dataclass(frozen=True, kw_only=True)
class ClaimReading:
    """Result of one reading of a claim.

    Attributes
    ----------
    words
        The reading.
    ours
        Its result, in the unit of the claim.  None if there is nothing to compare.
    agreement
        `AGREES`, `WITHIN` or `DIFFERS`.  Empty if it cannot be compared.
    """

    words: str
    ours: ClaimValue | None
    agreement: Agreement


@dataclass(frozen=True, kw_only=True)
class CheckedClaim:
    """A claim, our answer, and the verdict.

    Attributes
    ----------
    claim
        The printed number, and the way to ours.
    ours
        Our answer in the unit of the claim.  None if it cannot be checked or has readings.
    ours_within
        Range of our answer within the rounding of its inputs.  None if it
        agrees as printed, is no number or uses no rounded input.
    relative_error
        (ours - printed) / printed.  None unless both are numbers.
    verdict
        One of `VERDICTS`.
    readings
        Result of each reading.
    """

    claim: Claim
    ours: ClaimValue | None
    ours_within: tuple[float, float] | None
    relative_error: float | None
    verdict: str
    readings: tuple[ClaimReading, ...]


def check_claim(claim: Claim, laboratory: Laboratory) -> CheckedClaim:
    """Return a claim with our answer and the verdict.

    Raises
    ------
    ContractError
        The claim fails to compute.  The error has its file and line.
    """
    compared = _compare(claim, claim.ours, laboratory)
    readings = {words: _compare(claim, one, laboratory) for words, one in claim.readings.items()}
    numbers = is_numeric(claim.printed) and is_numeric(compared.value)
    error = _error(claim, compared.value) if numbers else None
    return CheckedClaim(
        claim=claim,
        ours=compared.value,
        ours_within=compared.within,
        relative_error=error,
        verdict=claim.verdict or compared.agreement or UNCHECKED,
        readings=tuple(
            ClaimReading(words=words, ours=found.value, agreement=found.agreement)
            for words, found in readings.items()
        ),
    )


@dataclass(frozen=True)
class _Compared:
    """An answer if any, its range under rounding if requested, and whether it agrees."""

    value: ClaimValue | None
    within: tuple[float, float] | None
    agreement: Agreement


def _named(claim: Claim) -> str:
    return f"{claim.place}: claim {claim.name!r}" if claim.place else f"claim {claim.name!r}"


def _compare(claim: Claim, answer: ClaimAnswer | None, laboratory: Laboratory) -> _Compared:
    if answer is None:
        return _Compared(None, None, "")

    def question(printed: PrintedNumbers) -> ClaimValue:
        return _answer(claim, answer, laboratory, printed)

    plain = PrintedNumbers()
    value = question(plain)
    if _agrees(claim, value, value):
        return _Compared(value, None, AGREES)
    if not plain.names:
        return _Compared(value, None, DIFFERS if _comparable(claim, value) else "")
    moved = within_rounding(question)
    if not all(map(is_numeric, moved)):
        agrees = any(_agrees(claim, one, one) for one in moved)
        return _Compared(value, None, WITHIN if agrees else DIFFERS)
    low, high = float(min(moved)), float(max(moved))
    agrees = _agrees(claim, low, high)
    return _Compared(value, (low, high), WITHIN if agrees else DIFFERS)


def within_rounding(question: Question) -> list[Any]:
    """Return the answers to a question with its inputs at ends of their rounding.

    First as printed, then with each input separately down and up.  If all are numbers, last with
    all inputs at the ends that raise the answer, and at the others.
    """
    plain = PrintedNumbers()
    answers = [question(plain)]
    pairs = {
        name: (question(PrintedNumbers({name: -1})), question(PrintedNumbers({name: 1})))
        for name in plain.names
    }
    answers += [answer for pair in pairs.values() for answer in pair]
    if all(map(is_numeric, answers)):
        rising = {name: 1 if high >= low else -1 for name, (low, high) in pairs.items()}  # type: ignore[operator]
        falling = {name: -end for name, end in rising.items()}
        answers += [question(PrintedNumbers(ends)) for ends in (rising, falling)]
    return answers


def _answer(
    claim: Claim, answer: ClaimAnswer, laboratory: Laboratory, printed: PrintedNumbers
) -> ClaimValue:
    try:
        ours = answer(laboratory, printed)
    except FOREIGN as error:  # whatever a foreign model raises
        raise ContractError(
            f"{_named(claim)} cannot be computed: {type(error).__name__}: {error}; "
            "repair its `ours`, or omit it and state the reason"
        ) from error
    return ours.item() if isinstance(ours, np.generic) else ours


def _agrees(claim: Claim, low: ClaimValue, high: ClaimValue) -> bool:
    """Return whether any answer from `low` to `high` is the printed one."""
    bound = BOUND.fullmatch(claim.printed) if isinstance(claim.printed, str) else None
    if bound and is_numeric(low):
        return any(ORDERS[bound[1]](value, float(bound[2])) for value in (low, high))
    if is_numeric(claim.printed) and is_numeric(low):
        least, most = claim.rounding or (float(claim.printed), float(claim.printed))
        tie = _TIE * (most - least)
        return float(low) <= most + tie and float(high) >= least - tie
    return low == claim.printed


def _comparable(claim: Claim, value: ClaimValue) -> bool:
    """Return whether unequal means different: 116 beside 'a few' does not."""
    words = isinstance(claim.printed, str) and not BOUND.fullmatch(claim.printed)
    return not (words and claim.printed != DOES_NOT_EXIST and is_numeric(value))


def is_numeric(value: Any) -> bool:
    """Return whether a value is a number, and no statement."""
    return isinstance(value, float | int) and not isinstance(value, bool)


def _error(claim: Claim, ours: Any) -> float:
    printed: Any = claim.printed
    if ours == printed:
        return 0.0
    return float((ours - printed) / abs(printed)) if printed else math.copysign(math.inf, ours)
