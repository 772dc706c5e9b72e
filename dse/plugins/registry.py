"""Search for plug-ins by the names of their entry points: the only user of entry points.

An entry point of a group in `GROUPS` leads to one record and has its name.  So names are known
before a record is imported, and it is imported on request.  An entry point of `dse.providers` has
the name of a group and lists records of tables.  It leads to a mapping from the place of a
function, which returns the record of a name, to names separated by blanks.  An entry point of a
group in `PAPERS` has the name of a paper and leads to all records of its kind for this paper.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from itertools import groupby
from operator import attrgetter
from pkgutil import resolve_name
from typing import Any, TypeVar

from dse import removed
from dse.contract import Guard, Requirement
from dse.errors import (
    FEW_NAMES,
    FOREIGN,
    BrokenPluginError,
    DuplicatePluginError,
    MisnamedPluginError,
    PluginError,
    UnknownPluginError,
    WrongTypePluginError,
    nearest,
)

DISTRIBUTION = "accel-dse"

Record = TypeVar("Record")

_every_point = cache(entry_points)  # reads a file of every distribution that is installed

GROUPS: Mapping[str, str] = {
    "dse.contract.Core": "dse.cores",
    "dse.contract.generators.Generator": "dse.generators",
    "dse.contract.quantities.Objective": "dse.objectives",
    "dse.contract.quantities.Requirement": "dse.requirements",
    "dse.contract.quantities.Guard": "dse.guards",
    "dse.contract.Interface": "dse.interfaces",
    "dse.contract.Kernel": "dse.kernels",
    "dse.contract.Platform": "dse.platforms",
    "dse.contract.methods.Method": "dse.methods",
    "dse.contract.functions.Function": "dse.functions",
}
"""The group of each kind of record that has one entry point per record.  Most commands need few."""

PAPERS: Mapping[str, str] = {
    "dse.contract.papers.Claim": "dse.claims",
    "dse.contract.papers.Figure": "dse.figures",
}
"""The group of each kind of record that has one entry point per paper."""

_PROVIDERS = "dse.providers"
"""The group of entry points that list records of tables without reading them."""

APPLIED = (Requirement, Guard)
"""Kinds that are not named in studies: they apply to every study that has their columns."""


@dataclass(frozen=True)
class Plugin:
    """An entry point, from the metadata of its distribution or from a provider."""

    kind: type
    entry_point: EntryPoint
    source: Distribution | None
    position: int | None = None
    """Position among the names of a provider, if one lists it.  Then it leads to a function."""

    @property
    def name(self) -> str:
        """Return the name of the entry point."""
        return self.entry_point.name

    @property
    def distribution(self) -> str:
        """Return the name and version of the distribution, which are read on request."""
        return _distribution(self.source)

    @property
    def own(self) -> bool:
        """Return whether it comes with this program."""
        return self.distribution.partition(" ")[0] == DISTRIBUTION

    def __str__(self) -> str:
        """Return the entry point as it is written, and its distribution."""
        point = self.entry_point
        return f"{point.group}: {point.name} = {point.value} of {self.distribution}"


@dataclass(frozen=True)
class Surveyed:
    """A plug-in, the names of its records, and the reason if it cannot be used."""

    plugin: Plugin
    names: tuple[str, ...] = ()
    error: PluginError | None = None


def kinds_of(groups: Mapping[str, str]) -> tuple[type, ...]:
    """Return the kinds of record named in `GROUPS` or `PAPERS`."""
    return tuple(map(resolve_name, groups))


def names(kind: type) -> tuple[str, ...]:
    """Return the names of the records of `kind`, sorted, without importing them."""
    return tuple(_by_name(kind))


def plugins(kind: type) -> tuple[Plugin, ...]:
    """Return the entry points of `kind` by name, this program's first, without importing them."""
    return tuple(plugin for same in _by_name(kind).values() for plugin in same)


