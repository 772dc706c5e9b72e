"""FFT cores: Table II and its laws."""

import numpy as np

from dse.cores.fft import core

TABLE = core.models["table"].function()
DESIGNS = core.models["table"].designs
DEPTH = np.array([17.0, 26.0])


def by_design(values, names=DESIGNS):
    return dict(zip(names, values, strict=True))


def task_per_s(metrics):
    return metrics.clock_hz / metrics.cycles_per_task


def test_area_and_power_are_the_printed_ones_in_si():
    assert TABLE.area_m2[5] == 0.72e-6
    assert TABLE.dynamic_power_w[0] == 53.9e-3
    assert TABLE.leakage_power_w[2] == 16.2e-3


def test_a_transform_is_64_complex_points_of_64_bit():
    for moved in (TABLE.payload_bit / 8, TABLE.read_byte, TABLE.written_byte):
        assert (moved == 64 * 64 / 8).all()


def test_latency_is_published_for_two_designs_and_bounded_for_the_others():
    assert TABLE.latency_cycles.tolist() == [26, 26, 26, 26, 26, 17]
    assert by_design(TABLE.tasks_in_flight)["r64"] == 4.25


def test_law_is_equations_5_and_6():
    law = core.models["law"].function(pipeline_depth=DEPTH)
    power_w = law.dynamic_power_w + law.leakage_power_w
    np.testing.assert_allclose(law.area_m2, np.array([0.73, 0.77 * 26 / 17 - 0.04]) * 1e-6)
    np.testing.assert_allclose(power_w[0], 29.418e-3, rtol=1e-4)  # 4.4 mW * exp(1.9)
    np.testing.assert_allclose(power_w[1], 80.438e-3, rtol=1e-4)  # 4.4 mW * exp(1.9 * 26 / 17)
    # 33.5 mW of the 104.5 mW of r2 and r64 is leakage.
    np.testing.assert_allclose(law.leakage_power_w / power_w, 33.5 / 104.5, rtol=1e-12)


def test_rate_is_a_quarter_of_the_clock_whatever_equation_7_says():
    law = core.models["law"].function(pipeline_depth=DEPTH)
    np.testing.assert_allclose(task_per_s(law), 25e6)


def test_law_carries_how_far_it_is_off():
    residuals = core.models["law"].residuals()
    names, table, law = residuals["capacity_bit_per_s"]
    assert names == ("r2", "r64")
    # The law's clock is the 100 MHz target, r2 was measured at 140 MHz.
    np.testing.assert_allclose(law / table - 1, [-0.288, 0.003], atol=0.0005)
    names, table, law = residuals["power_w"]
    said = core.models["law"].function(pipeline_depth=np.array([26.0, 17.0]))
    np.testing.assert_array_equal(table, (TABLE.dynamic_power_w + TABLE.leakage_power_w)[[0, 5]])
    np.testing.assert_array_equal(law, said.dynamic_power_w + said.leakage_power_w)


def test_law_says_when_it_is_asked_beyond_the_published_depths():
    law = core.models["law"].function(pipeline_depth=np.array([16.0, 17.0, 26.0, 27.0]))
    assert law.extrapolated.tolist() == [1, 0, 0, 1]
