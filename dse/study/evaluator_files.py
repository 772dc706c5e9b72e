"""The files that are part of what measures: their content decides whether values still hold."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path as FilePath

from dse.files.document import Document
from dse.files.folder import read_regular
from dse.files.inputs import Input, base_of, locate
from dse.study.faults import Faults, Path

LARGEST_FILE_BYTE = 16 * 2**20
"""Most bytes of a file that is part of what measures."""

_BESIDE = re.compile(r"\{study\}/([^{}]+)")


def file_hashes(
    own: Sequence[str],
    patterns: Sequence[str],
    inputs: dict[str, Input],
    notes: list[str],
    path: Path,
    faults: Faults,
) -> dict[str, str]:
    """Return the hash of each of its `own` files and of those that `patterns` name.

    They are kept in `inputs`, to be copied to the run.
    """
    found = {}
    for position, pattern in [
        *((None, name) for name in own),
        *enumerate(patterns),
    ]:
        where = (*path, "command") if position is None else (*path, "files", position)
        names = matching(pattern, faults.document) if position is not None else [pattern]
        if not names and not faults.document.recorded:
            faults.add(where, f"no file matches {pattern!r}", base_of(faults.document), "")
        for name in names:
            try:
                content = read_regular(locate(faults.document, name), LARGEST_FILE_BYTE + 1)
            except (OSError, ValueError) as error:
                if position is not None and not faults.document.recorded:
                    reason = getattr(error, "strerror", None) or str(error)
                    faults.add(where, f"{name} cannot be read: {reason}", "check it", "")
                continue  # of the program and its arguments another rule tells
            if len(content) > LARGEST_FILE_BYTE:
                notes.append(
                    f"{name} has more than {LARGEST_FILE_BYTE >> 20} MiB: changes of its content "
                    f"go unnoticed; announce them by another `version`"
                )
                continue
            inputs[name] = Input(name, content)
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
