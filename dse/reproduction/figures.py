"""`dse figure`: figures of the papers, drawn again."""

from __future__ import annotations

from pathlib import Path

from dse.contract.papers import Figure
from dse.errors import OutputError, UnknownPluginError, nearest
from dse.plugins import registry
from dse.reproduction.study_runner import StudyRunner

ALL = "all"


def draw_figures(name: str, folder: Path) -> list[Path]:
    """Draw one figure, or all of them, into a folder and return the paths.

    Raises
    ------
    UnknownPluginError
        No figure has this name.
    OutputError
        A file cannot be written.
    """
    from dse.reproduction.sheets import draw_sheet  # matplotlib, only now

    chosen, laboratory = select_figures(name), StudyRunner()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [path for one in chosen for path in draw_sheet(one, laboratory, folder)]
    except OSError as error:
        raise OutputError(f"figures cannot be written: {error}; choose another --out") from error


def select_figures(name: str) -> tuple[Figure, ...]:
    """Return the figure called `name`, or all of them, by paper and number."""
    known = registry.records(Figure)
    if name == ALL:
        return tuple(known[key] for key in sorted(known, key=_order))
    if name not in known:
        raise UnknownPluginError(f"{name!r} is not a known figure", nearest(name, (*known, ALL)))
    return (known[name],)


def _order(name: str) -> tuple[str, int, str]:
    paper, _, number = name.rpartition("-")
    return paper, int(number) if number.isdecimal() else 0, name
