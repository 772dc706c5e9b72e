"""Memories as macros: a cell with buses in a library, and its module in the description.

The answers are those of a model in Python; the least period and the energy of accesses are worked
out by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse
from dse.errors import StudyError
from dse.silicon import chain
from dse.silicon.cells.liberty import read_liberty
from dse.silicon.netlists.memories import Memory
from dse.silicon.yosys import found_yosys
from tests.silicon.toy import TOY

pytestmark = pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")

_SETUP = """timing () { related_pin : clk; timing_type : setup_rising;
  rise_constraint (scalar) { values ("0.1"); } fall_constraint (scalar) { values ("0.1"); } }"""
RAM = f"""
  type (word) {{ bit_from : 3; bit_to : 0; }}
  type (place) {{ bit_from : 2; bit_to : 0; }}
  type (one) {{ bit_from : 0; bit_to : 0; }}
  cell (RAM) {{
    area : 100; cell_leakage_power : 50; interface_timing : true;
    pin (clk) {{ direction : input; clock : true; min_period : 0.5;
      internal_power () {{ when : "en"; rise_power (scalar) {{ values ("6"); }}
        fall_power (scalar) {{ values ("2"); }} }} }}
    pin (en) {{ direction : input; capacitance : 0; {_SETUP} }}
    bus (we) {{ bus_type : one; direction : input; {_SETUP} }}
    bus (a) {{ bus_type : place; direction : input; pin (a[2:0]) {{ {_SETUP} }} }}
    bus (d) {{ bus_type : word; direction : input; {_SETUP} }}
    bus (q) {{ bus_type : word; direction : output;
      timing () {{ related_pin : clk; timing_type : rising_edge;
        cell_rise (scalar) {{ values ("2"); }} cell_fall (scalar) {{ values ("2"); }}
        rise_transition (scalar) {{ values ("0"); }} fall_transition (scalar) {{ values ("0"); }}
      }} }} }} }}
"""
MODULE = """
module RAM (input clk, en, input [0:0] we, input [2:0] a, input [3:0] d, output reg [3:0] q);
  reg [3:0] words [0:7];
  always @(posedge clk) if (en) begin if (we) words[a] <= d; else q <= words[a]; end
endmodule
"""
TOP = """
module bank (input clk, en, we, input [2:0] a, input [3:0] d, output [3:0] q);
  RAM ram (.clk(clk), .en(en), .we(we), .a(a), .d(d), .q(q));
endmodule
module top (input clk, en, we, input [2:0] a, input [3:0] d, output reg [3:0] q);
  wire [3:0] words [0:1];
  genvar i;
  generate for (i = 0; i < 2; i = i + 1) begin : half
    bank one (clk, en, we, a ^ i[2:0], d + i[3:0], words[i]);
  end endgenerate
  always @(posedge clk) q <= words[0] ^ ~words[1];
