"""Progress of a run: measured, running and failed designs, and the best so far."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from dse import search
from dse.algebra.units import duration
from dse.errors import MeasurementError, OutputError, StudyError
from dse.files.whole_folders import under_way
from dse.model.evaluation import LEDGER
from dse.model.measured import MeasuredColumns, ledger_of_measured
from dse.model.space import Index, Space, as_index, one_block
from dse.reports.front_text import designs_of, front_table, proof_of
from dse.reports.front_view import plain_axes
from dse.reports.sections import Readable, Section
from dse.reports.text import plural
from dse.runs.measurements import causes_of, causes_text, retry_text
from dse.runs.record import MANIFEST, begun_manifest, not_a_run, read_manifest
from dse.runs.result import Result
from dse.runs.runner import Run, SolvedStudy, answer_of, points_of
from dse.search.archive import Archive
from dse.search.outcome import INTERRUPTED, Certificate
from dse.study import study
from dse.study.measuring import STORE, StoredRun, measuring, time_measuring
from dse.study.overrides import sweep_of
from dse.study.study import Study

SO_FAR_DESIGNS = 1_000_000
"""Most designs of a front so far, if a measurement serves several."""

STATUS_ROWS = 5
"""Most designs of a front so far that are shown."""


class Status(Readable):
    """The progress of a run, printed by `dse status`."""

    @property
    def state(self) -> str:
        """Return ``running``, ``killed``, ``interrupted`` or ``finished``."""
        return str(self.sections[0].facts["state"])


def status_of(folder: Path) -> Status:
    """Return the progress of the run in a folder, or raise `OutputError` if there is none."""
    hidden, alive = under_way(folder) or (folder, False)
    watch = begun_manifest(hidden) if alive else {}
    manifest = read_manifest(folder) if os.path.lexists(folder / MANIFEST) else None
    kept = measuring().stored(folder) if os.path.lexists(folder / STORE) else None
    ended = ("finished", "interrupted")[manifest["interrupted"]] if manifest else "killed"
    state = "running" if alive else ended
    if kept is None:
        if state == "killed":
            raise not_a_run(folder, FileNotFoundError(2, "no such file", MANIFEST))
        question = str(manifest["question"]) if manifest else ""
        section = _of_models(state, watch, manifest)
        return Status(question=question, preference="", sections=(section,))
    sections = [_of_measurements(kept, state, watch, manifest), *_failed(kept)]
    sections += _so_far(kept, state)
    if state in ("killed", "interrupted"):
        failed = kept.rows and all(row.measurement.failed for row in kept.rows)
        line = retry_text(folder) if failed else f"go on with: {kept.resume}"
        sections.append(Section("resume", lines=(line,), facts=kept.resume))
    return Status(question=kept.record.question, preference="", sections=tuple(sections))


def _state_rows(
    state: str, watch: Mapping[str, Any], manifest: Mapping[str, Any] | None
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the rows of a state in words, and of the front of a finished run."""
    shown = {
        "running": f"running, process {watch['process']} on {watch['host']}" if watch else state,
        "killed": "not finished, and no process works on it",
    }.get(state, state)
    if manifest is None:
        return [("state", shown)], []
    count = plural(int(manifest["front"]), "design")
    return [("state", shown)], [("front", f"{count}, {proof_of(manifest)}")]


def _of_models(state: str, watch: Mapping[str, Any], manifest: Mapping[str, Any] | None) -> Section:
    """Return the state of a run of models, which keeps nothing before its end."""
    rows, front = _state_rows(state, watch, manifest)
    if state == "running" or manifest is None:
        row = "study", str(watch.get("study_file", ""))
        return Section("state", rows=(*rows, row), facts={"state": state})
    names = ("evaluated", "designs", "front", "hypervolume", "wall_s")
    facts = {"state": state} | {name: manifest[name] for name in names if name in manifest}
    done = f"{manifest['evaluated']:,} of {designs_of(manifest):,} evaluated"
    return Section("state", rows=(*rows, ("designs", done), *front), facts=facts)


