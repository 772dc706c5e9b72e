"""What `dse check` says of measuring: what measures, what it tells, and how many designs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dse.algebra.units import stem
from dse.model.measured import Bench
from dse.model.problem import Problem
from dse.search.settings import SearchSettings
from dse.study import schema
from dse.study.spending import most_spent

if TYPE_CHECKING:
    from dse.study.measured_cores import MeasuredCore


def measuring_lines(
    problem: Problem,
    settings: SearchSettings,
    cores: Sequence[MeasuredCore],
    section: schema.EvaluateSection | None,
    each: str,
) -> Iterator[str]:
    """Yield what measures the designs of a study and of its cores; nothing where nothing does.

    `each` is what is said of counts where the study runs for each value of a sweep.
    """
    for core in cores:
        count = f"all {len(core.designs):,} designs, before the search"
        yield f"measured of {core.stage}: {_told(core.bench)}; {count}"
        yield f"measured of {core.stage} by: {_measures(core.bench)}"
        yield from most_spent(core.section, settings, len(core.designs), None, "")
    measured = problem.measured
    if measured is None:
        return
    size = measured.size(problem.space)
    most = min(settings.budget or size, size)
    told = _told(measured.bench)
    yield f"measured: {told}; up to {most:,} designs{each}, chosen by {settings.method}"
    yield f"measured by: {_measures(measured.bench)}"
    yield from most_spent(section, settings, most, measured.bench.cost, each)


def _told(bench: Bench) -> str:
    outputs = bench.evaluator.outputs
    return ", ".join(f"{stem(name) or name} [{unit or '1'}]" for name, unit in outputs.items())


def _measures(bench: Bench) -> str:
    parts = json.loads(bench.evaluator.identity)
    return "; ".join(f"{name} {json.dumps(part)}" for name, part in parts.items())
