"""Designs from models of cores, one per combination of parameters, and their uncertainty."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dse import contract
from dse.algebra import units
from dse.contract import Model
from dse.contract.placement import placed_range, placed_uncertainty, placement_text, routed
from dse.errors import FOREIGN, ContractError, UnitError, nearest
from dse.model.designs import AREAS, Designs, check_metrics
from dse.model.labels import labels_of_core
from dse.study.reader import Reader

NINETY_FIVE = 1.96
"""Standard deviations to either side that hold 95 % of a normal distribution."""

_PACE = ("cycles_per_task",)

STATED: dict[str, tuple[str, ...]] = {
    "area": AREAS,
    "area_ge": ("area_ge",),
    "area_lc": ("area_lc",),
    "clock": ("clock_hz",),
    "dynamic_power": ("dynamic_power_w",),
    "leakage_power": ("leakage_power_w",),
    "power": ("dynamic_power_w", "leakage_power_w"),
    "latency": ("latency_cycles",),
    "cycles_per_task": _PACE,
    "bandwidth": _PACE,
    "throughput": _PACE,
    "rate": _PACE,
}
"""Quantities of a stated uncertainty, and the metrics that it makes uncertain."""

_COMPARED = STATED | {"capacity": _PACE}
"""Quantities of a law's residuals, and the metrics that they make uncertain."""


def share(written: Any) -> float:
    """Return a relative standard uncertainty: 0.1 for ``10 %``.

    Raises
    ------
    UnitError
        It is no percentage, or negative.
    """
    value = units.parse(written, "share")
    if value < 0:
        raise UnitError("an uncertainty is not negative", "write 5 %")
    return value


def share_of_interval(value: float, low: float, high: float) -> float:
    """Return the relative standard uncertainty of a 95 % interval, from its longer side."""
    return max(value - low, high - value) / NINETY_FIVE / value


def stated(written: Mapping[str, Any], reader: Reader) -> dict[str, float]:
    """Return the relative standard uncertainty of metrics that a stage states."""
    found: dict[str, float] = {}
    for name, value in written.items():
        where = ("uncertainty", name)
        if name not in STATED:
            rule = "an uncertainty is stated for a metric of a core"
            reader.fault(where, rule, nearest(name, STATED), repr(name))
            continue
        with reader.at(where):
            found |= dict.fromkeys(STATED[name], share(value))
    return found


def as_placed(
    designs: Designs, kit: str, figures: str, uncertainty: Mapping[str, Any], reader: Reader
) -> Designs:
    """Return designs as a stage takes them: their values and uncertainties.

    Values of gates mapped in a `kit` are scaled to placed designs, whose spread adds in squares to
    their uncertainty, unless the stage has ``as: synthesised``.  Uncertainties stated by the study
    override others.
    """
    scaled = bool(kit) and figures == "placed"
    own = {name: np.full(len(designs.names), u) for name, u in stated(uncertainty, reader).items()}
    shares, percentiles = dict(designs.uncertainty), {}
    for name, share in placed_uncertainty(kit).items() if scaled else ():
        if name not in {*shares, *own}:
            percentiles[name] = np.tile(placed_range(kit)[name], (len(designs.names), 1))
        shares[name] = np.hypot(shares.get(name, 0.0), np.full(len(designs.names), share))
    metrics = routed(designs.metrics, kit) if scaled else designs.metrics
    return replace(designs, metrics=metrics, uncertainty=shares | own, percentiles=percentiles)


def note_placed(kits: Mapping[str, str], figures: str, reader: Reader) -> None:
    """Note the cores and tables, by name, with values of mapped gates, and their factors."""
    mapped = {name: kit for name, kit in kits.items() if kit}
    for kit in dict.fromkeys(mapped.values()):
        names = ", ".join(name for name, of in mapped.items() if of == kit)
        said = "figures of mapped gates, without wires and clock tree"
        if figures == "placed":
            said = f"assumed for every design: figures of mapped gates times {placement_text(kit)}"
        reader.notes.append(f"{names}: {said}")


