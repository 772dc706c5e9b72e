"""Fleets from the stages of a study: designs, instances and clocks."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dse import contract, removed
from dse.algebra import units
from dse.algebra.expression import parse_expression
from dse.algebra.thresholds import ConstraintThreshold, thresholds_of
from dse.contract import SIZE, CoreMetrics
from dse.errors import UnitError, nearest
from dse.files.document import is_record, stage_name
from dse.model.designs import Designs
from dse.model.mixed import ONE_SIZE
from dse.model.space import Axis
from dse.model.stage import ROUNDING, Stage
from dse.study import schema
from dse.study.core_models import MOST_DESIGNS, designs_of_model, note_placed
from dse.study.field_kinds import (
    MOST_LISTED,
    MOST_VALUES,
    choices,
    expand,
    is_log,
    parameter_values,
    scaled,
)
from dse.study.reader import Path, Reader
from dse.study.records import record_of
from dse.study.scenario import Scenario

CLOCK = "clock_hz"

MOST_MIXED = 1_000
"""Most designs of a mixed stage, each of which is an axis."""


COMPUTE_ALONE = (
    "the number of instances is chosen by compute alone; behind an interface or in a chained mode "
    "more may be needed, or pay: give `instances` a range to try them"
)
"""Note for the least instances that carry the rate, which may be too few for other reasons."""


Built = tuple[Stage, Sequence[Axis]]
"""A stage ready for evaluation, and the axes that it opens."""


def build(study: schema.StudyFile, scenario: Scenario, reader: Reader) -> list[Built]:
    """Return the stages of a study.  Errors go to `reader`."""
    built = []
    names: set[str] = set()
    uses = _uses_of_clock(study)
    for position, written in enumerate(study.stages):
        here = reader.below("stages", position)
        name = prefix(written, position)
        if name in names:
            rule = f"two stages are called {name!r}"
            remedy = f"give this one a name, for instance `name: {name}_{position + 1}`"
            here.fault((), rule, remedy, "")
        if name in schema.SECTIONS:
            rule = f"{name!r} is a section of the study, and columns of both would mix"
            here.fault(("name",), rule, "choose another name")
        names.add(name)
        designs = _choose_designs(written, scenario, here)
        alone = len(study.stages) == 1
        part = _stage(name, written, designs, scenario, here, uses, alone=alone)
        if part is not None:
            built.append(part)
    if any(written.takes_least for written in study.stages) and (
        "interface_in_flight" in scenario.names or scenario.constants.get("workload_chained")
    ):
        reader.notes.append(COMPUTE_ALONE)
    return built


def _uses_of_clock(study: schema.StudyFile) -> tuple[float, bool]:
    """Return the clock that a study allows at most, and whether it uses clocks otherwise.

    Errors of its constraints are found later.
    """
    most, read = math.inf, bool({*study.objectives} & {CLOCK, units.stem(CLOCK)})
    for text in study.constraints:
        with suppress(UnitError):
            found = parse_expression(text, {CLOCK})
            caps = [_cap(one) for one in thresholds_of(found) if one.up and not one.down]
            alone = isinstance(found.tree, ast.Compare) and any(map(math.isfinite, caps))
            most, read = min(most, *caps) if alone else most, read or not alone
    return most, read


def _cap(bound: ConstraintThreshold) -> float:
    """Return the clock above which a bound of the clock, or of a line over it, is exceeded."""
    at_0, at_1, at_2 = bound.quantity.value({CLOCK: np.array([0.0, 1.0, 2.0])})
    slope = at_1 - at_0
    if slope <= 0 or not math.isclose(at_2 - at_1, slope):
        return math.inf
    cap = float((bound.value - at_0) / slope)
    return math.nextafter(cap, 0.0) if bound.strict else cap


def _at_one_rate(
    written: schema.StageSection, scenario: Scenario, *, read: bool, capped: bool
) -> bool | None:
    """Return whether a stage follows the one rate of the chain, or None to try both.

    A clock that is not written is chosen for each stage separately.  Without an interface it only
    affects the power of pipelines that switch while they idle: as slow as the rate allows.
    Behind an interface, a faster clock shortens offloads and costs gated pipelines
    nothing: the top.  For pipelines that switch while they idle it may pay or not: both are tried,
    also if the study reads the clock.  Varying offloads are an exception, since clocks that only
    just meet the rate never catch up with them.
    """
    clocked = written.idle == "clocked"
    if not capped and written.clock is not None:
        return written.clock == "meet"
    if "interface_in_flight" not in scenario.names:
        return clocked or scenario.highest("workload_rate_bit_per_s") is not None
    varies = scenario.mix is not None or bool(scenario.highest("workload_arrival_cv2"))
    return None if (clocked or read) and not varies else False


def cap_of(written: schema.StageSection) -> float | None:
    """Return the clock that caps a stage, in Hz, if one is written: ``50 MHz``, ``20 ns``."""
    if not isinstance(written.clock, str) or written.clock == "meet":
        return None
    _, unit = units.parse_any(written.clock)
    value = units.parse_clock(written.clock) if unit in ("s", "hz") else 0.0
    return value if value > 0 else None


def _policy(name: str, reader: Reader) -> Axis:
    """Return the axis of a stage that follows the rate, or runs at its top clock."""
    reader.notes.append(
        f"{name}.clock is not written: `meet` and the top clock, 1, are tried; fractions between "
        f"them trade power for shorter offloads: write for instance {name}.clock=[0.25, 0.5, 1]"
    )
    columns = {f"{name}.common": np.array([1.0, 0.0]), f"{name}.clock": np.ones(2)}
    return choices(f"{name}.clock", columns, ("meet", "1"))


def prefix(written: schema.StageSection, position: int) -> str:
    """Return the prefix of the columns of the stage at `position`."""
    return stage_name(vars(written)) or f"stage_{position + 1}"


def _stage(
    name: str,
    written: schema.StageSection,
    designs: Designs | None,
    scenario: Scenario,
    reader: Reader,
    uses: tuple[float, bool],
    *,
    alone: bool,
) -> Built | None:
    cap, clock = None, list[Axis]()
    with reader.at(("clock",)):
        cap = math.inf if written.clock is None else cap_of(written)
        clock = [] if cap else _clock(name, written, scenario, reader.below("clock"))
    instances = None
    if written.counts is None:
        instances = _instances(written, scenario.highest_demand, reader.below("instances"))
    if designs is None:
        return None
    common = _at_one_rate(written, scenario, read=uses[1], capped=bool(cap))
    most_hz = math.inf if cap is None else min(cap, uses[0])
    stage = Stage(
        name,
        designs.rated(most_hz),
        written.fleet == "mixed" or written.counts is not None,
        clocked=written.idle == "clocked",
        common=bool(common),
        alone=alone,
        messages=tuple(scenario.parts) or (ONE_SIZE if SIZE in scenario.names else ()),
        most_hz=most_hz,
    )
    axes = clock if common is not None else [_policy(name, reader)]
    with reader.at(("fleet",)):
        axes = [*axes, *_fleet_axes(stage, written.counts, instances, clock, scenario)]
    return stage, axes


def _fleet_axes(
    stage: Stage,
    counts: Mapping[str, int] | None,
    instances: Sequence[float] | None,
    clock: Sequence[Axis],
    scenario: Scenario,
) -> list[Axis]:
    """Return the axes of designs and their numbers: fixed `counts`, a mix, or one design."""
    name = stage.name
    if counts is not None:
        return [scaled(f"{name}.{one}", [count]) for one, count in counts.items()]
    if stage.mixed:
        designs = stage.least_filled(scenario.column)
        return mixed_axes(name, designs, instances, scenario.highest_demand, clock)
    names = stage.designs.names
    column = np.arange(len(names), dtype=np.float64)
    axes = [choices(f"{name}.design", {f"{name}.design": column}, names)]
    return axes if instances is None else [*axes, scaled(f"{name}.instances", instances)]


def mixed_axes(
    name: str,
    designs: Designs,
    instances: Sequence[float] | None,
    rate: float | None,
    clock: Sequence[Axis],
) -> list[Axis]:
    """Return a count axis per design: as written, or up to the number that carries the rate."""
    slowest = min((axis.columns[axis.name].min() for axis in clock), default=1.0)
    count = len(designs.names)
    if count > MOST_MIXED:
        raise UnitError(
            f"each of {count:,} designs would be an axis, and a mixed stage takes {MOST_MIXED:,}",
            "choose some by `parameters`, or leave `fleet: mixed` out for one design in each fleet",
        )
    if instances is None:
        sizes = [_most_needed(designs, row, rate or 0.0, slowest) + 1 for row in range(count)]
    else:
        sizes = [len(instances)] * count
    if sum(sizes) > MOST_LISTED:
        raise UnitError(
            f"{count:,} designs have {sum(sizes):,} counts in all, more than {MOST_LISTED:,}",
            "are their clocks in GHz? write the unit, or give `instances` a range",
        )
    every = [np.arange(size) if instances is None else instances for size in sizes]
    pairs = zip(designs.names, every, strict=True)
    return [scaled(f"{name}.{design}", counts) for design, counts in pairs]


def _most_needed(designs: Designs, row: int, rate: float, clock: float) -> int:
    """Return the number of instances that carry a rate at a fraction of the top clock.

    Raises
    ------
    UnitError
        They are more than the values of an axis.
    """
    carried = float(designs.bandwidth_bit_per_s[row]) * clock
    needed = rate / carried * (1 - ROUNDING) if carried > 0 else math.inf
    if needed < MOST_VALUES:
        return math.ceil(needed)
    at = units.show(float(designs.metrics.clock_hz[row]) * clock, "clock_hz")
    one, all_ = (units.show(value, "bit_per_s") for value in (carried, rate))
    raise UnitError(
        f"{designs.names[row]} at {at} carries {one}; {needed:.2g} of them would be needed for "
        f"{all_}",
        "is its clock in GHz, and the rate right? write the unit, or give `instances` a range",
    )


def _instances(
    written: schema.StageSection, rate: float | None, reader: Reader
) -> list[float] | None:
    """Return the instance counts to try, or None for as many as the rate needs."""
    least = 0 if written.fleet == "mixed" else 1
    if written.takes_least:
        if rate is None:
            rule = "without workload.rate the number of instances is open"
            example = f"`instances: {{from: {least}, to: 8}}`"
            reader.fault((), rule, f"write for instance {example}, or set workload.rate")
        return None if rate is not None else [1.0]

    def read(scalar: Any) -> float:
        if isinstance(scalar, bool) or not isinstance(scalar, int | float):
            rule = f"{scalar!r} is not a number of instances"
            raise UnitError(rule, "write whole numbers, {from: 1, to: 8}, or `least`")
        if scalar != round(scalar) or scalar < least:
            raise UnitError(
                f"a number of instances is a whole number from {least}", f"write {least} or more"
            )
        return float(scalar)

    with reader.at(()):
        return expand(written.instances, read, integer=True)
    return [1.0]


def _clock(
    name: str, written: schema.StageSection, scenario: Scenario, reader: Reader
) -> list[Axis]:
    """Return the axis of top clock fractions, if any are written."""
    if written.clock is None or written.clock == "meet":
        if written.clock == "meet" and scenario.highest("workload_rate_bit_per_s") is None:
            reader.fault((), "a clock can only meet a rate", "set workload.rate, or a fraction")
        return []

    def read(scalar: Any) -> float:
        if isinstance(scalar, bool) or not isinstance(scalar, int | float) or not 0 < scalar <= 1:
            raise UnitError(
                f"{scalar!r} is not a fraction of the top clock",
                "write fractions above 0 and up to 1, `meet`, or one clock as a cap: `50 MHz`",
            )
        return float(scalar)

    with reader.at(()):
        values = expand(written.clock, read, integer=False)
        return [scaled(f"{name}.clock", values, is_log(written.clock))]
    return []


NAME = "accelerator"


def check_whole(study: schema.StudyFile, scenario: Scenario, reader: Reader) -> bool:
    """Return whether the interfaces of a study are whole accelerators, which need no stages.

    Stages are errors then, and so are interfaces without computing among interfaces with it.
    """
    section, records = study.interface or schema.InterfaceSection(), scenario.interfaces
    faster = study.gives("interface.acceleration")
    inside = [section.includes or record.includes for record in records]
    speeds = [faster or record.acceleration is not None for record in records]
    if not any((*inside, *speeds)):
        return False
    if any(speeds) and "kernel_index_s_per_byte" not in scenario.names:
        rule = "an acceleration is that over the host, whose time is unknown"
        reader.fault(("workload",), rule, "add `workload.kernel`; `dse list kernels` has some", "")
    for row, record in enumerate(records):
        path: Path = ("interface", "includes" if section.includes else "acceleration")
        if study.gives("interface.device"):
            path = study.place("interface.device")
            path = (*path, row) if path[0] == "axes" else path
        if wrong := _wrong_whole(bool(inside[row]), speeds[row], bool(study.stages)):
            reader.fault(path, f"{record.name} {wrong[0]}", wrong[1])
    return not study.stages


def _wrong_whole(inside: bool, faster: bool, staged: bool) -> tuple[str, str] | None:
    """Return the error of an interface: computing in it, an acceleration, or stages beside it."""
    if inside and faster:
        rule = "holds the device's computing already, and has an acceleration"
        return rule, "remove `includes` or `acceleration`"
    if faster and staged:
        rule = "has an acceleration, and the stages compute as well"
        return rule, "remove `stages`, or the acceleration"
    if inside and staged:
        rule = "holds whole offloads, the device's computing included: a stage would count it twice"
        fit = "`dse fit interface --per-byte computing`"
        return rule, f"remove `stages`, or fit the record with {fit}"
    if not (inside or faster or staged):
        return "holds no computing, unlike others that do", "compare it in a study with `stages`"
    return None


def check_presence(written: schema.StudyFile, reader: Reader, *, whole: bool) -> None:
    """Report a study without stages or a replacement, and fields that stages exclude."""
    own = written.stages or written.evaluate is not None
    if not (own or whole or written.gives("budget.platform")):
        reader.fault(
            ("stages",),
            "a study needs `stages`, `designs`, `evaluate`, or platforms in `budget.platform`",
            "add for instance `stages: [{core: NAME}]`; `dse list cores` shows the names",
            "it is missing",
        )
    for path in ("budget.copies", "budget.cap_divisor"):
        if written.stages and written.gives(path):
            rule = "it describes platforms that are compared, and this study has stages"
            reader.fault(written.place(path), rule, "remove it, or the stages")


def whole_accelerator() -> Built:
    """Return the stage that represents a whole accelerator."""
    one, none, unknown = np.ones(1), np.zeros(1), np.full(1, np.nan)
    metrics = CoreMetrics(
        clock_hz=np.full(1, np.inf),
        payload_bit=8.0 * one,
        cycles_per_task=one,
        latency_cycles=none,
        tasks_in_flight=one,
        read_byte=unknown,
        written_byte=unknown,
        extrapolated=none,
    )
    stage = Stage(NAME, Designs((NAME,), metrics), mixed=True, alone=True)
    return stage, [scaled(f"{NAME}.{NAME}", [1.0])]


SOURCES = {
    "core": ("model", "parameters"),
    "table": ("columns", "values", "parameters"),
    "provides": ("node", "evidence", "among", "scale_to"),
}
"""Sources of the designs of a stage, and the fields that go with each."""


def _choose_designs(
    written: schema.StageSection, scenario: Scenario, reader: Reader
) -> Designs | None:
    """Return the designs that a stage chooses from."""
    before = len(reader.faults)
    _check_source(written, reader)
    if written.table is not None:
        from dse.study.tables import table_designs as read  # only if one is named
    elif written.provides is not None:
        from dse.study.provided import provided_designs as read  # only if a function is named
    elif written.core is not None:
        read = _core_designs
    else:
        return None
    found = read(written, scenario, reader)
    if found is None or (written.core is not None and len(reader.faults) > before):
        return None
    return _chosen(found, written, reader)


def _core_designs(
    written: schema.StageSection, scenario: Scenario, reader: Reader
) -> Designs | None:
    """Return the designs of a model of a core, and note assumed metrics."""
    before, core = len(reader.faults), None
    with reader.at(("core",)):
        core = record_of(contract.Core, str(written.core), reader)
    if core is None:
        return None
    if "model" not in written.model_fields_set and len(core.models) == 1:
        written = written.model_copy(update={"model": next(iter(core.models))})
    model = core.models.get(written.model)
    if model is None:
        instead = removed.remedy("value", f"stages.model={written.model}")
        rule = removed.RULE if instead else f"core {core.name!r} has no model of this name"
        reader.fault(("model",), rule, instead or nearest(written.model, core.models))
        return None
    values = _parameters(model, written, reader)
    if len(reader.faults) > before:
        return None
    designs = designs_of_model(core, model, values, written.figures, written.uncertainty, reader)
    source = core.evidence, core.node, model.source
    scenario.sureness.keep_designs(written, designs.names, source)
    if "latency_cycles" in model.assumed and scenario.chained:
        rule = f"core {core.name!r} assumes its latency, which decides the rate in a chained mode"
        remedy = "choose a core or a model whose latency is known"
        if is_record(str(written.core)):
            remedy = "add core.laws.latency to the record, or core.laws.tasks_in_flight"
        reader.fault(("core",), rule, remedy)
    note_placed({core.name: model.kit}, written.figures, reader)
    if model.assumed:
        words = ", ".join(units.stem(name).replace("_", " ") for name in model.assumed)
        reader.notes.append(f"core {core.name}: assumed for every design: {words}")
    return designs


def _check_source(written: schema.StageSection, reader: Reader) -> None:
    """Report a stage without exactly one of `SOURCES`, or with fields of another source."""
    given = [name for name in SOURCES if getattr(written, name) is not None]
    if not given:
        remedy = (
            "add `core: NAME` (`dse list cores` shows them), `provides: FUNCTION` "
            "(`dse list functions`) or `table: FILE.csv`"
        )
        rule = "a stage needs `core`, `table` or `provides`"
        reader.fault(("core",), rule, remedy, "it is missing")
        return
    if given[1:]:
        rule = "a stage has a core, a table or a function"
        reader.fault((given[1],), rule, "remove all but one of them")
        return
    for source, names in SOURCES.items():
        for name in {*names} - {*SOURCES[given[0]]}:
            if name in written.model_fields_set:
                owner = "function" if source == "provides" else source
                reader.fault((name,), f"only a stage with a {owner} has it", "remove it")


_SHOWN = 8
"""Most values of a parameter in a note."""


def _parameters(
    model: contract.Model, written: schema.StageSection, reader: Reader
) -> dict[str, list[float]]:
    known = {parameter.name: parameter for parameter in model.parameters}
    for name in written.parameters:
        if name not in known:
            reader.fault(
                ("parameters", name),
                f"model {written.model!r} of core {written.core!r} has no such parameter",
                nearest(name, known),
                repr(name),
            )
    values: dict[str, list[float]] = {}
    for name, parameter in known.items():
        where = ("parameters", name)
        if name in written.parameters:
            with reader.at(where):
                values[name] = parameter_values(parameter, written.parameters[name])
                if shown := _extrapolated(parameter, values[name]):
                    reader.notes.append(f"{stage_name(vars(written))}: {name} = {shown}")
        elif parameter.default is not None:
            values[name] = [parameter.default]
        else:
            fitted = f"{{from: {parameter.low:g}, to: {parameter.high:g}}}"
            reader.fault(
                ("parameters",),
                f"model {written.model!r} needs the parameter {name!r}",
                f"add `{name}: {fitted}`, the range it was fitted on",
                "it is missing",
            )
    if math.prod(map(len, values.values())) > MOST_DESIGNS:
        rule = f"more than {MOST_DESIGNS:,} designs in one stage"
        reader.fault(("parameters",), rule, "use fewer")
    return values


def _extrapolated(parameter: contract.Parameter, values: Sequence[float]) -> str:
    """Return the values outside the range of a parameter as words of a note, or an empty text."""
    least, most = parameter.low, parameter.high
    outside = [f"{one:g}" for one in values if not least <= one <= most]
    if not outside:
        return ""
    shown = ", ".join(outside[:_SHOWN]) + (", ..." if len(outside) > _SHOWN else "")
    return f"{shown} is extrapolated, outside {least:g} to {most:g}"


def _chosen(designs: Designs, written: schema.StageSection, reader: Reader) -> Designs | None:
    wanted = written.designs if written.counts is None else list(written.counts)
    if wanted is None:
        return designs
    position_of = {name: position for position, name in enumerate(designs.names)}
    for position, name in enumerate(wanted):
        place: Path = ("designs", position) if written.counts is None else ("counts", name)
        if name not in position_of:
            rule = f"stage {stage_name(vars(written))!r} has no such design"
            reader.fault(place, rule, nearest(name, designs.names), repr(name))
        elif name in wanted[:position]:
            reader.fault(place, f"{name!r} is there twice", "write it once", "")
    if len(set(wanted)) < len(wanted) or not set(wanted) <= set(position_of):
        return None
    places = [position_of[name] for name in wanted]
    if written.counts is not None:
        places.sort()  # a fleet has one name, in any order of writing
    return designs.take(np.array(places))
