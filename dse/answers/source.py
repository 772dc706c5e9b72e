"""The fronts behind an answer: of a study that is solved now, or of a run that has been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dse.algebra import units
from dse.errors import UnitError
from dse.files.document import Document
from dse.model.evaluation import LEDGER
from dse.runs import finished, runner
from dse.runs.finished import Finished
from dse.runs.runner import KnownFront, KnownFronts, Options, Run
from dse.search.outcome import UNFINISHED
from dse.search.settings import Budget

_RATE = "workload.rate"


COUNTS = ("designs", "evaluated", "feasible", "exact", LEDGER)
"""The results of a search: counts, whether the front is exact, and its ledger."""


def known_fronts(
    source: Path | Document | Run | Finished,
    *,
    rate: str | None = None,
    overrides: Sequence[tuple[str, str]] = (),
    options: Options | None = None,
    budget: Budget | None = None,
) -> KnownFronts:
    """Solve a study, or take the results of a run.  A rate or overrides cause a new search.

    The source is a study, its file, a run, or the folder of one.  `rate` is short for an override
    of ``workload.rate``, and an override of the swept field ends the sweep.  `options` and
    `budget` are for a new search.
    """
    pairs = [*overrides, *([(_RATE, _rate(rate, dict(overrides)))] if rate is not None else [])]
    base = finished.study_or_run(source, pairs)
    if isinstance(base, Run):
        return _of_run(base)
    if isinstance(base, Finished) and base.rows:
        counts = {key: base.manifest[key] for key in COUNTS}
        if why := base.manifest["certificate"][UNFINISHED]:
            counts[UNFINISHED] = why
        points = tuple(KnownFront(study, index, counts) for study, index in base.points())
        method, seed = base.manifest["method"], base.manifest["seed"]
        return KnownFronts(points, base.sweep, Options(method=method, seed=seed))
    found = base if isinstance(base, Document) else base.document
    if rate is not None and not found.stages:
        rule = f"rate {rate!r}: this study has no stages to carry a rate"
        raise UnitError(rule, "leave the rate out")
    return _of_run(runner.run_study(found, options or Options()), budget)


def _of_run(run: Run, budget: Budget | None = None) -> KnownFronts:
    if not run.feasible:
        from dse.parametric.infeasible import require_any_feasible  # rarely needed

        require_any_feasible(run, budget=budget)
    points = []
    for entry in run.answers:
        outcome = entry.outcome
        ledger, problem = outcome.ledger.to_dict(), entry.study.problem
        size = problem.size + len(problem.hosts)
        counts = (size, outcome.evaluated, outcome.feasible, outcome.exact)
        found = dict(zip(COUNTS, (*counts, ledger), strict=False))
        if not outcome.certificate.finished:
            found[UNFINISHED] = [outcome.certificate.reason]
        points.append(KnownFront(entry.study, outcome.front_index, found))
    return KnownFronts(tuple(points), run.sweep, Options())


def _rate(written: str, overrides: Mapping[str, str]) -> str:
    """Return a rate as it was written, checked."""
    if _RATE in overrides:
        raise UnitError(f"rate {written!r}: {_RATE} is {overrides[_RATE]} already", "write it once")
    try:
        rate = units.parse(written, "workload_rate_bit_per_s")
    except UnitError as error:
        raise UnitError(f"rate {written!r}: {error.rule}", error.remedy) from error
    if rate <= 0:
        raise UnitError(f"rate {written!r}: it must be positive", "write a demanded rate")
    return written
