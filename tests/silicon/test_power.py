"""Power: energies by hand, and laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dse.errors import ArgumentError
from dse.silicon.netlist import Netlist
from dse.silicon.power import Power, average_power
from dse.silicon.simulate import Switched
from dse.silicon.timing import analyse
from tests.silicon.test_timing import random_cells
from tests.silicon.toy import netlist, path, toy

NS, PJ, NW = 1e-9, 1e-12, 1e-9


def quiet(of: Netlist) -> Switched:
    none = np.zeros(of.net_count, np.int64)
    return Switched(10, none, none, np.full(of.net_count, 0.5))


def power(of: Netlist, counted: Switched, period_s: float = 1 * NS, voltage_v: float = 1) -> Power:
    library = replace(toy(), voltage_v=voltage_v)
    timing = analyse(of, library, clock="clk")
    return average_power(of, library, timing, counted, clock="clk", period_s=period_s)


def counted_path() -> Switched:
    """Return 10 cycles in which all but `b` change once a cycle, and `e` glitches twice."""
    nets = {name: net for net, name in path().net_names.items()}
    settled = np.zeros(path().net_count, np.int64)
    settled[[nets[name] for name in "daceq"]] = 10
    toggles = settled.copy()
    toggles[nets["e"]] = 14
    return Switched(10, toggles, settled, np.full(path().net_count, 0.5))


def test_energies_by_hand() -> None:
    """A cycle of `PATH` at 1 V; each net but the clock's and `q` has a load of 0.01 pF.

    nets       d, a, c, e: 4 x 0.01 / 2                                   = 0.0200 pJ
    inside     NAND2, from A alone, (0.004 + 0.002) / 2                     0.0030
               INV (0.002 + 0.001) / 2                                      0.0015
               two outputs Q at 0.01, two inputs D at 0.001 while CK is 0   0.0210
    clock      0.04 pF, twice a cycle, 2 x 0.04 / 2                         0.0400
               two flip-flops, one rising and one falling edge, 0.008       0.0160

    In all 0.1015 pJ; at 1 GHz 0.1015 mW.  The glitch of `e`, 0.4 transitions per cycle, adds
    0.4 x (0.01 / 2 + 0.0015 + 0.0005) = 0.0028 pJ.  Leakage: 8 + 8 + 2 + 1 nW.
    """
    found = power(path(), counted_path())
    settled = found.settled
    assert settled.nets_w.sum() * NS == pytest.approx(0.0200 * PJ)
    assert settled.internal_w.sum() * NS == pytest.approx(0.0255 * PJ)
    assert settled.clock_w.sum() * NS == pytest.approx(0.0560 * PJ)
    assert settled.total_w * NS == pytest.approx(0.1015 * PJ)
    assert found.dynamic.total_w * NS == pytest.approx(0.1043 * PJ)
    assert found.leakage_w == pytest.approx([8 * NW, 2 * NW, 1 * NW, 8 * NW])


def test_instances_add_up_to_the_total() -> None:
    """And so does each part; `d` is paid by the flip-flop that it reaches, `a` by its driver."""
    cells = random_cells(1)
    logic = netlist(("clk", "d", "e"), ("n59",), cells)
    draw = np.random.default_rng(1)
    toggles = draw.integers(0, 40, logic.net_count)
    found = power(logic, replace(quiet(logic), toggles=toggles, settled=toggles // 2))
    for part in (found.dynamic, found.settled):
        each = part.nets_w + part.internal_w + part.clock_w
        assert each.shape == (len(logic.instances),)
        assert each.sum() == pytest.approx(part.total_w)
    timing = analyse(logic, toy(), clock="clk")
    (clock,) = logic.inputs["clk"]
    rate = toggles / 10
    rate[clock] = 2
    charged = (timing.loads_f * rate).sum() / 2 / NS  # at 1 V
    of_clock = timing.loads_f[clock] / NS
    assert found.dynamic.nets_w.sum() == pytest.approx(charged - of_clock)


def test_nothing_that_changes_leaves_leakage_and_the_clock() -> None:
    found = power(path(), quiet(path()))
    assert not found.dynamic.nets_w.any()
    assert not found.dynamic.internal_w.any()
    assert found.dynamic.total_w == found.dynamic.clock_w.sum() == pytest.approx(0.056 * PJ / NS)
    assert found.leakage_w.sum() == pytest.approx(19 * NW)
    logic = netlist(("clk", "a"), ("y",), {"inv": "INV A=a Y=y"})
    unclocked = power(logic, quiet(logic))
    assert unclocked.dynamic.total_w == 0
    assert unclocked.leakage_w.sum() == pytest.approx(1 * NW)


def test_twice_the_clock_is_twice_the_dynamic_power() -> None:
    slow, fast = (power(path(), counted_path(), period) for period in (2 * NS, 1 * NS))
    assert fast.dynamic.total_w == pytest.approx(2 * slow.dynamic.total_w)
    for part in ("nets_w", "internal_w", "clock_w"):
        once, twice = (getattr(one.settled, part) for one in (slow, fast))
        assert twice == pytest.approx(2 * once)
    assert fast.leakage_w.tolist() == slow.leakage_w.tolist()


def test_nets_take_the_square_of_the_voltage() -> None:
    one, two = (power(path(), counted_path(), voltage_v=volt) for volt in (1, 2))
    assert two.dynamic.nets_w == pytest.approx(4 * one.dynamic.nets_w)
    assert two.dynamic.internal_w.tolist() == one.dynamic.internal_w.tolist()


def test_tables_count_by_their_conditions_and_related_pins() -> None:
    """D of a flip-flop takes 0.001 pJ while CK is 0: the rest of the time nothing."""
    share = np.full(path().net_count, 0.5)
    (clock,) = path().inputs["clk"]
    (data,) = path().inputs["d"]
    settled = np.zeros(path().net_count, np.int64)
    settled[data] = 10
    for high in (0.0, 0.25, 1.0):
        share[clock] = high
        found = power(path(), Switched(10, settled, settled, share))
        expected = (1 - high) * 0.001 * PJ
        assert found.dynamic.internal_w[0] * NS == pytest.approx(expected, abs=1e-20)


def test_arguments_that_make_no_power() -> None:
    with pytest.raises(ArgumentError, match=r"period_s=0: a period is above 0 s; give the clock's"):
        power(path(), quiet(path()), period_s=0)
    other = replace(quiet(path()), toggles=np.zeros(3, np.int64))
    with pytest.raises(ArgumentError, match=r"10 cycles of 3 nets; at least one cycle of 9 nets"):
        power(path(), other)
