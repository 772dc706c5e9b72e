"""What `dse check` says of measuring: what measures, what it tells, and how many designs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dse.algebra.units import stem
from dse.model.measured import Bench
from dse.study.spending import most_spent

if TYPE_CHECKING:
    from dse.study.measured_cores import MeasuredCore
    from dse.study.study import Study


def measuring_lines(study: Study) -> Iterator[str]:
    """Yield what measures the designs of a study and of its cores; nothing where nothing does."""
    for core in study.cores:
        yield from _of_core(study, core)
    measured = study.problem.measured
    if measured is None:
        return
    size = measured.size(study.problem.space)
    most = min(study.settings.budget or size, size)
    yield (
        f"measured: {_told(measured.bench)}; up to {most:,} designs, chosen by "
        f"{study.settings.method}"
    )
    yield f"measured by: {_measures(measured.bench)}"
    yield from most_spent(study.measuring, study.settings, most, measured.bench.cost)


def _of_core(study: Study, core: MeasuredCore) -> Iterator[str]:
    """Yield what measures the designs of a core, how many of them, and when."""
    from dse.study.measured_cores import measured_on_demand, most_measured

    method = study.settings.method
    most = most_measured(core, study.problem, study.settings)
    if measured_on_demand([core], study.problem, study.settings):
        how = f"up to {most:,} designs, those that {method} asks for"
    else:
        how = (
            f"all {most:,} designs, before the search; a method that samples, for instance "
            f"nsga2, measures those that it asks for"
        )
    yield f"measured of {core.stage}: {_told(core.bench)}; {how}"
    yield f"measured of {core.stage} by: {_measures(core.bench)}"
    yield from most_spent(core.section, study.settings, most, None)


def _told(bench: Bench) -> str:
    outputs = bench.evaluator.outputs
    return ", ".join(f"{stem(name) or name} [{unit or '1'}]" for name, unit in outputs.items())


def _measures(bench: Bench) -> str:
    parts = json.loads(bench.evaluator.identity)
    return "; ".join(f"{name} {json.dumps(part)}" for name, part in parts.items())
