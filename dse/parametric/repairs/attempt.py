"""Trying a change of a study: what it admits, or that it was too much work to tell."""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from dse import search
from dse.algebra import units
from dse.errors import DseError, TooLargeError
from dse.files.document import Document
from dse.model import tables
from dse.model.space import Index
from dse.reports.designs import described
from dse.reports.text import change, listed, relative_change, rule_text, unit_suffix
from dse.search.exact.work import EffortError, left_s, limited, spend
from dse.study import study
from dse.study.measured.evaluated import is_evaluated
from dse.study.overrides import override
from dse.study.study import Study

Solved = tuple[Study, Index]
"""A changed study and its preferred design (1, d)."""

EVALUATIONS = 10_000_000
"""Designs that are always tried for a change, however few the study itself has."""

MOST_SEARCHED = 200_000_000
"""Designs of a space that is not composed, up to which changes are looked for."""

SHARE = 0.1
"""Part of the time that is left which one change may take."""

RUN, NUMBER, PART, CATALOGUE = range(4)
"""Ranks, the least first: how what is there runs, a number of the study, another part of what it
names, something else of the catalogue."""

NOTHING = ("null", "{}")
"""YAML of fields without a value."""

Override = tuple[str, str]
"""Dotted path and YAML text: what ``--set`` takes."""


@dataclass(frozen=True, kw_only=True)
class Repair:
    """A change that makes a study feasible: of a choice, or of a number.

    Attributes
    ----------
    overrides, written
        What to set, as ``--set`` takes it, and the new value.
    what
        The change in words.
    design, limit
        The design that it admits, of several the one preferred, and what limits that, by the
        study's labelled quantity.
    rank, size
        `RUN`, `NUMBER`, `PART` or `CATALOGUE`, and how large the change is; inf without a size.
    constraints
        What it relaxes, in words.
    name, nominal, value
        Of a number: what it is, by a name whose suffix is the unit; today's value, of the design
        named, and the nearest one that admits a design, in SI.  NaN for a choice.
    violated
        What the design violates when the number changes by 0.1 % less.
    least
        Whether no nearer number admits a design; False where that took too long to tell.
    """

    overrides: tuple[Override, ...]
    written: str
    what: str
    design: str
    limit: str
    rank: int
    size: float = math.inf
    constraints: tuple[str, ...] = ()
    name: str = ""
    nominal: float = math.nan
    value: float = math.nan
    violated: tuple[str, ...] = ()
    least: bool = True

    @property
    def path(self) -> str:
        """The field that changes, the first of several."""
        return self.overrides[0][0]

    @property
    def is_number(self) -> bool:
        """Whether one number changes."""
        return not math.isnan(self.value)

    @property
    def is_constraint(self) -> bool:
        """Whether a constraint of the study changes, not a field."""
        return self.path.startswith("constraints.")

    @property
    def order(self) -> tuple[int, float, str]:
        """Sorts repairs, the least first."""
        return self.rank, self.size, self.path

    def sentence(self, known: Collection[str] = ()) -> str:
        """Return what changes, which design that admits, and what stands against less of a change.

        `known` are constraints of which it is said already that nothing meets them.
        """
        text = f"{self.what}: {self.design}"
        others = [rule for rule in self.violated if rule not in {*self.constraints, *known}]
        if self.least and others:
            beyond = "lower" if self.value > self.nominal else "higher"
            return f"{text}, any {beyond} value violates {listed([*map(rule_text, others)])}"
        if self.limit and not (self.is_number and self.is_constraint):
            text += f" ({self.limit}-bound)"
        return text if self.least else f"{text}; less of a change may do"

    def command(self, document: Document) -> str:
        """Return the same as options of a command line, and which earlier ones they replace."""
        options = " ".join(f"--set {_quoted(f'{path}={text}')}" for path, text in self.overrides)
        fields = {path.removeprefix("stages.") for path, _ in self.overrides}
        before = [pair for pair in document.overrides if pair[0].removeprefix("stages.") in fields]
        replaced = listed([f"{path}={text}" for path, text in before])
        return f"{options}, in place of {replaced}" if replaced else options

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        facts = {
            "constraints": list(self.constraints),
            "set": self.path,
            "to": self.written,
            "overrides": dict(self.overrides),
            "design": self.design,
            "limit": self.limit,
        }
        if not self.is_number:
            return facts
        relative = relative_change(self.value, self.nominal)
        return facts | {
            f"nominal{unit_suffix(self.name)}": self.nominal,
            f"value{unit_suffix(self.name)}": self.value,
            "relative": math.inf if relative is None else abs(relative),
            "violated_short_of_it": list(self.violated),
            "least": self.least,
        }


