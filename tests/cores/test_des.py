"""DES cores: Table I, its laws, and the fleets that the paper works out from it."""

import numpy as np

from dse.cores.des import core

TABLE = core.models["table"].function()
UNROLL = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
UNROLLED = ("u1", "u2", "u4", "u8", "u16")


def test_area_and_power_are_the_printed_ones_in_si():
    assert TABLE.area_m2[0] == 5226e-12
    assert TABLE.dynamic_power_w[5] == 9.05e-3
    assert TABLE.leakage_power_w[1] == 0.10e-3


def test_one_block_is_64_bit_read_and_written():
    for moved in (TABLE.payload_bit / 8, TABLE.read_byte, TABLE.written_byte):
        assert (moved == 8).all()


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
