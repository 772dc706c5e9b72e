"""What the public functions take for a study or a run, and what becomes of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from dse.errors import ArgumentError, OutputError

if TYPE_CHECKING:
    from dse.api.arguments import Assignments, Overrides
    from dse.files.document import Document
    from dse.runs.result import Result
    from dse.runs.solved import Run
    from dse.study.study import Study

    StudySource = str | Path | Mapping[str, Any] | Study

P = ParamSpec("P")
R = TypeVar("R")


def override_pairs(overrides: Overrides | None) -> list[tuple[str, str]]:
    """Return overrides as pairs of dotted path and YAML."""
    from dse.files.document import assignments
    from dse.study.overrides import EXAMPLE

    return [*assignments(overrides, EXAMPLE).items()]


def document_of(
    study: StudySource,
    overrides: Overrides | None = None,
    evaluate: Callable[..., Any] | None = None,
) -> Document:
    """Return the document of a study with fields replaced; `evaluate` measures its designs.

    Raises
    ------
    StudyError
        When the study is not well-formed, or a field does not exist.
    """
    from dse.study import study as studies
    from dse.study.overrides import override

    pairs = override_pairs(overrides)
    if isinstance(study, studies.Study):
        found = override(study.document, pairs)
    else:
        found = studies.read_study(study, pairs)
    if evaluate is None:
        return found
    if not found.measures:
        raise ArgumentError(
            "evaluate: the study does not say what is measured; add for instance "
            "`evaluate: {outputs: {area: um2}}`, or so the `core` of a stage"
        )
    return replace(found, evaluate=evaluate)


def study_of(source: StudySource | Result, overrides: Overrides | None = None) -> Document:
    """Return the document of a study, of a `Result`, or of the run in a folder."""
    from dse.files.document import Document
    from dse.study.overrides import override

    found = known(source)
    if isinstance(found, Path) and found.is_dir():
        from dse.runs import finished

        found = finished.read_run(found).document
    if isinstance(found, Path):
        return document_of(found, overrides)
    document = found if isinstance(found, Document) else found.document
    return override(document, override_pairs(overrides))


def design_pairs(
    source: StudySource | Result, design: Assignments | None, overrides: Overrides | None = None
) -> dict[str, str]:
    """Return a design, as printed or as assignments, as what `overrides` take.

    Raises
    ------
    StudyError
        When the study has no such design, or it is the host alone, which has no accelerator.
    """
    from dse.errors import Fault, StudyError
    from dse.model.space import ALONE
    from dse.model.tables import HOST_COLUMN
    from dse.runs.design_names import read_design
    from dse.study import study as studies

    pairs = read_design(design, lambda: studies.prepare(study_of(source, overrides)).problem)
    if HOST_COLUMN in pairs:
        rule = "it has no accelerator to write out"
        remedy = "`dse answer --all` and `dse explain` compare it"
        raise StudyError([Fault(where="design", written=ALONE, rule=rule, remedy=remedy)])
    return pairs


def known(source: StudySource | Result) -> Path | Document | Run:
    """Return a path, the document of a study that is no file, or the run of a `Result`.

    Raises
    ------
    StudyError
        When nothing is at the path.
    """
    from dse.files.document import no_such
    from dse.study import study as studies

    if isinstance(source, studies.Study):
        return source.document
    if isinstance(source, Mapping) or (isinstance(source, str) and "\n" in source):
        return studies.read_study(source)
    if not isinstance(source, str | Path):
        return source.run
    path = Path(source)
    if not os.path.exists(path):
        raise no_such(path, "file or folder of a run", "*.y*ml", "*/manifest.json")
    return path


def also_unfinished(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function of a study or run that takes the folder of an unfinished run as well."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        source, *others = args or (kwargs.pop("source", None),)
        path = Path(source) if isinstance(source, str) and "\n" not in source else source
        if not isinstance(path, Path) or not path.is_dir():
            return function(source, *others, **kwargs)  # type: ignore[arg-type]
        from dse.runs.unfinished import readable

        with readable(path) as so_far:
            return function(so_far, *others, **kwargs)  # type: ignore[arg-type]

    return call


def folder_of(run: str | Path | Result) -> Path:
    """Return the folder of a run.

    Raises
    ------
    OutputError
        When a `Result` was not saved.
    """
    if isinstance(run, str | Path):
        return Path(run)
    if run.folder is None:
        raise OutputError("this result was not saved; save it first: result.save(folder)")
    return run.folder
