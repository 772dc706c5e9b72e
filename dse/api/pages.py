"""The pages of runs, of studies without a feasible design, and of runs that go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dse.api.answers import answer
from dse.api.arguments import Limit, Percent
from dse.errors import InfeasibleError
from dse.files.json import write_text

if TYPE_CHECKING:
    from dse.model.preference import Preference
    from dse.page.page_run import PageRun
    from dse.reports.sections import Readable, Section
    from dse.study.study import Study

FLIPS = "flips"
"""Key of the section of an answer that says what would change it."""

CONSTRAINTS = "constraints"
"""Key of the section that says how far the answer is from the constraints."""

MOST_ASSIGNED = 20_000
"""A front of more designs has none as assignments, which would be most of its page."""

FLIPS_TIME = "10 s"
"""CPU time for what would change the answer of a run, where nobody says how much it may take."""


def write_page(folders: Sequence[Path], out: str | Path | None = None, **wanted: Any) -> Path:
    """Write the page of runs, report.html in the first folder if nowhere else; see `page_text`."""
    from dse.runs.result import PAGE

    target = Path(out) if out is not None else folders[0] / PAGE
    write_text(target, page_text(folders, **wanted))
    return target


def page_text(
    folders: Sequence[Path],
    *,
    prefer: str | None = None,
    tolerance: Percent | None = None,
    cloud: Limit = 100_000,
    live: Mapping[str, Any] | None = None,
    **changing: Any,
) -> str:
    """Return the page of runs; `live` is what a served page knows of its program.

    `changing` are arguments of `answer`.
    """
    from dse.page import document
    from dse.page.contents import contents, remarks, roofs_of_answers
    from dse.page.page_run import read_page_runs
    from dse.reports.sections import Section
    from dse.runs.design_names import exact_name
    from dse.runs.unfinished import readable

    options = {"flips": False, **changing, "time": changing.get("time") or FLIPS_TIME}
    with ExitStack() as opened:
        shown = read_page_runs([opened.enter_context(readable(folder)) for folder in folders])
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
        roofs = roofs_of_answers((run.name for run in shown), (found.sections for found in answers))
        moving = _changing(shown, answers)
        data = contents(shown, preferences, cloud, moving, roofs, assigned)
        data["importance"] = _importance(shown, preferences)
        parts = _sections(shown, answers) | {
            "remarks": [Section("remarks", lines=tuple(remarks(shown, preferences, cloud)))]
        }
    return document.page_html(data["title"], parts, data, live=live)


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
    if len(shown) > 1:
        from dse.audit.diff import compare_runs

        for other in shown[1:]:
            compared = compare_runs(shown[0].run.folder, other.run.folder)
            between = f"From {shown[0].name} to {other.name}"
            parts["answer"].append(Section("differences", between, compared.summary()))
    if (cores := sections.cores_section(shown)).lines:
        parts["answer"].append(cores)
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


def _importance(
    shown: Sequence[PageRun], preferences: Sequence[Preference]
) -> list[dict[str, Any]]:
    """Return how far assumptions move the deciding objective of what runs recommend."""
    from dse.page.columns import unit_facts
    from dse.parametric.importance import importance_facts
    from dse.reports.text import in_words

    found = []
    for run, preference in zip(shown, preferences, strict=True):
        ((study, index), *others) = run.points
        if run.view.sweep is None and not others and len(index):
            point = preference.first(study.problem, index)
            if facts := importance_facts(study, point, preference):
                name = facts["quantity"]
                found.append(
                    {"run": run.name, "words": in_words(name), "unit": unit_facts(name)} | facts
                )
    return found


def report_infeasible(study: Study, found: InfeasibleError, folder: Path) -> None:
    """Write why nothing is feasible as ``report.html``: in words, and as it is drawn beside.

    Raises
    ------
    InfeasibleError
        The same, when the folder holds an earlier run, of which it would seem to be the page.
    """
    from dse.runs.result import MISSED, PAGE
    from dse.runs.run_files import MANIFEST

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
