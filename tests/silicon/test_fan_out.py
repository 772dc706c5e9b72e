"""Buffers behind flip-flops make a netlist faster, and leave what it computes alone."""

from __future__ import annotations

import numpy as np
import pytest

from dse.silicon.mapping import spread_fan_out, usable_cells
from dse.silicon.netlist import Netlist, cell_faults, read_netlist
from dse.silicon.timing import analyse
from tests.silicon.evaluate import evaluated
from tests.silicon.toy import toy, yosys_json


def star(takers: int) -> Netlist:
    """One flip-flop, and `takers` gates with a flip-flop behind each."""
    cells = {"source": "DFF CK=clock D=a Q=s"}
    for number in range(takers):
        cells[f"gate{number}"] = f"XOR2 A=s B=b Y=g{number}"
        cells[f"end{number}"] = f"DFF CK=clock D=g{number} Q=q{number}"
    outputs = [f"q{number}" for number in range(takers)]
    return read_netlist(yosys_json(["clock", "a", "b"], outputs, cells), top="top")


@pytest.mark.parametrize("takers", [17, 40, 200])
def test_a_net_with_many_takers_becomes_faster(takers: int) -> None:
    before = star(takers)
    spread = spread_fan_out(before, toy(), usable_cells(toy()))
    assert not [*cell_faults(spread, toy())]
    assert len(spread.instances) > len(before.instances)
    periods = [analyse(one, toy(), clock="clock").period_s for one in (before, spread)]
    assert periods[1] < periods[0]


def test_what_it_computes_stays() -> None:
    random = np.random.default_rng(1)
    stimulus = {port: random.integers(0, 2, (20, 1)) == 1 for port in "ab"}
    before = star(40)
    after = spread_fan_out(before, toy(), usable_cells(toy()))
    first, second = (evaluated(one, toy(), stimulus, 20) for one in (before, after))
    assert all((first[port] == second[port]).all() for port in first)


def test_few_takers_are_left_alone() -> None:
    before = star(16)
    assert spread_fan_out(before, toy(), usable_cells(toy())) == before
