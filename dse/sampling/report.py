"""Certainty of the recommended design of a study: Monte Carlo samples of it, or Sobol indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.answers.source import known_fronts
from dse.files.document import Assignments, Document, assignments
from dse.reports.designs import described
from dse.reports.sections import Readable, Section
from dse.runs.finished import Finished
from dse.runs.runner import Run
from dse.sampling.certainty import UNCERTAINTY_EXAMPLE, Certainty, read_shares
from dse.sampling.draws import certainty, draw_study
from dse.sampling.sobol import Sensitivity, read_width, sensitivity_of


@dataclass(frozen=True, repr=False, kw_only=True)
class UncertaintyReport(Readable):
    """The certainty of the recommended design, whose text `dse uncertainty` prints.

    Attributes
    ----------
    design
        The recommended design.
    found
        Results of samples, or Sobol indices.
    """

    design: str
    found: Certainty | Sensitivity


def uncertainty_of(
    source: Path | Document | Run | Finished,
    *,
    overrides: Sequence[tuple[str, str]],
    prefer: str | None,
    of: Assignments,
    width: str | None,
    progress: Callable[[int, int], None] | None,
    **drawn: int,
) -> UncertaintyReport:
    """Return the certainty of the recommended design of a study, or of a finished run.

    With a `width` these are Sobol indices.  `drawn` are samples and seed, and the other parameters
    as in `dse.uncertainty`.
    """
    shares = read_shares(assignments(of, UNCERTAINTY_EXAMPLE))  # raises before any search
    half = None if width is None else read_width(width)
    known = known_fronts(source, overrides=overrides)
    if known.sweep is not None:
        raise known.sweep.refused("an uncertainty is of one answer")
    study, front = known.points[0].study, known.points[0].front
    preference = study.preferring(prefer)
    point = preference.first(study.problem, front)
    design = described(study.problem, point)[0]
    found: Certainty | Sensitivity
    if half is None:
        settings = known.options.apply(study.settings)
        ranked = front[preference.order(study.problem, front)]
        sampled = draw_study(study, shares, **drawn)
        found = certainty(sampled, ranked, preference, settings, progress)
    else:
        found = sensitivity_of(study, point, width=half, **drawn)
    head = Section("design", "", (f"{design}, {preference.design}.",), facts=design)
    return UncertaintyReport(
        question=study.question,
        preference=preference.text,
        sections=(head, *found.sections()),
        design=design,
        found=found,
    )
