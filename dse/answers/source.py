"""The fronts behind an answer: of a study that is solved now, or of a run that has been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dse.algebra import units
from dse.errors import UnitError
from dse.files import document
from dse.files.document import Document
from dse.infeasible.explanation import require_any_feasible
from dse.model.space import Index
from dse.runs import finished, runner
from dse.runs.runner import Options, Run
from dse.study import study
from dse.study.study import Study, Sweep

RATE = "workload.rate"


@dataclass(frozen=True)
class KnownFront:
    """The front of one study, wherever it comes from.

    `found` holds the counts ``designs``, ``evaluated`` and ``feasible``, and whether the front
    is ``exact``.
    """

    study: Study
    front: Index
    found: Mapping[str, Any]


@dataclass(frozen=True)
class KnownFronts:
    """The fronts of a study, one for every value of its sweep; and how to search further."""

    points: tuple[KnownFront, ...]
    sweep: Sweep | None
    options: Options


def known_fronts(
    source: Path | Document | Run,
    *,
    rate: str | None = None,
    overrides: Sequence[tuple[str, str]] = (),
) -> KnownFronts:
    """Solve a study, or take what a run has found.

    Parameters
    ----------
    source
        A study, its file, a run, or the folder of one.  With a rate or overrides the study of a
        run is searched again.
    rate
        The demanded rate, short for an override of ``workload.rate``.
    overrides
        Pairs of dotted path and value.  An override of the swept field ends the sweep.

    Raises
    ------
    StudyError, UnitError, OutputError
        What was asked for makes no sense.
    InfeasibleError
        When no design meets every constraint.
    """
    pairs = [*overrides, *([(RATE, _rate(rate))] if rate is not None else [])]
    if isinstance(source, Run):
        if not pairs:
            return _of_run(source, Options())
        found = source.document
    elif isinstance(source, Path) and source.is_dir():
        run = finished.read_run(source)
        if not pairs and run.rows:
            return KnownFronts(_read_back(run), run.sweep, _options(run))
        found = run.document
    else:
        found = document.read_document(source) if isinstance(source, Path) else source
    found = _overridden(found, pairs)
    _check_rate(found, rate)
    return _of_run(runner.run_study(found, Options()), Options())


def _of_run(run: Run, options: Options) -> KnownFronts:
    require_any_feasible(run)
    return KnownFronts(tuple(map(_known, run.answers)), run.sweep, options)


def _known(entry: runner.SolvedStudy) -> KnownFront:
    found = {
        "designs": entry.study.problem.size,
        "evaluated": entry.outcome.evaluated,
        "feasible": entry.outcome.feasible,
        "exact": entry.outcome.exact,
    }
    return KnownFront(entry.study, entry.outcome.front_index, found)


def _rate(written: str) -> str:
    """Return a rate as it was written, checked."""
    try:
        rate = units.parse(written, "workload_rate_bit_per_s")
    except UnitError as error:
        raise UnitError(f"--rate {written!r}: {error.rule}", error.remedy) from error
    if rate <= 0:
        raise UnitError(f"--rate {written!r}: it must be more than 0", "write a demanded rate")
    return written


def _check_rate(found: Document, rate: str | None) -> None:
    if rate is not None and not found.data.get("stages"):
        raise UnitError(
            f"--rate {rate!r}: this study has no stages to carry a rate",
            "leave --rate out",
        )


def _overridden(found: Document, pairs: Sequence[tuple[str, str]]) -> Document:
    """Return the document with fields replaced; a swept field that is set is swept no more."""
    swept = found.data.get("sweep")
    found = study.override(found, pairs)
    if isinstance(swept, dict) and any(path in swept for path, _ in pairs):
        return document.override_value(found, "sweep", "{}")
    return found


def _read_back(run: finished.Finished) -> tuple[KnownFront, ...]:
    points = run.points()
    share = {key: run.manifest[key] for key in ("designs", "evaluated", "feasible", "exact")}
    return tuple(KnownFront(prepared, index, share) for prepared, index in points)


def _options(run: finished.Finished) -> Options:
    return Options(method=str(run.manifest["method"]), seed=int(run.manifest["seed"]))
