"""Hardware on a device: cells that compute the same, the clock of placements, faults with a remedy.

A stand-in for nextpnr writes reports with known clocks; where nextpnr is installed it is asked too.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse
from dse.contract.generators import bits_of, numbers_of
from dse.errors import MissingLibraryError, StudyError
from dse.silicon.characterisation import Characterisation
from dse.silicon.descriptions import source_simulation
from dse.silicon.fpga import place_and_route
from dse.silicon.fpga.device_chain import FAMILIES
from dse.silicon.fpga.devices import Device, read_device_netlist
from dse.silicon.fpga.ice40 import ICE40
from dse.silicon.netlists.answers import settled_answers
from dse.silicon.yosys import chosen_yosys, found_yosys, run_yosys
from tests.silicon.test_characterise import TASK, VERILOG, in_folder_of_hash, vectors

pytestmark = pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")
real = pytest.mark.skipif(
    not place_and_route.found_command("nextpnr-ice40"), reason="needs nextpnr-ice40"
)

STAND_IN = """#!{python}
import json, sys
if "--version" in sys.argv:
    sys.exit("nextpnr -- Next Generation Place and Route (Version 0.0-stand-in)")
(module,) = json.load(open("design.json"))["modules"].values()
kinds = [cell["type"] for cell in module["cells"].values()]
used = len(kinds)
print(f"Info:  {kind}: {{used:5}}/ {there}   1%")
if used > {there}:
    sys.exit("ERROR: Unable to place cell")
