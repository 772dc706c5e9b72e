"""From the plug-in that a study measures with, and its options, to a function of designs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from dse.contract.evaluators import Measurer, Prepared, Setup, Value
from dse.errors import StudyError, nearest
from dse.files.document import Document
from dse.files.inputs import Input, base_of, locate
from dse.files.json import read_regular, reason
from dse.plugins import registry
from dse.study.reader import Path, Reader

Values = Mapping[str, Sequence[Value]]
"""Those of each axis: numbers in SI, or choices."""

Settings = Mapping[str, str | float | Sequence[str | float]]
"""As they are written."""


def plugged(
    using: str, settings: Settings, files: Sequence[str], values: Values, reader: Reader
) -> tuple[Callable[..., Any] | None, dict[str, object]]:
    """Return the function of a plug-in, and what identifies it; None where a fault was added."""
    with reader.at(("using",)):
        found = registry.get(Measurer, using)
        parts: dict[str, object] = {"using": found.name, "plugin_version": found.version}
        if not found.settings and not settings:
            return found.function, parts
        setup = Setup(
            settings=settings,
            files=tuple(files),
            axes=values,
            folder=FilePath(reader.document.file).parent.absolute(),
        )
        prepared = _prepared(found, setup, reader)
        if prepared is not None:
            return prepared, parts | {"settings": settings, "digests": prepared.digests}
    return None, {}


def _prepared(found: Measurer, setup: Setup, reader: Reader) -> Prepared | None:
    where = reader.below("settings")
    unknown = sorted(setup.settings.keys() - {*found.settings})
    for name in unknown:
        where.fault((name,), f"{found.name} has no such setting", nearest(name, found.settings), "")
    if unknown or not setup.axes:
        return None
    try:
        return found.function(setup)  # type: ignore[no-any-return]
    except StudyError as error:
        for fault in error.faults:
            if fault.file:
                reader.faults.append(fault)
                continue
            written = fault.where in setup.settings
            rule = fault.rule if written or not fault.where else f"{fault.where}: {fault.rule}"
            where.fault((fault.where,) if written else (), rule, fault.remedy, fault.written)
    return None


LARGEST_FILE_BYTE = 16 * 2**20
"""Most bytes of a file that is part of what measures."""

_BESIDE = re.compile(r"\{study\}/([^{}]+)")


def file_hashes(own: Sequence[str], patterns: Sequence[str], reader: Reader) -> dict[str, str]:
    """Return the hash of each of its `own` files and of those that `patterns` name.

    They are kept in the inputs of `reader`, to be copied to the run.
    """
    found = {}
    for position, pattern in [*((None, name) for name in own), *enumerate(patterns)]:
        where: Path = ("command",) if position is None else ("files", position)
        names = matching(pattern, reader.document) if position is not None else [pattern]
        if not names and not reader.document.recorded:
            reader.fault(where, f"no file matches {pattern!r}", base_of(reader.document), "")
        for name in names:
            try:
                content = read_regular(locate(reader.document, name), LARGEST_FILE_BYTE + 1)
            except (OSError, ValueError) as error:
                if position is not None and not reader.document.recorded:
                    reader.fault(where, f"{name} cannot be read: {reason(error)}", "check it", "")
                continue  # of the program and its arguments another rule tells
            if len(content) > LARGEST_FILE_BYTE:
                reader.notes.append(
                    f"{name} has more than {LARGEST_FILE_BYTE >> 20} MiB: changes of its content "
                    f"go unnoticed; announce them by another `version`"
                )
                continue
            reader.inputs[name] = Input(name, content)
            found[name] = hashlib.sha256(content).hexdigest()
    return found


def matching(pattern: str, document: Document) -> list[str]:
    """Return the files beside the study that a pattern names, sorted."""
    if document.recorded:  # of a run that is over only its copies count
        return sorted(name for name in document.inputs if FilePath(name).match(pattern))
    if not any(mark in pattern for mark in "*?["):
        return [pattern]
    base = FilePath(document.file).parent
    return sorted(str(one.relative_to(base)) for one in base.glob(pattern) if one.is_file())


def own_files(command: Sequence[object], function: str | None) -> list[str]:
    """Return the program of a command, and its arguments, that lie beside the study.

    Of a function it is its file.
    """
    if function is not None:
        return [function.rpartition(":")[0]]
    arguments = [str(argument) for argument in command]
    program = [one for one in arguments[:1] if "/" in one and "{" not in one]
    return program + [match[1] for one in arguments if (match := _BESIDE.fullmatch(one))]
