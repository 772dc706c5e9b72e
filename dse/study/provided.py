"""The designs of a stage that names a function: those of every core that provides it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dse import contract
from dse.contract.functions import provided
from dse.files.document import stage_name
from dse.model.designs import AREAS, POWERS, Designs
from dse.plugins import registry
from dse.study import schema
from dse.study.faults import Faults, Path
from dse.study.models import designs_of_model
from dse.study.provided_words import Taken, note_taken, refuse_function
from dse.study.scaling import scaled_area
from dse.study.scenario import Scenario

_UNITS = {"area_m2": "m2", "area_ge": "gate equivalents", "area_lc": "logic cells"}
MOST_VALUES = 64
"""Most values of a parameter that a law is taken at without being asked."""


def provided_designs(
    written: schema.StageSection, scenario: Scenario, path: Path, faults: Faults
) -> Designs | None:
    """Return the designs of all cores that provide what a stage names.

    A note says which cores were taken, which were not and why.
    """
    known = registry.records(contract.Function)
    wanted = str(written.provides)
    refused: dict[str, str] = {}
    cores = _candidates(written, scenario, refused, path, faults)
    able = [core for core in cores if provided(wanted, core.provides, known)]
    if len(able) < len(cores) and written.among is not None:
        _refuse_others(written.among, cores, able, wanted, path, faults)
    taken = [
        *_taken(able, written, scenario, refused, path, faults),
        *_tables(written, scenario, path, faults),
    ]
    taken = _comparable(taken, faults.document.data, refused)
    if faults.found:
        return None
    if not taken:
        refuse_function(wanted, refused, cores, known, path, faults)
        return None
    designs = _joined(taken)
    if written.scale_to is not None:
        designs = _scaled(designs, taken, written.scale_to, scenario, path, faults)
    note_taken(wanted, taken, refused, written, scenario)
    return designs


def _candidates(
    written: schema.StageSection,
    scenario: Scenario,
    refused: dict[str, str],
    path: Path,
    faults: Faults,
) -> list[contract.Core]:
    """Return the cores to look at: those named, or all that are installed and can be used."""
    if written.among is None:
        broken = (one for one in registry.survey(contract.Core) if one.error is not None)
        refused |= {one.plugin.name: f"it cannot be used: {one.error}" for one in broken}
        return [*registry.records(contract.Core).values()]
    found = []
    for place, name in enumerate(written.among):
        if not _is_table(name):
            with faults.at((*path, "among", place)):
                found.append(scenario.record(contract.Core, name, faults))
    return found


def _is_table(name: str) -> bool:
    return name.lower().endswith(".csv")


def _tables(
    written: schema.StageSection, scenario: Scenario, path: Path, faults: Faults
) -> Iterator[Taken]:
    """Yield the tables that a stage names: what they provide, and in which node, is its word."""
    from dse.study.tables import cores  # only where one is named

    for name in filter(_is_table, written.among or ()):
        stage = written.model_copy(update={"provides": None, "table": name})
        designs = cores.table_designs(stage, scenario, path, faults)
        if designs is not None:
            called = str(stage_name({"table": name}))
            names = tuple(f"{called}_{design}" for design in designs.names)
            known = contract.Core(
                name=called,
                summary=f"the table {name}",
                models={},
                provides=(str(written.provides),),
                node=written.node if isinstance(written.node, str) else "",
            )
            yield Taken(known, (), replace(designs, names=names))


def _refuse_others(
    among: Sequence[str],
    cores: Sequence[contract.Core],
    able: Sequence[contract.Core],
    wanted: str,
    path: Path,
    faults: Faults,
) -> None:
    """Report cores that a stage names and that do something else."""
    places = [place for place, name in enumerate(among) if not _is_table(name)]
    if len(cores) < len(places):
        return  # one of them is not known, which is said already
    for place, core in zip(places, cores, strict=True):
        if core not in able:
            what = ", ".join(core.provides) or "no function that it names"
            rule = f"core {core.name!r} provides {what}, and not {wanted}"
            faults.add((*path, "among", place), rule, "remove it")


def _taken(
    cores: Sequence[contract.Core],
    written: schema.StageSection,
    scenario: Scenario,
    refused: dict[str, str],
    path: Path,
    faults: Faults,
) -> Iterator[Taken]:
    """Yield what can be used; why another cannot goes to `refused`."""
    nodes = [written.node] if isinstance(written.node, str) else written.node
    for core in cores:
        model = core.models.get("table") or next(iter(core.models.values()))
        refused |= {f"{core.name}_{name}": why for name, why in core.left_out.items()}
        if nodes is not None and core.node not in nodes:
            refused[core.name] = core.node or "its node is not stated"
        elif written.evidence is not None and core.evidence not in written.evidence:
            refused[core.name] = core.evidence or "it does not say what its figures are"
        elif (values := _every_value(model)) is None:
            refused[core.name] = "a law over real numbers or wide ranges: name it by `core`"
        elif scenario.chained and "latency_cycles" in model.assumed:
            refused[core.name] = "its latency is assumed, and decides the rate in a chained mode"
        else:
            designs = designs_of_model(core, model, values, written.uncertainty, path, faults)
            names = tuple(f"{core.name}_{name}" for name in designs.names)
            yield Taken(core, model.assumed, replace(designs, names=names))


def _every_value(model: contract.Model) -> dict[str, list[float]] | None:
    """Return the values of parameters: the default, or every whole number of a narrow range."""
    values = {}
    for one in model.parameters:
        if one.default is not None:
            values[one.name] = [one.default]
        elif one.integer and one.high - one.low < MOST_VALUES:
            values[one.name] = [float(n) for n in range(int(one.low), int(one.high) + 1)]
        else:
            return None
    return values


def _comparable(
    taken: Sequence[Taken], data: Mapping[str, Any], refused: dict[str, str]
) -> list[Taken]:
    """Return the cores with areas in the unit that most designs have, and power where it counts."""
    counts = {
        area: sum(len(one.designs.names) for one in taken if one.designs.has_figures(area))
        for area in AREAS
    }
    unit = max(AREAS, key=counts.__getitem__)
    kept = []
    for one in taken:
        if not one.designs.has_figures(unit):
            refused[one.core.name] = f"its area is not in {_UNITS[unit]}"
        elif _names_power(data) and not one.designs.has_figures(POWERS[0]):
            refused[one.core.name] = "no power"
        else:
            kept.append(one)
    return kept


def _names_power(data: Mapping[str, Any]) -> bool:
    """Tell whether a study has an objective or a constraint of power or energy."""
    named = [*data.get("objectives", ()), *data.get("constraints", ())]
    return any(word in str(name) for name in named for word in ("power", "energy"))


def _joined(taken: Sequence[Taken]) -> Designs:
    """Return the designs of all cores; what one lacks is no figure of any."""
    fields = contract.CoreMetrics.__dataclass_fields__
    columns = {
        name: np.concatenate([getattr(one.designs.metrics, name) for one in taken])
        for name in fields
    }
    for name in (*AREAS, *POWERS):
        if np.isnan(columns[name]).any():
            columns[name] = np.full_like(columns[name], np.nan)
    stated = {metric for one in taken for metric in one.designs.uncertainty}
    uncertainty = {
        metric: np.concatenate(
            [one.designs.uncertainty.get(metric, np.zeros(len(one.designs.names))) for one in taken]
        )
        for metric in sorted(stated)
    }
    names = tuple(name for one in taken for name in one.designs.names)
    return Designs(names, contract.CoreMetrics(**columns), uncertainty)


def _scaled(
    designs: Designs,
    taken: Sequence[Taken],
    node: str,
    scenario: Scenario,
    path: Path,
    faults: Faults,
) -> Designs:
    """Return designs with their areas at another node, and no power, which is not scaled."""
    factors, spreads = [], []
    with faults.at((*path, "scale_to")):
        for one in taken:
            factor, spread = scaled_area(one.core.node, node)
            factors += [factor] * len(one.designs.names)
            spreads += [spread] * len(one.designs.names)
    if len(factors) < len(designs.names):
        return designs
    area = designs.metrics.area_m2 * np.array(factors)
    none = np.full_like(area, np.nan)
    metrics = replace(designs.metrics, area_m2=area, dynamic_power_w=none, leakage_power_w=none)
    share = np.hypot(designs.uncertainty.get("area_m2", 0.0), np.array(spreads))
    scenario.notes.append(
        f"areas are scaled to {node} (Stillmaker and Baas, 2017; ways through other nodes differ "
        f"by {100 * max(spreads):.2g} % at most); clocks stay those of their nodes, slower "
        "than a newer one would be, and powers are left out"
    )
    return Designs(designs.names, metrics, {**designs.uncertainty, "area_m2": share})
