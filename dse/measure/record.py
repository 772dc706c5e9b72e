"""The record of a run that measures, from its first second on: what it is, as plain data.

It lies in the store, so that the run can go on and be shown.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dse import search
from dse.errors import OutputError, shortened, visible
from dse.files.document import EVALUATE, IN_MEMORY, Document
from dse.files.json import jsonable
from dse.files.yaml import flow_yaml
from dse.model.measured import MeasuredColumns
from dse.model.problem import Problem
from dse.reports.text import plural
from dse.runs.limits import ALIKE_CHARACTERS
from dse.runs.solved import inputs_of
from dse.study import study
from dse.study.overrides import Sweep, at_value, sweep_of
from dse.study.search_section import Options

Facts = Mapping[str, Any]

_SAME = ("study", "search", "identity", "inputs")
"""What has to be as it was where a run goes on."""


def run_facts(document: Document, options: Options) -> dict[str, Any]:
    """Return what a run is: its study, how it is searched, what measures, how it was called."""
    sweep = sweep_of(document)
    prepared = study.prepare(document if sweep is None else at_value(document, sweep, 0))
    measured, settings = prepared.problem.measured, options.apply(prepared.settings)
    if measured is None:
        raise TypeError("a run of models keeps no record before its end")
    search.check_search(prepared.problem, settings)  # before --fresh removes anything
    data = {name: part for name, part in document.data.items() if name != "search"}
    if isinstance(data.get(EVALUATE), dict):  # how many at once makes no difference
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
        "identity": json.loads(measured.bench.evaluator.identity),
        "inputs": {name: entry.sha256 for name, entry in inputs_of([prepared]).items()},
        "run": {
            "question": prepared.question,
            "planned": _planned(prepared.problem, measured, settings, sweep),
            "text": document.text,
            "file": document.file if document.file == IN_MEMORY else os.path.abspath(document.file),
            "overrides": [list(pair) for pair in document.overrides],
            "identity": measured.bench.evaluator.identity,
            "unit_names": dict(measured.bench.unit_names),
            "arguments": [*_arguments(options)],
        },
    }
    plain: dict[str, Any] = json.loads(json.dumps(jsonable(found)))  # as it is read back
    return plain


def _planned(
    problem: Problem,
    measured: MeasuredColumns,
    settings: search.SearchSettings,
    sweep: Sweep | None,
) -> int:
    """Return how many designs are measured at most, by the search of each value."""
    size = measured.size(problem.space)
    each = min(search.planned(problem, settings), size)
    if sweep is None:
        return each
    own = {problem.space.axes[place].name for place in measured.axes}
    different = sweep.path.removeprefix("axes.") in own  # each value has designs of its own
    return each * len(sweep.values) if different else min(each * len(sweep.values), size)


def _arguments(options: Options) -> Iterator[str]:
    for name in ("method", "seed", "budget", "workers", "dask"):
        if (value := getattr(options, name)) is not None:
            yield from (f"--{name}", str(value))
    for folder in options.reuse:
        yield from ("--reuse", os.path.abspath(folder))


def resume_command(facts: Facts, folder: Path) -> str:
    """Return the command that goes on with a run."""
    run = facts["run"]
    function = "function" in facts["identity"]
    if function or run["file"] == IN_MEMORY:
        source = "STUDY" if run["file"] == IN_MEMORY else repr(run["file"])
        given = ["evaluate=FUNCTION"] if function else []
        said = [source, *given, f"out={str(folder)!r}", *_in_python(run), "resume=True"]
        return f"dse.run({', '.join(said)})"
    file = os.path.relpath(run["file"])
    overrides = [f"--set={path}={value}" for path, value in run["overrides"]]
    known = run["file"] if file.startswith("..") else file
    command = ["dse", "run", known, *overrides, *run["arguments"], "--out", str(folder)]
    return shlex.join([*command, "--resume"])


def _in_python(run: Facts) -> Iterator[str]:
    """Yield the arguments of a run as Python has them; the names are the same."""
    if run["overrides"]:
        yield f"overrides={dict(run['overrides'])!r}"
    values: dict[str, list[str | int]] = {}
    for name, value in zip(run["arguments"][::2], run["arguments"][1::2], strict=True):
        values.setdefault(name[2:], []).append(int(value) if value.isdigit() else value)
    yield from (f"{name}={(one if one[1:] else one[0])!r}" for name, one in values.items())


def require_same(before: Facts | None, now: Facts, folder: Path, count: int) -> None:
    """Refuse to go on with a run that was another one: what changed, and what that means.

    Raises
    ------
    OutputError
        With a line for each field.
    """
    old, new = ({name: (facts or {}).get(name, {}) for name in _SAME} for facts in (before, now))
    changed = changed_fields(old, new)
    if before is None or not changed:
        return
    held = plural(count, "measurement")
    reuse, named = "", ""
    if old["identity"] == new["identity"]:
        reuse, named = f"--reuse {shlex.quote(str(folder))} ", "`reuse`, "
        means = f"what measures is the same, so that its {held} hold; undo the changes"
    else:
        means = (
            f"what measures has changed, so that its {held} no longer hold: all is measured again; "
            f"undo the changes"
        )
    lines = "\n".join(f"  {line}" for line in changed)
    raise OutputError(
        f"{folder} holds a run that was started otherwise; what changed:\n{lines}\n{means}, or run "
        f"the changed study in a folder of its own: {reuse}--out "
        f"NEW, or begin again here: --fresh ({named}`out` and `fresh` in Python)"
    )


_NOTHING = object()


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return a line ``search.budget: 100 -> 200`` for each field of plain data that differs.

    Lists of one length that hold mappings are compared item by item, others as a whole.

    Examples
    --------
    >>> changed_fields({"seed": 1, "axes": {"u": [1, 2]}}, {"seed": 1, "axes": {"u": [1, 2, 4]}})
    ['axes.u: [1, 2] -> [1, 2, 4]']
    >>> changed_fields({"study": {}}, {"study": {"seed": 7}})
    ['study.seed: not set -> 7']
    """
    return [f"{path}: {_beside(old, new)}" for path, old, new in _changes("", before, after)]


def _changes(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            inside = f"{path}.{name}" if path else str(name)
            yield from _changes(inside, before.get(name, _NOTHING), after.get(name, _NOTHING))
    elif _is_itemised(before) and _is_itemised(after) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True), 1):
            yield from _changes(f"{path}.{number}", old, new)
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        yield path, before, after


def _is_itemised(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value)


def _beside(before: Any, after: Any) -> str:
    """Return both values; long ones that begin alike are shown from where they differ."""
    texts = ["not set" if value is _NOTHING else flow_yaml(value) for value in (before, after)]
    alike = next((at for at, (old, new) in enumerate(zip(*texts, strict=False)) if old != new), 0)
    if alike > ALIKE_CHARACTERS:
        texts = [f"...{text[alike - ALIKE_CHARACTERS // 2 :]}" for text in texts]
    return " -> ".join(visible(shortened(text)) for text in texts)
