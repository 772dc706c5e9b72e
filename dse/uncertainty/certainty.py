"""How sure an answer is: probabilities and regrets of designs, as a section of the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.algebra import units
from dse.reports.sections import Section
from dse.reports.text import LARGE, listed, multiple, percent, plural, unit_suffix
from dse.study.cores.models import NINETY_FIVE
from dse.uncertainty.inputs import Uncertain

KEY = "certainty"
TITLE = "How sure is it"
MOST_ROWS = 10
RARE = 0.01
"""Designs that are not on the nominal front are listed from this probability on."""
HOW = (
    'say how sure metrics are: --uncertainty "area=10 %" for all designs, '
    '--uncertainty "interface.overhead=20 %" for a field, or `uncertainty: {area: 10 %}` in a '
    "stage, or in `designs`, of the study"
)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One design over all samples.

    Attributes
    ----------
    name
        What it is, in one line.
    point
        Its design point.
    nominal
        Whether it is on the nominal front.
    feasible, on_front, answer
        Share of the samples in which it meets every constraint, is on the front, is the answer.
    expected, worst
        Mean and largest regret where it is feasible: how much more of what the preference
        minimises than the answer of the sample has, in SI; None when the preference is no single
        number.
    expected_share, worst_share
        The same as shares of the answer's.
    """

    name: str
    point: tuple[int, ...]
    nominal: bool
    feasible: float
    on_front: float
    answer: float
    expected: float | None = None
    worst: float | None = None
    expected_share: float | None = None
    worst_share: float | None = None

    def to_dict(self, suffix: str) -> dict[str, Any]:
        """Return plain data, for JSON; `suffix` is the unit of a regret."""
        return {
            "design": self.name,
            "on_front_nominal": self.nominal,
            "feasible": self.feasible,
            "on_front": self.on_front,
            "answer": self.answer,
            f"expected_regret{suffix}": self.expected,
            f"largest_regret{suffix}": self.worst,
            "expected_regret_share": self.expected_share,
            "largest_regret_share": self.worst_share,
        }