def stated_by_model(model: Model) -> dict[str, float]:
    """Return the relative standard uncertainty of metrics that a model states.

    The uncertainty of a law adds in squares to its deviation from the table that it describes: the
    root mean square of (law - table) / table.
    """
    found = residual_spread(model)
    return found | {
        name: float(np.hypot(u, found.get(name, 0.0))) for name, u in model.uncertainty.items()
    }


def residual_spread(model: Model) -> dict[str, float]:
    """Return the deviation of a law from its table, by metric, or empty without residuals."""
    found: dict[str, float] = {}
    for name, (_, table, law) in (model.residuals() if model.residuals else {}).items():
        compared = np.asarray(table) != 0
        ratio = np.asarray(law)[compared] / np.asarray(table)[compared] - 1.0
        if compared.any() and units.stem(name) in _COMPARED:
            spread = float(np.sqrt(np.mean(ratio**2)))
            found |= dict.fromkeys(_COMPARED[units.stem(name)], spread)
    return found


MOST_DESIGNS = 100_000
"""Most designs of one stage."""

_FEW = 8
"""Number of stages whose designs are cached, since the values of a sweep share them."""


def designs_of_model(
    core: contract.Core,
    model: contract.Model,
    values: Mapping[str, list[float]],
    figures: str,
    uncertainty: Mapping[str, Any],
    reader: Reader,
) -> Designs:
    """Return the designs of a model at values of its parameters, with stated uncertainties.

    Values of mapped gates become placed ones, unless the stage has ``as: synthesised``.

    Raises
    ------
    ContractError
        The model fails, or its values are invalid.
    """
    try:
        names, metrics = _evaluate_model(model, *((name, *of) for name, of in values.items()))
    except FOREIGN as error:  # any error of a foreign function
        key = next(name for name, one in core.models.items() if one is model)
        raise ContractError(
            f"model {key!r} of core {core.name!r} fails: {type(error).__name__}: {error}"
        ) from error
    check_metrics(core.name, names, metrics)
    shares = {name: np.full(len(names), u) for name, u in stated_by_model(model).items()}
    designs = Designs(
        names, metrics, shares, labels=labels_of_core(core.label, names, model.labels)
    )
    return as_placed(designs, model.kit, figures, uncertainty, reader)


@lru_cache(maxsize=_FEW)
def _evaluate_model(
    model: contract.Model, *parameters: tuple[Any, ...]
) -> tuple[tuple[str, ...], contract.CoreMetrics]:
    """Return the designs of every combination of parameters, each its name and then its values.

    A law gives one design per combination, and a table all its rows for each.
    """
    values = {name: list(entry) for name, *entry in parameters}
    grid = list(itertools.product(*values.values()))
    shown = [
        {name: f"{value:.12g}" for name, value in zip(values, row, strict=True)} for row in grid
    ]
    if not model.designs:
        columns = {name: np.array([row[k] for row in grid]) for k, name in enumerate(values)}
        names = tuple(model.design_name.format(**row) for row in shown)
        return _distinct(names, shown, values), model.function(**columns)
    parts = [
        model.function(**{name: np.array([value]) for name, value in zip(values, row, strict=True)})
        for row in grid
    ]
    names = tuple(design for _ in grid for design in model.designs)
    rows = [row for row in shown for _ in model.designs]
    return _distinct(names, rows, values), concatenated(parts)


def concatenated(parts: Sequence[contract.CoreMetrics]) -> contract.CoreMetrics:
    """Return the metrics of several parts, one after the other."""
    fields = contract.CoreMetrics.__dataclass_fields__
    return contract.CoreMetrics(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    )


def _distinct(
    names: tuple[str, ...], rows: list[dict[str, str]], values: dict[str, list[float]]
) -> tuple[str, ...]:
    """Append to design names the options that vary besides the parameters in them."""
    if len(set(names)) == len(names):
        return names
    varying = [name for name, entry in values.items() if len(entry) > 1]
    return tuple(
        "_".join([name, *(f"{option}{row[option]}" for option in varying)])
        for name, row in zip(names, rows, strict=True)
    )
