"""Static timing: a path by hand, an oracle written apart, and OpenSTA where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dse.errors import StudyError
from dse.silicon.liberty import read_liberty
from dse.silicon.timing import analyse
from tests.silicon.toy import PATH, TOY, Cells, netlist, path, toy, verilog

NS, PF = 1e-9, 1e-12


def test_a_path_by_hand() -> None:
    """Start, NAND2, INV, end: every net has one pin of 0.01 pF.

    clock to Q, rising       0.1 + 0.1 x 0 + 2 x 0.01   = 0.120, slew 0.04 + 4 x 0.01 = 0.08
    NAND2, falling           0.015 + 0.1 x 0.08 + 0.01  = 0.033, slew 0.02 + 2 x 0.01 = 0.04
    INV, rising              0.02 + 0.1 x 0.04 + 0.02   = 0.044, slew 0.08
    setup, rising            0.05 + 0.1 x 0.08          = 0.058
    period                                                0.255 ns

    The other edges: 0.05 + 0.01 = 0.06 falling, 0.03 + 0.004 + 0.02 = 0.054 rising,
    0.01 + 0.1 x 0.08 + 0.01 = 0.028 falling, setup 0.06 + 0.1 x 0.04 = 0.064: 0.206 ns.
    """
    timing = analyse(path(), toy(), clock="clk")
    assert timing.period_s == pytest.approx(0.255 * NS)
    assert (timing.begins, timing.ends) == ("clk", "end")
    assert timing.delays[0, "CK", "Q"].rise_s == pytest.approx(0.120 * NS)
    assert timing.delays[1, "A", "Y"].fall_s == pytest.approx(0.033 * NS)
    inverter = timing.delays[2, "A", "Y"]
    assert (inverter.rise_s, inverter.fall_s) == pytest.approx((0.044 * NS, 0.028 * NS))
    net = path().instances[2].nets["Y"]
    assert timing.loads_f[net] == pytest.approx(0.01 * PF)
    assert timing.rise_slews_s[net] == pytest.approx(0.08 * NS)
    assert timing.fall_slews_s[net] == pytest.approx(0.04 * NS)
    assert timing.notes == ("wires have no capacitance and no delay",)
    clock = path().inputs["clk"][0]
    assert timing.loads_f[clock] == pytest.approx(2 * 0.02 * PF)
    assert timing.rise_slews_s[clock] == 0


def test_an_arc_between_outputs_of_a_cell_follows_the_others() -> None:
    """As adders have it: the same path, NAND2 and INV in one cell."""
    nand, inverter = toy().cells["NAND2"], toy().cells["INV"].pins["Y"]
    arcs = tuple(replace(arc, related_pin="Y") for arc in inverter.arcs)
    both = {"Z": replace(inverter, name="Z", function="A*B", arcs=arcs), **nand.pins}
    library = replace(toy(), cells={**toy().cells, "BOTH": replace(nand, name="BOTH", pins=both)})
    cells = PATH | {"nand": "BOTH A=a B=b Y=c Z=e", "inv": "INV A=c Y=f"}
    timing = analyse(netlist(("clk", "d", "b"), ("q",), cells), library, clock="clk")
    assert timing.period_s == pytest.approx(0.255 * NS)
    assert timing.delays[1, "Y", "Z"].rise_s == pytest.approx(0.044 * NS)


def test_paths_of_ports_count() -> None:
    """From a falling `d`: INV 0.02 + 0.02 = 0.04, slew 0.08; INV 0.028, slew 0.04; setup 0.064.

    The sum is 0.132 ns (a rising `d` takes 0.02 + 0.044 + 0.058).

    To a falling `y`: 0.1 + 0.02 = 0.12, slew 0.08; INV without a load 0.01 + 0.008.
    """
    cells = {"one": "INV A=d Y=a", "two": "INV A=a Y=e", "ff": "DFF CK=clk D=e Q=q"}
    from_input = analyse(netlist(("clk", "d"), ("q",), cells), toy(), clock="clk")
    assert from_input.period_s == pytest.approx(0.132 * NS)
    begins = "the longest path begins at an input, which changes at the clock's edge"
    assert begins in from_input.notes
    assert from_input.begins == "d"
    cells = {"ff": "DFF CK=clk D=d Q=q", "inv": "INV A=q Y=y"}
    to_output = analyse(netlist(("clk", "d"), ("y",), cells), toy(), clock="clk")
    assert to_output.period_s == pytest.approx(0.138 * NS)
    assert to_output.ends == "y"
    assert "the longest path ends at an output, before any setup" in to_output.notes


def test_no_flip_flop_is_said() -> None:
    logic = netlist(("clk", "a"), ("y",), {"inv": "INV A=a Y=y"})
    timing = analyse(logic, toy(), clock="clk")
    assert timing.period_s == pytest.approx(0.02 * NS)
    assert "no flip-flop: the longest path between ports is the period" in timing.notes
    with pytest.raises(StudyError) as caught:
        analyse(netlist(("clk",), (), {"tied": "INV A=0 Y=y"}), toy(), clock="clk")
    assert str(caught.value) == (
        "top: no path from flip-flop to flip-flop, nor from or to a port; add registers to the "
        "design"
    )


def test_delays_below_zero_are_clipped_and_counted(tmp_path: Path) -> None:
    """At a slew of 0 this inverter has -0.02 ns; at 1 ns 0.08."""
    text = TOY.read_text().replace(
        'values ("0.02, 0.22", "0.12, 0.32")', 'values ("-0.02, -0.02", "0.08, 0.08")', 1
    )
    (tmp_path / "clip.lib").write_text(text)
    timing = analyse(
        netlist(("clk", "a"), ("y",), {"inv": "INV A=a Y=y"}),
        read_liberty(tmp_path / "clip.lib"),
        clock="clk",
    )
    assert timing.delays[0, "A", "Y"].rise_s == 0.0
    assert timing.notes[-1] == "delays or slews extrapolated below 0 are 0: 1 of 2 arcs"


def test_the_worst_slew_goes_on(tmp_path: Path) -> None:
    """Of NAND2, whose A now gives 1.04 + 4 load; a constant has no slew and no path."""
    head, gate = TOY.read_text().split("  cell (NAND2)")
    slow = gate.replace('("0.04, 0.44", "0.04, 0.44")', '("1.04, 1.44", "1.04, 1.44")', 1)
    (tmp_path / "slow.lib").write_text(f"{head}  cell (NAND2){slow}")
    cells = {"nand": "NAND2 A=a B=b Y=y", "tied": "NAND2 A=a B=1 Y=z"}
    found = netlist(("clk", "a", "b"), ("y", "z"), cells)
    timing = analyse(found, read_liberty(tmp_path / "slow.lib"), clock="clk")
    for name in ("y", "z"):
        assert timing.rise_slews_s[found.outputs[name][0]] == pytest.approx(1.04 * NS)
    assert (timing.begins, timing.ends) == ("b", "y")


def test_asynchronous_clear_has_delays_but_no_path() -> None:
    """A rising Q with 0.02 pF takes 0.14 ns, slew 0.12; INV 0.032, slew 0.04; setup 0.064."""
    cells = {
        "logic": "INV A=q Y=d",
        "clear": "INV A=q Y=r",
        "ff": "DFFR CK=clk D=d RN=r Q=q QN=n",
    }
    timing = analyse(netlist(("clk",), ("n",), cells), toy(), clock="clk")
    assert timing.delays[2, "RN", "Q"].fall_s > 0
    assert timing.delays[2, "RN", "Q"].rise_s == 0
    assert timing.period_s == pytest.approx((0.14 + 0.032 + 0.064) * NS)


def test_a_cell_without_transition_tables_makes_edges_without_slew() -> None:
    inverter = toy().cells["INV"]
    arcs = tuple(
        replace(arc, rise_transition=None, fall_transition=None) for arc in inverter.pins["Y"].arcs
    )
    pins = {**inverter.pins, "Y": replace(inverter.pins["Y"], arcs=arcs)}
    cells = {**toy().cells, "INV": replace(inverter, pins=pins)}
    timing = analyse(path(), replace(toy(), cells=cells), clock="clk")
    (net,) = (one.nets["Y"] for one in path().instances if one.name == "inv")
    assert (timing.rise_slews_s[net], timing.fall_slews_s[net]) == (0.0, 0.0)


FAULTS = {
    "top: a -> b -> a; logic forms a loop without a flip-flop; put a register in it": {
        "a": "NAND2 A=d B=y Y=w",
        "b": "INV A=w Y=y",
        "ff": "DFF CK=clk D=w Q=q",
    },
    "gated.CK: g; every flip-flop is clocked by 'clk'; use one clock, its rising edge, not gated": {
        "ff": "DFF CK=clk D=d Q=g",
        "gated": "DFF CK=g D=d Q=q",
    },
    "logic.B: clk; a clock drives flip-flops only; use another signal as data": {
        "logic": "NAND2 A=d B=clk Y=e",
        "ff": "DFF CK=clk D=e Q=q",
    },
}


@pytest.mark.parametrize("expected", FAULTS)
def test_faults_are_named(expected: str) -> None:
    with pytest.raises(StudyError) as caught:
        analyse(netlist(("clk", "d"), ("q",), FAULTS[expected]), toy(), clock="clk")
    assert str(caught.value) == expected


GATES = {
    "INV": [("A", -1, 0.02)],
    "BUF": [("A", 1, 0.04)],
    "NAND2": [("A", -1, 0.03), ("B", -1, 0.04)],
    "NOR2": [("A", -1, 0.04), ("B", -1, 0.06)],
    "AND2": [("A", 1, 0.05), ("B", 1, 0.06)],
    "XOR2": [("A", 1, 0.06), ("A", -1, 0.05), ("B", 1, 0.08), ("B", -1, 0.07)],
    "MUX2": [("A", 1, 0.06), ("B", 1, 0.06), ("S", 1, 0.08), ("S", -1, 0.08)],
}
"""Pin, sense and delay `d` of the toy's gates, as the head of its file has them."""


