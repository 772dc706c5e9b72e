"""Installed libraries, possible additions, and errors of the installation."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, metadata, version
from pathlib import Path
from typing import Any

import numpy as np
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
                yield _look(need)


def _applies(need: Requirement, extra: str) -> bool:
    return need.marker is None or need.marker.evaluate({"extra": extra})


def _look(need: Requirement) -> Library:
    try:
        installed = version(need.name)
    except PackageNotFoundError:
        installed = ""
    fits = bool(installed) and need.specifier.contains(installed, prereleases=True)
    return Library(need.name, str(need.specifier), installed, fits)


CHECKOUT = Path(__file__).parents[2]
"""The checkout that this program runs from, or the folder of installed packages."""

PURPOSES: Mapping[str, str] = {
    "all": "all that a study can ask for",
    "dask": "designs measured by the machines of a Dask cluster",
    "dev": "work on the program itself",
    "docs": "the documents as a site",
    "mcp": "answers for agents, by `dse mcp`",
    "parquet": "evaluations of runs as Parquet instead of CSV",
    "peers": "solvers of others, for the benchmarks",
    "rtl": "cores from hardware descriptions, by Yosys",
    "search": "heuristic search: genetic algorithms and samplers",
    "test": "run its tests, or those of a package of your own",
    "uncertainty": "Sobol indices of what an answer assumes",
}
"""Purposes of the extras.  An extra without an entry is shown without one."""

_PROGRAMS: Mapping[str, str] = {
    "yosys": "mapping of hardware, where the extra rtl is not installed",
}
"""Other programs, and their purpose."""


@dataclass(frozen=True)
class Diagnosis:
    """A diagnosis, with `facts` as plain data and the findings among them."""

    facts: Mapping[str, Any]
    needed: tuple[Library, ...]

    @property
    def findings(self) -> list[str]:
        """Return the errors, each with its remedy."""
        return list(self.facts["findings"])

    def text(self) -> str:
        """Return versions, plug-ins, extras and findings as tables."""
        return "\n\n".join(_text(self.facts, self.needed))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return dict(self.facts)


def diagnose() -> Diagnosis:
    """Look at versions, plug-ins and extras."""
    needed = libraries()
    kinds = registry.kinds_of({**registry.GROUPS, **registry.PAPERS})
    surveyed = [one for kind in kinds for one in registry.survey(kind)]
    # two of one name have the same error
    broken = dict.fromkeys(str(one.error) for one in surveyed if one.error is not None)
    findings = [*_library_findings(needed[""]), *_checkout_findings(), *broken]
    facts = {
        "platform": _platform(),
        "libraries": {library.name: library.installed or None for library in needed[""]},
        "plug_ins": _plug_ins(surveyed),
        "extras": {
            extra: {
                "for": PURPOSES.get(extra, ""),
                "missing": [f"{one.name}{one.wanted}" for one in wanted if not one.fits],
            }
            for extra, wanted in needed.items()
            if extra
        },
        "programs": {
            name: {"for": purpose, "path": shutil.which(name)}
            for name, purpose in _PROGRAMS.items()
        },
        "findings": findings,
    }
    return Diagnosis(facts, tuple(needed[""]))


def _platform() -> dict[str, Any]:
    built: Any = np.show_config(mode="dicts")
    features = [*built.get("SIMD Extensions", {}).get("found", ())]
    return {
        "dse": version(DISTRIBUTION),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "cpu_cores": os.cpu_count(),
        "numpy_uses": ", ".join(features[-3:]) or "no CPU features beyond its baseline",
    }


def _library_findings(needed: Sequence[Library]) -> Iterator[str]:
    for library in needed:
        if not library.fits:
            found = f"is {library.installed}" if library.installed else "is not installed"
            wanted = f"{library.name}{library.wanted}"
            yield (
                f"library {library.name} {found}, and {DISTRIBUTION} needs {wanted}; "
                f'run: python -m pip install "{wanted}"'
            )


def _checkout_findings() -> Iterator[str]:
    """Yield the remedy if this is a checkout that has changed since it was installed."""
    try:
        stated = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # installed for good, beside other packages
        return
    project = stated.get("project", {})
    if project.get("name") != DISTRIBUTION:
        return
    points = project.get("entry-points", {}) | {"console_scripts": project.get("scripts", {})}
    wanted = {(group, *point) for group, named in points.items() for point in named.items()}
    installed = distribution(DISTRIBUTION).entry_points
    differing = wanted ^ {(point.group, point.name, point.value) for point in installed}
    if differing:
        names = sorted({name for _, name, _ in differing})
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        yield (
            f"the installed entry points are not those of {CHECKOUT / 'pyproject.toml'}: they "
            f"differ in {', '.join(names[:_MOST_NAMES])}{more}; "
            f"run: python -m pip install -e {shlex.quote(str(CHECKOUT))}"
        )


def _plug_ins(surveyed: Sequence[Surveyed]) -> dict[str, dict[str, list[str]]]:
    """Return the names of the plug-ins that can be used, by kind and by distribution."""
    found: dict[str, dict[str, list[str]]] = {}
    for entry in surveyed:
        if entry.error is None:
            kind = found.setdefault(entry.plugin.kind.__name__.lower(), {})
            kind.setdefault(entry.plugin.distribution, []).extend(entry.names)
    return found


def _text(facts: Mapping[str, Any], needed: Sequence[Library]) -> Iterator[str]:
    rows = [(name.replace("_", " "), str(value)) for name, value in facts["platform"].items()]
    yield table_text(rows, ("this installation", ""))
    yield table_text(
        [(one.name, one.installed or "missing", one.wanted or "any") for one in needed],
        ("library", "version", "wanted"),
    )
    yield table_text(
        [
            (kind, distribution, str(len(names)), _shown(names))
            for kind, found in facts["plug_ins"].items()
            for distribution, names in found.items()
        ],
        ("plug-ins", "from", "number", "names"),
    )
    extras = facts["extras"].items()
    yield table_text(
        [(extra, one["for"], ", ".join(one["missing"]) or "-") for extra, one in extras],
        ("extra", "what for", "missing"),
    )
    if any(one["missing"] for _, one in extras):
        yield f'to add an extra: python -m pip install "{DISTRIBUTION}[EXTRA]"'
    yield table_text(
        [(name, one["for"], one["path"] or "-") for name, one in facts["programs"].items()],
        ("program", "what for", "path"),
    )
    findings = facts["findings"]
    yield "\n".join([f"broken ({len(findings)})", *findings]) if findings else "nothing is broken"


_MOST_NAMES = 6


def _shown(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f", ... {more} more" if more > 0 else "")
