"""What of a study moves on its page: rate, sizes, assumptions, and bounds of constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dse.algebra import units
from dse.algebra.thresholds import ConstraintThreshold, thresholds_of
from dse.study.assumptions import assumptions_of
from dse.study.study import Study

FIRST = ("workload.rate", "workload.granularity")
"""What most questions turn on stands before the rest."""


@dataclass(frozen=True)
class Slider:
    """A number of a study that ``--set`` changes.

    Attributes
    ----------
    path
        What ``--set`` takes.
    name
        What it is called: the path, or the constraint.
    quantity
        A name whose suffix is the unit of `value`, which is in SI.
    bound
        The bound that it is, of a constraint.
    first
        Whether it stands before the rest.
    whole
        Whether only whole numbers make sense.
    """

    path: str
    name: str
    quantity: str
    value: float
    bound: ConstraintThreshold | None = None
    first: bool = False
    whole: bool = False

    def written(self, value: float | str) -> str:
        """Return what ``--set`` gives the path: of a number in SI, or of a text as typed."""
        text = value if isinstance(value, str) else units.exact_text(value, self.quantity)
        return text if self.bound is None else self.bound.text(text)

    def number(self, value: float | str) -> float:
        """Return in SI what was moved to."""
        return units.parse(value, self.quantity) if isinstance(value, str) else value

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for the page."""
        factor, unit = units.scale([self.value], self.quantity)
        return {
            "path": self.path,
            "words": self.name,
            "value": self.value,
            "factor": factor,
            "unit": unit,
            "first": self.first,
            "whole": self.whole,
        }


def sliders_of(study: Study) -> Iterator[Slider]:
    """Yield what may move: numbers that the study itself writes, and bounds of its constraints."""
    written = study.document.data
    for entry in assumptions_of(study):
        section, _, field = entry.name.partition(".")
        fields = written.get(section)
        plain = entry.touched is None and entry.metric is None and entry.bound is None
        if plain and isinstance(fields, Mapping) and field in fields and entry.value > 0:
            first = entry.name in FIRST
            yield Slider(
                entry.name,
                entry.name,
                entry.quantity,
                entry.value,
                first=first,
                whole=entry.integer,
            )
    for place, constraint in enumerate(study.problem.constraints):
        bounds = thresholds_of(constraint)
        if len(bounds) == 1 and bounds[0].up != bounds[0].down and bounds[0].value > 0:
            path = f"constraints.{place}"
            (bound,) = bounds
            yield Slider(path, constraint.text, bound.name, bound.value, bound, first=True)
