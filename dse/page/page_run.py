"""A finished run, read to be shown on a page."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.errors import OutputError
from dse.model.space import Index
from dse.reports.designs import described, parts
from dse.reports.front_view import ARROW, FrontView, kind_of, thinned
from dse.runs import finished
from dse.runs.finished import Finished, read_view
from dse.study.study import Study

COUNTED = re.compile(r"(?<!\S)(\d+) (?=\S)")
"""How many of a core, in the name of a fleet."""


@dataclass(frozen=True)
class PageRun:
    """A run as a page shows it.

    Attributes
    ----------
    name
        What the page calls it.
    view
        Its front, and the feasible designs around it.
    run
        The run as it was written.
    points
        The study and its front, for every value of the sweep, or the one study.
    """

    name: str
    view: FrontView
    run: Finished
    points: tuple[tuple[Study, Index], ...]

    @property
    def study(self) -> Study:
        """The study, at the first value of a sweep."""
        return self.points[0][0]

    @property
    def recommended(self) -> Index:
        """The recommended design (1, d); none, (0, d), for a sweep."""
        index = self.points[0][1]
        found = self.view.recommended
        return index[:0] if found is None else index[found.row : found.row + 1]

    @property
    def designs(self) -> list[str]:
        """What was chosen for each design of the front, in a line."""
        return [name for study, index in self.points for name in described(study.problem, index)]

    @property
    def kinds(self) -> list[str]:
        """The same without numbers of instances that follow from the rate."""
        return [
            ", ".join(chosen)
            for study, index in self.points
            for chosen in parts(study.problem, index, counts=False)
        ]


def read_page_run(folder: Path) -> PageRun:
    """Return the run in a folder.

    Raises
    ------
    OutputError
        When it is no run, or was changed after it was written.
    """
    run = finished.read_run(folder)
    points = run.points()
    view = read_view(folder)
    if run.sweep is not None and run.choices:
        order = [number for choice in run.choices for number in run.row_numbers(choice)]
        if order != list(range(len(run.rows))):
            raise OutputError(f"{folder}: front.csv is not in the order of the sweep")
    return PageRun(folder.resolve().name, view, run, tuple(points))


def with_fleets(view: FrontView) -> FrontView:
    """Return a front with what its fleets are made of as choices: the cores, and their number.

    Of a chain each stage has its own two; what is the same for every design is no choice.
    """
    stages = [name.split(ARROW) for name in view.names]
    if len({len(chain) for chain in stages}) != 1 or not COUNTED.match(view.names[0]):
        return view
    columns: dict[str, NDArray[Any]] = {}
    for fleets in zip(*stages, strict=True):
        stage = fleets[0].split()[-1].partition(".")[0] if len(stages[0]) > 1 else ""
        cores = [kind_of(fleet).replace(f"{stage}.", "") for fleet in fleets]
        counts = [sum(map(int, COUNTED.findall(fleet))) for fleet in fleets]
        columns[f"{stage} core".strip()] = np.array(cores, dtype=str)
        columns[f"{stage} instances".strip()] = np.array(counts, dtype=np.float64)
    varying = {name: values for name, values in columns.items() if len(np.unique(values)) > 1}
    return replace(view, front={**view.front, **varying}, axes=(*varying, *view.axes))


def drawn(run: PageRun, most: int) -> FrontView:
    """Return the front of a run as its page draws it, and at most `most` designs of its cloud."""
    view = with_fleets(run.view)
    goals = [name for name, _ in view.objectives]
    names = dict.fromkeys(name for name in (view.sweep, *view.axes, *goals, view.category) if name)
    cloud = thinned(view.cloud, most)
    return replace(
        view,
        front={name: view.front[name] for name in names},
        cloud={name: cloud[name] for name in (view.sweep, *goals) if name},
        names=run.designs,
    )
