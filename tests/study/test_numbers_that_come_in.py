"""Numbers that come in: their dimension, sign and magnitude, by their unit."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from tests.conftest import Write, faults

STUDY = """\
workload: {rate: 1 Gbit/s}
stages: [{table: c.csv, instances: leastCOLUMNS}]
objectives: {area: minimise}
"""


def stage(write: Write, table: str, columns: str = "") -> object:
    write(table, "c.csv")
    return write(STUDY.replace("COLUMNS", f", columns: {{{columns}}}" if columns else ""))


def test_a_period_is_a_clock_however_it_is_called(write: Write) -> None:
    """5.25 ns are 190.5 MHz, at which 128 bit in 11 cycles carry 2.22 Gbit/s."""
    random = np.random.default_rng(3)
    table = (
        "design,area_um2,{},payload_bit,cycles_per_task\na,12000,5.25,128,11\nb,20000,2.5,128,11\n"
    )
    for header, columns in (
        ("delay_ns", "clock_mhz: delay_ns"),
        ("T (ns)", "clock_ghz: 'T (ns)'"),
        ("critical_path_ns", ""),
        ("period_ns", ""),
        ("Clock Period [ns]", ""),
        ("clock_ns", ""),
    ):
        found = dse.run(stage(write, table.format(header), columns), out=None)
        assert found.front["c.a"].tolist() == [1], header
    for _ in range(40):
        period_ns, unit = random.uniform(0.1, 50), random.choice(["ns", "ps", "us"])
        shown = period_ns * {"ns": 1.0, "ps": 1e3, "us": 1e-3}[unit]
        text = table.format(f"delay_{unit}").replace("5.25", repr(float(shown)))
        path = stage(write, text.replace(",2.5,", f",{shown / 2!r},"), f"clock_hz: delay_{unit}")
        carried = 128 / 11 / (period_ns * 1e-9)
        front = dse.run(path, out=None).front
        assert front["c.a"].max() <= np.ceil(1e9 / carried)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("Total cell area (kGE)", "'Total cell area (kGE)' is in GE, and area_um2 in m2"),
        ("rate_gbps", "'rate_gbps' is in bit/s, and area_um2 in m2"),
    ],
)
def test_a_column_of_another_dimension_is_refused(write: Write, header: str, said: str) -> None:
    table = f"design,clock_mhz,payload_bit,cycles_per_task,{header}\na,190,128,11,12\n"
    assert said in "\n".join(faults(stage(write, table, f"area_um2: '{header}'")))  # type: ignore[arg-type]


def test_capitals_are_read_as_the_study_says(write: Write) -> None:
    header = "DESIGN,AREA_UM2,CLOCK_MHZ,PAYLOAD_BIT,CYCLES_PER_TASK,DYNAMIC_POWER_MW"
    table = f"{header}\na,12000,190,128,11,2.5\n"
    path = stage(write, table, "dynamic_power_mW: DYNAMIC_POWER_MW")
    found = dse.run(path, out=None, overrides={"objectives": "{dynamic_power: minimise}"})
    assert found.front["dynamic_power_w"][0] == pytest.approx(2.5e-3 * 1e9 / (190e6 * 128 / 11))


def test_a_clock_above_20_ghz_and_a_dense_design_are_questioned(write: Write) -> None:
    table = "design,area_um2,clock_ghz,payload_bit,cycles_per_task,power_mw\na,12000,{},128,11,{}\n"
    assert faults(stage(write, table.format(900, 1))) == [  # type: ignore[arg-type]
        "c.csv:2:9: clock_ghz: '900'; 900 GHz is above 20 GHz; is its unit right? correct it"
    ]
    ps = table.replace("clock_ghz", "period_ps")
    assert faults(stage(write, ps.format(1, 1))) == [  # type: ignore[arg-type]
        "c.csv:2:9: period_ps: '1'; 1 THz is above 20 GHz; is its unit right? correct it"
    ]
    notes = dse.load(stage(write, table.format(1, 2400))).notes  # type: ignore[arg-type]
    assert (
        "1 of 1 designs of a table take more than 100 W/mm2, up to 200: check the units of power "
        "and area"
    ) in notes


def test_values_of_all_designs_are_held_to_their_unit_too(write: Write) -> None:
    table = "design,area_um2,payload_bit,cycles_per_task\na,12000,128,11\n"
    write(table, "c.csv")
    path = write(STUDY.replace("COLUMNS", ", values: {clock: 5.25 ns}"))
    assert dse.run(path, out=None).front["c.a"].tolist() == [1]
    assert faults(write(path.read_text().replace("5.25 ns", "900 GHz"))) == [
        "study.yaml:2:52: stages.0.values.clock: '900 GHz'; 900 GHz is above 20 GHz; is its unit "
        "right? correct it"
    ]


def test_a_field_is_questioned_too(write: Write) -> None:
    study = "workload: {rate: 1 Gbit/s}\nstages: [{core: des}]\nobjectives: {power: minimise}\n"
    assert faults(write(study), ("budget.power_cap", "400 MW")) == [
        "budget.power_cap: '400 MW'; 400 MW is above 100 kW; is its unit right? correct it"
    ]


DESIGNS = "design,area_mm2,power_mw,wns_ns,latency_ns,leakage_uw\nr1,1,5,-0.1,3,0\nr2,2,3,0,0,1\n"


def test_minus_one_and_zero_of_designs_are_no_figures_and_slacks_may_be_negative(
    write: Write,
) -> None:
    text = "designs: d.csv\nobjectives: {area: minimise, power: minimise, wns: maximise}\n"
    write(DESIGNS, "d.csv")
    path = write(text + "prefer: latency\nconstraints: [leakage <= 2 uW]\n")
    assert len(dse.run(path, out=None).front) == 2
    write(DESIGNS + "r3,-1,-1,0,1,0\nr4,0,0,0,1,0\nr5,1,1,0,-1,-1\n", "d.csv")
    missing = "leave the cell empty if it was not measured, or remove the row"
    assert sorted(faults(path)) == [
        f"d.csv:4:4: area_mm2: '-1'; an area is not negative; {missing}",
        f"d.csv:4:7: power_mw: '-1'; a power is not negative; {missing}",
        f"d.csv:5:4: area_mm2: '0'; an area of 0 is an accident; {missing}",
        f"d.csv:5:6: power_mw: '0'; a power of 0 is an accident; {missing}",
        f"d.csv:6:10: latency_ns: '-1'; a time is not negative; {missing}",
        f"d.csv:6:13: leakage_uw: '-1'; a power is not negative; {missing}",
    ]
    ruled = path.with_name("ruled.yaml")
    rules = "constraints: [area >= 0, latency >= 0]\n"
    ruled.write_text(text + rules, encoding="utf-8")
    assert sorted(faults(ruled))[:3] == [
        f"d.csv:4:4: area_mm2: '-1'; an area is not negative; {missing}",
        f"d.csv:4:7: power_mw: '-1'; a power is not negative; {missing}",
        f"d.csv:5:6: power_mw: '0'; a power of 0 is an accident; {missing}",
    ]


def test_a_unit_alone_is_a_name_without_a_unit(write: Write) -> None:
    write("design,w,op,power_w\na,0,3e6,1\nb,2,1,2\n", "d.csv")
    text = "designs: d.csv\nobjectives: {w: minimise, op: maximise, power: minimise}\n"
    found = dse.load(write(f"{text}constraints: [w <= 3, op < 4e6]\n"))
    assert [goal.name for goal in found.problem.goals] == ["w", "op", "power_w"]
    assert faults(write(f"{text}constraints: [w <= 3 W]\n"))[0].endswith(
        "a plain number is needed, not one in W; write a number without a unit"
    )
