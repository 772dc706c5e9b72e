"""Designs of a stage that names a function: the designs of every core that provides it.

Areas of one node at another are scaled by a published table: Stillmaker and Baas, Scaling
equations for the accurate prediction of CMOS device performance from 180 nm to 7 nm, Integration
58 (2017) 74-81.  An area at the new node is the area at the old node over the entry in the row of
the new node and the column of the old node.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from dse import contract
from dse.algebra import units
from dse.contract import Column
from dse.contract.functions import close_functions, provided
from dse.contract.published import read_published
from dse.errors import UnitError, nearest
from dse.model.designs import AREAS, BLOCKS, POWERS, Designs
from dse.plugins import registry
from dse.study import schema
from dse.study.core_models import concatenated, designs_of_model, note_placed
from dse.study.reader import Reader
from dse.study.records import record_of
from dse.study.scenario import Scenario
from dse.study.tables import names_power

_NODE = re.compile(r"(\d+) nm")


@cache
def _entries() -> dict[tuple[int, int], float]:
    """Return the table by old node and new node, in nm."""
    table = read_published(files("dse.study") / "technology_area.csv")
    return {
        (int(name.removeprefix("from_")), int(row["to_nm"])): float(cell)
        for row in table.rows
        for name, cell in row.items()
        if name != "to_nm"
    }


def scaled_area(old: str, new: str) -> tuple[float, float]:
    """Return the factor from an area at one node to another, and its relative spread.

    The spread is the standard deviation of the paths through one node in between, as entries have
    two digits.  The difference between the scaling of designs and of the cells behind the table is
    not published.

    Raises
    ------
    UnitError
        A node is not in the table.
    """
    known = sorted({node for node, _ in _entries()})
    found = []
    for name in (old, new):
        match = _NODE.fullmatch(name)
        if match is None or int(match[1]) not in known:
            listed = ", ".join(f"{node} nm" for node in known)
            raise UnitError(f"areas of {name or 'no node'} are not scaled", f"known are {listed}")
        found.append(int(match[1]))
    start, end = found
    if start == end:
        return 1.0, 0.0
    direct = _entries()[start, end]
    low, high = sorted(found)
    ways = [
        _entries()[start, node] * _entries()[node, end] / direct
        for node in known
        if low < node < high
    ]
    return 1.0 / direct, float(np.std([1.0, *ways]))


_CLOSE = 6
"""Most functions that are proposed in place of one that no core provides."""


@dataclass(frozen=True)
class Taken:
    """A core that a stage takes, its model, and its designs, whose names begin with the core's."""

    core: contract.Core
    model: contract.Model
    designs: Designs


def note_taken(
    wanted: str,
    taken: Sequence[Taken],
    refused: Mapping[str, str],
    written: schema.StageSection,
    scenario: Scenario,
    reader: Reader,
) -> None:
    """Note the cores that were taken and rejected, their functions, nodes and assumptions."""
    names = ", ".join(one.core.name for one in taken)
    reader.notes.append(f"{wanted} is provided by {names}")
    if refused:
        reader.notes.append(f"not taken for {wanted}: {_reasons(refused)}")
    known = registry.records(contract.Function)
    functions = dict.fromkeys(
        name for one in taken for name in one.core.provides if provided(wanted, (name,), known)
    )
    if len(functions) > 1:
        reader.notes.append(
            f"{wanted} is any of {', '.join(functions)}, which do the same work, but may not "
            "be equally secure"
        )
    nodes = dict.fromkeys(one.core.node or "a node that is not stated" for one in taken)
    if len(nodes) > 1 and written.scale_to is None:
        reader.notes.append(
            f"{wanted}: designs of several nodes in one list, and nothing is scaled: "
            f"{', '.join(nodes)}; write `node` for one of them, or `scale_to`"
        )
    reader.notes += (
        f"kernel {kernel.name} computes {', '.join(kernel.provides)} on the host, and the "
        f"cores {wanted}: comparisons of both compare two functions"
        for kernel in scenario.kernels
        if kernel.provides and not any(provided(wanted, (one,), known) for one in kernel.provides)
    )
    reader.notes += _assumed(wanted, taken)


def _assumed(wanted: str, taken: Sequence[Taken]) -> Iterator[str]:
    """Yield notes on assumed metrics, once for all cores that share them."""
    for assumed in dict.fromkeys(one.model.assumed for one in taken if one.model.assumed):
        cores = [one.core.name for one in taken if one.model.assumed == assumed]
        words = ", ".join(units.stem(name).replace("_", " ") for name in assumed)
        who = wanted if len(cores) == len(taken) else ", ".join(cores)
        yield f"{who}: assumed for every design: {words}"