seed = sys.argv[sys.argv.index("--seed") + 1]
clocks = {{"1": 90.0, "2": 120.0, "3": 100.0}}
report = {{"fmax": {{"clk": {{"achieved": clocks[seed]}}}}, "utilization": {utilization}}}
open("report.json", "w").write(json.dumps(report))
"""

Run = Callable[..., Characterisation]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that characterises the hash on a device."""
    in_folder_of_hash(tmp_path, monkeypatch)

    def call(*hardware: str, **options: Any) -> Characterisation:
        given = {"device": "ice40:hx1k", "over": "UNROLL=1", **options}
        own = {"top": "hash", "check": "vectors_{UNROLL}.csv", **TASK}
        own |= {name: given.pop(name) for name in VERILOG & {*given}}
        described = dse.verilog([*hardware] or "hash.v", **own)
        return dse.characterise_device("des" if "des" in hardware else described, **given)

    return call


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that puts a program in the place of nextpnr."""

    def install(there: int = 10000, utilization: str = "", kind: str = "ICESTORM_LC") -> None:
        counted = utilization or '{"ICESTORM_LC": {"used": used}}'
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        text = STAND_IN.format(python=sys.executable, there=there, utilization=counted, kind=kind)
        for family in FAMILIES:
            program = folder / family.program
            program.write_text(text)
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        place_and_route.version_of.cache_clear()

    return install


def fails(call: Callable[[], object]) -> str:
    with pytest.raises(StudyError) as raised:
        call()
    return str(raised.value)


KINDS = ["", "E", "SR", "SS", "R", "S", "ESR", "ESS", "ER", "ES"]


def module() -> str:
    """Return one flip-flop of each kind, and an adder for tables and carries."""
    lines = ["module top (input clk, e, r, input [3:0] d, output [9:0] q, output reg [4:0] sum);"]
    for place, kind in enumerate(KINDS):
        enable = ".E(e), " if "E" in kind else ""
        sets = f".{kind[-1]}(r), " if kind[-1:] in ("R", "S") else ""
        pins = f".C(clk), {enable}{sets}.D(d[0]), .Q(q[{place}])"
        lines.append(f"  SB_DFF{kind} flip_flop_{place} ({pins});")
    lines.append("  always @(posedge clk) sum <= d + {d[0], d[3:1]} + e;\nendmodule\n")
    return "\n".join(lines)


def following(kind: str, state: bool, d: bool, e: bool, r: bool) -> bool:
    """Return the state after an edge, as `cells_sim.v` of Yosys says it."""
    at_once = kind.endswith(("R", "S")) and not kind.endswith(("SR", "SS"))
    if r and kind.endswith(("R", "S")) and (at_once or e or "E" not in kind):
        return kind.endswith("S")
    return d if e or "E" not in kind else state


def mapped(verilog: str) -> str:
    """Return the netlist of a module ``top``."""
    first, second = Device(ICE40, "hx1k").synthesis("top", "")
    script = ["read_verilog top.v", first, second, "setundef -zero", "write_json mapped.json"]
    told = run_yosys(chosen_yosys(), script, {"top.v": verilog})
    return told.files["mapped.json"]


def test_cells_compute_what_the_description_says() -> None:
    netlist, library = read_device_netlist(mapped(module()), ICE40, top="top")
    kinds = {one.cell.partition(" ")[0] for one in netlist.instances}
    assert kinds == {"SB_LUT4", "SB_CARRY", *(f"SB_DFF{kind}" for kind in KINDS)}
    cycles = 200
    drawn = np.random.default_rng(2).integers(0, 16, (3, cycles))
    d, e, r = drawn[0], drawn[1] % 2 == 1, drawn[2] % 3 == 1
    e[0] = r[0] = True  # every state is known then
    stimulus = {"d": bits_of(d, 4), "e": e[:, None], "r": r[:, None]}
    found = settled_answers(netlist, library, clock="clk", stimulus=stimulus)
    assert found.known["q"][0].tolist() == [kind in ("R", "S", "ER", "ES") for kind in KINDS]
    assert found.known["q"][1:].all()
    state = [False] * len(KINDS)
    for cycle, (now, on, off) in enumerate(zip(d % 2 == 1, e, r, strict=True)):
        for place, kind in enumerate(KINDS):
            if off and kind in ("R", "S", "ER", "ES"):
                state[place] = kind.endswith("S")  # at once
        if cycle:
            assert found.outputs["q"][cycle].tolist() == state, cycle
            before = int(d[cycle - 1])
            total = before + (before >> 1 | (before & 1) << 3) + int(e[cycle - 1])
            assert numbers_of(found.outputs["sum"][cycle]) == total
        state = [
            bool(following(kind, *rest, now, on, off))
            for kind, *rest in zip(KINDS, state, strict=True)
        ]


def test_the_clock_is_the_median_of_placements(run: Run, stand_in: Callable[..., None]) -> None:
    stand_in()
    (one,) = run(out="hash.csv").designs
    assert one.figures["clock_hz"] == pytest.approx(100e6)
    spread = np.std([90.0, 120.0, 100.0], ddof=1) / 100.0
    assert one.figures["clock_uncertainty"] == pytest.approx(spread)
    assert one.facts["clocks"] == "90 MHz, 120 MHz, 100 MHz"
    assert one.facts["placer"] == "nextpnr 0.0-stand-in"
    assert one.facts["tasks"] == "19"
    assert "power: not known" in Path("hash.csv").read_text()
    assert "power is not known" in run().text()
    (even,) = run(placements=2).designs
    assert even.figures["clock_hz"] == pytest.approx(105e6, rel=5e-3)
    (single,) = run(placements=1).designs
    assert "clock_uncertainty" not in single.figures
    assert "none" in run(placements=1).text()


def test_ports_get_a_register_each_that_nextpnr_times() -> None:
    netlist = mapped("module top (input clk, input [2:0] a, output q); assign q = ^a; endmodule")
    device = Device(ICE40, "hx1k")
    text, registers = place_and_route.with_registers(netlist, device, top="top", clock="clk")
    module = json.loads(text)["modules"]["top"]
    assert (registers, [*module["ports"]]) == (4, ["clk"])
    before = json.loads(netlist)["modules"]["top"]["cells"]
    added = [cell for name, cell in module["cells"].items() if name not in before]
    assert sorted(cell["type"] for cell in added) == ["SB_DFF"] * 4 + ["SB_LUT4"] * 4
    driven = {cell["connections"]["Q"][0]: cell for cell in added if cell["type"] == "SB_DFF"}
    ports = json.loads(netlist)["modules"]["top"]["ports"]
    assert {*ports["a"]["bits"]} < {*driven}
    logic = [cell["connections"] for cell in added if cell["type"] == "SB_LUT4"]
    assert all(isinstance(pins["I0"][0], int) for pins in logic)  # else it is a constant
    assert sum(pins["I0"] == ports["q"]["bits"] for pins in logic) == 1


def test_studies_sum_logic_cells_and_have_no_power(run: Run, stand_in: Callable[..., None]) -> None:
    stand_in()
    found = run(over="UNROLL=1,2,4", out="hash.csv", placements=1)
    study = {
        "workload": {"rate": "1 Gbit/s"},
        "stages": [{"table": str(Path("hash.csv").resolve()), "fleet": "mixed"}],
        "objectives": {"area": "minimise", "instances": "minimise"},
        "constraints": ["area <= 7.68 kLC"],
    }
    cells = {one.name: one.figures["area_lc"] for one in found.designs}
    chosen = dse.evaluate(study, design="hash.UNROLL4=1 hash.UNROLL2=2")
    (total,) = (one.value for one in chosen.terms if one.name == "area_lc")
    assert total == pytest.approx(cells["UNROLL4"] + 2 * cells["UNROLL2"])
    front = dse.run(study).front
    assert len(front) > 0
    assert front["area_lc"].max() <= 7680
    told = fails(lambda: dse.run({**study, "objectives": {"power": "minimise"}}))
    assert "of which a stage has no figures" in told
    assert "area_lc" in dse.fit.core("hash.csv", over="UNROLL").laws


def test_what_does_not_fit_is_told_with_both_counts(
    run: Run, stand_in: Callable[..., None]
) -> None:
    stand_in(there=60)
    told = fails(lambda: run(over="UNROLL=1,8", out="hash.csv"))
    assert [line.partition(":")[0] for line in told.splitlines()] == ["UNROLL1", "UNROLL8"]
    assert "logic cells, registers at its ports included; ice40:hx1k has 60; take a larger" in told
    assert not Path("hash.csv").exists()


def test_a_wrong_answer_is_refused(
    run: Run, stand_in: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in()
    right = vectors(1).splitlines()[9]
    wrong = ",".join([*right.split(",")[:2], "0xbad"])
    Path("vectors_1.csv").write_text(vectors(1).replace(right, wrong))
    assert "found 0x9b86; the description gives another answer" in fails(run)
    monkeypatch.setattr(source_simulation, "MOST_CYCLES", 5)
    assert "found 0x9b86; the netlist gives another answer" in fails(run)


def test_a_reset_that_is_1_at_an_edge_holds_through_it(
    run: Run, stand_in: Callable[..., None]
) -> None:
    """It has no clock, and ends after the edge, as every input changes (IEEE 1364-2005, 9.2)."""
    stand_in()
    text = "module top (input clk, r, output reg [3:0] q);\n"
    text += "  always @(posedge clk, posedge r) if (r) q <= 0; else q <= q + 1;\nendmodule\n"
    Path("top.v").write_text(text)
    Path("top.csv").write_text("r,q\n1,0\n1,0\n0,0\n0,1\n0,2\n1,0\n0,0\n0,1\n")
    figures = {"payload": "4 bit", "cycles_per_task": "1", "latency": "1"}
    (one,) = run("top.v", top="top", over=(), check="top.csv", **figures).designs
    assert one.facts["tasks"] == "8"


@pytest.mark.slow
def test_what_is_kept_is_not_placed_again(run: Run, stand_in: Callable[..., None]) -> None:
    stand_in()
    assert [run().kept, run().kept, run(placements=2).kept] == [0, 1, 0]
    assert run(device="ice40:hx8k").kept == 0
    assert run(jobs=2, cache=False).csv() == run().csv()


def test_a_report_that_says_something_else(run: Run, stand_in: Callable[..., None]) -> None:
    stand_in(utilization='{"TRELLIS_COMB": {"used": used}}')
    assert fails(run) == (
        "UNROLL1: nextpnr-ice40: its report cannot be read: KeyError 'ICESTORM_LC'; "
        "use nextpnr 0.4 or later"
    )


WRONG = {
    "device": (
        {"device": "ice40:hx8"},
        "device: 'ice40:hx8'; no known device has this name; did you",
    ),
    "clock": (
        {"clock": "200 MHz"},
        "the longest path takes 10 ns; the period of the clock is 5 ns",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_faults_of_a_request(run: Run, stand_in: Callable[..., None], what: str) -> None:
    stand_in()
    options, told = WRONG[what]
    assert told in fails(lambda: run(**options))


BROKEN = {
    "wire g = clk & a; always @(posedge g) q <= a;": "top.v:1:66: q_SB_DFF_Q.C: ",
    "missing one (.a(a));": "top.v:1:56: Module 'missing' referenced in module 'top'",
    "wire x = ~(y & a), y = ~(x | a); always @(posedge clk) q <= x;": "a combinational loop",
    "always @* if (a) q = clk;": "q: a latch, which holds its value without a clock",
    "always @(negedge clk) q <= a;": "flip-flops are clocked by rising edges only; use 'posedge'",
}


@pytest.mark.parametrize("line", BROKEN)
def test_faults_of_a_description(run: Run, stand_in: Callable[..., None], line: str) -> None:
    stand_in()
    Path("top.v").write_text(f"module top (input clk, input a, output reg q); {line} endmodule")
    Path("top.csv").write_text("a,q\n1,0\n0,-\n1,-\n")
    figures = {"payload": "1 bit", "cycles_per_task": "1", "latency": "1"}
    told = fails(lambda: run("top.v", top="top", over=(), check="top.csv", **figures))
    assert BROKEN[line] in told


def test_without_nextpnr_the_package_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place_and_route.shutil, "which", lambda program: None)
    monkeypatch.setattr(place_and_route, "find_spec", lambda module: None)
    with pytest.raises(MissingLibraryError) as raised:
        run()
    assert str(raised.value) == (
        "placing and routing needs nextpnr-ice40, which is not installed; "
        'pip install "accel-dse[fpga]", or put a nextpnr-ice40 on the PATH'
    )


@real
def test_nextpnr_places_each_design_and_counts_its_cells(run: Run) -> None:
    few, many = run(over="UNROLL=1,8", placements=1).designs
    assert 16 <= few.figures["area_lc"] < many.figures["area_lc"] < 300
    assert 1e6 < many.figures["clock_hz"] < few.figures["clock_hz"] < 1e9
    assert few.figures["flip_flops"] == 16
    assert (
        run(over="UNROLL=1,8", placements=1, cache=False).csv()
        == run(over="UNROLL=1,8", placements=1).csv()
    )


@real
def test_paths_from_inputs_count_for_the_clock(run: Run) -> None:
    """Without any register of its own, a design has a clock by those at its ports."""
    text = "module top (input clk, input [3:0] a, output q); assign q = ^a; endmodule"
    Path("top.v").write_text(text)
    Path("top.csv").write_text("a,q\n1,1\n3,0\n7,1\n15,0\n")
    figures = {"payload": "4 bit", "cycles_per_task": "1", "latency": "1"}
    (one,) = run("top.v", top="top", over=(), check="top.csv", placements=1, **figures).designs
    assert one.figures["clock_hz"] > 1e6
    assert one.figures["flip_flops"] == 0


@real
def test_a_design_that_is_too_large_for_a_device(run: Run) -> None:
    told = fails(lambda: run("des", device="ice40:lp384", over="unroll=1"))
    assert "logic cells, registers at its ports included; ice40:lp384 has 384" in told


BLOCKS = """
module top (input clk, we, input [7:0] a, input [15:0] d, output reg [15:0] q, output reg [15:0] p);
  reg [15:0] words [0:255];
  always @(posedge clk) begin if (we) words[a] <= d; q <= words[a]; p <= d[7:0] * a; end
