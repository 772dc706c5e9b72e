"""From the plug-in that a study measures with, and its options, to a function of designs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from dse.contract.evaluators import Measurer, Prepared, Setup, Value
from dse.errors import StudyError, nearest
from dse.plugins import registry
from dse.study.faults import Faults, Path

Values = Mapping[str, Sequence[Value]]
"""Those of each axis: numbers in SI, or choices."""

Settings = Mapping[str, str | float | Sequence[str | float]]
"""As they are written."""


def plugged(
    using: str,
    settings: Settings,
    files: Sequence[str],
    values: Values,
    path: Path,
    faults: Faults,
) -> tuple[Callable[..., Any] | None, dict[str, object]]:
    """Return the function of a plug-in, and what identifies it; None where a fault was added."""
    with faults.at((*path, "using")):
        found = registry.get(Measurer, using)
        parts: dict[str, object] = {"using": found.name, "plugin_version": found.version}
        if not found.settings and not settings:
            return found.function, parts
        setup = Setup(
            settings=settings,
            files=tuple(files),
            axes=values,
            folder=FilePath(faults.document.file).parent.absolute(),
        )
        prepared = _prepared(found, setup, path, faults)
        if prepared is not None:
            return prepared, parts | {"settings": settings, "digests": prepared.digests}
    return None, {}


def _prepared(found: Measurer, setup: Setup, path: Path, faults: Faults) -> Prepared | None:
    where = (*path, "settings")
    unknown = sorted(setup.settings.keys() - {*found.settings})
    for name in unknown:
        rule = f"{found.name} has no such setting"
        faults.add((*where, name), rule, nearest(name, found.settings), "")
    if unknown or not setup.axes:
        return None
    try:
        return found.function(setup)  # type: ignore[no-any-return]
    except StudyError as error:
        for fault in error.faults:
            if fault.file:
                faults.found.append(fault)
                continue
            written = fault.where in setup.settings
            rule = fault.rule if written or not fault.where else f"{fault.where}: {fault.rule}"
            place = (*where, fault.where) if written else where
            faults.add(place, rule, fault.remedy, fault.written)
    return None
