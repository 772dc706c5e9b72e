"""What a study is made of: its stages, its workload, what is measured, and the wired quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dse import contract
from dse.model.fleet import offered
from dse.model.graph import Graph, wire
from dse.model.measured import MeasuredColumns
from dse.model.mixed import Mixed
from dse.model.space import Space, constant
from dse.plugins import registry
from dse.study import schema
from dse.study.arrivals import check_arrivals
from dse.study.demand import check_mix
from dse.study.early import check_rest
from dse.study.faults import Faults
from dse.study.policy import parted
from dse.study.quantities import check_cap
from dse.study.scenario import Scenario, to_columns
from dse.study.settings import check_search_section
from dse.study.stages import Built, build
from dse.study.whole import check_whole, whole_accelerator

if TYPE_CHECKING:
    from dse.study.measured_cores import MeasuredCore


def parts_of(
    written: schema.StudyFile, scenario: Scenario, faults: Faults
) -> tuple[schema.StudyFile, tuple[MeasuredCore, ...], Sequence[Built]]:
    """Return the stages, after cores that are measured; raise all that is wrong so far."""
    as_written = written
    cores: tuple[MeasuredCore, ...] = ()
    if any(isinstance(stage.core, schema.EvaluateSection) for stage in written.stages):
        from dse.study.measured_cores import with_measured_cores  # only where one is written

        written, cores = with_measured_cores(written, scenario, faults)
    whole = check_whole(written, scenario, faults)
    built = [whole_accelerator()] if whole else build(written, scenario, faults)
    _check_parts(as_written, faults, whole=whole)
    if faults.found:
        check_rest(faults)
    faults.raise_any()
    check_cap(offered(part.stage.designs for part in built), scenario, faults)
    faults.raise_any()
    return written, cores, built


def _check_parts(written: schema.StudyFile, faults: Faults, *, whole: bool) -> None:
    platforms = written.budget.platform is not None or "budget.platform" in written.axes
    if not (written.stages or whole or platforms or written.evaluate is not None):
        faults.add(
            ("stages",),
            "a study needs `stages`, `designs`, `evaluate`, or platforms in `budget.platform`",
            "add for instance `stages: [{core: NAME}]`; `dse list cores` shows the names",
            "it is missing",
        )
    for name in ("copies", "cap_divisor"):
        if written.stages and (getattr(written.budget, name) or f"budget.{name}" in written.axes):
            path = ("budget", name) if getattr(written.budget, name) else ("axes", f"budget.{name}")
            rule = "it describes platforms that are compared, and this study has stages"
            faults.add(path, rule, "remove it, or the stages")
    check_search_section(written, faults)


def lacking_designs(cores: Sequence[MeasuredCore], space: Space) -> tuple[int, int]:
    """Return how many designs a space lacks as those of cores are not measured, and failed."""
    if not cores:
        return 0, 0
    from dse.study.measured_cores import designs_lacking

    return designs_lacking(cores, space)


def workload_of(
    written: schema.StudyFile, scenario: Scenario, built: Sequence[Built], faults: Faults
) -> dict[str, contract.Column]:
    """Return the constants of a scenario, with what stages and sizes of offloads say together."""
    constants = to_columns(scenario.constants)
    meet = scenario.highest("workload_rate_bit_per_s") is not None and any(
        part.stage.common for part in built
    )
    check_mix(scenario, meet=meet, faults=faults)
    check_arrivals(written, scenario, meet=meet, faults=faults)
    if scenario.mix is not None:
        scenario.parts = scenario.parts or (parted(scenario.mix),)
        constants.setdefault("workload_size_cv2", constant(scenario.parts[0].cv2))
        scenario.notes.append(scenario.mix.note)
    faults.raise_any()
    return constants


def measured_columns(
    written: schema.StudyFile, space: Space, scenario: Scenario, faults: Faults
) -> tuple[MeasuredColumns | None, dict[str, contract.Objective]]:
    """Return what is measured of designs; raise what is wrong so far, or it would be missed."""
    if written.evaluate is None:
        return None, {}
    from dse.study.evaluate import measured_quantities  # only where it is written

    found = measured_quantities(written, space, scenario, faults)
    faults.raise_any()
    return found


def wired(
    inputs: set[str],
    outputs: Mapping[str, contract.Objective],
    scenario: Scenario,
    known: Graph | None,
) -> Graph:
    """Return what `inputs` feed of all quantities: a graph that is known, if it fits."""
    objectives: Mapping[str, contract.Objective] = registry.Catalogue(contract.Objective)
    if outputs:
        from dse.study.evaluate import Joined

        objectives = Joined(outputs, objectives)
    if scenario.mix is not None:
        objectives = Mixed(objectives, scenario.parts)
    elif not outputs and known is not None and known.inputs == inputs:
        return known
    return wire(objectives, inputs)