def _reasons(refused: Mapping[str, str]) -> str:
    """Return the rejected cores as text, grouped by reason."""
    by_reason: dict[str, list[str]] = {}
    for name, why in refused.items():
        by_reason.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())


def refuse_function(
    wanted: str, refused: Mapping[str, str], cores: Sequence[contract.Core], reader: Reader
) -> None:
    """Report a function without cores: the reason, or similar functions."""
    place, known = ("provides",), registry.records(contract.Function)
    if refused:
        remedy = "ask for less, by `node`, `evidence`, `among` or the objectives"
        rule = f"no core that provides {wanted} can be taken: {_reasons(refused)}"
        reader.fault(place, rule, remedy)
        return
    offered = dict.fromkeys(name for core in cores for name in core.provides)
    if wanted not in known:
        rule = f"{wanted!r} is no function that is known"
        reader.fault(place, rule, nearest(wanted, {*known, *offered}))
        return
    close = close_functions(wanted, offered, known)
    closest = f"closest are {', '.join(close[:_CLOSE])}" if close else "no other is close"
    remedy = f"{closest}; `dse list cores --provides FUNCTION` shows cores"
    reader.fault(place, f"no core provides {wanted}, {known[wanted].summary}", remedy)


_UNITS = {"area_m2": "m2", "area_ge": "gate equivalents", "area_lc": "logic cells"}
_MOST_VALUES = 64
"""Most values of a parameter of a law by default."""


def provided_designs(
    written: schema.StageSection, scenario: Scenario, reader: Reader
) -> Designs | None:
    """Return the designs of all cores that provide the function of a stage.

    A note names the cores that were taken, and the others with the reason.
    """
    known = registry.records(contract.Function)
    wanted = str(written.provides)
    refused: dict[str, str] = {}
    cores = _candidates(written, refused, reader)
    able = [core for core in cores if provided(wanted, core.provides, known)]
    taken = [*_taken(able, written, scenario, refused, reader)]
    taken = _comparable(taken, reader.document.data, refused)
    if reader.faults and (taken or refused):  # a rejection may follow from an earlier error
        return None
    if not taken:
        refuse_function(wanted, refused, cores, reader)
        return None
    designs = _joined(taken)
    if written.scale_to is not None:
        designs = _scaled(designs, taken, written.scale_to, reader)
    note_taken(wanted, taken, refused, written, scenario, reader)
    note_placed({one.core.name: one.model.kit for one in taken}, written.figures, reader)
    return designs


def _candidates(
    written: schema.StageSection, refused: dict[str, str], reader: Reader
) -> list[contract.Core]:
    """Return the candidate cores: the named ones, or all installed ones that can be used.

    A named one that does not provide the function is an error.
    """
    if written.among is None:
        broken = (one for one in registry.survey(contract.Core) if one.error is not None)
        refused |= {one.plugin.name: f"it cannot be used: {one.error}" for one in broken}
        return [*registry.records(contract.Core).values()]
    found, known = [], registry.records(contract.Function)
    for place, name in enumerate(written.among):
        with reader.at(("among", place)):
            found.append(core := record_of(contract.Core, name, reader))
            if not provided(str(written.provides), core.provides, known):
                what = ", ".join(core.provides) or "no function that it names"
                rule = f"core {core.name!r} provides {what}, and not {written.provides}"
                raise UnitError(rule, "remove it")
    return found


def _taken(
    cores: Sequence[contract.Core],
    written: schema.StageSection,
    scenario: Scenario,
    refused: dict[str, str],
    reader: Reader,
) -> Iterator[Taken]:
    """Yield the usable cores.  The reason against another goes to `refused`."""
    nodes = [written.node] if isinstance(written.node, str) else written.node
    for core in cores:
        model = core.models.get("table") or next(iter(core.models.values()))
        refused |= {f"{core.name}_{name}": why for name, why in core.omitted.items()}
        if nodes is not None and core.node not in nodes:
            refused[core.name] = core.node or "its node is not stated"
        elif written.evidence is not None and core.evidence not in written.evidence:
            refused[core.name] = core.evidence or "it states no evidence"
        elif (values := _every_value(model)) is None:
            refused[core.name] = "a law over real numbers or wide ranges: name it by `core`"
        elif scenario.chained and "latency_cycles" in model.assumed:
            refused[core.name] = "its latency is assumed, and decides the rate in a chained mode"
        else:
            designs = designs_of_model(
                core, model, values, written.figures, written.uncertainty, reader
            )
            own = Taken(core, model, _after(core.name, designs))
            source = core.evidence, core.node, model.source
            scenario.sureness.keep_designs(written, own.designs.names, source)
            yield own


