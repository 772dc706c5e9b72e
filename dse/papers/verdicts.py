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


@dataclass(frozen=True)
class ClaimReading:
    """An answer of ours to a claim, or to one reading of it.

    Attributes
    ----------
    words
        The reading, empty for the claim itself.
    ours
        The answer, in the unit of the claim.  None if there is nothing to compare.
    agreement
        `AGREES`, `WITHIN` or `DIFFERS`.  Empty if it cannot be compared.
    within
        Range of the answer within the rounding of its inputs.  None if it agrees as printed, is no
        number or uses no rounded input.
    """

    words: str
    ours: ClaimValue | None
    agreement: Agreement
    within: tuple[float, float] | None = None


@dataclass(frozen=True)
class CheckedClaim:
    """A claim, our answer, one of `VERDICTS`, and the answer of each reading."""

    claim: Claim
    answer: ClaimReading
    readings: tuple[ClaimReading, ...]

    @property
    def verdict(self) -> str:
        """Return the judgement of the claim, or else whether our answer agrees."""
        return self.claim.verdict or self.answer.agreement or UNCHECKED

    @property
    def relative_error(self) -> float | None:
        """Return (ours - printed) / printed, None unless both are numbers."""
        printed, ours = self.claim.printed, self.answer.ours
        if not (is_numeric(printed) and is_numeric(ours)):
            return None
        return _error(printed, ours)


def check_claim(claim: Claim, laboratory: Laboratory) -> CheckedClaim:
    """Return a claim with our answer and the verdict.

    Raises
    ------
    ContractError
        The claim fails to compute.  The error has its file and line.
    """
    answer, *readings = (
        _compare(claim, words, one, laboratory)
        for words, one in (("", claim.ours), *claim.readings.items())
    )
    return CheckedClaim(claim, answer, tuple(readings))


def _named(claim: Claim) -> str:
    return f"{claim.place}: claim {claim.name!r}" if claim.place else f"claim {claim.name!r}"


def _compare(
    claim: Claim, words: str, answer: ClaimAnswer | None, laboratory: Laboratory
) -> ClaimReading:
    if answer is None:
        return ClaimReading(words, None, "")

    def question(printed: PrintedNumbers) -> ClaimValue:
        return _answer(claim, answer, laboratory, printed)

    plain = PrintedNumbers()
    value = question(plain)
    if _agrees(claim, value, value):
        return ClaimReading(words, value, AGREES)
    if not plain.names:
        return ClaimReading(words, value, DIFFERS if _comparable(claim, value) else "")
    moved = within_rounding(question)
    if not all(map(is_numeric, moved)):
        agrees = any(_agrees(claim, one, one) for one in moved)
        return ClaimReading(words, value, WITHIN if agrees else DIFFERS)
    low, high = float(min(moved)), float(max(moved))
    agreement: Agreement = WITHIN if _agrees(claim, low, high) else DIFFERS
    return ClaimReading(words, value, agreement, (low, high))


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


def _error(printed: Any, ours: Any) -> float:
    if ours == printed:
        return 0.0
    return float((ours - printed) / abs(printed)) if printed else math.copysign(math.inf, ours)