def choice_words(overrides: Sequence[Override], instead: str) -> str:
    """Return in words what is set, and what the study has `instead`."""
    new = listed([f"{path} = {text}" for path, text in overrides if text not in NOTHING])
    return f"{new}{instead}" if instead.startswith(",") else f"{new} {instead}"


def number_words(path: str, written: str, name: str, nominal: float, value: float) -> str:
    """Return in words which number changes, of a field or of a constraint, and by how much."""
    now = units.show(nominal, name)
    by = change(value, nominal, than=now) or f"instead of {now}"
    if path.startswith("constraints."):
        return f"{written} ({by})"
    return f"{path} {'at least' if value > nominal else 'at most'} {written} ({by})"


def size_of(value: float, nominal: float) -> float:
    """Return the logarithm of the factor, so that a tenth is as far as ten times; inf from 0."""
    ratio = value / nominal if nominal else math.nan
    if ratio > 0 and math.isfinite(ratio):
        return abs(math.log(ratio))
    relative = relative_change(value, nominal)
    return math.inf if relative is None else abs(relative)


def _quoted(text: str) -> str:
    """Return one word of a command line, in double quotes where that is enough."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def changed_study(infeasible: Study, overrides: Sequence[Override]) -> Study | None:
    """Return the study with fields or constraints replaced, None when that is a fault."""
    try:
        return study.prepare(override(infeasible.document, overrides), infeasible)
    except DseError:
        return None


def solve(
    infeasible: Study, overrides: Sequence[Override], limit: int | None = None
) -> Solved | None:
    """Return the changed study and its preferred design, None when it has none.

    Raises
    ------
    TooLargeError
        More than `limit` designs would have to be tried, or it takes too long.
    """
    changed = changed_study(infeasible, overrides)
    if changed is None:
        return None
    settings = search.SearchSettings(method="exact", limit=limit)
    outcome = search.run_search(changed.problem, settings)
    if not outcome.feasible:
        return None
    order = changed.preference.order(changed.problem, outcome.front_index)
    return changed, outcome.front_index[order[:1]]


def admitted(solved: Solved) -> dict[str, Any]:
    """Return the design that a repair admits and what limits it, as a `Repair` takes them."""
    problem, index = solved[0].problem, solved[1]
    modelled = not is_evaluated(solved[0].document)  # a column of texts limits nothing
    category = tables.category(problem) if modelled else None
    limit = str(tables.design_table(problem, index)[category][0]) if category is not None else ""
    return {"design": described(problem, index)[0], "limit": limit}


class Attempts:
    """Changes tried one after the other, where they are no more work than the study itself."""

    def __init__(self, infeasible: Study, *, composed: bool = False) -> None:
        """Start with nothing tried; `composed` tells to search for numbers, not try all designs."""
        self.infeasible = infeasible
        self.composed = composed
        self.untried: list[str] = []
        self._limit = max(EVALUATIONS, min(infeasible.problem.size, MOST_SEARCHED))

    @contextmanager
    def trying(self, *changes: str) -> Iterator[None]:
        """Give changes their share of the time; keep what they are where they are too much work."""
        try:
            with limited(seconds=SHARE * left_s()):
                yield
        except TooLargeError:
            with suppress(EffortError):
                spend(0)  # what ends the whole explanation is said once
                self.untried += changes
        except DseError:
            pass  # a model that fails or overflows with it admits nothing

    def solve(self, *overrides: Override) -> Solved | None:
        """Return what a change admits; None also where that is too much work, which is kept."""
        words = [f"without {p}" if text in NOTHING else f"{p} = {text}" for p, text in overrides]
        with self.trying(*words):
            return solve(self.infeasible, overrides, self._limit)
        return None

    def choice(self, *overrides: Override, instead: str, rank: int) -> tuple[Repair, ...]:
        """Return the repair by a change without a size, none when it admits nothing."""
        solved = self.solve(*overrides)
        if solved is None:
            return ()
        what, written = choice_words(overrides, instead), overrides[0][1]
        known = admitted(solved)
        return (Repair(overrides=overrides, written=written, what=what, rank=rank, **known),)