def _after(core: str, designs: Designs) -> Designs:
    """Return designs with the name of their core before their names."""
    names = tuple(f"{core}_{name}" for name in designs.names)
    labels = {f"{core}_{name}": label for name, label in designs.labels.items()}
    return replace(designs, names=names, labels=labels)


def _every_value(model: contract.Model) -> dict[str, list[float]] | None:
    """Return the values of parameters: the default, or every whole number of a narrow range."""
    values = {}
    for one in model.parameters:
        if one.default is not None:
            values[one.name] = [one.default]
        elif one.integer and one.high - one.low < _MOST_VALUES:
            values[one.name] = [float(n) for n in range(int(one.low), int(one.high) + 1)]
        else:
            return None
    return values


def _comparable(
    taken: Sequence[Taken], data: Mapping[str, Any], refused: dict[str, str]
) -> list[Taken]:
    """Return the cores with areas in the most common unit, and with power if it counts."""
    counts = {
        area: sum(len(one.designs.names) for one in taken if one.designs.has_figures(area))
        for area in AREAS
    }
    unit = max(AREAS, key=counts.__getitem__)
    kept, powered = [], names_power(data)
    for one in taken:
        if not one.designs.has_figures(unit):
            refused[one.core.name] = f"its area is not in {_UNITS[unit]}"
        elif powered and not one.designs.has_figures(POWERS[0]):
            refused[one.core.name] = "no power"
        else:
            kept.append(one)
    return kept


def _joined(taken: Sequence[Taken]) -> Designs:
    """Return the designs of all cores, without metrics that one of them lacks."""
    columns = dict(vars(concatenated([one.designs.metrics for one in taken])))
    for name in (*AREAS, *BLOCKS, *POWERS):
        if np.isnan(columns[name]).any():
            columns[name] = np.full_like(columns[name], np.nan)
    every = [one.designs for one in taken]
    uncertainty = _columns([(one, one.uncertainty) for one in every], 0.0)
    percentiles = _columns([(one, one.intervals()) for one in every], (1.0, 1.0))
    names = tuple(name for one in every for name in one.names)
    labels = {name: label for one in every for name, label in one.labels.items()}
    several = Counter(labels.values())  # for a core in several nodes: the name distinguishes them
    return Designs(
        names,
        contract.CoreMetrics(**columns),
        uncertainty,
        percentiles=percentiles,
        labels={name: label for name, label in labels.items() if several[label] == 1},
    )


def _columns(
    parts: Sequence[tuple[Designs, Mapping[str, Column]]], default: float | tuple[float, ...]
) -> dict[str, Column]:
    """Return columns of all designs by metric, `default` for designs that lack one."""
    return {
        metric: np.concatenate(
            [columns.get(metric, np.stack([default] * len(one.names))) for one, columns in parts]
        )
        for metric in sorted({metric for _, columns in parts for metric in columns})
    }


def _scaled(designs: Designs, taken: Sequence[Taken], node: str, reader: Reader) -> Designs:
    """Return designs with their areas at another node, and no power, which is not scaled."""
    found: list[tuple[float, float]] = []
    with reader.at(("scale_to",)):
        found = [scaled_area(one.core.node, node) for one in taken]
    if not found:
        return designs
    sizes = [len(one.designs.names) for one in taken]
    factors, spreads = np.repeat(np.array(found), sizes, axis=0).T
    area = designs.metrics.area_m2 * factors
    none = np.full_like(area, np.nan)
    metrics = replace(designs.metrics, area_m2=area, dynamic_power_w=none, leakage_power_w=none)
    share = np.hypot(designs.uncertainty.get("area_m2", 0.0), spreads)
    reader.notes.append(
        f"areas are scaled to {node} (Stillmaker and Baas, 2017; ways through other nodes differ "
        f"by {100 * max(spreads):.2g} % at most); clocks stay those of their nodes, slower "
        "than a newer one would be, and powers are omitted"
    )
    return Designs(designs.names, metrics, {**designs.uncertainty, "area_m2": share})
