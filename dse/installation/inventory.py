"""What a study can name (cores, interfaces, objectives and so on), and studies to start from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from dse import contract
from dse.algebra import units
from dse.contract import papers
from dse.contract.functions import provided
from dse.contract.generators import Generator
from dse.errors import UnknownPluginError, nearest
from dse.installation import shipped
from dse.plugins import registry
from dse.plugins.registry import Plugin
from dse.reports.text import table_text
from dse.reports.words import in_words
from dse.study import records

Row = Sequence[str]
Record = TypeVar("Record")


def list_(kind: str | None, provides: str | None = None) -> None:
    """Print the names of one kind, or of all, with what they are and their source.

    `provides` is a function that cores and kernels that are listed have to provide.
    """
    for name in _kinds(kind, provides):
        listed, table = KINDS[name]
        headers, rows = _providing(provides, *table())
        print(f"{name} ({len(rows)})")
        print(table_text(rows, headers))
        print()
        for found in registry.survey(listed) if listed else ():
            if found.error is not None:
                print(f"left out: {found.error}", file=sys.stderr)
    for fault in records.own_records()[1]:
        print(f"left out: {fault}", file=sys.stderr)


def listed_facts(kind: str | None, provides: str | None = None) -> dict[str, list[dict[str, str]]]:
    """Return the same as plain data: rows by kind."""
    found = {}
    for name in _kinds(kind, provides):
        headers, rows = _providing(provides, *KINDS[name][1]())
        keys = [header.partition(";")[0].replace(",", " and") for header in headers]
        found[name] = [dict(zip(keys, row, strict=True)) for row in rows]
    return found


def _kinds(kind: str | None, provides: str | None) -> Sequence[str]:
    if kind is not None and kind not in KINDS:
        raise UnknownPluginError(f"{kind!r} cannot be listed", nearest(kind, KINDS))
    if provides is not None and kind not in (None, *PROVIDERS):
        rule = f"--provides {provides!r}: {kind} provide no functions"
        raise UnknownPluginError(rule, f"list {' or '.join(PROVIDERS)}")
    every = KINDS if provides is None else PROVIDERS
    return [*every] if kind is None else [kind]


def _providing(wanted: str | None, headers: Row, rows: Sequence[Row]) -> tuple[Row, Sequence[Row]]:
    """Return the rows of what provides a function, or a kind of it."""
    if wanted is None:
        return headers, rows
    known = registry.records(contract.Function)
    if wanted not in known:
        raise UnknownPluginError(f"{wanted!r} is no function", nearest(wanted, known))
    place = headers.index("provides")
    return headers, [row for row in rows if provided(wanted, row[place].split(", "), known)]


def _own(kind: type[records.Kind]) -> list[tuple[records.Kind, str]]:
    """Return the user's records of a kind, in the working directory, and the file of each."""
    section = records.KINDS[kind]
    return [
        (found.records[section], path)
        for path, found in records.own_records()[0].items()
        if section in found.records
    ]


def _installed(kind: type[Record]) -> Iterator[tuple[Plugin, Record]]:
    """Yield the plug-ins of a kind that can be used, and their records."""
    for plugin in registry.in_order(kind):
        yield plugin, registry.get(kind, plugin.name)


def _cores() -> tuple[Row, list[Row]]:
    found = [(core, plugin.distribution) for plugin, core in _installed(contract.Core)]
    rows: list[Row] = [
        (
            core.name,
            ", ".join(core.provides) or "-",
            " ".join(filter(None, (core.node, core.evidence))) or "-",
            origin,
        )
        for core, origin in (*found, *_own(contract.Core))
    ]
    return ("core", "provides", "node, evidence", "from"), rows


def _functions() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (
            name,
            one.summary,
            one.kind_of or "-",
            ", ".join(map(str, one.key_bit)) or "-",
            str(one.block_bit or "-"),
            one.standard or "-",
        )
        for name, one in registry.records(contract.Function).items()
    ]
    return ("function", "what it is", "a kind of", "key [bit]", "block [bit]", "standard"), rows


