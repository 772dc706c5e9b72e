"""The store of a run: its measurements lie in the folder of the run from the first one on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from dse.contract.evaluators import Ranges
from dse.errors import InfeasibleError, OutputError, StoreError, StudyError
from dse.files.document import Document
from dse.files.whole_folders import WorkingFolder
from dse.measure.measuring import FailingError
from dse.measure.record import Facts, require_same, resume_command, run_facts
from dse.measure.store import Store, StoreShelf, open_store, open_to_read
from dse.reports.text import plural
from dse.runs.measurements import retry_text
from dse.runs.run_files import MANIFEST
from dse.study.measuring import MEASURING, STORE, STORE_FILES, Keeping, StoredRun, time_measuring
from dse.study.search_section import Options


def kept_run(place: WorkingFolder, document: Document, options: Options) -> tuple[str, Keeping]:
    """Return the command that goes on with a run, and what keeps its measurements; as `begun`."""
    facts = begun(place, document, options)
    return resume_command(facts, place.target), keeping_in(place, document, options, facts)


def begun(place: WorkingFolder, document: Document, options: Options) -> dict[str, Any]:
    """Return what a run is; refuse to begin one over measurements that lie there.

    Raises
    ------
    OutputError
        Measurements lie there, and nobody said what becomes of them; or what is said of them
        makes no sense.
    """
    facts = run_facts(document, options)
    if options.resume and options.fresh:
        raise OutputError(
            "--resume goes on, and --fresh begins again; "
            "leave one of them out (`resume` and `fresh` in Python)"
        )
    if options.resume or options.fresh or not (place.place / STORE).is_file():
        return facts
    with open_to_read(place.place) as store:
        count = len(store)
    if not count:
        return facts
    what = "a" if (place.place / MANIFEST).is_file() else "an unfinished"
    raise OutputError(
        f"{place.target} holds {plural(count, 'measurement')} of {what} run; go on with it: "
        f"{resume_command(facts, place.target)}; or name another --out, or remove them with "
        f"--fresh (`out` and `fresh` in Python)"
    )


@contextmanager
def keeping_in(
    place: WorkingFolder,
    document: Document,
    options: Options,
    facts: Facts,
) -> Iterator[tuple[Document, Options]]:
    """Yield a study whose measurements are kept where its run will lie, and how it is run.

    `facts` are what the run is.  The note of an error that ends it says how to go on.

    Raises
    ------
    OutputError
        Measurements of another study lie there.
    StoreError
        They, or those of another run that are to be used, cannot be read.
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
        _begin(store, facts, place.target)
        shelves: list[StoreShelf] = []

        def shelf(identity: str, ranges: Ranges) -> StoreShelf:
            shelves.append(StoreShelf(store, identity, others, ranges))
            return shelves[-1]

        inside = replace(
            options,
            folder=folder / MEASURING,
            record=place.path / MANIFEST,
            spent_s=time_measuring(store.found.values()),
        )
        try:
            yield replace(document, shelves=shelf), inside
        except BaseException as error:
            _say_how_to_go_on(error, folder, resume_command(facts, place.target))
            raise
        finally:
            for each in shelves:
                each.reused = ()  # those stores are closed


def _begin(store: Store, facts: Facts, target: Path) -> None:
    """Write down what the run is, unless it goes on as it was."""
    require_same(store.facts, facts, target, len(store))
    if store.facts != facts:
        store.describe(facts)


def _say_how_to_go_on(error: BaseException, folder: Path, command: str) -> None:
    if isinstance(error, InfeasibleError | StudyError):
        return
    kept, in_vain = "what was measured is", isinstance(error, FailingError)
    with suppress(StoreError), open_to_read(folder) as seen:  # after a fault of the disk
        if not len(seen):
            return
        kept = f"{plural(len(seen), 'measurement')} {'is' if len(seen) == 1 else 'are'}"
        in_vain |= all(
            row.measurement.failed for row in seen.found.values()
        )  # so it would end again
    error.add_note(f"{kept} kept; {retry_text(folder) if in_vain else f'go on with: {command}'}")


def _remove_if_empty(folder: Path, made: Sequence[Path]) -> None:
    """Leave no store in which nothing is, nor folders that were made for it."""
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
    """Give the folder of a run what was kept where it will lie; nothing where nothing was."""
    if not (run / STORE).is_file():
        return
    with open_to_read(run) as store:
        store.copy_to(fresh)
    if (run / MEASURING).is_dir():
        shutil.copytree(run / MEASURING, fresh / MEASURING, symlinks=True, copy_function=_linked)


def _linked(source: str, target: str) -> None:
    """Let a file stand in another folder, too; what is no file, a socket say, is omitted."""
    if not os.path.isfile(source):
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def stored_run(folder: Path) -> StoredRun:
    """Return what lies in the store of a run, which may go on meanwhile.

    Raises
    ------
    StoreError
        It cannot be read, or does not say what the run is.
    """
    with open_to_read(folder) as store:
        facts = store.facts
        if facts is None:
            what = f"use what it has by: dse run STUDY --reuse {folder} --out NEW"
            begin = f"nothing is measured yet: dse run STUDY --out {folder}"
            remedy = what if len(store) else begin
            raise StoreError(f"{store.path} does not say of which study it is; {remedy}")
        command = resume_command(facts, folder)
        return StoredRun(folder, facts, tuple(store.found.values()), command)
