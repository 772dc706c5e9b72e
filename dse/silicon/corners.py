"""Designs at several supply voltages: one netlist, a library for each, and laws between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dse.errors import ArgumentError, Fault, StudyError
from dse.silicon.characterisation import Characterisation
from dse.silicon.figures import CharacterisedDesign, rounded_up
from dse.silicon.voltage import LAWS, Point, figure_between, held_out_errors

SUPPLY, FITTED = "supply_v", "fitted"
"""Columns of the supply voltage, and of whether a row lies on a law: ``yes`` or ``no``."""

_MADE_OF = {
    "clock_uncertainty": "least_period_s",
    "dynamic_power_uncertainty": "energy_j",
    "leakage_power_uncertainty": "leakage_power_w",
}
"""Uncertainty in the table, and the figure whose law tells it."""


def at_supplies(
    found: Sequence[Characterisation], supplies_v: Sequence[float] = ()
) -> Characterisation:
    """Return one table of designs at all voltages: those characterised, and those asked for.

    A row at a voltage without a library lies on the laws of `dse.silicon.voltage`; its column
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
    told: list[str] = []
    for same in zip(*(one.designs for one in ordered), strict=True):
        rows = dict(zip(voltages, same, strict=True))
        errors = _errors(rows)
        told += _told(same[0].name, errors)
        uncertain = _uncertainties(errors)
        designs += [
            _row(one, supply, "no", dict.fromkeys(uncertain, 0.0)) for supply, one in rows.items()
        ]
        for supply in supplies_v:
            if supply not in rows:
                designs.append(_row(_fitted(rows, supply), supply, "yes", uncertain))
    if supplies_v and len(voltages) < 3:
        told.append("fitted rows: two voltages fix the laws, none is left to tell their error")
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
        remarks=(*found[0].remarks, laws, *told),
        kept=sum(one.kept for one in found),
    )


def _voltage(one: Characterisation) -> float:
    return float(one.designs[0].facts[SUPPLY])


def _check(ordered: Sequence[Characterisation], voltages: Sequence[float]) -> None:
    faults = []
    if len({*voltages}) < len(voltages):
        written = ", ".join(f"{one:g} V" for one in voltages)
        remedy = "give libraries at different voltages"
        faults.append(
            Fault(
                where="corner",
                written=written,
                rule="two libraries have the same voltage",
                remedy=remedy,
            )
        )
    heats = {one.designs[0].facts["temperature_c"]: None for one in ordered}
    if len(heats) > 1:
        written = ", ".join(f"{heat} C" for heat in heats)
        rule = "laws are fitted at one temperature"
        remedy = "give libraries of one temperature"
        faults.append(Fault(where="corner", written=written, rule=rule, remedy=remedy))
    if faults:
        raise StudyError(faults)


Rows = Mapping[float, CharacterisedDesign]
Errors = Mapping[str, Sequence[tuple[float, float]]]


def _points(rows: Rows, figure: str) -> list[Point]:
    return [(supply, one.figures[figure]) for supply, one in rows.items()]


def _errors(rows: Rows) -> Errors:
    """Return the errors at each voltage that is held out, by figure."""
    try:
        return {name: [*held_out_errors(LAWS[name], _points(rows, name))] for name in LAWS}
    except ArgumentError as error:
        name = next(iter(rows.values())).name
        raise StudyError([Fault(where=name, written="", rule=str(error), remedy="")]) from None


def _told(name: str, errors: Errors) -> Iterator[str]:
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
        raise StudyError([Fault(where="supply", written="", rule=str(error), remedy="")]) from None
    clock_hz = 1.0 / rounded_up(figures["least_period_s"])
    tasks_per_s = clock_hz / nearby.figures["cycles_per_task"]
    figures |= {
        "clock_hz": clock_hz,
        "dynamic_power_w": figures["energy_j"] * tasks_per_s,
        "settled_power_w": figures["settled_energy_j"] * tasks_per_s,
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
        figures={**one.figures, **uncertain},
        facts=facts,
    )
