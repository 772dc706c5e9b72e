"""Finished runs as one web page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dse.api.answers import answer
from dse.api.arguments import Duration, Limit, Percent, Size, public
from dse.api.sources import folder_of
from dse.errors import ArgumentError, InfeasibleError
from dse.files.folder import write_text

if TYPE_CHECKING:
    from dse.page.page_run import PageRun
    from dse.reports.sections import Readable, Section
    from dse.runs.result import Result
    from dse.study.study import Study

FLIPS = "flips"
"""Key of the section of an answer that says what would change it."""

CONSTRAINTS = "constraints"
"""Key of the section that says how far the answer is from the constraints."""

MOST_ASSIGNED = 20_000
"""A front of more designs has none as assignments, which would be most of its page."""

MOST_BYTE = 5_000_000
"""Size of a page that holds answers."""

FLIPS_TIME = "10 s"
"""CPU time for what would change the answer of a run, where nobody says how much it may take."""


@public
def report(
    *runs: str | Path | Result,
    out: str | Path | None = None,
    prefer: str | None = None,
    tolerance: Percent | None = None,
    flips: bool = False,
    living: bool = False,
    time: Duration | None = None,
    memory: Size | None = None,
    cloud: Limit = 100_000,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write finished runs as one web page, which needs no network and no other file.

    >>> dse.report("runs/settop", out="settop.html")

    Parameters
    ----------
    runs : RUN...
        Folders of runs, as `dse run` wrote them.  Or `Result` s that were saved; several share a
        page when they have the same objectives and sweep the same field, if any.
    out
        Page to write (default: report.html in the first folder).
    prefer, tolerance, memory
        As in `answer`.
    flips
        Include flip points: what would change the answer.
    living
        Include proven answers with the rate and other numbers moved, at most three of those that
        change the answer, on a grid with their flip points; for one run.  The page has 5 MB at
        most.
    time
        Most CPU time for the flip points of each run: "1 min" (default: 10 s), and for the answers
        of a living page (default: 5 min).
    cloud
        Most feasible designs to draw, over all runs.
    progress
        Called with how many assumptions were checked, or answers found, and how many there are.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    dse.errors.DseError
        When a folder is no run or was changed since, when runs have no page in common, or when the
        page cannot be written.
    """
    from dse.runs.result import PAGE
    from dse.search.budget import budget_of

    if not runs:
        raise ArgumentError("report(): give at least one run")
    budget_of(time, memory)  # what makes no sense is refused before anything is read
    folders = [folder_of(run) for run in runs]
    text = page_text(
        folders,
        prefer=prefer,
        tolerance=tolerance,
        flips=flips,
        living=living,
        time=time,
        memory=memory,
        cloud=cloud,
        progress=progress,
    )
    target = Path(out) if out is not None else folders[0] / PAGE
    write_text(target, text)
    return target


def page_text(
    folders: Sequence[Path],
    *,
    prefer: str | None = None,
    tolerance: Percent | None = None,
    cloud: Limit = 100_000,
    live: Mapping[str, Any] | None = None,
    living: bool = False,
    **changing: Any,
) -> str:
    """Return the page of runs; `live` is what a served page knows of its program.

    `changing` are arguments of `answer`.
    """
    from dse.page import document
    from dse.page.contents import contents, remarks
    from dse.page.page_run import read_page_runs
    from dse.reports.sections import Section
    from dse.runs.design_names import exact_name
    from dse.runs.unfinished import all_readable

    options = {"flips": False, **changing, "time": changing.get("time") or FLIPS_TIME}
    with all_readable(folders) as readable:
        shown = read_page_runs(readable)
        answers = [
            answer(run.run.folder, prefer=prefer, tolerance=tolerance, **options) for run in shown
        ]
        preferences = [run.study.preferring(prefer, tolerance) for run in shown]
        few = sum(run.view.size for run in shown) <= MOST_ASSIGNED
        assigned = [
            exact_name(study.problem, point)
            for run in shown * few
            for study, index in run.points
            for point in index
        ]
        data = contents(shown, preferences, cloud, _changing(shown, answers), assigned)
        parts = _sections(shown, answers) | {
            "remarks": [Section("remarks", lines=tuple(remarks(shown, preferences, cloud)))]
        }
    if not living:
        return document.page_html(data["title"], parts, data, live=live)
    how = {"prefer": prefer, "tolerance": tolerance}
    room = MOST_BYTE - len(document.page_html(data["title"], parts, data).encode())
    moved = _living(shown, how, room, changing.get("time"), changing.get("progress"))
    return document.page_html(data["title"], parts, data, living=moved)


