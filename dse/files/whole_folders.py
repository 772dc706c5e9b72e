"""Folders that are put in place whole: filled beside it, hidden, and moved when complete.

A place ``runs/a`` has hidden neighbours ``runs/.a.dse-XXXXXXXX-STATE`` while it is written:

working
    A folder that is being written, or deleted: never whole.
whole
    A complete folder that is not yet in its place.
earlier
    The previous folder, whole, for the instant in which the other replaces it.

The writing process holds a lock on them, which ends with the process in any case.  Remains of a
killed process are found by their name and the missing lock.  An incomplete folder is deleted, and
an empty place gets its complete folder back.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dse.errors import OutputError
from dse.files.json import permitted, reason

try:
    import fcntl
except ImportError:  # no such locks on Windows: remains are reported, and not deleted
    fcntl = None  # type: ignore[assignment]

STATES = WHOLE, EARLIER, WORKING = "whole", "earlier", "working"

_HIDDEN = re.compile(rf"\.(?P<name>.+)\.dse-\w{{8}}-(?P<state>{'|'.join(STATES)})", re.S)

_NO_LOCKS = -1
"""Value of a lock if the file system has no locks."""

ELSEWHERE = "name another folder, or repair this one"


class WorkingFolder:
    """A folder under way.

    Attributes
    ----------
    target
        The place as it was named.
    place
        The place with links followed.  Its present content stays until it is replaced.
    path
        The folder that is filled.
    notes
        Remains of killed processes, and their treatment.
    """

    def __init__(self, target: Path, place: Path, path: Path, notes: tuple[str, ...]) -> None:
        """Keep the place and the folder that is filled."""
        self.target, self.place, self.path, self.notes = target, place, path, notes

    def fill(self, write: Callable[[Path], object]) -> None:
        """Fill the folder with `write`, and put it in its place.

        Raises
        ------
        OutputError
            This fails.  The message names a temporary folder that `write` filled instead.
        """
        try:
            with _errors_of(self.target):
                write(self.path)
                _on_disk(self.path)
                self._take_place()
        except OutputError as error:
            raise OutputError(f"{error}; {self._spared(write)}") from error

    def _take_place(self) -> None:
        """Put the folder in its place.  The present content stays whole until then."""
        self.path.chmod(permitted(0o777))
        self.path = _renamed(self.path, WHOLE)
        if not self.place.exists():
            os.replace(self.path, self.place)
            _on_disk(self.place.parent, within=False)
            return
        earlier = self.path.with_name(self.path.name.replace(f"-{WHOLE}", f"-{EARLIER}"))
        with _locked(self.place):
            os.replace(self.place, earlier)
            try:
                os.replace(self.path, self.place)
            except BaseException:
                self._put_back(earlier)
                raise
            _on_disk(self.place.parent, within=False)
            with suppress(OSError):  # the next writer beside it tries again
                shutil.rmtree(_renamed(earlier, WORKING))

    def _put_back(self, earlier: Path) -> None:
        try:
            os.replace(earlier, self.place)
        except OSError as error:
            raise OutputError(
                f"{self.target} cannot be written: {reason(error)}; {ELSEWHERE}; "
                f"the earlier folder is in {earlier}"
            ) from error

    def _spared(self, write: Callable[[Path], object]) -> str:
        """Write to a temporary folder instead, and return a text that names it."""
        try:
            spare = Path(tempfile.mkdtemp(prefix=f"{self.place.name}-"))
        except OSError as error:
            return f"and there is no temporary folder to keep it in: {reason(error)}"
        try:
            with _errors_of(spare):
                write(spare)
        except OutputError as error:
            shutil.rmtree(spare, ignore_errors=True)
            return f"and {error}"
        return f"everything is kept in {spare}"


@contextmanager
def working_folder(target: Path, files: Collection[str]) -> Iterator[WorkingFolder]:
    """Yield a folder beside `target`, which it replaces once it is filled.

    A folder that is not filled when the block ends is removed.  A target that holds only `files`
    is replaced.  If it is a link, the linked folder is replaced.

    Raises
    ------
    OutputError
        The target holds another file, cannot be written, or is being written.
    """
    with _errors_of(target):
        place = _free(target, files)
        made = [above for above in place.parents if not above.exists()]
        place.parent.mkdir(parents=True, exist_ok=True)
        notes = tuple(_recovered(place))
        path, lock = _locked_beside(place)
    working = WorkingFolder(target, place, path, notes)
    try:
        yield working
    finally:
        if working.path.exists():
            shutil.rmtree(working.path, ignore_errors=True)
        _unlock(lock)
        with suppress(OSError):  # as they were, unless something lies in them by now
            for above in made:
                above.rmdir()


@contextmanager
def new_folder(target: Path, files: Collection[str]) -> Iterator[Path]:
    """Yield a folder that becomes `target` if the block ends well, and is removed otherwise.

    As `working_folder`, for content that is quick to make again: nothing is kept elsewhere.
    """
    with working_folder(target, files) as working, _errors_of(target):
        yield working.path
        working._take_place()


@contextmanager
def _errors_of(target: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # a ValueError is a name that no file can have
        raise OutputError(f"{target} cannot be written: {reason(error)}; {ELSEWHERE}") from error


def _free(target: Path, files: Collection[str]) -> Path:
    """Return the place of a folder to write, with links in `target` followed."""
    place = Path(os.path.realpath(target))
    if Path.cwd().is_relative_to(place):
        raise OutputError(f"{target} is the working folder, or around it; name another one")
    if target.is_symlink() and (place.is_symlink() or not place.parent.is_dir()):
        raise OutputError(f"{target} is a link that leads nowhere: {place}; repair or remove it")
    if place.exists() and not place.is_dir():
        raise OutputError(f"{target} is a file; name a folder for the run")
    above = next(parent for parent in place.parents if parent.exists())
    if not above.is_dir():
        raise OutputError(f"{target} would lie in {above}, which is a file; name another folder")
    held = {entry.name for entry in place.iterdir()} if place.exists() else set()
    unexpected = sorted(held - set(files))
    if unexpected:
        raise OutputError(
            f"{target} holds {unexpected[0]!r}, which is not part of a run; "
            f"name another folder, or one that does not exist yet"
        )
    return place


def waiting_for(place: Path) -> list[Path]:
    """Return the whole folders of a killed process beside a place, the newest first."""
    left = _left(place.parent)
    return [path for state, name, path in left if name == place.name and state != WORKING]


def under_way(target: Path) -> tuple[Path, bool] | None:
    """Return the hidden folder for a place, and whether its process still writes it.

    The second is False after a kill.  The result is None without such a folder.
    """
    place, found = Path(os.path.realpath(target)), None
    for state, name, path in _left(place.parent):
        if name != place.name or state != WORKING:
            continue
        with suppress(OSError), _locked(path) as lock:  # its process may be faster
            if lock is None:
                return path, True
            found = path, False
    return found


def _left(parent: Path) -> list[tuple[str, str, Path]]:
    """Return state, place and path of the hidden folders in a folder, the newest first."""
    named = ((_HIDDEN.fullmatch(path.name), path) for path in sorted(parent.glob(".*")))
    found = [(match["state"], match["name"], path) for match, path in named if match]
    return sorted(found, key=lambda each: STATES.index(each[0]))


def _recovered(place: Path) -> Iterator[str]:
    """Tidy the remains of killed processes beside a place, and yield notes on them."""
    for state, name, path in _left(place.parent):
        try:
            with _locked(path) as lock:
                if lock is not None:
                    yield from _tidied(path, place.with_name(name), state, sure=lock != _NO_LOCKS)
                elif name == place.name:
                    raise OutputError(
                        f"{place} is being written by another process, into {path}; "
                        f"wait for it, or name another folder"
                    )
        except FileNotFoundError:  # its process was faster
            continue
        except OSError as error:
            yield f"{path} is left of a killed run, and cannot be removed: {reason(error)}"


def _tidied(path: Path, place: Path, state: str, *, sure: bool) -> Iterator[str]:
    """Restore, delete or report the remains of a killed process."""
    if not sure:
        yield f"{path} may be left of a killed run: remove it unless one is under way"
    elif state != WORKING and not os.path.lexists(place):
        os.replace(path, place)
        yield f"{place} is back: a run that was killed had left it as {path.name}"
    elif state == WHOLE:
        yield (
            f"{path} is a whole run that was killed before it took the place of {place.name}; "
            f"rename it to keep it, or remove it"
        )
    else:
        shutil.rmtree(path if state == WORKING else _renamed(path, WORKING))
        yield f"{path} was left of a run that was killed, and is removed"


def _renamed(path: Path, state: str) -> Path:
    """Give a hidden folder another state."""
    target = path.with_name(f"{path.name.rpartition('-')[0]}-{state}")
    os.replace(path, target)
    return target


def _locked_beside(place: Path) -> tuple[Path, int | None]:
    """Return a new folder beside a place, on the same file system, and its lock."""
    while True:
        parts = {"prefix": f".{place.name}.dse-", "suffix": f"-{WORKING}"}
        path = Path(tempfile.mkdtemp(dir=place.parent, **parts))
        with suppress(FileNotFoundError):  # another process took it for remains, and removed it
            lock = _lock(path)
            if lock is not None and path.exists():
                return path, lock
            _unlock(lock)


@contextmanager
def _locked(path: Path) -> Iterator[int | None]:
    """Hold the lock on a folder, or yield None if another process has it."""
    lock = _lock(path)
    try:
        yield lock
    finally:
        _unlock(lock)


def _lock(path: Path) -> int | None:
    """Return a lock on a folder, or None if another process has it."""
    if fcntl is None:
        return _NO_LOCKS
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe must not block
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        return None if error.errno == errno.EWOULDBLOCK else _NO_LOCKS
    return handle


def _unlock(lock: int | None) -> None:
    if lock is not None and lock != _NO_LOCKS:
        os.close(lock)


def _on_disk(folder: Path, *, within: bool = True) -> None:
    """Wait until a folder and its content would outlast a power failure."""
    files = [path for path in folder.rglob("*") if path.is_file()] if within else []
    folders = [path for path in folder.rglob("*") if path.is_dir()] if within else []
    for path in files:
        flush(path)
    for path in [*folders, folder]:
        with suppress(OSError):  # not every system supports it for folders
            flush(path)


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, would outlast a power failure."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
