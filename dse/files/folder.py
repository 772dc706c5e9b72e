"""Folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from dse.errors import OutputError


@contextmanager
def new_folder(target: Path, files: Collection[str]) -> Iterator[Path]:
    """Yield a folder that becomes `target` when the block ends well, and vanishes otherwise.

    A target that holds nothing but `files` is replaced.

    Raises
    ------
    OutputError
        When it holds anything else, or cannot be written.
    """
    try:
        if target.exists() and not target.is_dir():
            raise OutputError(f"{target} is a file; name a folder for the run")
        strangers = [entry.name for entry in target.iterdir()] if target.exists() else []
        strangers = sorted(set(strangers) - set(files))
        if strangers:
            raise OutputError(
                f"{target} holds {strangers[0]!r}, which is not part of a run; "
                f"name another folder, or one that does not exist yet"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror}") from error
    try:
        yield fresh
        fresh.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        os.replace(fresh, target)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
