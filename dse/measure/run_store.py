"""The store of a run in its folder, from the first measurement on, with the record of the run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from dse import search
from dse.contract.evaluators import Ranges
from dse.errors import InfeasibleError, OutputError, StoreError, StudyError, shortened, visible
from dse.files.document import EVALUATE, IN_MEMORY, Document
from dse.files.json import jsonable
from dse.files.whole_folders import WorkingFolder
from dse.files.yaml import flow_yaml
from dse.measure.measuring import FailingError
from dse.measure.store import Store, StoreCache, open_store, open_to_read
from dse.reports.text import plural
from dse.runs.measurements import retry_text
from dse.runs.run_files import MANIFEST
from dse.runs.solved import inputs_of
from dse.study import study
from dse.study.measuring import MEASURING, STORE, STORE_FILES, Keeping, StoredRun, time_measuring
from dse.study.overrides import Sweep, at_value, sweep_of
from dse.study.search_section import Options

Facts = Mapping[str, Any]

_SAME = ("study", "search", "identity", "inputs")
"""Entries of the record that a resumed run shares with the earlier one."""


def kept_run(place: WorkingFolder, document: Document, options: Options) -> tuple[str, Keeping]:
    """Return the command that resumes a run, and a context that keeps its measurements.

    Raises
    ------
    OutputError
        The folder has measurements, and `options` neither resumes nor removes them, or both.
    """
    facts = run_facts(document, options)
    resume = resume_command(facts, place.target)
    if options.resume and options.fresh:
        raise OutputError(
            "--resume goes on, and --fresh begins again; "
            "leave one of them out (`resume` and `fresh` in Python)"
        )
    count = 0
    if not (options.resume or options.fresh) and (place.place / STORE).is_file():
        with open_to_read(place.place) as store:
            count = len(store)
    if count:
        state = "a" if (place.place / MANIFEST).is_file() else "an unfinished"
        raise OutputError(
            f"{place.target} holds {plural(count, 'measurement')} of {state} run; go on with it: "
            f"{resume}; or name another --out, or remove them with --fresh (`out` and `fresh` in "
            f"Python)"
        )
    return resume, _keeping(place, document, options, facts)


def run_facts(document: Document, options: Options) -> dict[str, Any]:
    """Return the record of a run: study, search, evaluator, arguments."""
    sweep = sweep_of(document)
    prepared = study.prepare(document if sweep is None else at_value(document, sweep, 0))
    measured, settings = prepared.problem.measured, options.apply(prepared.settings)
    if measured is None:
        raise TypeError("a run of models keeps no record before its end")
    search.check_search(prepared.problem, settings)  # before --fresh removes anything
    data = {name: part for name, part in document.data.items() if name != "search"}
    if isinstance(data.get(EVALUATE), dict):  # their number makes no difference
        data[EVALUATE] = {n: each for n, each in data[EVALUATE].items() if n != "workers"}
    found = {
        "study": data,
        "search": {
            "method": settings.method,
            "seed": settings.seed,
            "budget": settings.budget,
            "options": dict(settings.options),
            **({} if settings.time_s is None else {"time_s": settings.time_s}),
        },
        "identity": json.loads(measured.setup.evaluator.identity),
        "inputs": {name: entry.sha256 for name, entry in inputs_of([prepared]).items()},
        "run": {
            "question": prepared.question,
            "planned": _planned(prepared, settings, sweep),
            "text": document.text,
            "file": document.file if document.file == IN_MEMORY else os.path.abspath(document.file),
            "overrides": [list(pair) for pair in document.overrides],
            "identity": measured.setup.evaluator.identity,
            "unit_names": dict(measured.setup.unit_names),
            "arguments": [*_arguments(options)],
        },
    }
    plain: dict[str, Any] = json.loads(json.dumps(jsonable(found)))  # as it is read back
    return plain


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


def resume_command(facts: Facts, folder: Path) -> str:
    """Return the command that resumes a run, or the call if a function of Python measures."""
    run = facts["run"]
    if run["file"] == IN_MEMORY or "function" in facts["identity"]:
        return f"dse.run(..., out={str(folder)!r}, resume=True), otherwise called as before"
    file = os.path.relpath(run["file"])
    overrides = [f"--set={path}={value}" for path, value in run["overrides"]]
    known = run["file"] if file.startswith("..") else file
    command = ["dse", "run", known, *overrides, *run["arguments"], "--out", str(folder)]
    return shlex.join([*command, "--resume"])


@contextmanager
def _keeping(
    place: WorkingFolder, document: Document, options: Options, facts: Facts
) -> Iterator[tuple[Document, Options]]:
    """Yield a study whose measurements are kept in the folder of its run, and its options.

    The note of an error that ends it has the command to go on.
    """
    folder = place.place
    with ExitStack() as opened:
        others = tuple(opened.enter_context(open_to_read(other)) for other in options.reuse)
        if options.fresh:
            _remove(folder)
        made = [above for above in (folder, *folder.parents) if not above.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        opened.callback(_remove_if_empty, folder, made)
        store = opened.enter_context(open_store(folder))
        _require_same(store, facts, place.target)
        caches: list[StoreCache] = []

        def cache(identity: str, ranges: Ranges) -> StoreCache:
            caches.append(StoreCache(store, identity, others, ranges))
            return caches[-1]

        inside = replace(
            options,
            folder=folder / MEASURING,
            record=place.path / MANIFEST,
            spent_s=time_measuring(store.found.values()),
        )
        try:
            yield replace(document, caches=cache), inside
        except BaseException as error:
            _note_how_to_go_on(error, folder, resume_command(facts, place.target))
            raise
        finally:
            for each in caches:
                each.reused = ()  # those stores are closed


def _require_same(store: Store, facts: Facts, folder: Path) -> None:
    """Store the record of a run, after a refusal to resume another one.

    Raises
    ------
    OutputError
        With a line for each changed field.
    """
    old, new = ({name: (one or {}).get(name, {}) for name in _SAME} for one in (store.facts, facts))
    changed = [*_changes("", old, new)]
    if store.facts is None or not changed:
        if store.facts != facts:
            store.describe(facts)
        return
    held, reuse, named = plural(len(store), "measurement"), "", ""
    means = f"what measures has changed, so that its {held} no longer hold: all is measured again"
    if old["identity"] == new["identity"]:
        reuse, named = f"--reuse {shlex.quote(str(folder))} ", "`reuse`, "
        means = f"what measures is the same, so that its {held} hold"
    lines = "\n".join(f"  {line}" for line in changed)
    raise OutputError(
        f"{folder} holds a run that was started otherwise; what changed:\n{lines}\n{means}; undo "
        f"the changes, or run the changed study in a folder of its own: {reuse}--out NEW, or begin "
        f"again here: --fresh ({named}`out` and `fresh` in Python)"
    )


def _changes(path: str, before: Any, after: Any) -> Iterator[str]:
    """Yield a line ``search.budget: 100 -> 200`` for each changed field of plain data."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            inside = f"{path}.{name}" if path else str(name)
            yield from _changes(inside, before.get(name), after.get(name))
        return
    texts = ["not set" if one is None else flow_yaml(one) for one in (before, after)]
    if texts[0] != texts[1]:
        yield f"{path}: " + " -> ".join(visible(shortened(text)) for text in texts)


