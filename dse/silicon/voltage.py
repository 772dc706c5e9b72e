"""Figures of a design between the supply voltages at which it was characterised.

Each law has two parameters and goes through two voltages.  A third between them is held out to
tell how far the law is off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from dse.algebra import units
from dse.errors import ArgumentError

ALPHA = 1.3
"""Velocity saturation index: near 1.3 for short channels, 2 for long (Sakurai & Newton 1990)."""

Point = tuple[float, float]
"""Supply voltage (V), and a figure there."""


def period_between(low: Point, high: Point, supply_v: float, *, alpha: float = ALPHA) -> float:
    """Return the clock period (s) at a supply voltage from those at two others.

    ``T = k V / (V - V_T) ** alpha``: the delay of gates whose transistors follow the alpha-power
    law (Sakurai & Newton, IEEE JSSC 25(2), 1990; without its small term of the input's slew).
    `k` and the threshold voltage `V_T` come from both points.

    Raises
    ------
    ArgumentError
        The period does not fall as the voltage rises, or faster than this law can with a
        threshold below the lower voltage.
    """
    (first_v, first_s), (second_v, second_s) = low, high
    ratio = (second_s * first_v / (first_s * second_v)) ** (1.0 / alpha)
    threshold_v = (first_v - ratio * second_v) / (1.0 - ratio) if ratio < 1.0 else -math.inf
    if not math.isfinite(threshold_v):
        first, second = (units.show(one, "period_s") for one in (first_s, second_s))
        rule = f"periods of {first} at {first_v:g} V and {second} at {second_v:g} V"
        raise ArgumentError(f"{rule} do not follow the alpha-power law; check both libraries")
    overdrive = (first_v - threshold_v) / (supply_v - threshold_v)
    return float(first_s * supply_v / first_v * overdrive**alpha)


def energy_between(low: Point, high: Point, supply_v: float) -> float:
    """Return the energy of a task (J) between two voltages: ``c V ** p``, `p` near 2.

    Charging takes ``C V ** 2``; what flows while both transistors of a gate conduct, and
    capacitances that change with the voltage, are in the exponent.  Zero at both stays zero.
    """
    (first_v, first), (second_v, second) = low, high
    if first <= 0.0 or second <= 0.0:
        return first + (second - first) * (supply_v - first_v) / (second_v - first_v)
    exponent = math.log(second / first) / math.log(second_v / first_v)
    return float(first * (supply_v / first_v) ** exponent)


def leakage_between(low: Point, high: Point, supply_v: float) -> float:
    """Return leakage power (W) between two voltages: ``V I exp(V / V_0)``.

    The drain lowers the barrier in proportion to its voltage, and the current grows with its
    exponential (drain-induced barrier lowering).  Zero at both stays zero.
    """
    (first_v, first), (second_v, second) = low, high
    if first <= 0.0 or second <= 0.0:
        return first + (second - first) * (supply_v - first_v) / (second_v - first_v)
    slope = math.log(second / first * first_v / second_v) / (second_v - first_v)
    return float(first * supply_v / first_v * math.exp(slope * (supply_v - first_v)))


Law = Callable[[Point, Point, float], float]

LAWS: Mapping[str, Law] = {
    "least_period_s": period_between,
    "energy_j": energy_between,
    "settled_energy_j": energy_between,
    "leakage_power_w": leakage_between,
}
"""The law of each figure that changes with the voltage."""


def figure_between(law: Law, points: Sequence[Point], supply_v: float) -> float:
    """Return a figure at a voltage, by the law through the neighbours on either side.

    Parameters
    ----------
    law
        Of the figure.
    points
        Two or more, voltages rising.
    supply_v
        From the first voltage to the last.

    Raises
    ------
    ArgumentError
        It lies outside, where nothing holds the law.
    """
    lowest, highest = points[0][0], points[-1][0]
    for low, high in pairwise(points):
        if low[0] <= supply_v <= high[0]:
            return law(low, high, supply_v)
    rule = f"a supply of {supply_v:g} V is outside {lowest:g} to {highest:g} V"
    raise ArgumentError(f"{rule}, where the libraries are; choose one inside")


def held_out_errors(law: Law, points: Sequence[Point]) -> Iterator[tuple[float, float]]:
    """Yield each voltage but the ends, and the relative error there when it is held out.

    The law goes through its two neighbours, which lie further apart than those of
    `figure_between`.  Nothing is yielded for two voltages: then no error is known.
    """
    for low, (supply_v, found), high in zip(points, points[1:], points[2:], strict=False):
        yield supply_v, (law(low, high, supply_v) / found - 1.0 if found > 0.0 else 0.0)