def _living(
    shown: Sequence[PageRun], how: dict[str, Any], byte: int, time: str | None, progress: Any
) -> dict[str, Any]:
    """Return the answers that a page holds, in `byte` at most; see `living_facts`."""
    from dse.api.living import LIVING_TIME_S, living_facts
    from dse.search.budget import budget_of

    if len(shown) > 1:
        raise ArgumentError("living: a page holds the answers of one run; make one of each")
    if byte < MOST_BYTE // 10:
        raise ArgumentError("living: the page has no room for answers; draw less: --cloud 10000")
    seconds = budget_of(time, None).seconds if time else LIVING_TIME_S
    (run,) = shown
    return living_facts(run.run.document, **how, seconds=seconds, byte=byte, progress=progress)


def _sections(shown: Sequence[PageRun], answers: Sequence[Readable]) -> dict[str, list[Section]]:
    """Return what a page says in words and tables, by its parts."""
    from dse.page import sections
    from dse.reports.sections import Section

    parts: dict[str, list[Section]] = {"answer": [], "more": []}
    for run, found in zip(shown, answers, strict=True):
        title = Section("run", run.name if len(shown) > 1 else "")
        first, *others = found.sections
        room = [section for section in others if section.key == CONSTRAINTS and section.lines]
        parts["answer"] += [title, first, *room]
        parts["more"] += [title, *(section for section in others if section not in room)]
    return parts | {
        "front": [sections.front_section(run) for run in shown],
        "assumptions": [sections.assumptions_section(run) for run in shown],
        "certificate": [sections.certificate_section(run) for run in shown],
        "study": [sections.study_section(run) for run in shown],
    }


def _changing(shown: Sequence[PageRun], answers: Sequence[Readable]) -> list[dict[str, Any]]:
    """Return what would change the answers, in SI, as far as it was looked for."""
    return [
        {"run": run.name} | section.facts
        for run, found in zip(shown, answers, strict=True)
        for section in found.sections
        if section.key == FLIPS and "assumptions" in (section.facts or ())
    ]


def report_infeasible(study: Study, found: InfeasibleError, folder: Path) -> None:
    """Write why nothing is feasible as ``report.html``: in words, and as it is drawn beside.

    Raises
    ------
    InfeasibleError
        The same, when the folder holds an earlier run, of which it would seem to be the page.
    """
    from dse.runs.checksums import MANIFEST
    from dse.runs.result import MISSED, PAGE

    if (folder / MANIFEST).exists():
        rule = f"{found}\n\n{folder} holds an earlier run, so that no page was written there"
        raise InfeasibleError(f"{rule}; name another folder", found.facts) from found
    drawn = folder / MISSED[-1]
    picture = drawn.read_bytes() if drawn.is_file() else b""
    write_text(folder / PAGE, infeasible_page(study, found, picture=picture))


def infeasible_page(
    study: Study,
    found: InfeasibleError,
    *,
    picture: bytes = b"",
    live: Mapping[str, Any] | None = None,
) -> str:
    """Return why nothing is feasible as a page, with a picture of it as SVG; see `page_text`."""
    from dse.page import document, sections
    from dse.reports.sections import Section

    written = study.document
    ran = sections.written_section(Path(written.file).name, written.text, written.overrides)
    parts = {
        "answer": sections.infeasible_sections(found.facts),
        "more": [Section("text", lines=tuple(str(found).split("\n")))],
        "study": [ran],
    }
    return document.page_html(study.question, parts, None, picture, live=live)


def begun_page(folder: Path, status: Sequence[Section], *, live: Mapping[str, Any] | None) -> str:
    """Return the page of a run that keeps nothing before its end; see `page_text`."""
    from dse.page import document
    from dse.reports.sections import Section

    words = "The run goes on. Its front is shown when it ends, or is stopped."
    parts = {"answer": [Section("running", lines=(words,))], "more": status}
    return document.page_html(folder.name, parts, None, live=live)
