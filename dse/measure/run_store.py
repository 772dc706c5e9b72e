"""The store of a run in its folder, from the first measurement on, with the record of the run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dse import search
from dse.contract.evaluators import Ranges, RecordedEvaluator, key
from dse.errors import InfeasibleError, OutputError, StoreError, StudyError, shortened, visible
from dse.files.document import EVALUATE, IN_MEMORY, Document
from dse.files.json import jsonable
from dse.files.whole_folders import WorkingFolder
from dse.files.yaml import flow_yaml
from dse.measure.measuring import FailingError
from dse.measure.store import Store, StoreCache, open_store, open_to_read
from dse.reports.text import plural
from dse.runs.measurements import retry_text
from dse.runs.record import MANIFEST
from dse.runs.solved import inputs_of
from dse.study import study
from dse.study.measuring import (
    MEASURING,
    STORE,
    STORE_FILES,
    RunRecord,
    RunSearch,
    StoredMeasurement,
    StoredRun,
    time_measuring,
)
from dse.study.overrides import Sweep, at_value, sweep_of
from dse.study.search_section import Options

_SAME = ("study", "search", "identity", "inputs")
"""Entries of the record that a resumed run shares with the earlier one."""

_RECORD = TypeAdapter(RunRecord)


def rows_in(folder: Path) -> Sequence[StoredMeasurement]:
    """Return the measurements in the folder of a run, none without a store."""
    if not os.path.lexists(folder / STORE):
        return ()
    with open_to_read(folder) as store:
        return tuple(store.found.values())


def run_record(document: Document, options: Options) -> RunRecord:
    """Return the record of a run."""
    sweep = sweep_of(document)
    prepared = study.prepare(document if sweep is None else at_value(document, sweep, 0))
    measured, settings = prepared.problem.measured, options.apply(prepared.settings)
    if measured is None:
        raise TypeError("a run of models keeps no record before its end")
    search.check_search(prepared.problem, settings)  # before a folder is made
    data = {name: part for name, part in document.data.items() if name != "search"}
    if isinstance(data.get(EVALUATE), dict):  # their number makes no difference
        data[EVALUATE] = {n: each for n, each in data[EVALUATE].items() if n != "workers"}
    found = RunRecord(
        study=data,
        search=RunSearch(**{one.name: getattr(settings, one.name) for one in fields(RunSearch)}),
        identity=measured.setup.evaluator.identity,
        inputs={name: entry.sha256 for name, entry in inputs_of([prepared]).items()},
        question=prepared.question,
        text=document.text,
        file=document.file if document.file == IN_MEMORY else os.path.abspath(document.file),
        overrides=[(path, str(value)) for path, value in document.overrides],
        planned=_planned(prepared, settings, sweep),
        unit_names=dict(measured.setup.unit_names),
        arguments=[*_arguments(options)],
    )
    return _RECORD.validate_python(json.loads(json.dumps(jsonable(asdict(found)))))  # as read back


def _planned(prepared: study.Study, settings: search.SearchSettings, sweep: Sweep | None) -> int:
    """Return the most designs that are measured, at all values of a sweep."""
    problem, measured = prepared.problem, prepared.problem.measured
    size = measured.size(problem.space) if measured else 0
    each = min(search.planned(problem, settings), size)
    if sweep is None or measured is None:
        return each
    own = {problem.space.axes[place].name for place in measured.axes}
    different = sweep.path.removeprefix("axes.") in own  # each value has other designs
    return each * len(sweep.values) if different else min(each * len(sweep.values), size)


def _arguments(options: Options) -> Iterator[str]:
    for name in ("method", "seed", "budget", "workers", "dask"):
        if (value := getattr(options, name)) is not None:
            yield from (f"--{name}", str(value))
    for folder in options.reuse:
        yield from ("--reuse", os.path.abspath(folder))


def resume_command(record: RunRecord, folder: Path) -> str:
    """Return the command that resumes a run, or the call if a function of Python measures."""
    section = record.study.get(EVALUATE)
    named = isinstance(section, dict) and {"command", "function"} & section.keys()
    if record.file == IN_MEMORY or not named:
        return f"dse.run(..., out={str(folder)!r}, resume=True), otherwise called as before"
    file = os.path.relpath(record.file)
    overrides = [f"--set={path}={value}" for path, value in record.overrides]
    known = record.file if file.startswith("..") else file
    command = ["dse", "run", known, *overrides, *record.arguments, "--out", str(folder)]
    return shlex.join([*command, "--resume"])


@contextmanager
def kept_run(
    place: WorkingFolder, document: Document, options: Options
) -> Iterator[tuple[Document, Options, str]]:
    """Yield a study whose measurements are kept, its options, and the command that resumes it.

    The note of an error that ends it has the command.

    Raises
    ------
    OutputError
        The folder has measurements, and `options` does not resume, or the study is another one.
    """
    record, folder = run_record(document, options), place.place
    resume = resume_command(record, place.target)
    if not options.resume and (count := len(rows_in(folder))):
        state = "a" if (folder / MANIFEST).is_file() else "an unfinished"
        raise OutputError(
            f"{place.target} holds {plural(count, 'measurement')} of {state} run; go on with it: "
            f"{resume}; or name another --out, or remove the folder (`out` in Python)"
        )
    lent: dict[str, StoredMeasurement] = {}
    for other in reversed(options.reuse):  # what failed there is tried again
        with open_to_read(other) as store:
            lent |= {n: row for n, row in store.found.items() if row.measurement.has_values}
    made = [above for above in (folder, *folder.parents) if not above.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with open_store(folder) as store:
            _require_same(store, record, place.target)
            spent_s = time_measuring(store.found.values())

            def cache(identity: str, ranges: Ranges) -> StoreCache:
                return StoreCache(store, identity, lent, ranges)

            inside = replace(options, folder=folder / MEASURING, spent_s=spent_s)
            try:
                yield replace(document, caches=cache), inside, resume
            except BaseException as error:
                _note_how_to_go_on(error, folder, resume)
                raise
    finally:
        _remove_if_empty(folder, made)


def _require_same(store: Store, record: RunRecord, folder: Path) -> None:
    """Store the record of a run, after a refusal to resume another one.

    Raises
    ------
    OutputError
        With a line for each changed field.
    """
    new = asdict(record)
    old = asdict(store.record) if store.record and len(store) else new
    changed = [line for name in _SAME for line in _changes(name, old[name], new[name])]
    if not changed:
        store.describe(record)
        return
    held, reuse, named = plural(len(store), "measurement"), "", ""
    means = f"what measures has changed, so that its {held} no longer hold: all is measured again"
    if old["identity"] == new["identity"]:
        reuse, named = f"--reuse {shlex.quote(str(folder))} ", "`reuse` and "
        means = f"what measures is the same, so that its {held} hold"
    lines = "\n".join(f"  {line}" for line in changed)
    raise OutputError(
        f"{folder} holds a run that was started otherwise; what changed:\n{lines}\n{means}; undo "
        f"the changes, or run the changed study in a folder of its own: {reuse}--out NEW "
        f"({named}`out` in Python)"
    )


def _changes(path: str, before: Any, after: Any) -> Iterator[str]:
    """Yield a line ``search.budget: 100 -> 200`` for each changed field of plain data."""
    if path == "identity" and isinstance(before, str):
        before, after = json.loads(before), json.loads(after)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            yield from _changes(f"{path}.{name}".lstrip("."), before.get(name), after.get(name))
        return
    texts = ["not set" if one is None else flow_yaml(one) for one in (before, after)]
    if texts[0] != texts[1]:
        yield f"{path}: " + " -> ".join(visible(shortened(text)) for text in texts)


def _note_how_to_go_on(error: BaseException, folder: Path, command: str) -> None:
    if isinstance(error, InfeasibleError | StudyError):
        return
    kept, in_vain = "what was measured is", isinstance(error, FailingError)
    with suppress(StoreError):  # after an error of the disk
        if not (rows := rows_in(folder)):
            return
        kept = f"{plural(len(rows), 'measurement')} {'is' if len(rows) == 1 else 'are'}"
        in_vain |= all(row.measurement.failed for row in rows)  # so it would end again
    error.add_note(f"{kept} kept; {retry_text(folder) if in_vain else f'go on with: {command}'}")


def _remove_if_empty(folder: Path, made: Sequence[Path]) -> None:
    """Remove a store without measurements, and the folders that were made for it."""
    with suppress(OSError, StoreError):
        if not rows_in(folder):
            for name in STORE_FILES:
                (folder / name).unlink(missing_ok=True)
            shutil.rmtree(folder / MEASURING, ignore_errors=True)
            for each in made:
                each.rmdir()


def carry(run: Path | None, recorded: RecordedEvaluator, fresh: Path) -> int:
    """Copy the measurements in the folder of a run, or else `recorded` ones, to a new folder.

    Returns their number.
    """
    if run is not None and (run / STORE).is_file():
        with open_to_read(run) as store:
            store.copy_to(fresh)
            count = len(store)
        if (run / MEASURING).is_dir():
            shutil.copytree(run / MEASURING, fresh / MEASURING, ignore=_odd, symlinks=True)
        return count
    pairs = {key(recorded.identity, design): (design, one) for design, one in recorded.found}
    with open_store(fresh) as store:
        store.keep(
            recorded.identity,
            {name: one for name, (_, one) in pairs.items()},
            {name: design for name, (design, _) in pairs.items()},
        )
    return len(pairs)


def _odd(folder: str, names: list[str]) -> list[str]:
    """Return the sockets and pipes among the names in a folder, which are not copied."""
    paths = {name: os.path.join(folder, name) for name in names}
    return [n for n, path in paths.items() if not (os.path.isfile(path) or os.path.isdir(path))]


def stored_run(folder: Path) -> StoredRun | None:
    """Return the content of the store of a run, which may go on meanwhile, None without a record.

    Raises
    ------
    StoreError
        It cannot be read.
    """
    with open_to_read(folder) as store:
        if store.record is None:
            return None
        command = resume_command(store.record, folder)
        return StoredRun(folder, store.record, tuple(store.found.values()), command)
