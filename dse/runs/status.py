"""How far a run is: what is measured, what runs, what failed, and how good it is so far."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dse.algebra.units import duration
from dse.contract.evaluators import key
from dse.errors import MeasurementError, OutputError, StudyError
from dse.files.whole_folders import under_way
from dse.model.evaluation import LEDGER, ledger_of
from dse.model.measured import MeasuredColumns, ledger_of_measured
from dse.model.space import design_text
from dse.model.volume import hypervolume, reference_point
from dse.reports.front_text import front_table
from dse.reports.front_view import plain_axes
from dse.reports.sections import Readable, Section
from dse.reports.text import plural
from dse.runs.finished import not_a_run, read_manifest
from dse.runs.limits import GROWTH_POINTS, GROWTH_SHARES, STATUS_ROWS
from dse.runs.measurements import retry_text
from dse.runs.run_files import MANIFEST, begun_manifest
from dse.runs.unfinished import run_so_far
from dse.study.measuring import STORE, StoredMeasurement, StoredRun, measuring, time_measuring

if TYPE_CHECKING:
    from dse.runs.solved import SolvedStudy


BARS = "▁▂▃▄▅▆▇█"


class Status(Readable):
    """How far a run is; as text it is what `dse status` prints."""

    @property
    def state(self) -> str:
        """One of ``running``, ``killed``, ``interrupted`` and ``finished``."""
        return str(self.sections[0].facts["state"])


def status_of(folder: Path) -> Status:
    """Return how far the run in a folder is, whether it goes on, was killed or is finished.

    Raises
    ------
    OutputError
        There is no run.
    StoreError
        Its measurements cannot be read.
    """
    writing = under_way(folder)
    alive = bool(writing and writing[1])
    watch = begun_manifest(writing[0]) if writing else {}
    manifest = read_manifest(folder) if os.path.lexists(folder / MANIFEST) else None
    if not (folder / STORE).is_file():
        if manifest is None and not alive:
            raise not_a_run(folder, FileNotFoundError(2, "no such file", MANIFEST))
        question = str(manifest["question"]) if manifest else ""
        return Status(question=question, preference="", sections=_plain(manifest, alive, watch))
    kept = measuring().stored(folder)
    state = _state(manifest, alive)
    found = [_state_section(kept, state, watch, manifest)]
    if alive and "running" in watch:
        found.append(_running(watch))
    found += _failed(kept)
    found += _so_far(kept, state)
    if state in ("killed", "interrupted"):
        failed = kept.rows and all(row.measurement.failed for row in kept.rows)
        said = retry_text(folder) if failed else f"go on with: {kept.resume}"
        found.append(Section("resume", lines=(said,), facts=kept.resume))
    question = str(kept.facts["run"]["question"])
    return Status(question=question, preference="", sections=tuple(found))


def _state(manifest: Mapping[str, Any] | None, alive: bool) -> str:
    if alive:
        return "running"
    if manifest is None:
        return "killed"
    return "interrupted" if manifest.get("interrupted") else "finished"


def _who(watch: Mapping[str, Any]) -> str:
    return f"process {watch['process']} on {watch['host']}" if watch else ""


def _plain(
    manifest: Mapping[str, Any] | None, alive: bool, watch: Mapping[str, Any]
) -> tuple[Section, ...]:
    """Return what is known of a run of models, which keeps nothing before its end."""
    facts: dict[str, Any] = {"state": _state(manifest, alive)}
    who = _who(watch) if alive else ""
    pairs = [("state", f"{facts['state']}, {who}" if who else str(facts["state"]))]
    if who:
        pairs.append(("study", str(watch.get("study_file", ""))))
    grown = watch.get("grown", []) if alive else []
    if grown:
        facts |= {name: watch[name] for name in ("done", "most")}
        pairs.append(("search", f"{facts['done']:,} of at most {plural(facts['most'], 'design')}"))
    if manifest is not None:
        names = ("evaluated", "designs", "front", "hypervolume", "wall_s")
        facts |= {name: manifest.get(name) for name in names}
        before = " by the run before" if alive else ""
        pairs += [
            ("designs", f"{facts['evaluated']:,} of {facts['designs']:,} evaluated{before}"),
            _front(manifest),
        ]
    remarks = (
        "nothing is measured, so that nothing is kept before the end: --resume (`resume` in "
        "Python) begins again",
    )
    rows = tuple(pairs)
    state = Section("state", rows=rows, facts=facts, remarks=remarks if alive else ())
    if not grown:
        return (state,)
    return state, _grown([at for at, _ in grown], [share for _, share in grown])


def _state_section(
    kept: StoredRun, state: str, watch: Mapping[str, Any], manifest: Mapping[str, Any] | None
) -> Section:
    rows = kept.rows
    designs = [row.measurement for row in rows]
    settings, planned = kept.facts["search"], kept.facts["run"]["planned"]
    ledger = ledger_of_measured(designs, unknown=max(planned - len(designs), 0))
    running, left = state == "running", planned - len(rows)
    times = _since(rows, watch) if running else []  # what is left is as fast as these
    facts = {
        "state": state,
        "measured": len(designs),
        "failed": ledger.failed,
        LEDGER: ledger.to_dict(),
        "planned": planned,
        "method": settings["method"],
        "seed": settings["seed"],
        "seconds_measuring": sum(one.seconds for one in designs if one.attempts),
        "spent_s": time_measuring(kept.rows),
        "left_s": left * max(times) / len(times) if times and left >= 0 else None,
        "process": watch.get("process") if running else None,
    }
    infeasible = f", {ledger.infeasible:,} of them infeasible" * bool(ledger.infeasible)
    done = f"{len(designs):,} of at most {planned:,}{infeasible}, {ledger.failed:,} of them failed"
    pairs = [
        ("state", _state_text(state, _who(watch))),
        ("search", f"{settings['method']}, seed {settings['seed']}"),
        ("measured", done),
        ("measuring", f"{duration(facts['seconds_measuring'])}, all measurements together"),
        *_spent(settings, facts),
    ]
    if running:
        pairs.append(("ETA", _left_text(facts["left_s"], times)))
    elif manifest is not None:
        pairs.append(_front(manifest))
    return Section("state", rows=tuple(pairs), facts=facts)


def _state_text(state: str, who: str) -> str:
    if state == "running" and who:
        return f"running, {who}"
    if state == "killed":
        return f"not finished, and no process works on it{f': {who} is gone' if who else ''}"
    return state


def _front(manifest: Mapping[str, Any]) -> tuple[str, str]:
    return "front", f"{plural(int(manifest['front']), 'design')}, {ledger_of(manifest).proof}"


def _spent(settings: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is spent and left of the budget of time."""
    if (time_s := settings.get("time_s")) is not None:
        left = duration(max(time_s - facts["spent_s"], 0.0))
        yield "time", f"{duration(facts['spent_s'])} of {duration(time_s)} spent, {left} left"


