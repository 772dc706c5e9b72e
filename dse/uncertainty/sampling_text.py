"""How sure an answer is, as a section of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from dse.algebra import units
from dse.reports.sections import Section
from dse.reports.words import LARGE, listed, percent
from dse.uncertainty.sampling import Candidate, Certainty

KEY = "certainty"
TITLE = "How sure is it"
MOST_ROWS = 10
RARE = 0.01
"""Designs that are not on the front today are listed from this probability on."""
NINETY_FIVE = 1.96
"""Standard deviations to either side that hold 95 % of a normal distribution."""

HOW = (
    'say how sure figures are: --uncertainty "area=10 %" for all designs, '
    '--uncertainty "interface.overhead=20 %" for a field, or `uncertainty: {area: 10 %}` in a '
    "stage of the study"
)


def certainty_section(found: Certainty) -> Section:
    """Return probabilities and regrets as a section."""
    if not found.uncertain:
        line = f"The study states no uncertainty, so nothing was drawn; {HOW}."
        return Section(KEY, TITLE, (line,), facts=_facts(found))
    shown = _shown(found)
    regrets = found.pick.expected is not None
    doubtful = any(entry.feasible < 1.0 for entry in shown)
    headers: tuple[str, ...] = ("design", "on the front", "the answer")
    headers += ("feasible",) if doubtful else ()
    headers += ("mean regret", "largest") if regrets else ()
    rows = tuple(_row(entry, doubtful=doubtful, regrets=regrets) for entry in shown)
    lines = (_drawn(found), *_sentences(found))
    return Section(KEY, TITLE, lines, headers, rows, _remarks(found, shown), _facts(found))


def _drawn(found: Certainty) -> str:
    shares: dict[str, str] = {}
    for entry in found.uncertain:
        low, high = float(entry.share.min()), float(entry.share.max())
        span = percent(low) if low == high else f"{percent(low)} to {percent(high)}"
        shares[entry.name] = span
    names = listed([f"{name} ({span})" for name, span in shares.items()])
    draws = "draw" if found.draws == 1 else "draws"
    return (
        f"{found.draws:,} {draws} (seed {found.seed}) of {names}: relative standard uncertainties, "
        f"log-normal about today's figures, each by itself."
    )


def _sentences(found: Certainty) -> Iterable[str]:
    first = found.pick
    yield (
        f"{first.name} is the answer in {_probability(first.answer)} of the draws, and on the "
        f"front in {_probability(first.on_front)}."
    )
    if first.feasible < 1.0:
        yield f"It meets every constraint in {_probability(first.feasible)} of the draws."
    if found.answered < 1.0:
        yield f"In {_probability(1.0 - found.answered)} of the draws no candidate is feasible."
    if first.expected is None:
        yield "What is preferred is no single number, so there is no regret."
        return
    where = " in which it does," if first.feasible < 1.0 else ""
    yield (
        f"Against the answer of each draw{where} it loses {_regret(first, found, worst=False)} "
        f"on average and {_regret(first, found, worst=True)} at worst."
    )
    steady = found.steady
    if steady is None:
        yield "No candidate is feasible wherever some are, so none has a largest regret over all."
    elif steady.point == first.point:
        yield "No other candidate has a smaller largest regret."
    else:
        yield (
            f"The smallest largest regret is that of {steady.name}: "
            f"{_regret(steady, found, worst=True)}."
        )


def _remarks(found: Certainty, shown: tuple[Candidate, ...]) -> tuple[str, ...]:
    left = len(found.candidates) - len(shown)
    error = NINETY_FIVE * 0.5 / math.sqrt(found.draws)
    checked = "each draw was searched"
    if found.checked:
        checked = (
            f"of {found.checked} draws searched after that, {found.beyond or 'none'} had a front "
            f"with another design, and {found.beyond_answer or 'none'} another answer"
        )
    rest = f"{left} more candidates are left out of the table. " if left else ""
    return (
        f"{rest}Candidates: {len(found.candidates)} designs, the front today and those of "
        f"{found.searched} draws; {checked}. Probabilities are good to "
        f"{100 * error:.2g} percentage points (95 % confidence).",
    )


def _shown(found: Certainty) -> tuple[Candidate, ...]:
    """Return the designs worth a row: today's front, and what is likely enough to matter."""
    first, *rest = found.candidates
    steady = found.steady.point if found.steady else None
    likely = [
        entry
        for entry in rest
        if entry.today or entry.point == steady or max(entry.answer, entry.on_front) >= RARE
    ]
    return (first, *likely[: MOST_ROWS - 1])


def _row(entry: Candidate, *, doubtful: bool, regrets: bool) -> tuple[str, ...]:
    shares = (entry.on_front, entry.answer, *((entry.feasible,) if doubtful else ()))
    cells = [_probability(share) for share in shares]
    if regrets:
        cells += [_loss(share) for share in (entry.expected_share, entry.worst_share)]
    return (entry.name, *cells)


def _loss(share: float | None) -> str:
    """Return a regret as a share of the answer's value: in per cent, large ones as a multiple."""
    if share is None:
        return "none"
    return percent(share) if share < LARGE else f"{share:.3g} times"


def _probability(share: float) -> str:
    return f"{100 * share:.1f} %" if 0 < share < 1 else f"{100 * share:.0f} %"


def _regret(entry: Candidate, found: Certainty, *, worst: bool) -> str:
    value, share = entry.expected, entry.expected_share
    if worst:
        value, share = entry.worst, entry.worst_share
    if value is None or share is None:
        return "none"
    shown = units.show(value, found.quantity) if found.quantity else f"{value:.4g}"
    return f"{shown} ({_loss(share)})" if value else "nothing"


def _facts(found: Certainty) -> dict[str, Any]:
    unit = units.suffix(found.quantity) if found.quantity else ""
    suffix = f"_{unit}" if unit else ""
    return {
        "draws": found.draws,
        "seed": found.seed,
        "uncertain": [
            {
                "name": entry.name,
                "column": entry.column,
                "least": float(np.min(entry.share)),
                "most": float(np.max(entry.share)),
            }
            for entry in found.uncertain
        ],
        "answered": found.answered,
        "preferred": found.quantity,
        "candidates": [_plain(entry, suffix) for entry in found.candidates],
        "least_largest_regret": _plain(found.steady, suffix) if found.steady else None,
        "searched": found.searched,
        "checked": found.checked,
        "checked_beyond_candidates": found.beyond,
        "checked_answer_beyond_candidates": found.beyond_answer,
    }


def _plain(entry: Candidate, suffix: str) -> dict[str, Any]:
    return {
        "design": entry.name,
        "on_front_today": entry.today,
        "feasible": entry.feasible,
        "on_front": entry.on_front,
        "answer": entry.answer,
        f"expected_regret{suffix}": entry.expected,
        f"largest_regret{suffix}": entry.worst,
        "expected_regret_share": entry.expected_share,
        "largest_regret_share": entry.worst_share,
    }
