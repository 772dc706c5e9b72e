"""A change that makes an infeasible study feasible: what to set, how far that is, in words."""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from dse.algebra import units
from dse.reports.words import change, listed, relative_change, rule_text, unit_suffix

RUN, NUMBER, PART, CATALOGUE = range(4)
"""Ranks, the least first: how what is there runs, a number of the study, another part of what it
names, something else of the catalogue."""

NOTHING = ("null", "{}")
"""YAML of fields that are left out."""

Override = tuple[str, str]
"""Dotted path and YAML text: what ``--set`` takes."""


@dataclass(frozen=True, kw_only=True)
class Repair:
    """A change that makes a study feasible.

    Attributes
    ----------
    overrides
        What to set, as ``--set`` takes it.
    written, instead
        The new value, and what the study has instead.
    design
        The design that it admits: of several, the one preferred.
    limit
        What limits that design, by the study's labelled quantity.
    rank
        `RUN`, `NUMBER`, `PART` or `CATALOGUE`.
    constraints
        What it relaxes, in words.
    """

    overrides: tuple[Override, ...]
    written: str
    instead: str
    design: str
    limit: str
    rank: int
    constraints: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The field that changes, the first of several."""
        return self.overrides[0][0]

    @property
    def is_constraint(self) -> bool:
        """Whether a constraint of the study changes, not a field."""
        return self.path.startswith("constraints.")

    @property
    def size(self) -> float:
        """How large the change is; infinite where it has no size."""
        return math.inf

    @property
    def order(self) -> tuple[int, float, str]:
        """Sorts repairs, the least first."""
        return self.rank, self.size, self.path

    @property
    def what(self) -> str:
        """What changes, in words."""
        new = listed([f"{path} = {text}" for path, text in self.overrides if text not in NOTHING])
        return f"{new}{self.instead}" if self.instead.startswith(",") else f"{new} {self.instead}"

    def sentence(self, known: Collection[str] = ()) -> str:
        """Return what changes, and which design that admits.

        `known` are constraints of which it is said already that nothing meets them.
        """
        return f"{self.what}: {self.design}" + (f" ({self.limit}-bound)" if self.limit else "")

    def command(self, given: Sequence[Override] = ()) -> str:
        """Return the same as options of a command line, and what was `given` that they replace."""
        options = " ".join(f"--set {_quoted(f'{path}={text}')}" for path, text in self.overrides)
        fields = {path.removeprefix("stages.") for path, _ in self.overrides}
        before = [pair for pair in given if pair[0].removeprefix("stages.") in fields]
        replaced = listed([f"{path}={text}" for path, text in before])
        return f"{options}, in place of {replaced}" if replaced else options

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "constraints": list(self.constraints),
            "set": self.path,
            "to": self.written,
            "overrides": dict(self.overrides),
            "design": self.design,
            "limit": self.limit,
        }


@dataclass(frozen=True, kw_only=True)
class BoundsRepair(Repair):
    """Two bounds of constraints that make a study feasible together; `excess` is their change."""

    instead: str = ""
    rank: int = NUMBER
    excess: float

    @property
    def size(self) -> float:
        """The sum of both changes, beyond all that one number needs."""
        return 1e6 + self.excess

    @property
    def what(self) -> str:
        """Both bounds."""
        return f"{self.written} together"


@dataclass(frozen=True, kw_only=True)
class NumberRepair(Repair):
    """A number that makes a study feasible.

    Attributes
    ----------
    name
        Names what is changed; its suffix is the unit.
    nominal, value
        The number now (of the design named) and the nearest one that admits a design, in SI.
    violated
        What the design violates when the change is 0.1 % short.
    least
        Whether no nearer number admits a design; False where that took too long to tell.
    """

    instead: str = ""
    rank: int = NUMBER
    name: str
    nominal: float
    value: float
    violated: tuple[str, ...]
    least: bool = True

    @property
    def size(self) -> float:
        """The logarithm of the factor, so that a tenth is as far as ten times; inf from 0."""
        ratio = self.value / self.nominal if self.nominal else math.nan
        if ratio > 0 and math.isfinite(ratio):
            return abs(math.log(ratio))
        return math.inf if self.relative is None else abs(self.relative)

    @property
    def relative(self) -> float | None:
        """By how much the number changes, relative to the nominal one; None from 0."""
        return relative_change(self.value, self.nominal)

    @property
    def what(self) -> str:
        """What changes and by how much."""
        nominal = units.show(self.nominal, self.name)
        by = change(self.value, self.nominal, than=nominal) or f"instead of {nominal}"
        if self.is_constraint:
            return f"{self.written} ({by})"
        most = "at least" if self.value > self.nominal else "at most"
        return f"{self.path} {most} {self.written} ({by})"

    def sentence(self, known: Collection[str] = ()) -> str:
        """Return the same, and what stands against less of a change."""
        if self.is_constraint:
            return f"{self.what}: {self.design}"
        if not self.least:
            return f"{super().sentence()}; less of a change may do"
        others = [rule for rule in self.violated if rule not in {*self.constraints, *known}]
        if not others:
            return super().sentence()
        beyond = "lower" if self.value > self.nominal else "higher"
        rules = listed([*map(rule_text, others)])
        return f"{self.what}: {self.design}, any {beyond} value violates {rules}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        suffix = unit_suffix(self.name)
        return super().to_dict() | {
            f"nominal{suffix}": self.nominal,
            f"value{suffix}": self.value,
            "relative": math.inf if self.relative is None else abs(self.relative),
            "violated_short_of_it": list(self.violated),
            "least": self.least,
        }


def _quoted(text: str) -> str:
    """Return one word of a command line, in double quotes where that is enough."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'