def random_cells(seed: int) -> Cells:
    """Return gates in a row, each on nets before it, and flip-flops before and after them."""
    draw = np.random.default_rng(seed)
    cells, nets = {}, ["d", "e"]
    for i in range(5):
        cells[f"f{i}"] = f"DFF CK=clk D=n{draw.integers(20, 60)} Q=q{i}"
        nets.append(f"q{i}")
    for i in range(60):
        kind = str(draw.choice(list(GATES)))
        pins = dict.fromkeys(pin for pin, _, _ in GATES[kind])
        chosen = " ".join(f"{pin}={draw.choice(nets[-12:])}" for pin in pins)
        cells[f"g{i}"] = f"{kind} {chosen} Y=n{i}"
        nets.append(f"n{i}")
    return cells


def oracle(cells: Cells) -> float:
    """Return the period (ns) of flip-flops, gates, inputs `d` and `e` and output `n59`."""
    pins = {name: dict(p.split("=") for p in text.split()[1:]) for name, text in cells.items()}
    kinds = {name: text.split()[0] for name, text in cells.items()}
    load: dict[str, float] = {}
    for of in pins.values():
        for pin, net in of.items():
            if pin not in ("Y", "Q"):
                load[net] = load.get(net, 0) + (0.02 if pin == "CK" else 0.01)
    late = dict.fromkeys(product("de", (1, -1)), (0.0, 0.0))
    for name in cells:
        if kinds[name] == "DFF":
            net = pins[name]["Q"]
            c = load.get(net, 0)
            late[net, 1] = (0.1 + 2 * c, 0.04 + 4 * c)
            late[net, -1] = (0.05 + c, 0.02 + 2 * c)
    for name in cells:
        if kinds[name] == "DFF":
            continue
        net = pins[name]["Y"]
        c = load.get(net, 0)
        for edge in (1, -1):
            time = max(
                late[pins[name][pin], edge * sense][0]
                + (d if edge > 0 else d / 2)
                + 0.1 * late[pins[name][pin], edge * sense][1]
                + (2 * c if edge > 0 else c)
                for pin, sense, d in GATES[kinds[name]]
            )
            late[net, edge] = (time, 0.04 + 4 * c if edge > 0 else 0.02 + 2 * c)
    ends = [late["n59", edge][0] for edge in (1, -1)]
    for name in cells:
        if kinds[name] == "DFF":
            for edge, setup in ((1, 0.05), (-1, 0.06)):
                time, slew = late[pins[name]["D"], edge]
                ends.append(time + setup + 0.1 * slew)
    return max(ends)


