"""The front so far of a run that goes on or was killed, as a finished run."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from dse import search
from dse.errors import OutputError
from dse.model.measured import MeasuredColumns
from dse.model.space import Index, Space, as_index, one_block
from dse.runs.limits import SO_FAR_BATCH, SO_FAR_DESIGNS
from dse.runs.runner import answer_of, points_of, with_quality
from dse.runs.solved import Run, SolvedStudy
from dse.search.archive import Archive
from dse.search.outcome import INTERRUPTED, Certificate
from dse.study import study
from dse.study.measuring import StoredRun
from dse.study.overrides import sweep_of
from dse.study.study import Study


def run_so_far(kept: StoredRun) -> Run:
    """Return a run so far, as if it had been interrupted, or raise `OutputError`."""
    begin, document = time.perf_counter(), kept.document
    sweep = sweep_of(document)
    first, *points = points_of(document, sweep)
    prepared = study.prepare(first)
    settings = replace(prepared.settings, **kept.facts["search"])
    every = [prepared, *(study.prepare(point, prepared) for point in points)]
    answers = [_answer(each, settings, kept.folder) for each in every]
    return Run(document, sweep, tuple(answers), settings, time.perf_counter() - begin)


def _answer(prepared: Study, settings: search.SearchSettings, folder: Path) -> SolvedStudy:
    problem, measured = prepared.problem, prepared.problem.measured
    if measured is None:
        raise OutputError(f"{folder} has measurements, and its study measures nothing")
    index = _known_designs(problem.space, measured, folder)
    planned = max(search.planned(problem, settings), len(index))
    archive = Archive(problem, total=planned)
    for first in range(0, len(index), SO_FAR_BATCH):
        archive.evaluate_new(index[first : first + SO_FAR_BATCH])
    reason = f"the run is not finished; {len(index):,} of {planned:,} evaluations are done"
    outcome = archive.outcome(Certificate(way=INTERRUPTED, reason=reason))
    ledger = replace(outcome.ledger, unknown=max(outcome.ledger.unknown, 1))  # it goes on
    return with_quality(answer_of(prepared, replace(outcome, ledger=ledger), 0.0))


def _require_few(count: int, folder: Path) -> None:
    if count > SO_FAR_DESIGNS:
        raise OutputError(
            f"{folder} is not finished, and its front so far would be of {count:,} designs; wait "
            f"for its end, or end it by Ctrl-C"
        )


def _known_designs(space: Space, measured: MeasuredColumns, folder: Path) -> Index:
    """Return the measured designs, (n, d), with every value of the other axes."""
    axes = [space.axes[place] for place in measured.axes]
    seen = [design for design, _ in measured.bench.seen.values()]
    found = [[axis.places[design[axis.name]] for axis in axes] for design in seen]
    known = np.array(found, dtype=np.int64).reshape(-1, len(axes))
    others = [place for place in range(len(space.axes)) if place not in measured.axes]
    block = one_block(tuple(space.axes[place].size for place in others))
    _require_few(len(known) * len(block), folder)
    index = np.empty((len(known) * len(block), len(space.axes)), dtype=np.int64)
    index[:, list(measured.axes)] = np.repeat(known, len(block), axis=0)
    index[:, others] = np.tile(as_index(block), (len(known), 1))
    return index