def _note_how_to_go_on(error: BaseException, folder: Path, command: str) -> None:
    if isinstance(error, InfeasibleError | StudyError):
        return
    kept, in_vain = "what was measured is", isinstance(error, FailingError)
    with suppress(StoreError), open_to_read(folder) as seen:  # after an error of the disk
        if not len(seen):
            return
        kept = f"{plural(len(seen), 'measurement')} {'is' if len(seen) == 1 else 'are'}"
        rows = seen.found.values()
        in_vain |= all(row.measurement.failed for row in rows)  # so it would end again
    error.add_note(f"{kept} kept; {retry_text(folder) if in_vain else f'go on with: {command}'}")


def _remove_if_empty(folder: Path, made: Sequence[Path]) -> None:
    """Remove a store without measurements, and the folders that were made for it."""
    with suppress(OSError, StoreError):
        with open_to_read(folder) as store:
            if len(store):
                return
        _remove(folder)
        for each in made:
            each.rmdir()


def _remove(folder: Path) -> None:
    for name in STORE_FILES:
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / MEASURING, ignore_errors=True)


def carry(run: Path, fresh: Path) -> None:
    """Copy the measurements in the folder of a run, if any, to another one."""
    if not (run / STORE).is_file():
        return
    with open_to_read(run) as store:
        store.copy_to(fresh)
    if (run / MEASURING).is_dir():
        shutil.copytree(run / MEASURING, fresh / MEASURING, symlinks=True, copy_function=_linked)


def _linked(source: str, target: str) -> None:
    """Link or copy a file.  Sockets and pipes are omitted."""
    if not os.path.isfile(source):
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def stored_run(folder: Path) -> StoredRun:
    """Return the content of the store of a run, which may go on meanwhile.

    Raises
    ------
    StoreError
        It cannot be read, or has no record of the run.
    """
    with open_to_read(folder) as store:
        facts = store.facts
        if facts is None:
            reuse = f"use what it has by: dse run STUDY --reuse {folder} --out NEW"
            begin = f"nothing is measured yet: dse run STUDY --out {folder}"
            remedy = reuse if len(store) else begin
            raise StoreError(f"{store.path} does not say of which study it is; {remedy}")
        command = resume_command(facts, folder)
        return StoredRun(folder, facts, tuple(store.found.values()), command)
