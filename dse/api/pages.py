"""The page of a run, of a study without a feasible design, and of runs that go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from dse.answers.roofs import of_each
from dse.answers.shortfall import Margin, margins_section
from dse.api.answers import answer
from dse.api.arguments import public
from dse.api.runs import folder_of
from dse.errors import ArgumentError, InfeasibleError, TooLargeError
from dse.files.json import write_text
from dse.page import document, sections
from dse.page.contents import FLIPS, PageRun, contents, hues, read_page_run, remarks
from dse.parametric.decision_map import DecisionMap, find_map, range_around
from dse.reports.front_view import uncounted_text
from dse.reports.sections import Readable, Section
from dse.runs.finished import plot_run
from dse.runs.record import MANIFEST
from dse.runs.result import PAGE, Result
from dse.search.settings import budget_of
from dse.study.assumptions import assumptions_of
from dse.study.study import Study

MOST_KNOWN = 5_000
"""A front of more designs has neither ranges nor limits of each."""

CONSTRAINTS = "constraints"
"""Key of the section with the distances of the answer from the constraints."""

_RATE, _GRANULARITY = "workload.rate", "workload.granularity"
"""Fields of a study over which its page has a map."""

FLIPS_TIME = "10 s"
"""CPU time for changes of the answer of a run, if no limit is given."""


def write_page(folder: Path, out: str | Path | None = None, **wanted: Any) -> Path:
    """Write the page of a run (`page_text`), by default report.html in its folder."""
    target = Path(out) if out is not None else folder / PAGE
    write_text(target, page_text(folder, **wanted))
    return target


def page_text(
    folder: Path,
    *,
    prefer: str | None = None,
    flips: bool = False,
    live: Mapping[str, Any] | None = None,
    **changing: Any,
) -> str:
    """Return the page of a run, with `live`, the state of its program, for a served page.

    With `flips` it has every flip point and the decision map, else the nearest flip points.
    `changing` are further arguments of `answer`.
    """
    time = changing.pop("time", None) or FLIPS_TIME
    run = read_page_run(folder)
    near = None if live is None and run.view.size <= MOST_KNOWN else False
    options = {**changing, "flips": flips or near, "time": time}
    found = answer(run.run, prefer=prefer, **options)
    parts = _sections(run, found)
    parts["remarks"] = [Section("remarks", lines=tuple(remarks(run)))]
    parts["map"], drawn = _map(run, prefer, time) if flips else ([], b"")
    limits, beside = _beside(run, found, parts)
    data = contents(run, run.study.preferring(prefer), found.sections, limits, beside)
    return document.page_html(data["title"], parts, data, drawn, live)


def _map(run: PageRun, prefer: str | None, time: str) -> tuple[list[Section], bytes]:
    """Return the decision map around the demand of a run, in words and as SVG, or nothing."""
    try:
        found = _around(run, prefer, time)
    except TooLargeError as error:
        return [Section("map", lines=(f"There is no map: {error}.",))], b""
    if found is None:
        return [], b""
    return [found.section], _maps().map_svg(found, hues(run, found.by))[0]


def _maps() -> ModuleType:
    """Return the module that draws maps, with matplotlib, only now."""
    from dse.parametric import plots

    return plots


def _around(run: PageRun, prefer: str | None, time: str) -> DecisionMap | None:
    """Return the best answers around the demand of a run, None without a demanded rate.

    They are over the rate and, if the study has it, the size of an offload.
    """
    fields = {one.name: one for one in assumptions_of(run.study, designs=False)}
    known = (fields[name] for name in (_RATE, _GRANULARITY) if name in fields)
    ranges = [range_around(one.name, one.value, one.quantity, whole=one.integer) for one in known]
    if run.view.sweep is not None or _RATE not in fields:
        return None
    return find_map(run.study.document, ranges, prefer=prefer, budget=budget_of(time))


def _beside(
    run: PageRun, found: Readable, parts: Mapping[str, Sequence[Section]]
) -> tuple[Sequence[Mapping[str, Any]], dict[str, Any]]:
    """Return the limits of each design, and further facts of designs and the run."""
    problem, index = run.points[0][0].problem, run.points[0][1]
    known = run.view.sweep is None and len(index) <= MOST_KNOWN
    limits, spreads = of_each(problem, index if known else index[:0])
    ranges: Mapping[str, Any] = next((s.facts for s in found.sections if s.key == "ranges"), {})
    facts = {"spreads": spreads, "uncounted": uncounted_text(ranges.get("omitted", {}))}
    facts["proof"] = parts["certificate"][0].facts
    changing = (section.facts for section in found.sections if section.key == FLIPS)
    facts["fragile"] = [line for one in changing for line in one.get("nearest", ())]
    return limits, facts


def _sections(run: PageRun, found: Readable) -> dict[str, list[Section]]:
    """Return the sections of a page by its parts."""
    first, *others = found.sections
    room = [section for section in others if section.key == CONSTRAINTS and section.lines]
    cores = sections.cores_section(run)
    near, far = sections.assumptions_sections(run)
    return {
        "answer": [first, *room],
        "more": [*[cores] * bool(cores.lines), *(one for one in others if one not in room)],
        "front": [sections.front_section(run)],
        "assumptions": [near],
        "others": [far] * bool(far.rows or far.lines),
        "certificate": [sections.certificate_section(run)],
        "study": [sections.study_section(run)],
    }


def report_infeasible(study: Study, found: InfeasibleError, folder: Path) -> None:
    """Write the reason why nothing is feasible as ``report.html``.

    Raises
    ------
    InfeasibleError
        The same, if the folder holds an earlier run, whose page it would seem to be.
    """
    if (folder / MANIFEST).exists():
        rule = f"{found}\n\n{folder} holds an earlier run, so that no page was written there"
        raise InfeasibleError(f"{rule}; name another folder", found.facts) from found
    write_text(folder / PAGE, infeasible_page(study, found))


def infeasible_page(
    study: Study,
    found: InfeasibleError,
    *,
    live: Mapping[str, Any] | None = None,
) -> str:
    """Return the reason why nothing is feasible as a page, as `page_text`."""
    written = study.document
    ran = sections.written_section(Path(written.file).name, written.text, written.overrides)
    parts = {
        "answer": sections.infeasible_sections(found.facts),
        "more": [Section("text", lines=tuple(str(found).split("\n")))],
        "study": [ran],
    }
    return document.page_html(study.question, parts, None, live=live)


def begun_page(folder: Path, status: Sequence[Section], *, live: Mapping[str, Any] | None) -> str:
    """Return the page of an unfinished run, as `page_text`."""
    words = "The run goes on. Its front is shown when it ends, or is stopped."
    parts = {"answer": [Section("running", lines=(words,))], "more": status}
    return document.page_html(folder.name, parts, None, live=live)


@public
def pictures(run: str | Path | Result, *, out: str | Path | None = None) -> tuple[Path, ...]:
    """Draw the front of a run into its folder or another one.

    Parameters
    ----------
    run, out
        As in `report`.  A folder.
    """
    folder = folder_of(run)
    return plot_run(folder, Path(out or folder))


@public
def slide(
    run: str | Path | Result,
    *,
    out: str | Path | None = None,
    flips: bool = False,
    time: str | None = None,
) -> tuple[Path, ...]:
    """Draw a finished run as a picture for a slide, into its folder or another one.

    Parameters
    ----------
    run, out
        As in `pictures`.
    flips
        Show the decision map over rate and size of an offload instead of the front.
    time : TIME
        Most CPU time for the map (default: 1 min).

    Raises
    ------
    dse.errors.DseError
        The folder is no run, its answer is no single design, or it has no such map.
    """
    folder = folder_of(run)
    found = read_page_run(folder)
    view, chosen = found.view, found.view.recommended
    if chosen is None:
        raise ArgumentError(f"{folder}: {_NO_PICK}")
    around = _around(found, None, time or "1 min") if flips else None
    if flips and (around is None or len(around.numbers) == 1):
        raise ArgumentError(f"{folder}: without a rate and a size of offloads there is no map")
    facts = margins_section(found.study.problem, found.recommended[0]).facts
    margins = {
        Margin(**one).spare_text: 1.0 - one["spare"] if one["spare"] is not None else 0.0
        for one in facts
    }
    from dse.reports import drawing, plots  # matplotlib, only now

    draw = None
    if around is not None:
        draw = partial(_maps().draw_map, found=around, first=hues(found, around.by))
    pick = f"{chosen.design}. {view.worth}"
    return drawing.draw_into(
        Path(out or folder), lambda fresh: plots.draw_slide(view, pick, margins, fresh, draw)
    )


_NO_PICK = "a sweep has no single design for a slide (dse report --pictures draws it)"


@public
def report(
    run: str | Path | Result,
    *,
    out: str | Path | None = None,
    prefer: str | None = None,
    flips: bool = False,
    time: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a finished run as a web page, which needs no network and no other file.

    >>> dse.report("runs/settop", out="settop.html")

    Parameters
    ----------
    run
        Folder of a run, as `dse run` wrote it.  Or a `Result` that was saved.
    out
        Page to write (default: report.html in the folder).
    prefer
        As in `answer`.
    flips
        Include every flip point, not only the nearest, and the decision map of a demanded rate.
    time : TIME
        Most CPU time for other choices and flip points: "1 min" (default: 10 s).  As much again for
        the map.
    progress
        Called with the number of checked assumptions and of all.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    dse.errors.DseError
        The folder is no run or was changed since, or the page cannot be written.
    """
    budget_of(time)  # raises before anything is read
    chosen = {"prefer": prefer, "flips": flips, "time": time, "progress": progress}
    return write_page(folder_of(run), out, **chosen)
