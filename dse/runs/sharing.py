"""Searching a study with other processes, through a storage of Optuna that all of them reach."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dse.contract import Method
from dse.errors import DseError, MissingLibraryError
from dse.files.document import Document
from dse.files.json import jsonable
from dse.plugins import registry
from dse.reports.words import listed, plural
from dse.search import Outcome, Progress, SearchSettings, run_method
from dse.search.heuristic.start import coarse_grid
from dse.search.outcome import Certificate
from dse.store.differences import changed_fields
from dse.study.study import Study

if TYPE_CHECKING:
    from dse.model.space import Axis

MOST_VALUES = 64
"""Labels of an axis that a storage keeps; of a longer axis its ends and the number of values."""

WARM_SHARE = 0.1
"""Of the budget, what the process that comes first spends on corners and a coarse grid."""

ASIDE = ("search", "question", "workers")
"""Sections of a study in which processes may differ."""


class SharingError(DseError):
    """A study or a method that several processes cannot share."""


def require_shareable(prepared: Study, method: str) -> None:
    """Raise `SharingError` where processes cannot share a study, or a method cannot be shared."""
    if not registry.get(Method, method).shares:
        able = [one for one in registry.names(Method) if registry.get(Method, one).shares]
        raise SharingError(
            f"method {method} cannot share trials through a storage; search with --method "
            f"{listed(able, 'or')}, or leave --storage out: --workers and --dask go with every "
            f"method"
        )
    if prepared.cores:
        raise SharingError(
            "designs of a core of this study are measured, and a storage does not share those; "
            "leave --storage out"
        )


def search_shared(
    prepared: Study, settings: SearchSettings, url: str, progress: Progress | None
) -> Outcome:
    """Search a study together with all processes that name the same storage.

    Raises
    ------
    SharingError
        The storage holds a study of this name that asks for something else: field by field.
    StoreError
        The storage cannot be used.
    """
    try:
        from dse.search.shared.storage import taking_part
        from dse.search.shared.trials import SharedArchive
    except ImportError as error:
        raise MissingLibraryError("--storage", "optuna", "search") from error

    problem, method = prepared.problem, registry.get(Method, settings.method)
    name, facts = study_name(prepared.document), facts_of(prepared)
    total = min(settings.budget or method.budget, problem.size)
    population = max(2, min(settings.population or method.population, total))
    warm = min(int(total * WARM_SHARE), population) if settings.warm_start else 0
    with taking_part(
        url,
        name,
        [goal.maximise for goal in problem.goals],
        [goal.name for goal in problem.goals],
        facts,
    ) as (connection, theirs):
        _require_same(url, name, theirs, facts)
        archive = SharedArchive(problem, connection, total=total, progress=progress)
        outcome = run_method(
            method,
            archive,
            seed=secrets.randbelow(2**32),
            population=population,
            start=coarse_grid(problem, warm),
            options=settings.options,
        )
        shared = archive.facts()
    certificate = outcome.certificate
    if certificate.finished:
        certificate = Certificate(reason="a heuristic was asked for, shared by several processes")
    return replace(outcome, certificate=certificate, shared=shared)


def _require_same(url: str, name: str, theirs: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    from dse.search.shared.storage import without_password

    changed = changed_fields(theirs, facts)
    if changed:
        lines = "\n".join(f"  {line}" for line in changed)
        raise SharingError(
            f"{without_password(url)} holds a study {name!r} that asks for something else "
            f"(there -> here):\n{lines}\nname another storage, or make the studies the same"
        )


def study_name(document: Document) -> str:
    """Return the name of a study in a storage: that of its file."""
    return Path(document.file).stem


def facts_of(prepared: Study) -> Mapping[str, Any]:
    """Return what processes have to agree on to share a study, as plain data."""
    problem, document = prepared.problem, prepared.document
    said = {name: value for name, value in document.data.items() if name not in ASIDE}
    if isinstance(said.get("evaluate"), dict):
        said["evaluate"] = {k: v for k, v in said["evaluate"].items() if k not in ASIDE}
    measured = problem.measured
    return dict(
        jsonable(
            {
                "axes": {axis.name: _values(axis) for axis in problem.space.axes},
                "objectives": {goal.name: goal.sense for goal in problem.goals},
                "constraints": [*problem.constraint_names],
                "measured by": None if measured is None else measured.bench.evaluator.identity,
                "study": {k: v for k, v in said.items() if k not in ("axes", "objectives")},
                "files": {name: entry.sha256 for name, entry in prepared.inputs.items()},
            }
        )
    )


def _values(axis: Axis) -> Any:
    if axis.size <= MOST_VALUES:
        return [*axis.labels]
    return f"{axis.labels[0]} to {axis.labels[-1]}, {axis.size:,} values"


def shared_note(shared: Mapping[str, Any]) -> str:
    """Return what is to be known of a front whose trials several processes shared."""
    others = plural(int(shared["by_others"]), "design")
    parts = [
        f"trials are shared through {shared['url']}: which designs were tried depends on timing, "
        f"not on the seed, so that another run gives another front; evaluated by other processes: "
        f"{others}, whose measurements are taken from the storage, while models are computed again"
    ]
    if shared["differing"]:
        parts.append(
            f"for {shared['differing']} of them the storage has other numbers than the models "
            f"here, which count: another version or platform was at work there"
        )
    if shared["without_measurement"]:
        parts.append(
            f"left out, as nothing says what was measured: "
            f"{plural(int(shared['without_measurement']), 'trial')} of the storage"
        )
    if shared["not_waited_for"]:
        parts.append(
            f"still running elsewhere when this process ended, or left by processes that died: "
            f"{plural(int(shared['not_waited_for']), 'trial')}"
            + ("" if shared["heartbeats"] else " (a journal cannot tell which, SQL databases can)")
        )
    return "; ".join(parts)
