"""What is wrong with each part of a study by itself, where others have faults already.

Nothing is added that only follows from a fault found before: what depends on several parts, such
as whether a study can compute an objective, waits until each of them is readable.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from dse.algebra import units
from dse.algebra.expression import parse_expression
from dse.contract import Method, Objective
from dse.errors import StudyError, UnitError, nearest
from dse.files.document import Document, is_record
from dse.model.evaluation import KNEE
from dse.plugins import registry
from dse.study.environment import RECORDS, check_axis, resolve
from dse.study.overrides import check_shape
from dse.study.quantities import must_compare
from dse.study.reader import MISSING, Path, Reader, lookup, validate_as
from dse.study.scenario import Scenario
from dse.study.schema import StudyFile
from dse.study.search_section import check_search_section, share_of_best
from dse.study.stages import Chosen, build

_OF_A_STUDY = re.compile(r"\b(?:workload|interface|kernel|budget)_")
"""Columns that some studies have and others lack."""

_NAMED = {tuple(path.split(".")): kind for path, (kind, _) in RECORDS.items()}
_NAMED[("search", "method")] = Method

_TOGETHER = {(), *((name,) for name in ("workload", "interface", "budget", "axes", "evaluate"))}
"""Sections that are checked together, where none of them has a fault of shape."""


def every_fault(document: Document, found: StudyError, choose: Chosen) -> StudyError:
    """Return the faults of shape, or of the sweep, `found` in a study with those of the rest."""
    reader = Reader(document)
    validate_as(StudyFile, reader)
    reader.faults += (fault for fault in found.faults if fault not in reader.faults)
    for path, kind in _NAMED.items():
        name = lookup(reader.document.data, path)
        if isinstance(name, str) and not is_record(name):
            with reader.at(path):
                registry.get(kind, name)
    _check_readable(reader, choose)
    check_words(reader)
    return StudyError(reader.faults)


def _check_readable(reader: Reader, choose: Chosen) -> None:
    """Add what is wrong with axes, stages and the search, as far as they are readable."""
    data = reader.document.data
    together = not (data.get("sweep") or any(path[:1] in _TOGETHER for path in reader.paths))
    models = "evaluate" not in data
    readable = replace(reader.document, data=_readable(reader))
    rest = replace(reader, document=readable)  # which shares what is found
    try:
        written = StudyFile.model_validate(rest.document.data)
    except ValidationError:
        return
    with rest.at(()):
        check_shape(rest.document)
    if together:
        resolve(written, rest)
    else:
        for axis, values in written.axes.items():
            check_axis(axis, values, rest, own=not models)
    rate = {"workload_rate_bit_per_s": 1.0}  # a rate that is missing is no fault of stages
    build(written, choose, Scenario(constants=rate), rest)
    if models:
        check_search_section(written, rest)


def _readable(reader: Reader) -> dict[str, Any]:
    """Return the data of a study without the parts that have faults."""
    data = copy.deepcopy(reader.document.data)
    removed: set[Path] = set()
    for path in reader.paths:
        if any(path[:length] in removed for length in range(len(path) + 1)):
            continue
        while path and (isinstance(path[-1], int) or lookup(data, path) is MISSING):
            path = path[:-1]  # what needs the missing key, or the list: other items keep places
        if path:
            removed.add(path)
            del lookup(data, path[:-1])[path[-1]]
    data["objectives"] = data.get("objectives") or {"area": "minimise"}
    return data


def check_words(reader: Reader) -> None:
    """Add what is wrong with objectives, constraints, `prefer` and `tolerance` in any study.

    Evaluated designs and what measures bring quantities of their own: of those nothing is said
    before they are read.
    """
    data = reader.document.data
    if data.get("tolerance") is not None:
        with reader.at(("tolerance",)):
            share_of_best(data["tolerance"])
    if data.get("evaluate") is not None or data.get("designs") is not None:
        return
    known = set(registry.names(Objective))
    stems = {units.stem(name): name for name in sorted(known)}
    objectives = data.get("objectives")
    for name in objectives if isinstance(objectives, dict) else ():
        where = ("objectives", name)
        if (
            name not in known | stems.keys()
            and where not in reader.paths
            and not _OF_A_STUDY.match(name)
        ):
            reader.fault(where, "this quantity is not known", nearest(name, stems), repr(name))
    constraints = data.get("constraints")
    for place, text in enumerate(constraints if isinstance(constraints, list) else ()):
        _check_text(("constraints", place), text, known, reader)
    if data.get("prefer") != KNEE:
        _check_text(("prefer",), data.get("prefer"), known, reader)


def _check_text(path: Path, text: Any, known: set[str], reader: Reader) -> None:
    """Add the fault of an expression, if it has one whatever the study is."""
    if not isinstance(text, str) or path in reader.paths or _OF_A_STUDY.search(text):
        return
    failures = []
    for names in _meanings(text, known):
        try:
            expression = parse_expression(text, names)
            if path[0] == "constraints":
                must_compare(expression)
        except UnitError as error:
            failures.append(error)
        else:
            return
    with reader.at(path):
        raise failures[0]


def _meanings(text: str, known: set[str]) -> Iterator[set[str]]:
    """Yield the quantities that a text may name: an area is in m2, or else in another unit."""
    words = set(re.findall(r"\w+", text))
    called: dict[str, set[str]] = {}
    for name in known:
        called.setdefault(units.stem(name), set()).add(name)
    several = [names for stem, names in called.items() if stem in words and len(names) > 1]
    if not several:
        yield known
    for names in several:
        for name in sorted(names, reverse=True):
            yield known - names | {name}
