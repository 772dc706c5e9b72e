"""What other tools get of a design: exact text, and the period that OpenSTA finds where it is."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.silicon.handover import write_design
from dse.silicon.netlists.netlist import CONSTANT_1, Netlist
from dse.silicon.netlists.simulate import simulate_gates
from dse.silicon.netlists.timing import analyse
from tests.silicon.toy import PATH, TOY, netlist, toy

NS = 1e-9

CELLS = {
    "$abc$9": "DFF CK=clk D=c Q=a",
    "abc_9": "NAND2 A=a B=b Y=c",
    "1": "INV A=c Y=y",
}

WRITTEN = """\
module top(clk, b, y, \\a.out , one);
  input clk;
  input b;
  output y;
  output [1:0] \\a.out ;
  output one;
  wire n5;
  DFF abc_9 (.CK(clk), .D(n5), .Q(\\a.out [0]));
  NAND2 abc_9_i1 (.A(\\a.out [0]), .B(b), .Y(n5));
  INV i_1 (.A(n5), .Y(y));
  assign \\a.out [1] = y;
  assign one = 1'b1;
endmodule
"""


def written(found: Netlist, folder: Path, cycles: int = 8) -> float:
    """Write a design whose inputs change every cycle; return its least period."""
    timing = analyse(found, toy(), clock="clk")
    bits = np.tile(np.array([[0], [1]], dtype=np.uint8), (cycles // 2, 1))
    stimulus = {name: bits for name in found.inputs if name != "clk"}
    activity = simulate_gates(
        found, toy(), timing, clock="clk", stimulus=stimulus, warm_up=2, period_s=8 * NS
    )
    write_design(
        folder,
        found,
        toy(),
        timing,
        activity,
        clock="clk",
        period_s=8 * NS,
        library_files=[str(TOY)],
    )
    return timing.period_s


def test_a_netlist_has_plain_instances_and_each_port(tmp_path: Path) -> None:
    found = netlist(("clk", "b"), ("y",), CELLS)
    a, y = found.instances[0].nets["Q"], found.outputs["y"][0]
    ports = {**found.outputs, "a.out": (a, y), "one": (CONSTANT_1,)}
    written(replace(found, outputs=ports), tmp_path)
    assert (tmp_path / "netlist.v").read_text() == WRITTEN


def test_activity_counts_transitions_of_inputs_and_outputs(tmp_path: Path) -> None:
    """`b` is 0 and 1 in turn: over six counted cycles of 8 ns it is 1 for half of them."""
    written(netlist(("clk", "b"), ("y",), CELLS), tmp_path)
    text = (tmp_path / "activity.saif").read_text()
    assert "(TIMESCALE 1 ps) (DURATION 48000)" in text
    assert re.search(r"^\(b \(T0 24000\) \(T1 24000\) \(TX 0\) \(TC 6\) \(IG 0\)\)$", text, re.M)
    assert re.search(
        r"^\(INSTANCE i_1 \(NET \(Y \(T0 \d+\) \(T1 \d+\) \(TX 0\) \(TC \d+\)", text, re.M
    )
    assert text.count("(") == text.count(")")


@pytest.mark.skipif(shutil.which("sta") is None, reason="OpenSTA is not installed")
def test_open_sta_runs_the_script_and_has_the_same_period(tmp_path: Path) -> None:
    period = written(
        netlist(("clk", "d", "b"), ("n59",), dict(PATH, more="INV A=e Y=n59")), tmp_path
    )
    command = ["sta", "-no_splash", "-exit", "opensta.tcl"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=60, cwd=tmp_path
    )
    slack = re.search(r"([-0-9.]+)\s+slack", done.stdout)
    assert slack is not None, done.stdout + done.stderr
    assert period / NS == pytest.approx(8 - float(slack[1]), abs=1e-4)