def get(kind: type[Record], name: str, others: Sequence[str] = ()) -> Record:
    """Return the record called `name`, importing no other plug-in.

    The closest of `others` is proposed too if `name` is unknown.

    Raises
    ------
    UnknownPluginError
        The name is unknown.  The message has the nearest names.
    DuplicatePluginError, BrokenPluginError, WrongTypePluginError, MisnamedPluginError
        The entry point cannot be used.  The message has it and its distribution.
    """
    if name not in _by_name(kind):
        word = kind.__name__.lower()
        if instead := removed.remedy("plugin", f"{word}.{name}"):
            raise UnknownPluginError(f"{word} {name!r} was {removed.RULE}", instead)
        known = (*names(kind), *get_close_matches(name, others, 1, 0.5))
        vague = len(known) > FEW_NAMES or len(name) < 5  # else a list is clearer than a guess
        remedy = nearest(name, known, 0.5 if vague else 0.7)
        lost = [str(provider.error) for provider in _broken(kind)]  # it may be of one
        raise UnknownPluginError(f"{name!r} is not a known {word}", "; ".join([remedy, *lost]))
    (record,) = _usable(_by_name(kind)[name][0])
    return record  # type: ignore[no-any-return]


def records(kind: type[Record]) -> dict[str, Record]:
    """Return every record of `kind` that can be used, by name, in the order of `in_order`.

    Raises
    ------
    PluginError
        Records of papers cannot be used, since they are complete or absent.
    """
    for surveyed in survey(kind):
        if surveyed.error is not None and _of_papers(kind):
            raise surveyed.error
    found: dict[str, Record] = {}
    for plugin in in_order(kind):
        for record in _usable(plugin):
            if record.name in found:
                rule = f"two are called {record.name!r}, the second in {plugin}"
                raise DuplicatePluginError(rule, "rename one of them")
            found[record.name] = record
    return found


def in_order(kind: type) -> Sequence[Plugin]:
    """Return the plug-ins of `kind` that can be used, by module and in the order of each module."""
    return _in_order(kind)


@cache
def _in_order(kind: type) -> Sequence[Plugin]:
    usable = (one.plugin for one in survey(kind) if one.error is None)
    return tuple(sorted(usable, key=_place))


def survey(kind: type) -> tuple[Surveyed, ...]:
    """Import every plug-in of `kind`.  An unusable plug-in has its error, and the others go on."""
    found = [*_broken(kind)]
    for plugin in plugins(kind):
        try:
            records = _usable(plugin)
        except PluginError as error:
            found.append(Surveyed(plugin, error=error))
        else:
            found.append(Surveyed(plugin, tuple(record.name for record in records)))
    return tuple(found)


class Catalogue(Mapping[str, Record]):
    """The records of a kind by name, each imported when it is looked up.

    Iterating imports all of them: those that can be used come in their order, then the others.
    """

    def __init__(self, kind: type[Record]) -> None:
        """Import nothing."""
        self.kind = kind

    def __getitem__(self, name: str) -> Record:
        """Return a record.

        Raises
        ------
        PluginError
            It cannot be used.
        """
        if name not in self:
            raise KeyError(name)
        return get(self.kind, name)

    def __contains__(self, name: object) -> bool:
        """Return whether there is an entry point of this name, without importing it."""
        return name in _by_name(self.kind)

    def __iter__(self) -> Iterator[str]:
        """Yield every name."""
        return iter(dict.fromkeys([*(one.name for one in in_order(self.kind)), *names(self.kind)]))

    def __len__(self) -> int:
        """Return the number of names."""
        return len(_by_name(self.kind))


def _by_name(kind: type) -> Mapping[str, tuple[Plugin, ...]]:
    """Return the plug-ins of `kind` by name, with all plug-ins that share it."""
    return _read_metadata(kind)[0]


def _broken(kind: type) -> tuple[Surveyed, ...]:
    """Return the providers of `kind` that cannot be used."""
    return _read_metadata(kind)[1]


@cache
def _read_metadata(kind: type) -> tuple[Mapping[str, tuple[Plugin, ...]], tuple[Surveyed, ...]]:
    """Return the results of `_by_name` and `_broken`."""
    group = {**GROUPS, **PAPERS}[_path(kind)]
    found = [Plugin(kind, point, point.dist) for point in _every_point().select(group=group)]
    broken = []
    kinds = [one.removeprefix("dse.") for one in (*GROUPS.values(), *PAPERS.values())]
    for point in _every_point().select(group=_PROVIDERS):
        provider = Plugin(kind, point, point.dist)
        if get_close_matches(point.name, kinds, 1, 0.0) != [group.removeprefix("dse.")]:
            continue  # it is for another kind, or closer to the name of one
        try:
            if point.name not in kinds:
                rule = f"plug-in {provider} is of no kind"
                raise BrokenPluginError(rule, f"write one of {', '.join(kinds)}")
            found += _provided(provider, group)
        except PluginError as error:
            broken.append(Surveyed(provider, error=error))
    name = attrgetter("name")
    named = groupby(sorted(found, key=name), key=name)
    return {name: _own_first([*same]) for name, same in named}, tuple(broken)