def _of_measurements(
    kept: StoredRun, state: str, watch: Mapping[str, Any], manifest: Mapping[str, Any] | None
) -> Section:
    designs = [row.measurement for row in kept.rows]
    settings, planned = kept.record.search, kept.record.planned
    ledger = ledger_of_measured(designs, unknown=max(planned - len(designs), 0))
    begun, left = watch.get("since", math.inf), planned - len(designs)
    times = [row.kept_at - begun for row in kept.rows if row.kept_at >= begun]  # of this process
    facts: dict[str, Any] = {
        "state": state,
        "measured": len(designs),
        "failed": ledger.failed,
        LEDGER: ledger.to_dict(),
        "planned": planned,
        "method": settings.method,
        "seed": settings.seed,
        "seconds_measuring": sum(one.seconds for one in designs if one.attempts),
        "spent_s": time_measuring(kept.rows),
        "left_s": left * max(times) / len(times) if times and left >= 0 else None,
        "process": watch.get("process"),
    }
    infeasible = f", {ledger.infeasible:,} of them infeasible" * bool(ledger.infeasible)
    done = f"{len(designs):,} of at most {planned:,}{infeasible}, {ledger.failed:,} of them failed"
    rows, front = _state_rows(state, watch, manifest)
    rows += [
        ("search", f"{settings.method}, seed {settings.seed}"),
        ("measured", done),
        ("measuring", f"{duration(facts['seconds_measuring'])}, all measurements together"),
    ]
    if (most := settings.time_s) is not None:
        spent, left_s = facts["spent_s"], duration(max(most - facts["spent_s"], 0.0))
        rows.append(("time", f"{duration(spent)} of {duration(most)} spent, {left_s} left"))
    if state == "running":
        known = facts["left_s"] is not None
        text = f"at most {duration(facts['left_s'])}" if known else "unknown until a first design"
        front = [("ETA", text)]
    return Section("state", rows=(*rows, *front), facts=facts)


def _failed(kept: StoredRun) -> Iterator[Section]:
    pairs = ((row.design, row.measurement) for row in kept.rows)
    if causes := causes_of(pairs, failed=True):
        lines = tuple(causes_text(causes, kept.record.unit_names))
        facts = {cause: [*map(dict, designs)] for cause, designs in causes.items()}
        yield Section("failed", "failed", lines=lines, facts=facts)


def _so_far(kept: StoredRun, state: str) -> Iterator[Section]:
    """Yield the best designs so far, or the reason why there is none."""
    try:
        run = run_so_far(kept)
    except (OutputError, MeasurementError, StudyError) as error:
        yield Section("front", "front so far", lines=(str(error),))
        return
    if not any(len(answer.outcome.front_index) for answer in run.answers):
        yield Section("front", "front so far", lines=("no feasible design",))
        return
    result = Result(run)
    written = state not in ("running", "killed")
    table = front_table(result.shown, "front so far", STATUS_ROWS, written=written)
    designs = result.to_dict()["designs_on_front"]
    yield Section("front", table.title, table.lines, table.headers, table.rows, facts=designs)
    yield Section("axes", facts=plain_axes(result.shown))


def run_so_far(kept: StoredRun) -> Run:
    """Return a run so far, as if it had been interrupted, or raise `OutputError`."""
    begin, document = time.perf_counter(), kept.document
    sweep = sweep_of(document)
    every = [study.prepare(point) for point in points_of(document, sweep)]
    settings = replace(every[0].settings, **asdict(kept.record.search))
    answers = [_answer(each, settings, kept.folder) for each in every]
    return Run(document, sweep, tuple(answers), settings, time.perf_counter() - begin)


def _answer(prepared: Study, settings: search.SearchSettings, folder: Path) -> SolvedStudy:
    problem, measured = prepared.problem, prepared.problem.measured
    if measured is None:
        raise OutputError(f"{folder} has measurements, and its study measures nothing")
    index = _known_designs(problem.space, measured, folder)
    planned = max(search.planned(problem, settings), len(index))
    archive = Archive(problem, total=planned)
    if len(index):
        archive.evaluate_new(index)
    reason = f"the run is not finished; {len(index):,} of {planned:,} evaluations are done"
    outcome = archive.outcome(Certificate(way=INTERRUPTED, reason=reason))
    ledger = replace(outcome.ledger, unknown=max(outcome.ledger.unknown, 1))  # it goes on
    return answer_of(prepared, replace(outcome, ledger=ledger), 0.0)


def _known_designs(space: Space, measured: MeasuredColumns, folder: Path) -> Index:
    """Return the measured designs, (n, d), with every value of the other axes."""
    axes = [space.axes[place] for place in measured.axes]
    seen = [design for design, _ in measured.setup.seen.values()]
    found = [[axis.places[design[axis.name]] for axis in axes] for design in seen]
    known = np.array(found, dtype=np.int64).reshape(-1, len(axes))
    others = [place for place in range(len(space.axes)) if place not in measured.axes]
    block = one_block(tuple(space.axes[place].size for place in others))
    count = len(known) * len(block)
    if count > SO_FAR_DESIGNS:
        raise OutputError(
            f"{folder} is not finished, and its front so far would be of {count:,} designs; wait "
            f"for its end, or end it by Ctrl-C"
        )
    index = np.empty((count, len(space.axes)), dtype=np.int64)
    index[:, list(measured.axes)] = np.repeat(known, len(block), axis=0)
    index[:, others] = np.tile(as_index(block), (len(known), 1))
    return index
