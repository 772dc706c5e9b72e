"""Designs of cores, from models and from laws of a user, and their uncertainty.

A law gives a quantity as a function of one or two parameters x and y, with coefficients a, b, c::

    constant     a
    affine       a + b x + c y
    square       a + b x^2 + c y^2
    power        a x^b y^c
    exponential  a exp(b x + c y)
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from dse import contract
from dse.algebra import units
from dse.contract import Column, CoreMetrics, Model, Parameter
from dse.contract.placement import placed_range, placed_uncertainty, placement_text, routed
from dse.errors import FOREIGN, ContractError, UnitError, nearest
from dse.model.designs import AREAS, Designs, check_metrics
from dse.model.labels import labels_of_core
from dse.study.reader import Reader

Form = Literal["constant", "affine", "square", "power", "exponential"]
FORMS: tuple[Form, ...] = get_args(Form)
LINEAR = ("constant", "affine", "square")
"""Forms whose value is linear in the coefficients."""

QUANTITIES: Mapping[str, str] = {
    "area": "area_m2",
    "area_ge": "area_ge",
    "area_lc": "area_lc",
    "block_rams": "block_rams",
    "multipliers": "multipliers",
    "clock": "clock_hz",
    "dynamic_power": "dynamic_power_w",
    "leakage_power": "leakage_power_w",
    "payload": "payload_bit",
    "message_end": "message_end_bit",
    "cycles_per_task": "cycles_per_task",
    "rate": "rate_task_per_s",
    "bandwidth": "bandwidth_bit_per_s",
    "latency": "latency_cycles",
    "tasks_in_flight": "tasks_in_flight",
    "read": "read_byte",
    "written": "written_byte",
}
"""Quantities with a law, and the name whose suffix is the unit."""

PACE = ("cycles_per_task", "rate", "bandwidth")
"""Quantities of which one gives the speed of an instance."""
CORE_AREAS = ("area", "area_ge", "area_lc")
"""Quantities of which one gives the size of an instance."""

AGREEMENT = 0.01
"""Allowed relative difference between two forms of one quantity, for printed rounding."""

BITS_OF_BYTE = 8.0
_NEEDED = (CORE_AREAS, ("clock",), ("payload",), PACE)
"""Groups of quantities, of each of which a core has one."""


@dataclass(frozen=True, kw_only=True)
class Law:
    """A quantity as a function of parameters, in SI.  `over` names the parameters."""

    form: str
    over: tuple[str, ...]
    coefficients: tuple[float, ...]

    def __call__(self, parameters: Mapping[str, Column]) -> Column:
        """Return the quantity, in the joint shape of the parameters."""
        values = [parameters[name] for name in self.over]
        size = np.broadcast_shapes(*(np.shape(column) for column in parameters.values()))
        return np.broadcast_to(evaluate_law(self.form, values, self.coefficients), size)


def evaluate_law(form: str, values: Sequence[Column], coefficients: Sequence[float]) -> Column:
    """Return a form at parameter values."""
    first, *rest = coefficients
    if form == "power":
        factors = (value**exponent for value, exponent in zip(values, rest, strict=True))
        return np.asarray(first * np.prod(np.broadcast_arrays(1.0, *factors), axis=0))
    powers = [value**2 for value in values] if form == "square" else list(values)
    total = sum((b * value for b, value in zip(rest, powers, strict=True)), np.zeros(1))
    return np.asarray(first * np.exp(total) if form == "exponential" else first + total)


def unit_names(quantity: str, form: str, count: int) -> list[str]:
    """Return for each of `count` coefficients the name whose suffix is its unit."""
    rest = QUANTITIES[quantity] if form in LINEAR else ""
    return [QUANTITIES[quantity], *[rest] * (count - 1)]


def law_text(quantity: str, law: Law) -> str:
    """Return a law as an equation: ``4607 um2 + 3429 um2 * unroll``."""
    names = unit_names(quantity, law.form, len(law.coefficients))
    first, *rest = (units.show(*pair) for pair in zip(law.coefficients, names, strict=True))
    pairs = list(zip(rest, law.over, strict=True))
    if law.form == "power":
        return " * ".join([first, *(f"{name}^{exponent}" for exponent, name in pairs)])
    squared = "^2" if law.form == "square" else ""
    terms = [f"{factor} * {name}{squared}" for factor, name in pairs]
    if law.form == "exponential":
        return f"{first} * exp({' + '.join(terms)})"
    kept = terms if terms and law.coefficients[0] == 0 else [first, *terms]
    return " + ".join(kept).replace("+ -", "- ")


def law_metrics(
    laws: Mapping[str, Law], parameters: Sequence[Parameter], columns: Mapping[str, Column]
) -> CoreMetrics:
    """Return the `completed` metrics of laws at parameter values, marked beyond their ranges."""
    size = np.broadcast_shapes(*(np.shape(column) for column in columns.values()))
    given = {name: law(columns) for name, law in laws.items()}
    if "cycles_per_task" not in given:
        rate = given["rate"] if "rate" in given else given["bandwidth"] / given["payload"]
        given["cycles_per_task"] = given["clock"] / rate
    outside = [
        np.less(columns[entry.name], entry.low) | np.greater(columns[entry.name], entry.high)
        for entry in parameters
    ]
    beyond = np.broadcast_to(np.any(np.broadcast_arrays(*outside), axis=0), size)
    return metrics_of(given, beyond.astype(np.float64))


def metrics_of(given: Mapping[str, Column], extrapolated: Column) -> CoreMetrics:
    """Return quantities, `completed`, as the metrics of a core."""
    whole = completed(given)
    metrics = {
        column: np.array(whole[name], dtype=np.float64)
        for name, column in QUANTITIES.items()
        if column in CoreMetrics.__dataclass_fields__ and name in whole
    }
    return CoreMetrics(**metrics, extrapolated=extrapolated)


def completed(given: Mapping[str, Column]) -> dict[str, Column]:
    """Return quantities with defaults for those that are not given.

    One task is in flight, or as many as the latency holds.  A result leaves after cycles per task
    times tasks in flight (Little's law).  A task reads and writes its payload once.  Leakage is 0
    if power is given.
    """
    payload, cycles = given["payload"], given["cycles_per_task"]
    in_flight = np.ones_like(payload)
    if "latency" in given:
        in_flight = np.maximum(np.ceil(given["latency"] / cycles * (1 - AGREEMENT)), 1.0)
    in_flight = given.get("tasks_in_flight", in_flight)
    default = {
        "tasks_in_flight": in_flight,
        "latency": cycles * in_flight,
        "read": payload / BITS_OF_BYTE,
        "written": payload / BITS_OF_BYTE,
    }
    if "dynamic_power" in given:
        default["leakage_power"] = np.zeros_like(payload)
    return default | dict(given)


def missing(laws: Mapping[str, object]) -> list[str]:
    """Return the missing quantities of a core, as alternatives."""
    power = ("dynamic_power",) if "leakage_power" in laws else ()
    needed = [*_NEEDED, power] if power else _NEEDED
    return [" or ".join(names) for names in needed if not any(name in laws for name in names)]


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


def residual_spread(model: Model) -> dict[str, float]:
    """Return the deviation of a law from its table, by metric, or empty without residuals.

    It is the root mean square of (law - table) / table.  The uncertainty that a law states adds to
    it in squares.
    """
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
    spread = residual_spread(model)
    for name, own in model.uncertainty.items():
        spread[name] = float(np.hypot(own, spread.get(name, 0.0)))
    shares = {name: np.full(len(names), u) for name, u in spread.items()}
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
    rows = [
        {name: f"{value:.12g}" for name, value in zip(values, row, strict=True)} for row in grid
    ]
    if model.designs:
        points = ({n: np.array([v]) for n, v in zip(values, row, strict=True)} for row in grid)
        metrics = concatenated([model.function(**point) for point in points])
        rows = [row for row in rows for _ in model.designs]
        names = model.designs * len(grid)
    else:
        columns = {name: np.array([row[k] for row in grid]) for k, name in enumerate(values)}
        names = tuple(model.design_name.format(**row) for row in rows)
        metrics = model.function(**columns)
    return _distinct(
        names, rows, [name for name, entry in values.items() if len(entry) > 1]
    ), metrics


def _distinct(
    names: tuple[str, ...], rows: Sequence[Mapping[str, str]], varying: Sequence[str]
) -> tuple[str, ...]:
    """Append to design names the options that vary besides the parameters in them."""
    if len(set(names)) == len(names):
        return names
    return tuple(
        "_".join([name, *(f"{option}{row[option]}" for option in varying)])
        for name, row in zip(names, rows, strict=True)
    )


def concatenated(parts: Sequence[contract.CoreMetrics]) -> contract.CoreMetrics:
    """Return the metrics of several parts, one after the other."""
    fields = contract.CoreMetrics.__dataclass_fields__
    return contract.CoreMetrics(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    )
