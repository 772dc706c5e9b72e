"""From a document to a study of the right shape, or all that is wrong with it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from dse.algebra import units
from dse.algebra.expression import parse_expression
from dse.contract import Core, Interface, Kernel, Method, Objective, Platform
from dse.errors import StudyError, UnitError, nearest
from dse.files.document import Document, is_record
from dse.model.evaluation import KNEE
from dse.plugins import registry
from dse.study.faults import Faults, Path, lookup, validate_as
from dse.study.schema import StudyFile

_OF_A_STUDY = re.compile(r"\b(?:workload|interface|kernel|budget)_")
"""Columns that some studies have and others lack."""


def validate(document: Document) -> StudyFile:
    """Return the study of a document.

    Raises
    ------
    StudyError
        With every fault of its shape: unknown and missing keys, wrong types, wrong units; then
        with those of names, too.
    """
    faults = Faults(document)
    study = validate_as(StudyFile, faults)
    if study is None:
        _check_plugins(faults)
        check_rest(faults)
        raise StudyError(faults.found)
    return study


def not_a_count(scalar: Any) -> UnitError:
    """Return what is wrong with a number of instances that is none."""
    return UnitError(f"{scalar!r} is not a number of instances", "write whole numbers, or `least`")


def check_rest(faults: Faults) -> None:
    """Add what is wrong with counts of instances, objectives, constraints and `prefer`."""
    _check_counts(faults)
    _check_words(faults)


def _check_words(faults: Faults) -> None:
    """Add what objectives, constraints and `prefer` name that is no quantity of any study.

    Evaluated designs and what measures bring quantities of their own: of those nothing is said
    before they are read.
    """
    data = faults.document.data
    if data.get("evaluate") is not None or data.get("designs") is not None:
        return
    known = set(registry.names(Objective))
    stems = Counter(map(units.stem, known))
    either = {stem for stem, quantities in stems.items() if quantities > 1}  # the study tells which
    objectives = data.get("objectives")
    for name in objectives if isinstance(objectives, dict) else ():
        if name not in known | stems.keys() and not _OF_A_STUDY.match(name):
            rule = "this quantity is not known"
            faults.add(("objectives", name), rule, nearest(name, stems), repr(name))
    constraints = data.get("constraints")
    texts: list[tuple[Path, Any]] = [
        (("constraints", place), text)
        for place, text in enumerate(constraints if isinstance(constraints, list) else ())
    ]
    if data.get("prefer") != KNEE:
        texts.append((("prefer",), data.get("prefer")))
    for path, text in texts:
        if isinstance(text, str) and not _OF_A_STUDY.search(text):
            if either & set(re.findall(r"\w+", text)):
                continue
            with faults.at(path):
                parse_expression(text, known)


def _stages(data: Any) -> list[dict[str, Any]]:
    stages = data.get("stages")
    listed = stages if isinstance(stages, list) else []
    return [one if isinstance(one, dict) else {} for one in listed]


def _check_plugins(faults: Faults) -> None:
    """Look up the names of plug-ins."""
    data = faults.document.data
    named: list[tuple[Path, type]] = [
        (("stages", position, "core"), Core) for position in range(len(_stages(data)))
    ]
    named += [(("interface", "device"), Interface), (("budget", "platform"), Platform)]
    named += [(("workload", "kernel"), Kernel), (("search", "method"), Method)]
    for path, kind in named:
        name = lookup(data, path)
        if isinstance(name, str) and not is_record(name):
            with faults.at(path):
                registry.get(kind, name)


def _check_counts(faults: Faults) -> None:
    """Look at numbers of instances that are words."""
    for position, stage in enumerate(_stages(faults.document.data)):
        count = stage.get("instances")
        if isinstance(count, str) and count != "least":
            path = ("stages", position, "instances")
            error = not_a_count(count)
            faults.add(path, error.rule, error.remedy)
