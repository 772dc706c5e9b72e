"""Jacobi cores: Table III, its laws, and traffic that falls with the size of the array."""

import numpy as np

from dse.cores.jacobi import core

TABLE = core.models["table"].function()
DESIGNS = core.models["table"].designs
SIDE = np.array([1.0, 2.0, 3.0, 4.0])


def power_w(metrics):
    return metrics.dynamic_power_w + metrics.leakage_power_w


def test_area_and_power_are_the_printed_ones_in_si():
    assert TABLE.area_m2[3] == 10999e-12
    assert TABLE.dynamic_power_w[1] == 1.30e-3
    assert TABLE.leakage_power_w[0] == 28.9e-6


def test_a_cell_is_read_1_plus_2_over_n_times_and_written_once():
    # n = 2 reads 2 * 4 cells of 4 byte per cycle and writes 4: 8 byte in, 4 byte out per cell.
    np.testing.assert_allclose(TABLE.read_byte, [12, 8, 20 / 3, 6])
    np.testing.assert_allclose(TABLE.written_byte, 4)
    # An infinite array reads each cell once: the limit is one read and one write.
    huge = core.models["law"].function(side=np.array([1e9]))
    np.testing.assert_allclose(huge.read_byte, huge.written_byte)


def test_cell_width_scales_payload_and_traffic_and_nothing_else():
    wide = core.models["table"].function(cell_bit=64.0)
    for name, column in vars(TABLE).items():
        factor = 2 if name in ("payload_bit", "read_byte", "written_byte") else 1
        np.testing.assert_array_equal(getattr(wide, name), factor * column)


def test_filling_the_register_array_takes_one_cycle_for_each_column():
    assert TABLE.latency_cycles.tolist() == [3, 4, 5, 6]


def test_law_is_equations_8_to_10_with_power_linear_in_n_and_in_mw():
    law = core.models["law"].function(side=SIDE)
    np.testing.assert_allclose(law.area_m2 * 1e12, [1653, 3558, 6733, 11178], rtol=1e-12)
    np.testing.assert_allclose(power_w(law) * 1e3, [0.39, 1.51, 2.63, 3.75], rtol=1e-12)
    np.testing.assert_allclose(law.clock_hz / law.cycles_per_task / 1e9, [0.5, 2, 4.5, 8])
    # 0.4842 mW of the 8.3242 mW of the four designs is leakage.
    np.testing.assert_allclose(law.leakage_power_w / power_w(law), 0.4842 / 8.3242, rtol=1e-12)


def test_law_carries_how_far_it_is_off():
    residuals = core.models["law"].residuals()
    for quantity, off in (
        ("area_m2", [0.160, -0.033, -0.040, 0.016]),
        ("power_w", [-0.186, 0.098, -0.035, 0.001]),
        ("capacity_bit_per_s", [0, 0, 0, 0]),
    ):
        names, table, law = residuals[quantity]
        assert names == DESIGNS
        np.testing.assert_allclose(law / table - 1, off, atol=0.0006)


def test_law_says_when_side_or_cell_width_is_out_of_range():
    law = core.models["law"].function(
        side=np.array([1.0, 4.0, 5.0, 2.0]), cell_bit=np.array([32.0, 8.0, 32.0, 128.0])
    )
    assert law.extrapolated.tolist() == [0, 0, 1, 1]
