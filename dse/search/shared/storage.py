"""Storages of Optuna by URL: a journal file, SQLite, PostgreSQL and whatever SQLAlchemy opens."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import optuna
from optuna.exceptions import DuplicatedStudyError, OptunaError, UpdateFinishedTrialError
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import StudyDirection
from optuna.trial import TrialState
from sqlalchemy.exc import IntegrityError, OperationalError, ProgrammingError, SQLAlchemyError

from dse.errors import StoreError
from dse.search.heuristic.optuna import quiet

HEARTBEAT_S, STALE_S = 15, 60
"""A running trial shows this often that its process lives, where the storage has heartbeats; after
so long without, others take it for dead."""

FACTS = "dse"
"""The attribute of a study that says what it asks for."""

_TRIES, _OPENINGS, _PAUSE_S = 50, 5, 0.2
_SQLITE_WAIT_S = 60
_PACKAGES = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary", "MySQLdb": "mysqlclient"}
"""What installs a driver whose module is named otherwise, or not with all that it needs."""


@dataclass(frozen=True)
class Connection:
    """A study in a storage.

    Attributes
    ----------
    url
        As it was given.
    storage, study
        Those of Optuna.
    created
        Whether this process made the study.
    """

    url: str
    storage: BaseStorage
    study: optuna.Study
    created: bool

    @property
    def heartbeats(self) -> bool:
        """Whether processes show in the storage that they are alive."""
        return isinstance(self.storage, RDBStorage)

    @contextmanager
    def beating(self, numbers: Sequence[int]) -> Iterator[None]:
        """Show that this process is at work on trials, where the storage has heartbeats."""
        if not isinstance(self.storage, RDBStorage) or not numbers:
            yield
            return
        ended = Event()
        thread = Thread(target=_beat, args=(self.storage, self._ids(numbers), ended), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def fail(self, number: int, name: str, cause: str) -> None:
        """Let a trial of another process fail, with a cause in an attribute."""
        with suppress(UpdateFinishedTrialError, ValueError):
            self.storage.set_trial_user_attr(self._ids([number])[0], name, cause)
            self.study.tell(number, state=TrialState.FAIL)

    def _ids(self, numbers: Sequence[int]) -> list[int]:
        study = self.storage.get_study_id_from_name(self.study.study_name)
        return [self.storage.get_trial_id_from_study_id_trial_number(study, n) for n in numbers]


def _beat(storage: RDBStorage, trials: Sequence[int], ended: Event) -> None:
    while True:
        for trial in trials:
            with suppress(SQLAlchemyError, OptunaError):  # told by who tells the results
                storage.record_heartbeat(trial)
        if ended.wait(HEARTBEAT_S):
            storage.remove_session()  # each thread has its own
            return


def without_password(url: str) -> str:
    """Return a URL without its password.

    Examples
    --------
    >>> without_password("postgresql://me:secret@host/studies")
    'postgresql://me:***@host/studies'
    """
    return re.sub(r"(//[^:/@]*):.*@", r"\1:***@", url)


@contextmanager
def faults_told(url: str) -> Iterator[None]:
    """Raise `StoreError` for whatever a storage raises."""
    try:
        yield
    except (SQLAlchemyError, OptunaError, OSError, json.JSONDecodeError, ImportError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        cause = error.__cause__ or error.__context__
        if isinstance(cause, ModuleNotFoundError) and cause.name:
            raise StoreError(
                f"the storage {without_password(url)} needs {cause.name}, which is not installed; "
                f'pip install "{_PACKAGES.get(cause.name, cause.name)}"'
            ) from error
        first = str(cause).splitlines()[0] if cause and str(cause) else ""
        more = f" ({first})" if first and first not in said else ""
        raise StoreError(
            f"the storage {without_password(url)} cannot be used: {without_password(said + more)}; "
            f"what it holds is kept: repair it, or name another, and run again"
        ) from error


def open_storage(url: str) -> BaseStorage:
    """Return the storage at a URL, made where there is none.

    ``journal:///a.log`` is a file here, ``journal:////srv/a.log`` one at the root of the file
    system, as with SQLite's ``sqlite:///a.db``.

    Raises
    ------
    StoreError
        It cannot be opened, or the URL is none.
    """
    scheme, found, place = url.partition("://")
    of_file = scheme.startswith("sqlite")
    if not found or not place.removeprefix("/") or (of_file and place[0] != "/"):
        kind = "sqlite" if url.startswith("sqlite:") else "journal"
        example = re.split("[/:]", url)[-1] or "trials.log"
        shown = without_password(url)
        raise StoreError(f"the storage {shown} is no URL; write for instance {kind}:///{example}")
    if scheme == "journal":
        path = Path(place.removeprefix("/"))
        with faults_told(url):
            return JournalStorage(JournalFileBackend(str(path)))
    options = {"connect_args": {"timeout": _SQLITE_WAIT_S}} if of_file else {}
    # another process makes the same tables: they are there, or SQLite does not say what is wrong
    made = (IntegrityError, ProgrammingError, *([OperationalError] if options else []))
    with faults_told(url), quiet():
        for _ in range(_OPENINGS):
            with suppress(*made):
                return _opened(url, options)
            time.sleep(_PAUSE_S)
        return _opened(url, options)


def _opened(url: str, options: Mapping[str, Any]) -> RDBStorage:
    return RDBStorage(url, {**options}, heartbeat_interval=HEARTBEAT_S, grace_period=STALE_S)


@contextmanager
def taking_part(
    url: str, name: str, maximised: Sequence[bool], metrics: Sequence[str], facts: Mapping[str, Any]
) -> Iterator[tuple[Connection, Mapping[str, Any]]]:
    """Make a study in a storage, or take part in one; give what it asks for, too.

    Nothing of the storage stays open afterwards.

    Parameters
    ----------
    url, name
        The storage, and the name of the study in it.
    maximised, metrics
        Of each objective: whether it is maximised, and its name.
    facts
        What the study asks for, kept with it.

    Raises
    ------
    StoreError
        The storage cannot be used, or holds a study of this name that something else made.
    """
    senses = [StudyDirection.MAXIMIZE if up else StudyDirection.MINIMIZE for up in maximised]
    storage = open_storage(url)
    try:
        yield _entered(url, storage, name, senses, metrics, facts)
    finally:
        _close(storage)


def _entered(
    url: str,
    storage: BaseStorage,
    name: str,
    senses: Sequence[StudyDirection],
    metrics: Sequence[str],
    facts: Mapping[str, Any],
) -> tuple[Connection, Mapping[str, Any]]:
    with faults_told(url), quiet():
        try:
            study = optuna.create_study(study_name=name, storage=storage, directions=senses)
        except DuplicatedStudyError:
            study = optuna.load_study(study_name=name, storage=storage)
            return Connection(url, storage, study, False), _facts(url, study)
        study.set_metric_names([*metrics])
        study.set_user_attr(FACTS, dict(facts))
        return Connection(url, storage, study, True), facts


def _close(storage: BaseStorage) -> None:
    if isinstance(storage, RDBStorage):
        with suppress(SQLAlchemyError):  # a server that is gone was told where it was needed
            storage.remove_session()
            storage.engine.dispose()


def _facts(url: str, study: optuna.Study) -> Mapping[str, Any]:
    """Return what a study asks for; who makes it tells that a moment after it is there."""
    for _ in range(_TRIES):
        found = study.user_attrs.get(FACTS)
        if isinstance(found, dict):
            return found
        if study.get_trials(deepcopy=False):
            break
        time.sleep(_PAUSE_S)
    raise StoreError(
        f"the storage {without_password(url)} holds a study {study.study_name!r} that does not "
        f"say what it asks for; name another storage"
    )


def this_process() -> dict[str, str | int]:
    """Return what tells this process from others, on any machine."""
    return {"machine": _machine(), "process": os.getpid()}


def is_gone(process: object) -> bool:
    """Tell whether a process is known to have ended: one of this machine, and of no other."""
    if not isinstance(process, dict) or process.get("machine") != _machine():
        return False
    try:
        os.kill(int(process["process"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, KeyError):
        return False
    return False


def _machine() -> str:
    """Return the name of the machine, and of the container in it where there is one."""
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")
    return f"{socket.gethostname()} {space}".strip()
