"""The picture of an infeasible study: how far its nearest design misses which constraint."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from dse.files.json import json_text
from dse.files.whole_folders import new_folder
from dse.model.tables import UNNAMED
from dse.reports.drawing import (
    FILLS,
    Picture,
    drawing,
    log_ticks,
    number_ticks,
    save_figure,
    settle,
)
from dse.reports.front_view import elided
from dse.reports.text import violation_text
from dse.runs.result import MISSED, PAGE
from dse.study.measuring import STORE, STORED, measuring

LONG = 10.0
"""From this violation on, relative to the limit, the axis is logarithmic."""
_LEAST = 1e-3
"""Where a logarithmic axis begins."""


def save_infeasible(question: str, facts: Mapping[str, Any], out: Path) -> None:
    """Write why nothing is feasible, the facts of an `InfeasibleError`, into a folder: `MISSED`.

    Raises
    ------
    OutputError
        When the folder holds something else, or cannot be written.
    """
    place = Path(os.path.realpath(out))
    measured = (place / STORE).is_file()
    with new_folder(out, (*MISSED, PAGE, *(STORED if measured else ()))) as folder:
        if measured:
            measuring().carry(place, folder)
        (folder / MISSED[0]).write_text(json_text(facts) + "\n", encoding="utf-8")
        with drawing():
            save_figure(_figure(question, facts), folder / Path(MISSED[1]).stem)


def _figure(question: str, facts: Mapping[str, Any]) -> Figure:
    figure = Picture()
    missed = {rule: by if by > 0 else 0.0 for rule, by in facts.get("violations", {}).items()}
    figure.set_size_inches(8.2, 2.1 + 0.36 * max(len(missed), 2))
    figure.suptitle(textwrap.fill(f"No feasible design: {question}", 76))
    if not missed:
        figure.text(0.5, 0.4, "no design was measured", ha="center", color="0.3")
        return figure
    axes = figure.add_subplot()
    finite = [by for by in missed.values() if math.isfinite(by)]
    most = max(finite, default=0.0) or 0.01
    log = most > LONG
    high = most * (most / _LEAST) ** 0.4 if log else 1.5 * most
    for row, (rule, by) in enumerate(missed.items()):
        end = 100 * (by if math.isfinite(by) else high)
        axes.barh(row, end, height=0.6, color=FILLS[3 if by else 0], linewidth=0)
        place = min(max(end, 100 * _LEAST if log else 0.0), 100 * high)
        side = 1 if _beyond(place, 100 * high, log) else -1
        axes.annotate(
            violation_text(by, rule),
            (place, row),
            (5 * side, 0),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center",
        )
    if log:
        axes.set_xscale("log")
        log_ticks(axes.xaxis, 100 * _LEAST, 100 * high)
    else:
        number_ticks(axes.xaxis)
    axes.set_xlim(100 * _LEAST if log else 0.0, 100 * high)
    axes.set_yticks(range(len(missed)), labels=[elided(rule) for rule in missed])
    axes.set_ylim(max(len(missed), 2) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    nearest = f"nearest design: {facts.get('nearest_design') or UNNAMED}"
    axes.set_xlabel("how far it misses a constraint [% of the limit]")
    figure.supxlabel(textwrap.fill(nearest, 95, max_lines=4), fontsize=9)
    settle(figure)
    return figure


def _beyond(end: float, high: float, log: bool) -> bool:
    """Return whether what is said of a bar fits beyond its end; it stands inside a long one."""
    if log:
        return math.log(end / (100 * _LEAST)) < 0.5 * math.log(high / (100 * _LEAST))
    return end < 0.5 * high
