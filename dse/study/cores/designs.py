"""The designs that a stage of a study chooses from: rows of a table, or members of a law."""

from __future__ import annotations

import math

import numpy as np

from dse import contract, removed
from dse.algebra import units
from dse.errors import nearest
from dse.files.document import is_record, stage_name
from dse.model.designs import Designs
from dse.study import schema
from dse.study.axes import parameter_values
from dse.study.cores.models import MOST_DESIGNS, designs_of_model
from dse.study.reader import Reader
from dse.study.records import record_of
from dse.study.scenario import Scenario

SOURCES = {
    "core": ("model", "parameters"),
    "table": ("columns", "values", "parameters"),
    "provides": ("node", "evidence", "among", "scale_to", "columns", "values"),
}
"""What a stage takes its designs from, and the fields that go with it."""


def choose_designs(
    written: schema.StageSection, scenario: Scenario, reader: Reader
) -> Designs | None:
    """Return the designs that a stage chooses from."""
    before = len(reader.faults)
    _check_source(written, reader)
    found = None
    if written.table is not None:
        from dse.study.cores import core_tables  # only where one is named

        found = core_tables.table_designs(written, scenario, reader)
    elif written.provides is not None:
        from dse.study.cores import provided  # only where a function is named

        found = provided.provided_designs(written, scenario, reader)
    elif isinstance(written.core, str):
        found = _core_designs(written, scenario, reader)
        found = None if len(reader.faults) > before else found
    return None if found is None else _chosen(found, written, reader)


def _core_designs(
    written: schema.StageSection, scenario: Scenario, reader: Reader
) -> Designs | None:
    """Return the designs of a model of a core, and note what is assumed of them."""
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
    designs = designs_of_model(core, model, values, written.uncertainty, reader)
    if "latency_cycles" in model.assumed and scenario.chained:
        rule = f"core {core.name!r} assumes its latency, which decides the rate in a chained mode"
        remedy = "choose a core or a model whose latency is known"
        if is_record(str(written.core)):
            remedy = "add core.laws.latency to the record, or core.laws.tasks_in_flight"
        reader.fault(("core",), rule, remedy)
    if model.assumed:
        words = ", ".join(units.stem(name).replace("_", " ") for name in model.assumed)
        reader.notes.append(f"core {core.name}: assumed for every design: {words}")
    return designs


def _check_source(written: schema.StageSection, reader: Reader) -> None:
    """A stage takes its designs from one of `SOURCES`, and has the fields of that one."""
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
                rule = (
                    f"only a stage with a {source if source != 'provides' else 'function'} has it"
                )
                reader.fault((name,), rule, "remove it")


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
                least, most = parameter.low, parameter.high
                outside = [f"{one:g}" for one in values[name] if not least <= one <= most]
                if outside:
                    shown = ", ".join(outside[:8]) + (", ..." if len(outside) > 8 else "")
                    reader.notes.append(
                        f"{stage_name(vars(written))}: {name} = {shown} is extrapolated, outside "
                        f"{least:g} to {most:g}"
                    )
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
    if math.prod(len(entry) for entry in values.values()) > MOST_DESIGNS:
        reader.fault(
            ("parameters",), f"more than {MOST_DESIGNS:,} designs in one stage", "use fewer"
        )
    return values


def _chosen(designs: Designs, written: schema.StageSection, reader: Reader) -> Designs | None:
    wanted = written.designs if written.counts is None else list(written.counts)
    if wanted is None:
        return designs
    position_of = {name: position for position, name in enumerate(designs.names)}
    where = ("counts" if written.counts is not None else "designs",)
    for position, name in enumerate(wanted):
        if name not in position_of:
            place = (*where, name) if written.counts is not None else (*where, position)
            rule = f"stage {stage_name(vars(written))!r} has no such design"
            reader.fault(place, rule, nearest(name, designs.names), repr(name))
        elif name in wanted[:position]:
            reader.fault((*where, position), f"{name!r} stands twice", "write it once", "")
    if len(set(wanted)) < len(wanted) or not set(wanted) <= set(position_of):
        return None
    places = [position_of[name] for name in wanted]
    if written.counts is not None:
        places.sort()  # a fleet has one name, whoever writes it
    return designs.take(np.array(places))
