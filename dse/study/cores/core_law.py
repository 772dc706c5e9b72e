"""Laws of a user's core: quantities as functions of one or two parameters.

With parameters x and y, coefficients a, b, c::

    constant     a
    affine       a + b x + c y
    square       a + b x^2 + c y^2
    power        a x^b y^c
    exponential  a exp(b x + c y)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dse.algebra import units
from dse.contract import Column, CoreMetrics, Parameter

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