endmodule
"""


def blocks(cycles: int = 300, wrong: int = 0) -> str:
    """Return cycles in which every word is written first, and their answers."""
    draw = np.random.default_rng(3)
    words, q, p = [0] * 256, 0, 0
    lines = ["we,a,d,q,p"]
    for cycle in range(cycles):
        we, a = (1, cycle) if cycle < 256 else (int(draw.integers(2)), int(draw.integers(256)))
        d = int(draw.integers(1 << 16))
        lines.append(f"{we},{a},{d},{q ^ wrong if cycle > 256 else '-'},{p if cycle else '-'}")
        q, p = words[a], (d & 255) * a
        if we:
            words[a] = d
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("device", "multipliers"),
    [
        ("ice40:hx1k", 0),
        pytest.param("ice40:up5k", 1, marks=pytest.mark.slow),
        ("ecp5:25k", 1),
    ],
)
def test_memories_and_products_take_blocks_with_the_same_answers(
    run: Run,
    stand_in: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    device: str,
    multipliers: int,
) -> None:
    other = {"SB_RAM40_4K": "ICESTORM_RAM", "SB_MAC16": "ICESTORM_DSP", "DP16KD": "DP16KD"}
    other |= {"MULT18X18D": "MULT18X18D"}
    logic = dict.fromkeys(("ICESTORM_LC", "TRELLIS_COMB", "TRELLIS_FF", "TRELLIS_RAMW"), 99)
    used = ", ".join(f"{name!r}: kinds.count({kind!r})" for kind, name in other.items())
    counted = f"{{name: {{'used': used}} for name, used in {{**{logic}, {used}}}.items()}}"
    stand_in(utilization=counted)
    Path("top.v").write_text(BLOCKS)
    Path("top.csv").write_text(blocks())
    options = {"payload": "16 bit", "cycles_per_task": "1", "latency": "1", "placements": 1}
    options |= {"top": "top", "over": (), "check": "top.csv", "device": device}
    (one,) = run("top.v", out="top_out.csv", **options).designs
    assert (one.figures["block_rams"], one.figures["multipliers"]) == (1, multipliers)
    table = Path("top_out.csv").read_text()
    assert "without block_rams and multipliers\n" in table
    Path("top.csv").write_text(blocks(wrong=8))
    monkeypatch.setattr(source_simulation, "MOST_CYCLES", 200)
    told = fails(lambda: run("top.v", **options))
    assert "top: q: cycle 257, bit 3: expected" in told
    assert "the netlist gives another answer" in told


def test_a_device_with_too_few_blocks_is_told(run: Run, stand_in: Callable[..., None]) -> None:
    stand_in(kind="ICESTORM_RAM", there=3)
    told = fails(run)
    assert re.search(r"block_rams: \d+ block rams; ice40:hx1k has 3; take a larger device", told)
