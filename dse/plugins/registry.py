"""Finding plug-ins: the only user of entry points.

An entry point of a group leads to one record of that group's type or to a tuple of them; the
records carry their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar, cast

from dse.contract import Core, Guard, Interface, Kernel, Objective, Platform, Requirement
from dse.contract.fits import Fit
from dse.contract.papers import Claim, Figure
from dse.errors import (
    BrokenPluginError,
    DuplicatePluginError,
    PluginError,
    UnknownPluginError,
    WrongTypePluginError,
    nearest,
)

DISTRIBUTION = "accel-dse"

Record = TypeVar(
    "Record",
    Core,
    Objective,
    Requirement,
    Guard,
    Interface,
    Kernel,
    Platform,
    Claim,
    Figure,
    Fit,
)

GROUPS: Mapping[type, str] = {
    Core: "dse.cores",
    Objective: "dse.objectives",
    Requirement: "dse.requirements",
    Guard: "dse.guards",
    Interface: "dse.interfaces",
    Kernel: "dse.kernels",
    Platform: "dse.platforms",
    Claim: "dse.claims",
    Figure: "dse.figures",
    Fit: "dse.fits",
}


@dataclass(frozen=True)
class Registered:
    """A plug-in record and where it came from."""

    record: Any
    entry_point: str
    distribution: str


def registered(kind: type[Record]) -> Mapping[str, Registered]:
    """Return every record of `kind` by name: by entry point, then in the order given there.

    Raises
    ------
    BrokenPluginError, WrongTypePluginError, DuplicatePluginError
        Naming the entry point and its distribution.
    """
    return _registered(GROUPS[kind])


def records(kind: type[Record]) -> dict[str, Record]:
    """Return the records of `kind` by name."""
    return {name: cast(Record, found.record) for name, found in registered(kind).items()}


def get(kind: type[Record], name: str) -> Record:
    """Return the record called `name`, or raise `UnknownPluginError` with the nearest names."""
    known = records(kind)
    if name not in known:
        word = kind.__name__.lower()
        raise UnknownPluginError(f"{name!r} is not a known {word}", nearest(name, known))
    return known[name]


@dataclass(frozen=True)
class Surveyed:
    """An entry point, the records it leads to, and why it cannot be used if it cannot."""

    kind: type
    entry_point: str
    distribution: str
    names: tuple[str, ...]
    fault: str = ""


@cache
def survey() -> Sequence[Surveyed]:
    """Load every plug-in; one that cannot be used carries its fault and stops no other."""
    return tuple(_survey())


def _survey() -> Iterator[Surveyed]:
    for kind, group in GROUPS.items():
        found: dict[str, Registered] = {}
        for point in _points(group):
            where, distribution = _describe(point)
            names: tuple[str, ...] = ()
            try:
                loaded = _load(point, kind, where)
                names = tuple(record.name for record in loaded)
                _add(found, loaded, where, distribution)
            except PluginError as error:
                yield Surveyed(kind, where, distribution, names, str(error))
            else:
                yield Surveyed(kind, where, distribution, names)


@cache
def _registered(group: str) -> Mapping[str, Registered]:
    kind = next(kind for kind, name in GROUPS.items() if name == group)
    found: dict[str, Registered] = {}
    for point in _points(group):
        where, distribution = _describe(point)
        _add(found, _load(point, kind, where), where, distribution)
    return found


def _points(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda point: point.name)


def _add(
    found: dict[str, Registered], loaded: tuple[Any, ...], where: str, distribution: str
) -> None:
    """Add records to those of the same kind that were found before."""
    for record in loaded:
        if record.name in found:
            other = found[record.name]
            raise DuplicatePluginError(
                f"two plug-ins are called {record.name!r}: {other.entry_point} of "
                f"{other.distribution} and {where} of {distribution}; "
                f"rename one of them or uninstall its distribution"
            )
        found[record.name] = Registered(record, where, distribution)


def _describe(point: EntryPoint) -> tuple[str, str]:
    distribution = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"
    return f"{point.group}: {point.name} = {point.value}", distribution


def _load(point: EntryPoint, kind: type, where: str) -> tuple[Any, ...]:
    try:
        loaded = point.load()
    except (Exception, SystemExit) as error:  # whatever a foreign module does on import
        raise BrokenPluginError(
            f"plug-in {where} fails to load: {type(error).__name__}: {error}; "
            f"repair it or uninstall its distribution"
        ) from error
    found = loaded if isinstance(loaded, tuple) else (loaded,)
    for record in found:
        if not isinstance(record, kind):
            raise WrongTypePluginError(
                f"plug-in {where} is a {type(record).__name__}; the group asks for a "
                f"dse.contract.{kind.__name__} or a tuple of them"
            )
        if not isinstance(getattr(record, "name", None), str):
            raise BrokenPluginError(
                f"plug-in {where} has no name; name its record, or the function that it holds"
            )
    return found