def _since(rows: Sequence[StoredMeasurement], watch: Mapping[str, Any]) -> list[float]:
    """Return the times from the beginning of this process to each of its measurements, in s."""
    begun = watch.get("since", math.inf)
    times = [datetime.fromisoformat(row.kept_at).timestamp() - begun for row in rows]
    return [each for each in times if each >= 0.0]


def _left_text(left_s: float | None, times: Sequence[float]) -> str:
    if left_s is None:
        return "unknown until the first measurement ends"
    return (
        f"at most {duration(left_s)} (pace of the {plural(len(times), 'measurement')} of this "
        f"process; without the search itself)"
    )


def _running(watch: Mapping[str, Any]) -> Section:
    now, running = time.time(), watch.get("running", [])
    rows = tuple(
        (
            design_text(one["design"], watch.get("unit_names", {})),
            f"since {duration(max(now - one['since'], 0.0))}",
        )
        for one in running[:STATUS_ROWS]
    )
    more = (f"and {len(running) - STATUS_ROWS} more",) if len(running) > STATUS_ROWS else ()
    title = f"running, {len(running)} of {plural(watch.get('workers', 1), 'worker')}"
    return Section("running", title, rows=rows, remarks=more, facts=running)


def _failed(kept: StoredRun) -> Iterator[Section]:
    causes: dict[str, list[StoredMeasurement]] = {}
    for row in kept.rows:
        if row.measurement.failed:
            causes.setdefault(row.measurement.cause, []).append(row)
    if not causes:
        return
    ordered = sorted(causes.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    lines = [
        f"{plural(len(some), 'design')}: {cause}; "
        + design_text(some[0].design, kept.unit_names(some[0]))
        + (f" and {len(some) - 1} more" if len(some) > 1 else "")
        for cause, some in ordered[:STATUS_ROWS]
    ]
    more = (f"and {len(ordered) - STATUS_ROWS} more causes",) if ordered[STATUS_ROWS:] else ()
    facts = {cause: [dict(row.design) for row in some] for cause, some in ordered}
    yield Section("failed", "failed", lines=tuple(lines), remarks=more, facts=facts)


def _so_far(kept: StoredRun, state: str) -> Iterator[Section]:
    """Yield the best designs so far, and how the front grew; or why there is none."""
    from dse.runs.result import Result

    try:
        run = run_so_far(kept)
    except (OutputError, MeasurementError, StudyError) as error:
        yield Section("front", "front so far", lines=(str(error),))
        return
    if not any(len(answer.outcome.front_index) for answer in run.answers):
        yield Section("front", "front so far", lines=("no feasible design",))
        return
    result = Result(run)
    section = front_table(
        result.shown, "front so far", STATUS_ROWS, written=state not in ("running", "killed")
    )
    yield Section(
        "front", section.title, section.lines, section.headers, section.rows,
        facts=result.to_dict()["designs_on_front"],
    )  # fmt: skip
    yield Section("axes", facts=plain_axes(result.shown))
    measured = run.first.problem.measured
    if len(run.answers) == 1 and measured is not None:
        yield _growth(run.answers[0], measured, kept.rows)


def _growth(
    answer: SolvedStudy, measured: MeasuredColumns, rows: Sequence[StoredMeasurement]
) -> Section:
    """Return the hypervolume over measurements, as a share of that of the front so far."""
    problem = answer.study.problem
    index = answer.outcome.sample_index
    number = {row.key: place for place, row in enumerate(rows, 1)}
    identity, designs = measured.bench.evaluator.identity, measured.designs(problem.space, index)
    order = [number.get(key(identity, design), len(rows) + 1) for design in designs]
    evaluation = problem.evaluate(index)
    front = answer.outcome.front_loss
    reference, ideal = reference_point(front), front.min(axis=0)
    whole = hypervolume(front, reference, ideal=ideal).value
    places = sorted(
        {round(each) for each in np.linspace(1, len(rows), min(GROWTH_POINTS, len(rows)))}
    )
    shares = []
    for place in places:
        some = evaluation.loss[evaluation.feasible & (np.array(order) <= place)]
        value = hypervolume(some, reference, ideal=ideal).value if len(some) else 0.0
        shares.append(value / whole if whole else 0.0)
    return _grown(places, shares, "measurement", hypervolume=whole)


def _grown(
    places: Sequence[int], shares: Sequence[float], by: str = "design", **facts: float
) -> Section:
    """Return the hypervolume over designs as a line of bars."""
    line = "".join(BARS[min(int(share * len(BARS)), len(BARS) - 1)] for share in shares)
    marked = [int(np.abs(np.array(places) - part * places[-1]).argmin()) for part in GROWTH_SHARES]
    numbers = ", ".join(f"{shares[at]:.3f} after {places[at]:,}" for at in dict.fromkeys(marked))
    found = {"evaluations": places, "share": shares} | facts
    title = f"hypervolume by {by} (latest = 1)"
    return Section("hypervolume", title, lines=(line, numbers), facts=found)
