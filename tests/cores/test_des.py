"""DES cores: Table I, its laws, and the fleets that the paper works out from it."""

import numpy as np

from dse.cores.des import core

TABLE = core.models["table"].function()
DESIGNS = core.models["table"].designs
UNROLL = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
UNROLLED = ("u1", "u2", "u4", "u8", "u16")


def task_per_s(metrics):
    return metrics.clock_hz / metrics.cycles_per_task


def scaled_power_w(rate_bit_per_s):
    """Fewest instances of each design, clocked down to meet the rate (section IV-C)."""
    bandwidth = task_per_s(TABLE) * TABLE.payload_bit
    instances = np.ceil(rate_bit_per_s / bandwidth)
    clock_fraction = rate_bit_per_s / (instances * bandwidth)
    power = instances * (TABLE.dynamic_power_w * clock_fraction + TABLE.leakage_power_w)
    return instances, power


def test_an_instance_carries_the_printed_bandwidth_at_a_clock_near_645_mhz():
    bandwidth = task_per_s(TABLE) * TABLE.payload_bit
    assert bandwidth.tolist() == [2.58e9, 2.92e9, 5.16e9, 10.32e9, 20.64e9, 41.29e9]
    # Bandwidth is printed to 0.01 Gbit/s, for u16 that is 0.16 MHz.
    np.testing.assert_allclose(TABLE.clock_hz / 1e6, [645, 730, 645, 645, 645, 645], atol=0.161)
    # Little's law: what is in flight is latency over initiation interval.
    np.testing.assert_array_equal(TABLE.tasks_in_flight, [1, 2, 2, 4, 8, 16])
    np.testing.assert_array_equal(
        TABLE.tasks_in_flight * TABLE.cycles_per_task, TABLE.latency_cycles
    )


def test_area_and_power_are_the_printed_ones_in_si():
    assert TABLE.area_m2[0] == 5226e-12
    assert TABLE.dynamic_power_w[5] == 9.05e-3
    assert TABLE.leakage_power_w[1] == 0.10e-3


def test_one_block_is_64_bit_read_and_written():
    for moved in (TABLE.payload_bit / 8, TABLE.read_byte, TABLE.written_byte):
        assert (moved == 8).all()


def test_fleets_for_100_gbit_per_s_by_hand():
    instances, power_w = scaled_power_w(100e9)
    assert instances.tolist() == [39, 35, 20, 10, 5, 3]
    np.testing.assert_allclose(
        power_w * 1e3, [39.56, 47.68, 38.12, 44.85, 30.04, 25.25], atol=0.005
    )


def test_one_u1_for_a_set_top_box_by_hand():
    instances, power_w = scaled_power_w(116.43e6)
    assert (instances == 1).all()
    assert DESIGNS[int(np.argmin(power_w))] == "u1"
    np.testing.assert_allclose(power_w[0] * 1e3, 0.132, atol=0.0005)


def test_law_is_equations_2_and_3_in_mw():
    law = core.models["law"].function(unroll=UNROLL)
    power_w = law.dynamic_power_w + law.leakage_power_w
    np.testing.assert_allclose(law.area_m2 * 1e12, [8100, 11600, 18600, 32600, 60600], rtol=1e-12)
    np.testing.assert_allclose(power_w * 1e3, [0.73, 1.37, 2.65, 5.21, 10.33], rtol=1e-12)
    # 2.33 mW of the 23.94 mW of the five designs is leakage.
    np.testing.assert_allclose(law.leakage_power_w / power_w, 2.33 / 23.94, rtol=1e-12)


def test_law_counts_tasks_where_equation_4_counts_rounds():
    law = core.models["law"].function(unroll=UNROLL)
    np.testing.assert_allclose(1 / law.cycles_per_task, UNROLL / 16)
    assert (law.clock_hz == 645e6).all()


def test_law_carries_how_far_it_is_off():
    residuals = core.models["law"].residuals()
    for quantity, percent in (
        ("area_m2", [55, 20, -17, -5, 5]),
        ("power_w", [-28, -30, -43, -16, 2]),
    ):
        names, table, law = residuals[quantity]
        assert names == UNROLLED
        np.testing.assert_allclose((law / table - 1) * 100, percent, atol=0.5)


def test_law_says_when_it_is_asked_beyond_sixteen_rounds():
    law = core.models["law"].function(unroll=np.array([0.5, 1.0, 3.0, 16.0, 17.0]))
    assert law.extrapolated.tolist() == [1, 0, 0, 0, 1]
