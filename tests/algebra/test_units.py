"""Units: what is read, how it is shown, and what never converts."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.algebra import base_units, units
from dse.errors import UnitError

# Every prefix written out by hand: the power of ten may not come from the code under test.
SMALL = {"a": 1e-18, "f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0}
LARGE = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
BINARY = {"Ki": 1024.0, "Mi": 1048576.0, "Gi": 1073741824.0, "Ti": 1099511627776.0}
WRITTEN = [
    ("W", "power_w", "f p n u m k M"),
    ("J", "energy_j", "a f p n u m k M"),
    ("s", "time_s", "f p n u m"),
    ("Hz", "clock_hz", "k M G T"),
    ("bit", "payload_bit", "k M G T P Ki Mi Gi Ti"),
    ("B", "granularity_byte", "k M G T P Ki Mi Gi Ti"),
    ("op", "work_op", "k M G T P"),
    ("task", "batch_task", "k M G T P"),
    ("offload", "rate_offload", "k M G T P"),
    ("cycle", "overhead_cycles", ""),
    ("GE", "area_ge", "k M"),
    ("LC", "area_lc", "k"),
]
PREFIXES = [
    (f"1 {prefix}{base}", name, (SMALL | LARGE | BINARY)[prefix])
    for base, name, prefixes in WRITTEN
    for prefix in ("", *prefixes.split())
]
AREAS = {"n": 1e-18, "u": 1e-12, "m": 1e-6, "": 1.0}
PREFIXES += [(f"1 {prefix}m2", "area_m2", value) for prefix, value in AREAS.items()]

SPELLINGS = [
    ("100 Gbps", "rate_bit_per_s", 1e11),
    ("100 Gbit/s", "rate_bit_per_s", 1e11),
    ("100Gb/s", "rate_bit_per_s", 1e11),
    ("116 Mbps", "rate_bit_per_s", 1.16e8),
    ("9.6 kbps", "rate_bit_per_s", 9600.0),
    ("1.5 Tbps", "rate_bit_per_s", 1.5e12),
    ("7 bps", "rate_bit_per_s", 7.0),
    ("25.6 GB/s", "memory_byte_per_s", 2.56e10),
    ("2 MBps", "memory_byte_per_s", 2e6),
    ("0.1 um^2", "area_m2", 1e-13),
    ("0.1 \u00b5m2", "area_m2", 1e-13),
    ("0.1 \u03bcm\u00b2", "area_m2", 1e-13),
    ("2 mm^2", "area_m2", 2e-6),
    ("1500 bytes", "granularity_byte", 1500.0),
    ("29e3 cycles", "overhead_cycles", 29000.0),
    ("15 cycle/B", "latency_cycles_per_byte", 15.0),
    ("15 cycles/byte", "latency_cycles_per_byte", 15.0),
    ("16 B/cycle", "link_byte_per_cycle", 16.0),
    ("0.4 ns/B", "latency_s_per_byte", 4e-10),
    ("1 ns / KiB", "latency_s_per_byte", 1e-9 / 1024),
    ("513 pJ/B", "memory_j_per_byte", 5.13e-10),
    ("2 pJ/bit", "energy_j_per_bit", 2e-12),
    ("0.285 um2/bit", "buffer_area_m2_per_bit", 2.85e-13),
    ("20 pW/bit", "buffer_leakage_w_per_bit", 2e-11),
    ("99.4 Gflop/s", "single_op_per_s", 9.94e10),
    ("30.4 pJ/flop", "single_j_per_op", 3.04e-11),
    ("16 Gflop/J", "efficiency_op_per_j", 1.6e10),
    ("0.25 flop/B", "intensity_op_per_byte", 0.25),
    ("3 Mtask/s", "rate_task_per_s", 3e6),
    ("4 cycles/task", "cycles_per_task", 4.0),
    ("1 Gbit/s/mm2", "density_bit_per_s_per_m2", 1e15),
    ("1 Gbit/mm2/s", "density_bit_per_s_per_m2", 1e15),
    ("50 %", "share", 0.5),
    ("3", "instances", 3.0),
    (3, "instances", 3.0),
    (-2.5e-3, "instances", -2.5e-3),
    ("0 W", "power_w", 0.0),
    ("0e999999999 W", "power_w", 0.0),
    (".5 W", "power_w", 0.5),
]


@pytest.mark.parametrize(("text", "name", "value"), PREFIXES + SPELLINGS)
def test_reads(text, name, value):
    assert units.parse(text, name) == value


def test_every_prefix_of_the_table_is_written_out_above():
    written = {text.split()[1] for text, _, _ in PREFIXES}
    for base in base_units.BASES.values():
        prefixes = ["", *base.prefixes, *(base_units.BINARY if base.binary else ())]
        assert {prefix + base.symbol for prefix in prefixes} <= written


def test_a_refusal_is_a_rule_and_a_remedy():
    """Texts of others are in tests/golden/refused/units.yaml."""
    with pytest.raises(UnitError) as caught:
        units.parse(10**500, "share")
    assert caught.value.rule == "'inf' is not a finite number"
    assert str(caught.value) == f"{caught.value.rule}; {caught.value.remedy}"


def test_rounds_once():
    assert 3 * 1e-9 != 3e-9  # the product of the rounded factors is the wrong float
    assert units.parse("3 ns", "time_s") == 3e-9
    assert units.parse("0.7 KiB", "x_byte") == float(Fraction(7, 10) * 1024)


@pytest.mark.parametrize(
    ("name", "unit", "stem"),
    [
        ("area_m2", "m2", "area"),
        ("rate_bit_per_s", "bit_per_s", "rate"),
        ("latency_s_per_byte", "s_per_byte", "latency"),
        ("overhead_cycles", "cycles", "overhead"),
        ("density_bit_per_s_per_m2", "bit_per_s_per_m2", "density"),
        ("cycles_per_task", "cycles_per_task", "cycles_per_task"),
        ("bit_per_s", "bit_per_s", "bit_per_s"),
        ("instances", "", "instances"),
        ("tasks_in_flight", "", "tasks_in_flight"),
        ("duty_cycle", "", "duty_cycle"),
        ("super_w", "w", "super"),
        *((name, "", name) for name in ("w", "s", "j", "op", "bit", "cycles", "m2")),
        ("flows", "", "flows"),
    ],
)
def test_the_unit_is_the_longest_suffix(name, unit, stem):
    assert (units.suffix(name), units.stem(name)) == (unit, stem)


@pytest.mark.parametrize("name", ["energy_per_task", "share_per_s", "x_per_cycle", "per_s"])
def test_a_name_without_a_numerator_is_refused(name):
    with pytest.raises(UnitError, match="has no unit before '_per_"):
        units.suffix(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("435 cycles", (435.0, "cycles")),
        ("1 us", (1e-6, "s")),
        ("15 cycle/B", (15.0, "cycles_per_byte")),
        ("100 Gbps", (1e11, "bit_per_s")),
        ("3", (3.0, "")),
        ("5 %", (0.05, "")),
        (7, (7.0, "")),
    ],
)
def test_any_unit(text, expected):
    assert units.parse_any(text) == expected


UNITS = [
    *("m2", "w", "j", "s", "hz", "bit", "byte", "op", "task", "cycles"),
    *("bit_per_s", "byte_per_s", "s_per_byte", "cycles_per_byte", "j_per_bit", "byte_per_cycle"),
]


@pytest.mark.parametrize("wanted", UNITS)
def test_no_unit_stands_for_another(wanted):
    for written in UNITS:
        if written != wanted:
            with pytest.raises(UnitError):
                units.parse(f"1 {units.label(f'_{written}')}", f"x_{wanted}")


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (1.4969e-7, "area_m2", "0.1497 mm2"),
        (1.73304e-7, "area_m2", "0.1733 mm2"),
        (0.285e-12, "area_m2", "0.285 um2"),
        (2.5e-6, "area_m2", "2.5 mm2"),
        (0.02525, "power_w", "25.25 mW"),
        (0.999996, "power_w", "1 W"),
        (0.0, "power_w", "0 W"),
        (0.0, "area_m2", "0 mm2"),
        (0.0, "buffer_area_m2_per_bit", "0 um2/bit"),
        (-0.02525, "power_w", "-25.25 mW"),
        (1e11, "rate_bit_per_s", "100 Gbit/s"),
        (123456789.0, "rate_bit_per_s", "123.5 Mbit/s"),
        (65536, "granularity_byte", "64 KiB"),
        (1048576, "granularity_byte", "1 MiB"),
        (1500, "granularity_byte", "1500 B"),
        (83600, "granularity_byte", "83.6 kB"),
        (4096, "payload_bit", "4096 bit"),
        (29000, "overhead_cycles", "29000 cycles"),
        (15, "latency_cycles_per_byte", "15 cycles/B"),
        (16, "link_byte_per_cycle", "16 B/cycle"),
        (4e-10, "latency_s_per_byte", "400 ps/B"),
        (2e-11, "buffer_leakage_w_per_bit", "20 pW/bit"),
        (208.3, "host_cores", "208.3"),
        (123456, "host_cores", "123456"),
        (1.23456e7, "host_cores", "1.235e+07"),
        (3.0, "instances", "3"),
        (math.nan, "break_even_byte", "none"),
        (math.inf, "balance_op_per_byte", "infinite"),
    ],
)
def test_shows(value, name, text):
    assert units.show(value, name) == text


@given(st.sampled_from(UNITS), st.floats(1e-21, 1e21), st.sampled_from([1, -1]))
def test_what_is_shown_reads_back_within_four_digits(unit, size, sign):
    name, value = f"x_{unit}", sign * size
    assert units.parse(units.show(value, name), name) == pytest.approx(value, rel=5.01e-4)


@given(st.sampled_from([*UNITS, ""]), st.floats(allow_nan=False, allow_infinity=False))
def test_exact_text_reads_back_exactly(unit, value):
    assert units.parse(units.exact_text(value, f"x_{unit}"), f"x_{unit}") == value


@pytest.mark.parametrize("unit", [*UNITS, ""])
def test_an_example_can_be_read(unit):
    assert units.parse(units.example(f"x_{unit}"), f"x_{unit}") > 0


@settings(max_examples=50)
@given(st.text(max_size=30), st.sampled_from([*UNITS, ""]))
def test_no_text_escapes_as_another_error(text, unit):
    try:
        units.parse(text, f"x_{unit}")
        units.parse_any("1 " + text)
    except UnitError:
        pass


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        ([1e-8, 1.5e-7], "area_m2", (1e-6, "mm2")),
        ([1e-9, 9.9e-9], "area_m2", (1e-12, "um2")),
        ([1024, 65536], "granularity_byte", (1024.0, "KiB")),
        ([64, 1500, 65536], "granularity_byte", (1.0, "B")),
        ([64, 15000], "granularity_byte", (1000.0, "kB")),
        ([64, 1500], "granularity_byte", (1.0, "B")),
        ([1e9, math.nan, math.inf, 1e11], "rate_bit_per_s", (1e9, "Gbit/s")),
        ([], "power_w", (1.0, "W")),
        ([1, 5000], "instances", (1.0, "")),
    ],
)
def test_one_scale_suits_a_column(values, name, expected):
    assert units.scale(values, name) == expected