endmodule
"""
CYCLES = 200
ENABLED = 0.75

Run = Callable[..., Any]


def answers() -> str:
    """Return cycles of a model: both memories are written first, then anything is done."""
    draw = np.random.default_rng(5)
    words, out, q = [[0] * 8, [0] * 8], [0, 0], None
    lines = ["en,we,a,d,q"]
    for cycle in range(CYCLES):
        a, d = (int(one) for one in draw.integers(0, 8, 2))
        first = cycle < 9
        en = int(first or draw.random() < ENABLED)
        we = int(cycle < 8 or (not first and draw.random() < 0.5))
        a = cycle if cycle < 8 else a
        lines.append(f"{en},{we},{a},{d},{'-' if cycle < 11 else q}")
        q = out[0] ^ ~out[1] & 15
        for half in range(2 * en):
            if we:
                words[half][a ^ half] = d + half & 15
            else:
                out[half] = words[half][a ^ half]
    return "\n".join(lines) + "\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that characterises the design."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("cells.lib").write_text(TOY.read_text().rstrip()[:-1] + RAM)
    Path("top.v").write_text(TOP)
    Path("ram.v").write_text(MODULE)
    Path("top.csv").write_text(answers())

    def call(*files: str, **options: Any) -> Any:
        task = {"payload": "4 bit", "cycles_per_task": "1", "latency": "2"}
        described = dse.verilog(
            [*files] or ["top.v", "ram.v"], top="top", check="top.csv", warm_up=20, **task
        )
        return dse.characterise(described, library="cells.lib", targets="fastest", **options)

    return call


def fails(call: Callable[[], object]) -> str:
    with pytest.raises(StudyError) as raised:
        call()
    return str(raised.value)


def change(file: str, old: str, new: str) -> None:
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new))


def test_a_macro_has_its_buses_and_its_shortest_period(run: Run) -> None:
    ram = read_liberty("cells.lib").cells["RAM"]
    assert ram.buses["d"] == ("d[0]", "d[1]", "d[2]", "d[3]")
    assert ram.buses["we"] == ("we[0]",)
    assert [arc.kind for arc in ram.pins["a[1]"].arcs] == ["setup_rising"]
    assert ram.least_period_s == pytest.approx(0.5e-9)


def test_macros_count_with_area_leakage_timing_and_accesses(run: Run) -> None:
    (one,) = run(out="top_out.csv", clock="100 MHz", keep="kept").designs
    (fewer,) = run(clock="100 MHz").designs
    path = Path("kept/top/critical_path.txt").read_text().splitlines()
    assert "RAM" in path[3]
    assert "2 ns" in path[3]
    assert 2e-9 < one.figures["least_period_s"] < 4e-9
    assert one.facts["tasks"] == str(CYCLES - 11)
    assert one.figures["macros"] == 2
    assert one.figures["area_m2"] > 200e-12
    assert one.figures["leakage_power_w"] > 100e-9
    netlist = Path("kept/top/netlist.v").read_text()
    assert ".d({d[3], d[2], d[1], d[0]})" in netlist
    rows = [line.split(",") for line in answers().splitlines()[21:]]
    share = np.mean([row[0] == "1" for row in rows])
    change("cells.lib", '("6")', '("0")')
    change("cells.lib", '("2"); }} }}'.replace("}}", "}"), '("0"); } }')
    (free,) = run(clock="100 MHz").designs
    taken = (one.figures["dynamic_power_w"] - free.figures["dynamic_power_w"]) / 100e6
    assert taken == pytest.approx(2 * share * (6 + 2) * 1e-12, rel=0.02)
    assert fewer.figures == one.figures


def test_outputs_of_the_falling_edge_have_half_a_period(run: Run) -> None:
    (one,) = run().designs
    ram = Path("cells.lib").read_text().partition("cell (RAM)")
    Path("cells.lib").write_text("".join((*ram[:2], ram[2].replace("rising_edge", "falling_edge"))))
    (other,) = run(keep="kept").designs
    assert other.facts["tasks"] == one.facts["tasks"]
    assert other.figures["cells"] == one.figures["cells"]
    assert other.figures["least_period_s"] == pytest.approx(2 * one.figures["least_period_s"])
    first, after = Path("kept/top/critical_path.txt").read_text().splitlines()[2:4]
    assert "fall" in first
    assert "2 ns" in after


def test_a_netlist_that_gives_a_macro_something_else_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = chain.with_macros

    def other(*given: Any) -> Any:
        found = whole(*given)
        found.expected["half[1].one.ram.d"][30, 2] ^= True
        return found

    monkeypatch.setattr(chain, "with_macros", other)
    told = fails(run)
    assert "top: half[1].one.ram.d: cycle 30, bit 2: expected" in told
    assert "the netlist gives another answer" in told


def test_a_wrong_answer_of_a_macro_is_refused(run: Run) -> None:
    change("ram.v", "words[a];", "words[a ^ 1];")
    assert "the description gives another answer" in fails(run)


FAULTS = {
    "no module": (
        ("top.v", "", ""),
        "top.v",
        "give the file that has this module",
    ),
    "parameters": (
        ("top.v", "RAM ram", "RAM #(.W(4)) ram"),
        "",
        "half[0].one.ram: RAM; a macro has no parameters",
    ),
    "width": (
        ("cells.lib", "type (word) { bit_from : 3", "type (word) { bit_from : 4"),
        "",
        "half[0].one.ram.d: 4 bits; the bus of RAM has 5 bits in the library",
    ),
    "edge": (
        (
            "cells.lib",
            'timing_type : rising_edge;\n        cell_rise (scalar) { values ("2")',
            'cell_rise (scalar) { values ("2")',
        ),
        "",
        "RAM.q[0]: combinational of clk; an output of a macro follows one edge of one clock",
    ),
    "type": (("cells.lib", "type (word)", "type (other)"), "", "RAM.d: 'word'; the type of a bus"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_of_macros(run: Run, what: str) -> None:
    (file, old, new), files, told = FAULTS[what]
    change(file, old, new)
    if what == "parameters":
        change("ram.v", "module RAM (", "module RAM #(parameter W = 4) (")
    assert told in fails(lambda: run(*files.split()))


def test_a_memory_of_flip_flops_is_told_before_it_is_mapped(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    change("top.v", "RAM ram", "RAMS ram")
    change("ram.v", "module RAM", "module RAMS")
    (one,) = run().designs
    words = "half[0].one.ram.words, a memory of 32 bit (8 x 4)"
    assert f"made of flip-flops: {words}" in one.notes
    monkeypatch.setattr(chain, "map_description", None)
    told = fails(lambda: run(memory="31 bit"))
    assert "ram.v:3:13: half[0].one.ram.words: 32 bit (8 x 4); a memory of more than" in told
    assert "as flip-flops it has about" in told
    assert 'allow it: --memory "32 bit"' in told


MAPPED = {  # um2 of a bit: smallest flip-flop, NAND and what mapping takes, one and two read ports
    "sky130": (20.0192, 3.7536, 40.63, 51.46),
    "sg13g2": (48.9888, 7.2576, 86.82, 106.4),
    "asap7": (0.2916, 0.05832, 0.5898, 0.7296),
}


@pytest.mark.parametrize("library", MAPPED)
def test_the_estimate_of_flip_flops_is_near_what_mapping_takes(library: str) -> None:
    flip_flop, gate, *found = MAPPED[library]
    for reads, area in enumerate(found, start=1):
        memory = Memory("words", 256, 8, reads, "")
        assert memory.area_m2(flip_flop, gate) == pytest.approx(2048 * area, rel=0.06)


MODULES = {
    "two drivers": (
        ("endmodule", "  always @(posedge clk) q <= 4'bx;\nendmodule"),
        "RAM.q: two processes of the macro's module drive it",
    ),
    "unknown": (
        ("words[a] <= d", "words[a] <= 4'bx"),
        "half[0].one.ram.q: in no cycle does the module of the macro give a value",
    ),
}


@pytest.mark.parametrize("what", MODULES)
def test_a_module_without_known_values_is_refused(run: Run, what: str) -> None:
    (old, new), told = MODULES[what]
    change("ram.v", old, new)
    assert told in fails(run)