def _interfaces() -> tuple[Row, list[Row]]:
    found = [(one, one.source) for one in registry.records(contract.Interface).values()]
    rows: list[Row] = [
        (
            one.name,
            one.wait,
            _link(one),
            _times(one),
            source,
            _assumed(one),
        )
        for one, source in (*found, *_own(contract.Interface))
    ]
    return ("interface", "waits", "link", "overhead, latency", "source", "assumed"), rows


_SUMS = ("overhead_plus_latency_cycles", "overhead_plus_latency_s")


def _link(record: contract.Interface) -> str:
    stated = ("link_byte_per_cycle", "link_byte_per_s")
    shown = [record.pcie] if record.pcie else []
    return ", ".join(shown + _amounts(record, stated)) or _silence(record, "link")


def _times(record: contract.Interface) -> str:
    """Return overhead and latency, or the sum of both where that is all that is known."""
    together = _amounts(record, _SUMS)
    if together and record.overhead_share is None:
        return f"{', '.join(together)} together"
    known = contract.Interface.__dataclass_fields__.keys() - {*_SUMS, "overhead_share"}
    shown = []
    for field, starts in (("overhead", ("overhead",)), ("latency", ("latency", "round_trip"))):
        amounts = _amounts(record, sorted(name for name in known if name.startswith(starts)))
        shown.append(amounts or [_silence(record, field)])
    return ", ".join(part for parts in (*shown, together) for part in parts)


def _amounts(record: contract.Interface, names: Sequence[str]) -> list[str]:
    return [units.show(value, name) for name in names if (value := getattr(record, name))]


def _silence(record: contract.Interface, field: str) -> str:
    return "not published" if field in record.left_out else "-"


def _assumed(record: contract.Interface) -> str:
    split = ["split"] if _amounts(record, _SUMS) and record.overhead_share is None else []
    return ", ".join([*split, *map(in_words, record.assumptions)]) or "-"


def _kernels() -> tuple[Row, list[Row]]:
    found = [(one, one.source) for one in registry.records(contract.Kernel).values()]
    rows: list[Row] = [
        (
            one.name,
            ", ".join(one.provides) or "-",
            units.show(one.index_s_per_byte, "index_s_per_byte"),
            one.host,
            source,
        )
        for one, source in (*found, *_own(contract.Kernel))
    ]
    return ("kernel", "provides", "host time", "host", "source"), rows


def _platforms() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, record.processor, record.source)
        for name, record in registry.records(contract.Platform).items()
    ]
    rows += [(own.name, own.processor, path) for own, path in _own(contract.Platform)]
    return ("platform", "processor", "source"), rows


def _objectives() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, units.label(name) or "-", record.summary, record.source)
        for name, record in registry.records(contract.Objective).items()
    ]
    return ("objective", "unit", "what it is", "source"), rows


def _methods() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (
            plugin.name,
            method.description,
            f"{method.budget:,}",
            ", ".join(option.name for option in method.options) or "-",
            plugin.distribution,
        )
        for plugin, method in _installed(contract.Method)
    ]
    return ("method", "what it does", "budget", "options", "from"), rows


def _generators() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (
            plugin.name,
            made.description,
            ", ".join(choice.name for choice in made.parameters),
            plugin.distribution,
        )
        for plugin, made in _installed(Generator)
    ]
    return ("generator", "what it makes", "parameters", "from"), rows


def _figures() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, record.source) for name, record in registry.records(papers.Figure).items()
    ]
    return ("figure", "after"), rows


def _studies() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, text.partition("\n")[0].removeprefix("#").strip())
        for name, text in shipped.shipped_studies().items()
    ]
    return ("study", "what it asks; dse new study --from NAME copies"), rows


KINDS: dict[str, tuple[type | None, Callable[[], tuple[Row, list[Row]]]]] = {
    "cores": (contract.Core, _cores),
    "functions": (contract.Function, _functions),
    "interfaces": (contract.Interface, _interfaces),
    "kernels": (contract.Kernel, _kernels),
    "platforms": (contract.Platform, _platforms),
    "objectives": (contract.Objective, _objectives),
    "methods": (contract.Method, _methods),
    "generators": (Generator, _generators),
    "figures": (papers.Figure, _figures),
    "studies": (None, _studies),
}

PROVIDERS = ("cores", "kernels")
"""What `--provides` lists."""