@pytest.mark.parametrize("seed", range(20))
def test_an_oracle_agrees_on_random_netlists(seed: int) -> None:
    cells = random_cells(seed)
    timing = analyse(netlist(("clk", "d", "e"), ("n59",), cells), toy(), clock="clk")
    assert timing.period_s == pytest.approx(oracle(cells) * NS, rel=1e-9)


@pytest.mark.skipif(shutil.which("sta") is None, reason="OpenSTA is not installed")
@pytest.mark.parametrize("seed", range(3))
def test_open_sta_agrees(seed: int, tmp_path: Path) -> None:
    cells = random_cells(seed) if seed else dict(PATH, more="INV A=e Y=n59")
    inputs = ("clk", "d", "e") if seed else ("clk", "d", "b")
    ours = analyse(netlist(inputs, ("n59",), cells), toy(), clock="clk")
    (tmp_path / "top.v").write_text(verilog(inputs, ("n59",), cells))
    ends = "set_input_delay 0 -clock clk [all_inputs]\nset_output_delay 0 -clock clk [all_outputs]"
    (tmp_path / "run.tcl").write_text(
        f"read_liberty {TOY}\nread_verilog {tmp_path / 'top.v'}\nlink_design top\n"
        f"create_clock -name clk -period 8 [get_ports clk]\n{ends}\n"
        "report_checks -path_delay max -digits 6\n"
    )
    command = ["sta", "-no_splash", "-exit", str(tmp_path / "run.tcl")]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    slack = re.search(r"([-0-9.]+)\s+slack", told)
    assert slack is not None, told
    assert ours.period_s / NS == pytest.approx(8 - float(slack[1]), abs=5e-6)