def _provided(provider: Plugin, group: str) -> Iterator[Plugin]:
    """Yield the plug-ins that a provider lists, as if each had an entry point."""
    listed = _imported(provider)
    if not isinstance(listed, Mapping) or not all(isinstance(one, str) for one in listed.values()):
        raise WrongTypePluginError(
            f"plug-in {provider} is no mapping of texts",
            "a provider maps the place of each record to names, separated by blanks",
        )
    places = [(name, place) for place, names in listed.items() for name in names.split()]
    for position, (name, place) in enumerate(places):
        point = EntryPoint(name, place, group)
        yield Plugin(provider.kind, point, provider.source, position)


def _own_first(same: Sequence[Plugin]) -> tuple[Plugin, ...]:
    if len(same) == 1:
        return (same[0],)  # nearly always, and its distribution need not be read
    return tuple(sorted(same, key=lambda one: (not one.own, one.distribution)))


def _path(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _of_papers(kind: type) -> bool:
    return _path(kind) in PAPERS


@cache
def _distribution(distribution: Distribution | None) -> str:
    if distribution is None:
        return "unknown"
    written = distribution.metadata  # is parsed anew whenever it is requested
    return f"{written['Name']} {written['Version']}"


def _place(plugin: Plugin) -> tuple[str, int, str]:
    """Return the place of a loaded record: its module, and its position in the module."""
    point = plugin.entry_point
    if plugin.position is not None:
        return point.module, plugin.position, plugin.name
    written = list(vars(sys.modules[point.module]))
    position = written.index(point.attr) if point.attr in written else len(written)
    return point.module, position, plugin.name


def _usable(plugin: Plugin) -> tuple[Any, ...]:
    """Return the records of a plug-in.

    Raises
    ------
    PluginError
        It cannot be used.
    """
    same = _by_name(plugin.kind)[plugin.name]
    # A name in a study is ambiguous then.  A record that applies to every study is not.
    if len(same) > 1 and not (plugin.own and plugin.kind in APPLIED):
        raise DuplicatePluginError(
            f"two plug-ins are called {plugin.name!r}: {same[0]} and {same[1]}",
            "rename one of them, or uninstall its distribution",
        )
    found = _loaded(plugin)
    if isinstance(found, PluginError):
        raise found.with_traceback(None)
    return found


@cache
def _loaded(plugin: Plugin) -> tuple[Any, ...] | PluginError:
    """Return the records of an entry point, or the error if it has none."""
    try:
        loaded = _imported(plugin)
    except BrokenPluginError as error:
        return error
    found = loaded if isinstance(loaded, tuple) and _of_papers(plugin.kind) else (loaded,)
    return _fault(plugin, found) or found


def _imported(plugin: Plugin) -> Any:
    """Return the object of an entry point, or the result of its function for a name."""
    try:
        loaded = plugin.entry_point.load()
        return loaded if plugin.position is None else loaded(plugin.name)
    except FOREIGN as error:  # any error of a foreign module on import
        raise BrokenPluginError(
            f"plug-in {plugin} fails to load: {type(error).__name__}: {error}",
            "repair it, or uninstall its distribution",
        ) from None


def _fault(plugin: Plugin, found: Sequence[Any]) -> PluginError | None:
    """Return the error of the records of an entry point, if any."""
    kind = plugin.kind.__name__
    for record in found:
        name = getattr(record, "name", None)
        if not isinstance(record, plugin.kind):
            several = " or a tuple of them" if _of_papers(plugin.kind) else ""
            return WrongTypePluginError(
                f"plug-in {plugin} is a {type(record).__name__}",
                f"its group asks for a dse.contract.{kind}{several}",
            )
        if not isinstance(name, str):
            return BrokenPluginError(
                f"plug-in {plugin} has no name", "name its record, or the function that it holds"
            )
        if name != plugin.name and not _of_papers(plugin.kind):
            return MisnamedPluginError(
                f"plug-in {plugin} leads to a {kind.lower()} called {name!r}",
                f"an entry point has the name of its record: write {name} = ...",
            )
    return None
