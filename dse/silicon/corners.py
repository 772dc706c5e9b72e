"""Designs at several supply voltages: one netlist, a library for each, and laws between them.

Each law has two parameters and goes through two voltages.  A third between them is held out to
tell how far the law is off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from dse.algebra import units
from dse.errors import ArgumentError, Fault, StudyError, refuse
from dse.silicon.characterisation import Characterisation
from dse.silicon.figures import SUPPLY, CharacterisedDesign, rounded_up

FITTED = "fitted"
"""Column of whether a row lies on a law: ``yes`` or ``no``."""

_MADE_OF = {
    "clock_uncertainty": "least_period_s",
    "dynamic_power_uncertainty": "energy_j",
    "leakage_power_uncertainty": "leakage_power_w",
}
"""Uncertainty in the table, and the figure whose law tells it."""


Rows = Mapping[float, CharacterisedDesign]

Errors = Mapping[str, Sequence[tuple[float, float]]]

ALPHA = 1.3
"""Velocity saturation index: near 1.3 for short channels, 2 for long (Sakurai & Newton 1990)."""

Point = tuple[float, float]
"""Supply voltage (V), and a figure there."""

Law = Callable[[Point, Point, float], float]


def at_supplies(
    found: Sequence[Characterisation], supplies_v: Sequence[float] = ()
) -> Characterisation:
    """Return one table of designs at all voltages: those characterised, and those requested.

    A row at a voltage without a library lies on the laws of `dse.silicon.corners`; its column
    ``fitted`` says yes, and where a third voltage could be held out its error for this design,
    the largest of all held out, stands as the standard uncertainty of clock, dynamic power and
    leakage.  The area is that of the netlist, which is the same at every voltage.

    Parameters
    ----------
    found
        The same designs in each, of the same netlists, at one voltage each.
    supplies_v
        Voltages (V) to have rows for as well.

    Raises
    ------
    StudyError
        Two libraries have one voltage, they differ in temperature, or a voltage lies outside.
    """
    ordered = sorted(found, key=_voltage)
    voltages = [_voltage(one) for one in ordered]
    _check(ordered, voltages)
    designs: list[CharacterisedDesign] = []
    lines: list[str] = []
    for same in zip(*(one.designs for one in ordered), strict=True):
        rows = dict(zip(voltages, same, strict=True))
        errors = _errors(rows)
        lines += _error_remarks(same[0].name, errors)
        uncertain = _uncertainties(errors)
        designs += [
            _row(one, supply, "no", dict.fromkeys(uncertain, 0.0)) for supply, one in rows.items()
        ]
        for supply in supplies_v:
            if supply not in rows:
                designs.append(_row(_fitted(rows, supply), supply, "yes", uncertain))
    if supplies_v and len(voltages) < 3:
        lines.append("fitted rows: two voltages fix the laws, none is left to estimate their error")
    facts = [one.designs[0].facts for one in ordered]
    shared = {
        "library": f"{found[0].designs[0].facts['library']} and its corners",
        "corner": "; ".join(f"{one['library']}: {one['corner']}" for one in facts),
    }
    laws = (
        "one netlist at every voltage; fitted rows: clock by the alpha-power law, energy as a power"
        " of the voltage, leakage as its exponential, through the neighbours on either side"
    )
    return replace(
        found[0],
        designs=tuple(replace(one, facts={**one.facts, **shared}) for one in designs),
        remarks=(*found[0].remarks, laws, *lines),
        kept=sum(one.kept for one in found),
    )


def _voltage(one: Characterisation) -> float:
    return float(one.designs[0].facts[SUPPLY])


def _check(ordered: Sequence[Characterisation], voltages: Sequence[float]) -> None:
    faults = []
    if len({*voltages}) < len(voltages):
        written = ", ".join(f"{one:g} V" for one in voltages)
        remedy = "give libraries at different voltages"
        faults.append(Fault("corner", written, "two libraries have the same voltage", remedy))
    heats = {one.designs[0].facts["temperature_c"]: None for one in ordered}
    if len(heats) > 1:
        written = ", ".join(f"{heat} C" for heat in heats)
        rule = "laws are fitted at one temperature"
        faults.append(Fault("corner", written, rule, "give libraries of one temperature"))
    refuse(faults)


def _points(rows: Rows, figure: str) -> list[Point]:
    return [(supply, one.figures[figure]) for supply, one in rows.items()]


def _errors(rows: Rows) -> Errors:
    """Return the errors at each voltage that is held out, by figure."""
    try:
        return {name: [*held_out_errors(LAWS[name], _points(rows, name))] for name in LAWS}
    except ArgumentError as error:
        raise StudyError([Fault(next(iter(rows.values())).name, "", str(error), "")]) from None


def _error_remarks(name: str, errors: Errors) -> Iterator[str]:
    for place, (supply, _) in enumerate(errors["least_period_s"]):
        period, energy, leakage = (errors[one][place][1] for one in _MADE_OF.values())
        yield (
            f"{name} held out at {supply:g} V: clock {1 / (1 + period) - 1:+.1%}, "
            f"energy {energy:+.1%}, leakage {leakage:+.1%}"
        )


def _uncertainties(errors: Errors) -> dict[str, float]:
    """Return the largest error of each law; power is energy times the clock."""
    worst = {name: max(abs(error) for _, error in found) for name, found in errors.items() if found}
    if not worst:
        return {}
    found = {name: worst[figure] for name, figure in _MADE_OF.items()}
    found["dynamic_power_uncertainty"] += found["clock_uncertainty"]
    return found


def _fitted(rows: Rows, supply_v: float) -> CharacterisedDesign:
    """Return a design at a voltage between two others."""
    nearby = min(rows.values(), key=lambda one: abs(float(one.facts[SUPPLY]) - supply_v))
    try:
        figures = {
            name: figure_between(law, _points(rows, name), supply_v) for name, law in LAWS.items()
        }
    except ArgumentError as error:
        raise StudyError([Fault("supply", "", str(error), "")]) from None
    clock_hz = 1.0 / rounded_up(figures["least_period_s"])
    idle = [
        (supply, one.figures["idle_power_w"] / one.figures["clock_hz"])
        for supply, one in rows.items()
    ]
    tasks_per_s = clock_hz / nearby.figures["cycles_per_task"]
    figures |= {
        "clock_hz": clock_hz,
        "dynamic_power_w": figures["energy_j"] * tasks_per_s,
        "settled_power_w": figures["settled_energy_j"] * tasks_per_s,
        "idle_power_w": figure_between(energy_between, idle, supply_v) * clock_hz,
    }
    return replace(nearby, figures={**nearby.figures, **figures}, notes=())


def _row(
    one: CharacterisedDesign, supply_v: float, fitted: str, uncertain: Mapping[str, float]
) -> CharacterisedDesign:
    supply = f"{supply_v:g}"
    facts = one.facts if fitted == "no" else {**one.facts, "fitted": fitted}
    return replace(
        one,
        name=f"{one.name}_{supply}v",
        parameters={**one.parameters, SUPPLY: supply, FITTED: fitted},
        figures={
            **one.figures,
            **{
                name: math.hypot(share, one.figures.get(name, 0.0))
                for name, share in uncertain.items()
            },
        },
        facts=facts,
    )


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
