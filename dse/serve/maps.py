"""A decision map for a served page, a few rows more with each request."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

from dse.algebra import units
from dse.api.changes import decision_map
from dse.files.json import json_text
from dse.page.sliders import Slider
from dse.parametric.decision_map import DecisionMap
from dse.parametric.flips import NOTHING_FITS
from dse.reports.drawing import FILLS
from dse.study.study import Study

SPAN = 4.0
"""Each number goes from its value divided by this to that multiplied by it."""

SLICE = "4 s"
"""CPU time of one request, so that answers come between two of them."""

MOST_MAPS = 8


class Maps:
    """Maps that pages have begun, each as its JSON, the latest few."""

    def __init__(self, time: str) -> None:
        """Begin without one; `time` is given to a map of which no row is known."""
        self._time = time
        self._known: dict[str, str] = {}

    def more(
        self, study: Study, numbers: tuple[Slider, Slider], prefer: str | None, within: str | None
    ) -> dict[str, Any]:
        """Return the map over two numbers of a study, with more rows than before.

        Raises
        ------
        DseError
            When it makes no sense, or there was no time for a row.
        """
        one, other = numbers
        key = json_text([study.document.data, one.path, other.path, prefer, within])
        before = self._known.get(key)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "map.json")
            if before is not None:
                file.write_text(before, encoding="utf-8")
            found = decision_map(
                study,
                _range(one),
                _range(other),
                prefer=prefer,
                tolerance=within,
                known=None if before is None else file,
                time=self._time if before is None else SLICE,
            )
        self._known[key] = json_text(found.to_dict())
        while len(self._known) > MOST_MAPS:
            self._known.pop(next(iter(self._known)))
        return _drawn(found, (one, other))


def _range(slider: Slider) -> str:
    ends = (slider.value / SPAN, slider.value * SPAN)
    if slider.whole:
        ends = (max(math.floor(ends[0]), 1.0), math.ceil(ends[1]))
    low, high = (units.exact_text(value, slider.quantity) for value in ends)
    return f"{slider.name}={low}..{high}"


def _drawn(found: DecisionMap, sliders: tuple[Slider, Slider]) -> dict[str, Any]:
    """Return what a page draws: areas by answer, each with a colour; numbers in SI."""
    answers = [name for name in found.shares if name != NOTHING_FITS]
    cells = [
        {"from": cell.low, "to": cell.high, "low": low, "high": high, "answer": name}
        for (low, high), row in zip(found.bands(), found.rows, strict=True)
        for name, cell in zip(row.names, row.intervals, strict=True)
    ]
    return {
        "axes": [slider.to_dict() for slider in sliders],
        "ends": found.ranges,
        "cells": cells,
        "colours": dict(zip(answers, FILLS, strict=False)),
        "shares": found.shares,
        "rows": len(found.rows),
        "more": bool(found.unfinished),
    }
