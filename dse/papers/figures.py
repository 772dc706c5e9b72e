"""Figures of the papers, drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dse.contract.papers import Claim, Figure
from dse.errors import OutputError, UnknownPluginError, nearest
from dse.papers.study_runner import StudyRunner
from dse.plugins import registry


def draw_figures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """Draw figures into a folder and return the paths.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    from dse.papers.sheets import draw_sheet  # matplotlib, only now

    laboratory = StudyRunner()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [path for one in figures for path in draw_sheet(one, laboratory, folder)]
    except OSError as error:
        raise OutputError(f"figures cannot be written: {error}; choose another --out") from error


def select_figures(names: Sequence[str] = (), *, drawn: bool = True) -> tuple[Figure, ...]:
    """Return the figures of some names, of papers or figures, or all, by paper and number.

    Empty if `names` are only papers and they are not `drawn`.

    Raises
    ------
    UnknownPluginError
        A name is neither a paper's nor a figure's.
    """
    known = registry.records(Figure)
    papers = {*registry.names(Claim), *registry.names(Figure)}
    for name in names:
        if name not in papers and name not in known:
            rule = f"{name!r} is neither a paper nor a figure"
            raise UnknownPluginError(rule, nearest(name, (*papers, *known)))
    if not drawn and papers.issuperset(names):
        return ()
    return tuple(
        known[key]
        for key in sorted(known, key=_order)
        if not names or key in names or key.rpartition("-")[0] in names
    )


def _order(name: str) -> tuple[str, int, str]:
    paper, _, number = name.rpartition("-")
    return paper, int(number) if number.isdecimal() else 0, name
