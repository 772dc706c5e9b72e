"""Whether a recommended design lies where the study stops trying: a better one may lie beyond."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.files.document import stage_name
from dse.model.space import Axis
from dse.study import sections
from dse.study.evaluated import is_evaluated
from dse.study.study import Study


def boundary_notes(study: Study, design: NDArray[np.int64]) -> Iterator[str]:
    """Yield a note for each axis with an order at whose end a design (d,) lies.

    Omitted are ends beyond which there is nothing: one of what is counted, no instances, the top
    clock, counts that end where the design alone carries the rate, and tables of designs that are
    evaluated already.
    """
    for axis, position in zip(study.problem.space.axes, design.tolist(), strict=True):
        inside = not axis.ordered or axis.size < 2 or 0 < position < axis.size - 1 or position < 0
        if inside or is_evaluated(study.document) or _is_all(study, axis, position):
            continue
        last, further = ("last", "higher") if position else ("first", "lower")
        value = axis.labels[position]
        if axis.unit_name in axis.columns:
            value = units.show(float(axis.columns[axis.unit_name][position]), axis.unit_name)
        yield (
            f"{axis.name} = {value} is the {last} of the {axis.size} values that the study tries, "
            f"and a better design may lie beyond: add {further} ones"
        )


def _is_all(study: Study, axis: Axis, position: int) -> bool:
    """Tell whether an axis ends at a position because there is nothing beyond."""
    counted = sections.FIELDS.get(axis.name)
    if counted and counted.integer and axis.columns[axis.unit_name][position] <= 1:
        return True
    stage, _, field = axis.name.partition(".")
    if stage not in {one.name for one in study.problem.stages}:
        return False
    if field == "clock":
        return float(axis.columns[axis.unit_name][position]) == 1.0
    written = study.document.data.get("stages") or ()
    limits = {
        stage_name(one) or f"stage_{number + 1}": one.get("instances")
        for number, one in enumerate(written)
    }
    return position == 0 or limits.get(stage) in (None, "least")