@dataclass(frozen=True, kw_only=True)
class Certainty:
    """How sure a recommendation is.

    Attributes
    ----------
    uncertain, samples, seed
        What was drawn, how often, and from which seed.
    answered
        Share of the samples in which some candidate meets every constraint.
    candidates
        The recommended design first, the others by the probability of being the answer.
    quantity
        What is preferred, for the unit of a regret; None when it is no quantity.
    searched, checked
        Samples searched for candidates, and to check them.
    beyond, beyond_answer
        Checked samples with a design on the front, or an answer, that had been no candidate.
    """

    uncertain: tuple[Uncertain, ...]
    samples: int
    seed: int
    answered: float
    candidates: tuple[Candidate, ...]
    quantity: str | None
    searched: int
    checked: int
    beyond: int
    beyond_answer: int

    @property
    def pick(self) -> Candidate:
        """The recommended design."""
        return self.candidates[0]

    @property
    def minimax(self) -> Candidate | None:
        """The candidate of least largest regret among those feasible in every answered sample.

        None without such a candidate, or without a regret.
        """
        always = [
            entry
            for entry in self.candidates
            if entry.feasible == self.answered > 0 and entry.worst is not None
        ]
        return min(always, key=lambda entry: entry.worst or 0.0, default=None)

    def section(self) -> Section:
        """Return probabilities and regrets as a section of an answer."""
        if not self.uncertain:
            line = f"The study states no uncertainty, so nothing was drawn; {HOW}."
            return Section(KEY, TITLE, (line,), facts=self.to_dict())
        shown = _shown(self)
        regrets = self.pick.expected is not None
        doubtful = any(entry.feasible < 1.0 for entry in shown)
        headers = ("design", "on the front", "the answer", *["feasible"] * doubtful)
        headers += ("mean regret", "largest") if regrets else ()
        rows = tuple(_row(entry, doubtful=doubtful, regrets=regrets) for entry in shown)
        lines = (_drawn(self), *_sentences(self))
        remarks = (_remark(self, len(self.candidates) - len(shown)),)
        return Section(KEY, TITLE, lines, headers, rows, remarks, self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        suffix = unit_suffix(self.quantity) if self.quantity else ""
        return {
            "samples": self.samples,
            "seed": self.seed,
            "uncertain": [
                {
                    "name": entry.name,
                    "column": entry.column,
                    "least": float(np.min(entry.share)),
                    "most": float(np.max(entry.share)),
                }
                for entry in self.uncertain
            ],
            "answered": self.answered,
            "preferred": self.quantity,
            "candidates": [entry.to_dict(suffix) for entry in self.candidates],
            "minimax_regret": self.minimax.to_dict(suffix) if self.minimax else None,
            "searched": self.searched,
            "checked": self.checked,
            "checked_beyond_candidates": self.beyond,
            "checked_answer_beyond_candidates": self.beyond_answer,
        }


def _drawn(found: Certainty) -> str:
    shares: dict[str, str] = {}
    for entry in found.uncertain:
        low, high = float(entry.share.min()), float(entry.share.max())
        span = percent(low) if low == high else f"{percent(low)} to {percent(high)}"
        shares[entry.name] = span
    names = listed([f"{name} ({span})" for name, span in shares.items()])
    return (
        f"{plural(found.samples, 'Monte Carlo sample')} (seed {found.seed}) of {names}: relative "
        "standard uncertainties, log-normal about the nominal values, drawn independently."
    )


def _sentences(found: Certainty) -> Iterable[str]:
    first, minimax = found.pick, found.minimax
    yield (
        f"{first.name} is the answer in {_probability(first.answer)} of the samples, and on the "
        f"front in {_probability(first.on_front)}."
    )
    if first.feasible < 1.0:
        yield f"It meets every constraint in {_probability(first.feasible)} of the samples."
    if found.answered < 1.0:
        yield f"In {_probability(1.0 - found.answered)} of the samples no candidate is feasible."
    if first.expected is None:
        yield "What is preferred is no single number, so there is no regret."
        return
    where = " where it is feasible" if first.feasible < 1.0 else ""
    yield (
        f"Its regret against the answer of each sample{where} is "
        f"{_regret(found, first.expected, first.expected_share)} on average and "
        f"{_regret(found, first.worst, first.worst_share)} at worst."
    )
    if minimax is None:
        yield "No candidate is feasible wherever some are, so none has a minimax regret."
    elif minimax.point == first.point:
        yield "No other candidate has a smaller regret at worst."
    else:
        yield (
            f"The minimax regret is that of {minimax.name}: "
            f"{_regret(found, minimax.worst, minimax.worst_share)} at worst."
        )


def _remark(found: Certainty, left: int) -> str:
    error = NINETY_FIVE * 0.5 / math.sqrt(found.samples)
    checked = "each sample was searched"
    if found.checked:
        checked = (
            f"of {found.checked} samples searched after that, {found.beyond or 'none'} had a front "
            f"with another design, and {found.beyond_answer or 'none'} another answer"
        )
    rest = f"{left} more candidates are not listed. " if left else ""
    return (
        f"{rest}Candidates: {len(found.candidates)} designs, the nominal front and those of "
        f"{found.searched} samples; {checked}. Probabilities are good to "
        f"{100 * error:.2g} percentage points (95 % confidence)."
    )


def _shown(found: Certainty) -> tuple[Candidate, ...]:
    """Return the designs worth a row: the nominal front, and what is likely enough to matter."""
    first, *rest = found.candidates
    likely = [
        entry
        for entry in rest
        if entry.nominal or entry is found.minimax or max(entry.answer, entry.on_front) >= RARE
    ]
    return (first, *likely[: MOST_ROWS - 1])


def _row(entry: Candidate, *, doubtful: bool, regrets: bool) -> tuple[str, ...]:
    cells = [entry.name, *map(_probability, (entry.on_front, entry.answer))]
    cells += [_probability(entry.feasible)] if doubtful else []
    cells += map(_loss, (entry.expected_share, entry.worst_share)) if regrets else []
    return tuple(cells)


def _loss(share: float | None) -> str:
    """Return a regret as a share of the answer's value: in per cent, large ones as a multiple."""
    if share is None:
        return "none"
    return percent(share) if share < LARGE else f"{multiple(share)}x"


def _probability(share: float) -> str:
    return f"{100 * share:.1f} %" if 0 < share < 1 else percent(share)


def _regret(found: Certainty, value: float | None, share: float | None) -> str:
    if not value:
        return "nothing"
    shown = units.show(value, found.quantity) if found.quantity else f"{value:.4g}"
    return f"{shown} ({_loss(share)})"
