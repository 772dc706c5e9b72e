"""Installed libraries, possible additions, and errors of the installation."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, version
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dse.plugins import registry
from dse.plugins.registry import DISTRIBUTION, Surveyed
from dse.reports.text import table_text


@dataclass(frozen=True)
class Library:
    """A distribution that is needed: always, or for an extra.

    Attributes
    ----------
    wanted
        The allowed versions, for instance ``>=2.0``, or empty if all are.
    installed
        The installed version, or empty.
    fits
        Whether that version is a wanted one.
    """

    name: str
    wanted: str
    installed: str
    fits: bool


def libraries() -> dict[str, tuple[Library, ...]]:
    """Return the needed libraries by extra, with ``""`` for those that are always needed."""
    stated = metadata(DISTRIBUTION)
    needs = [Requirement(text) for text in stated.get_all("Requires-Dist") or ()]
    extras = sorted(stated.get_all("Provides-Extra") or ())
    return {extra: tuple(_needed(needs, extra)) for extra in ("", *extras)}


def _needed(needs: Sequence[Requirement], extra: str) -> Iterator[Library]:
    for need in needs:
        if _applies(need, extra) and not (extra and _applies(need, "")):
            if canonicalize_name(need.name) == canonicalize_name(DISTRIBUTION):
                for inner in sorted(need.extras):
                    yield from _needed(needs, inner)
            else:
                yield _library(need)


def _applies(need: Requirement, extra: str) -> bool:
    return need.marker is None or need.marker.evaluate({"extra": extra})


def _library(need: Requirement) -> Library:
    try:
        installed = version(need.name)
    except PackageNotFoundError:
        installed = ""
    fits = bool(installed) and need.specifier.contains(installed, prereleases=True)
    return Library(need.name, str(need.specifier), installed, fits)


@dataclass(frozen=True)
class Diagnosis:
    """A diagnosis, with `facts` as plain data and the findings among them."""

    facts: Mapping[str, Any]
    needed: tuple[Library, ...]

    def text(self) -> str:
        """Return versions, plug-ins, extras and findings as tables."""
        facts, extras = self.facts, self.facts["extras"].items()
        system = [(name, str(value)) for name, value in facts["platform"].items()]
        versions = [
            (one.name, one.installed or "missing", one.wanted or "any") for one in self.needed
        ]
        plug_ins = [
            (kind, origin, str(len(names)))
            for kind, found in facts["plug_ins"].items()
            for origin, names in found.items()
        ]
        missing = [(extra, ", ".join(one["missing"]) or "-") for extra, one in extras]
        parts = [
            table_text(system, ("this installation", "")),
            table_text(versions, ("library", "version", "wanted")),
            table_text(plug_ins, ("plug-ins", "from", "number")),
            table_text(missing, ("extra", "missing")),
        ]
        if any(one["missing"] for _, one in extras):
            parts.append(f'to add an extra: python -m pip install "{DISTRIBUTION}[EXTRA]"')
        broken = "\n".join([f"broken ({len(facts['findings'])})", *facts["findings"]])
        return "\n\n".join([*parts, broken if facts["findings"] else "nothing is broken"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return dict(self.facts)


def diagnose() -> Diagnosis:
    """Return versions, plug-ins and extras, and errors among them."""
    needed = libraries()
    kinds = registry.kinds_of({**registry.GROUPS, **registry.PAPERS})
    surveyed = [one for kind in kinds for one in registry.survey(kind)]
    # two of one name have the same error
    broken = dict.fromkeys(str(one.error) for one in surveyed if one.error is not None)
    facts = {
        "platform": {
            "dse": version(DISTRIBUTION),
            "python": f"{platform.python_version()} ({platform.python_implementation()})",
            "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
            "cpu cores": os.cpu_count(),
        },
        "libraries": {library.name: library.installed or None for library in needed[""]},
        "plug_ins": _plug_ins(surveyed),
        "extras": {
            extra: {"missing": [f"{one.name}{one.wanted}" for one in wanted if not one.fits]}
            for extra, wanted in needed.items()
            if extra
        },
        "findings": [*_library_findings(needed[""]), *broken],
    }
    return Diagnosis(facts, needed[""])


def _library_findings(needed: Sequence[Library]) -> Iterator[str]:
    for library in needed:
        if not library.fits:
            found = f"is {library.installed}" if library.installed else "is not installed"
            wanted = f"{library.name}{library.wanted}"
            yield (
                f"library {library.name} {found}, and {DISTRIBUTION} needs {wanted}; "
                f'run: python -m pip install "{wanted}"'
            )


def _plug_ins(surveyed: Sequence[Surveyed]) -> dict[str, dict[str, list[str]]]:
    """Return the names of the plug-ins that can be used, by kind and by distribution."""
    found: dict[str, dict[str, list[str]]] = {}
    for entry in surveyed:
        if entry.error is None:
            kind = found.setdefault(entry.plugin.kind.__name__.lower(), {})
            kind.setdefault(entry.plugin.distribution, []).extend(entry.names)
    return found
