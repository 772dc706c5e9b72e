"""Power: energies by hand, and laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dse.silicon.netlist import Netlist
from dse.silicon.power import Power, average_power
from dse.silicon.simulation import Switched
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
    assert found.settled_w * NS == pytest.approx(0.1015 * PJ)
    assert found.dynamic_w * NS == pytest.approx(0.1043 * PJ)
    assert found.leakage_w == pytest.approx(19 * NW)


def test_every_net_is_charged() -> None:
    """At twice the voltage nets take four times the energy, cells what they did."""
    cells = random_cells(1)
    logic = netlist(("clk", "d", "e"), ("n59",), cells)
    draw = np.random.default_rng(1)
    toggles = draw.integers(0, 40, logic.net_count)
    counted = replace(quiet(logic), toggles=toggles, settled=toggles // 2)
    once, twice = (power(logic, counted, voltage_v=volt) for volt in (1, 2))
    loads_f = analyse(logic, toy(), clock="clk").loads_f
    (clock,) = logic.inputs["clk"]
    for changes, low, high in (
        (toggles, once.dynamic_w, twice.dynamic_w),
        (toggles // 2, once.settled_w, twice.settled_w),
    ):
        rate = changes / 10
        rate[clock] = 2
        assert high - low == pytest.approx(3 * (loads_f * rate).sum() / 2 / NS)


def test_tables_count_by_their_conditions_and_related_pins() -> None:
    """D of a flip-flop takes 0.001 pJ while CK is 0: the rest of the time nothing.

    Its net, of 0.01 pF, takes 0.005 pJ.
    """
    share = np.full(path().net_count, 0.5)
    (clock,) = path().inputs["clk"]
    (data,) = path().inputs["d"]
    none = np.zeros(path().net_count, np.int64)
    settled = none.copy()
    settled[data] = 10
    for high in (0.0, 0.25, 1.0):
        share[clock] = high
        still, moved = (power(path(), Switched(10, one, one, share)) for one in (none, settled))
        expected = ((1 - high) * 0.001 + 0.005) * PJ
        assert (moved.dynamic_w - still.dynamic_w) * NS == pytest.approx(expected, abs=1e-20)
