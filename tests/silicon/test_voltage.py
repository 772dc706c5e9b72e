"""Laws over the supply voltage: what follows one is found again, and its error is told."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable

import pytest

from dse.errors import ArgumentError, StudyError
from dse.silicon.characterisation import Characterisation
from dse.silicon.corners import (
    ALPHA,
    LAWS,
    at_supplies,
    figure_between,
    held_out_errors,
    period_between,
)
from dse.silicon.figures import CharacterisedDesign

THRESHOLD_V = 0.6


def period_s(supply_v: float) -> float:
    return 2e-9 * supply_v / (supply_v - THRESHOLD_V) ** ALPHA


def energy_j(supply_v: float) -> float:
    return 5e-12 * supply_v**2.1


def leakage_w(supply_v: float) -> float:
    return 3e-9 * supply_v * math.exp(supply_v / 0.7)


FOLLOWED: dict[str, Callable[[float], float]] = {
    "least_period_s": period_s,
    "energy_j": energy_j,
    "settled_energy_j": energy_j,
    "leakage_power_w": leakage_w,
}


@pytest.mark.parametrize("figure", FOLLOWED)
def test_what_follows_a_law_is_found_between_and_held_out_without_error(figure: str) -> None:
    truth = FOLLOWED[figure]
    points = [(supply, truth(supply)) for supply in (1.0, 1.2, 1.8)]
    for supply in (1.0, 1.07, 1.2, 1.5, 1.8):
        assert figure_between(LAWS[figure], points, supply) == pytest.approx(
            truth(supply), rel=1e-9
        )
    assert [*held_out_errors(LAWS[figure], points)] == [(1.2, pytest.approx(0.0, abs=1e-9))]
    assert [*held_out_errors(LAWS[figure], points[:2])] == []


def test_a_law_is_not_asked_where_nothing_holds_it() -> None:
    points = [(1.2, period_s(1.2)), (1.5, period_s(1.5))]
    with pytest.raises(ArgumentError) as raised:
        figure_between(period_between, points, 1.6)
    assert str(raised.value) == (
        "a supply of 1.6 V is outside 1.2 to 1.5 V, where the libraries are; choose one inside"
    )
    with pytest.raises(ArgumentError, match="do not follow the alpha-power law"):
        period_between((1.2, 1e-9), (1.5, 2e-9), 1.3)


def at_voltage(supply_v: float, *, leakage: float = 1.0, heat: str = "25") -> Characterisation:
    figures = {name: truth(supply_v) for name, truth in FOLLOWED.items()}
    figures["leakage_power_w"] *= leakage
    clock_hz = 1.0 / figures["least_period_s"]
    power = {"dynamic_power_w": figures["energy_j"] * clock_hz / 16}
    power["settled_power_w"] = power["idle_power_w"] = power["dynamic_power_w"]
    facts = dict.fromkeys(
        ("library", "gate", "tool", "script", "description", "vectors", "tasks", "cycles"), "1"
    )
    facts |= {"corner": f"{supply_v:g} V", "supply_v": f"{supply_v:g}", "temperature_c": heat}
    facts["library"] = f"lib{supply_v:g}"
    figures |= {"area_m2": 1e-9, "clock_hz": clock_hz, "cycles_per_task": 16.0, **power}
    design = CharacterisedDesign("u1", {"unroll": 1}, figures, facts, ())
    return Characterisation("des", (design,), ("source: none",), 0)


def test_rows_on_a_law_are_marked_and_carry_the_error_held_out() -> None:
    tables = [at_voltage(1.2, leakage=1.25), at_voltage(1.8), at_voltage(1.0)]
    found = at_supplies(tables, [1.5, 1.8])
    csv_text = found.csv()
    assert "# library: lib1.2 and its corners" in csv_text
    assert "# corner: lib1: 1 V; lib1.2: 1.2 V; lib1.8: 1.8 V" in csv_text
    assert "u1 held out at 1.2 V: clock +0.0%, energy +0.0%, leakage -20.0%" in found.remarks
    lines = [line for line in found.csv().splitlines() if not line.startswith("#")]
    rows = {row["design"]: row for row in csv.DictReader(lines)}
    assert [*rows] == ["u1_1v", "u1_1.2v", "u1_1.8v", "u1_1.5v"]
    fitted = rows["u1_1.5v"]
    assert [fitted["fitted"], rows["u1_1.8v"]["fitted"]] == ["yes", "no"]
    assert float(fitted["leakage_power_uncertainty_percent"]) == pytest.approx(20.0)
    assert float(rows["u1_1.8v"]["leakage_power_uncertainty_percent"]) == 0.0
    assert float(fitted["energy_pj"]) == pytest.approx(energy_j(1.5) * 1e12, rel=1e-6)
    # The clock is rounded down to 3 digits of its period.
    assert float(fitted["clock_mhz"]) == pytest.approx(1e-6 / period_s(1.5), rel=5e-3)
    power_mw = energy_j(1.5) * 1e12 * float(fitted["clock_mhz"]) / 16 * 1e-3
    assert float(fitted["dynamic_power_mw"]) == pytest.approx(power_mw, rel=1e-5)


def test_two_voltages_leave_none_to_tell_the_error() -> None:
    found = at_supplies([at_voltage(1.2), at_voltage(1.5)], [1.3])
    assert found.remarks[-1].startswith("fitted rows: two voltages fix the laws")
    assert "uncertainty" not in found.csv()


def test_corners_are_one_temperature_and_several_voltages() -> None:
    with pytest.raises(StudyError) as raised:
        at_supplies([at_voltage(1.2), at_voltage(1.2, heat="125")])
    assert "two libraries have the same voltage" in str(raised.value)
    assert "laws are fitted at one temperature" in str(raised.value)
