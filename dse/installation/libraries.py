"""What this distribution needs, what its extras need, and what of it is installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, metadata, version

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dse.plugins.registry import DISTRIBUTION


@dataclass(frozen=True)
class Library:
    """A distribution that is needed: always, or for an extra.

    Attributes
    ----------
    wanted
        The versions that will do, for instance ``>=2.0``; empty when any will.
    installed
        The version that is installed, empty when none is.
    fits
        Whether that version is a wanted one.
    """

    name: str
    wanted: str
    installed: str
    fits: bool


def libraries() -> dict[str, tuple[Library, ...]]:
    """Return what is needed by extra; under ``""`` what is always needed."""
    stated = metadata(DISTRIBUTION)
    needs = [Requirement(text) for text in stated.get_all("Requires-Dist") or ()]
    extras = sorted(stated.get_all("Provides-Extra") or ())
    return {extra: tuple(_needed(needs, extra)) for extra in ("", *extras)}


def own_version() -> str:
    """Return the version of this distribution."""
    return version(DISTRIBUTION)


def own_entry_points() -> set[tuple[str, str, str]]:
    """Return group, name and value of each entry point of this distribution."""
    found = distribution(DISTRIBUTION).entry_points
    return {(point.group, point.name, point.value) for point in found}


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
