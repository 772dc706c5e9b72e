"""Hardware to a table: known answers, figures that agree, results kept, faults with their place."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse
from dse.contract.placement import placed_uncertainty, routed_over_unplaced
from dse.errors import StudyError
from dse.silicon import flow
from dse.silicon.characterisation import Characterisation
from dse.silicon.description import with_included
from dse.silicon.figures import (
    CharacterisedDesign,
)
from dse.silicon.flow import KeptResults, own_sha256
from dse.silicon.tasks import generated
from dse.silicon.timing import Delay, Timing, analyse
from dse.silicon.yosys import found_yosys
from tests.silicon.test_mapping import tool as tool
from tests.silicon.toy import TOY

pytestmark = pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")

HASH = """
module hash #(parameter UNROLL = 1) (
  input clk, input start, input [15:0] word, output [15:0] answer
);
  reg [15:0] state;
  wire [16*UNROLL+15:0] lines;
  assign lines[15:0] = start ? word : state;
  genvar i;
  generate for (i = 0; i < UNROLL; i = i + 1) begin : round
    wire [15:0] from = lines[16*i +: 16];
    wire [15:0] left = from ^ (from << 7);
    wire [15:0] right = left ^ (left >> 9);
    assign lines[16*i+16 +: 16] = right ^ (right << 8);
  end endgenerate
  always @(posedge clk) state <= lines[16*UNROLL +: 16];
  assign answer = state;
endmodule
"""
TASK = {"payload": "16 bit", "cycles_per_task": "8 / UNROLL", "latency": "8 / UNROLL"}


def hashed(word: int) -> int:
    for _ in range(8):
        word ^= word << 7 & 0xFFFF
        word ^= word >> 9
        word ^= word << 8 & 0xFFFF
    return word


def vectors(unroll: int) -> str:
    words = np.random.default_rng(1).integers(0, 1 << 16, 20).tolist()
    rows = ["start,word,answer"]
    for before, word in zip([None, *words], words, strict=False):
        rows.append(f"1,{word:#x}," + ("-" if before is None else f"{hashed(before):#x}"))
        rows += [f"0,{word},-"] * (8 // unroll - 1)
    return "\n".join(rows) + "\n"


Run = Callable[..., Characterisation]
VERILOG = {*inspect.signature(dse.verilog).parameters}


def in_folder_of_hash(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go where the hash and its answers are, and nothing is kept from before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(path / "cache"))
    monkeypatch.chdir(path)
    (path / "hash.v").write_text(HASH)
    for unroll in (1, 2, 4, 8):
        (path / f"vectors_{unroll}.csv").write_text(vectors(unroll))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    in_folder_of_hash(tmp_path, monkeypatch)

    def call(**options: Any) -> Characterisation:
        targets = () if "clock" in options else "fastest"
        given = {"library": TOY, "over": "UNROLL=1,2,4,8", "targets": targets, **options}
        own = {"top": "hash", "check": "vectors_{UNROLL}.csv", **TASK}
        own |= {name: given.pop(name) for name in VERILOG & {*given}}
        return dse.characterise(dse.verilog("hash.v", **own), **given)

    return call


def top_of(text: str, answers: str, payload: str = "1 bit") -> Any:
    """Return hardware of one file, whose tasks take a cycle each, beside its answers."""
    Path("top.v").write_text(text)
    Path("top.csv").write_text(answers)
    figures = {"payload": payload, "cycles_per_task": "1", "latency": "1"}
    return dse.verilog("top.v", top="top", check="top.csv", **figures)


def fails(call: Callable[[], object]) -> str:
    with pytest.raises(StudyError) as raised:
        call()
    return str(raised.value)


def test_studies_and_fits_read_the_table(run: Run, tmp_path: Path) -> None:
    found = run(out="hash.csv")
    fitted = dse.fit.core("hash.csv", over="UNROLL", forms={"area": "affine"})
    assert "of mapped gates times medians" in fitted.text()
    study = {
        "workload": {"rate": "10 Gbit/s"},
        "stages": [{"table": str(tmp_path / "hash.csv")}],
        "objectives": {"area": "minimise", "power": "minimise"},
    }
    row = found.designs[2]
    terms = {one.name: one.value for one in dse.explain(study, overrides="hash.UNROLL4=1").terms}
    _, factor, _ = routed_over_unplaced("other")["area_m2"]
    assert terms["hash.area_m2"] == pytest.approx(row.figures["area_m2"] * factor, rel=1e-6)
    drawn = dse.uncertainty(study, samples=2).found.uncertain
    assert {one.column: one.share[0] for one in drawn} == pytest.approx(
        placed_uncertainty("other"), rel=1e-6
    )


def test_a_wrong_answer_is_refused_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    written = vectors(4).splitlines()
    right = written[3].split(",")[2]
    written[3] = written[3].replace(right, f"{int(right, 16) ^ 4:#x}")
    (tmp_path / "vectors_4.csv").write_text("\n".join(written))
    expected, found = int(right, 16) ^ 4, int(right, 16)
    # once, not for each target
    assert fails(lambda: run(over="UNROLL=4,8", targets=(), out="hash.csv")) == (
        f"vectors_4.csv:4:10: UNROLL4: answer: cycle 2, bit 2: expected {expected:#06x}, "
        f"found {found:#06x}; the netlist gives another answer; "
        "correct the design, or the answer"
    )
    assert not (tmp_path / "hash.csv").exists()


def test_a_reset_that_is_1_at_an_edge_holds_through_it(run: Run) -> None:
    """It has no clock, and ends after the edge, as every input changes (IEEE 1364-2005, 9.2)."""
    text = "module top (input clk, r, output reg [3:0] q);\n"
    text += "  always @(posedge clk, posedge r) if (r) q <= 0; else q <= q + 1;\nendmodule\n"
    own = top_of(text, "r,q\n1,0\n1,0\n0,0\n0,1\n0,2\n0,3\n0,4\n0,5\n", "4 bit")
    (one,) = dse.characterise(own, library=TOY, targets="fastest").designs
    assert one.facts["tasks"] == "8"


def test_an_answer_that_nothing_has_set_is_refused(run: Run, tmp_path: Path) -> None:
    never = vectors(8).replace("\n1,", "\n0,")
    (tmp_path / "vectors_8.csv").write_text(never)
    assert "the answer depends on a register that nothing has set" in fails(
        lambda: run(over="UNROLL=8")
    )


def test_a_clock_that_is_too_fast_is_refused_with_both_times(run: Run) -> None:
    told = fails(lambda: run(over="UNROLL=8,1", clock="1 GHz"))
    # How long depends on the version of Yosys and its abc.
    assert re.sub(r"2\.\d+ ns", "2.x ns", told) == (
        "UNROLL8: clock: the longest path takes 2.x ns; the period of the clock is 1 ns; "
        "ask for a slower clock, or leave this design out"
    )


def test_what_is_kept_is_not_done_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(over="UNROLL=1,2")
    mapped = []
    whole = flow.map_description
    monkeypatch.setattr(
        flow, "map_description", lambda *given, **named: mapped.append(1) or whole(*given, **named)
    )
    again = run(over="UNROLL=1,2")
    assert (again.kept, mapped) == (2, [])
    assert again.csv() == first.csv()
    assert run(over="UNROLL=1,2,4").kept == 2
    assert run(over="UNROLL=1,2", cache=False).csv() == first.csv()
    assert len(mapped) == 3


def test_a_change_of_any_module_is_seen(tmp_path: Path) -> None:
    module = tmp_path / "netlists" / "timing.py"
    module.parent.mkdir()
    module.write_text("SETUP = 1\n")
    before = own_sha256(tmp_path)
    module.write_text("SETUP = 2\n")
    assert own_sha256(tmp_path) != before


def test_what_was_done_before_an_interruption_is_kept(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def progress(done: int, total: int, now: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(out="hash.csv", progress=progress)
    assert not (tmp_path / "hash.csv").exists()
    assert run(out="hash.csv").kept == 2


def test_the_number_of_processes_changes_nothing(run: Run) -> None:
    given = {"over": "UNROLL=4,8", "cache": False}
    assert run(jobs=2, **given).csv() == run(**given).csv()


def test_damage_of_what_is_kept_is_passed_over(tmp_path: Path) -> None:
    kept, one = KeptResults(tmp_path), CharacterisedDesign("a", {}, {"area_m2": 1.0}, {}, ("b",))
    kept.write("a", one)
    assert (kept.read("a"), kept.read("c")) == (one, None)
    for damaged in ('{"name": ', "[1]", '{"notes": []}'):
        (tmp_path / "a.json").write_text(damaged)
        assert kept.read("a") is None


def test_the_oldest_results_are_dropped(tmp_path: Path) -> None:
    kept, one = KeptResults(tmp_path, most=2), CharacterisedDesign("a", {}, {}, {}, ())
    for day, key in enumerate("abc"):
        kept.write(key, one)
        os.utime(tmp_path / f"{key}.json", (day, day))
    kept.write("d", one)
    assert [key for key in "abcd" if kept.read(key)] == ["c", "d"]


def test_a_design_is_mapped_for_its_fastest_clock_half_and_a_quarter_of_it(run: Run) -> None:
    found = run(over="UNROLL=1,8", targets=())
    alone = run(over="UNROLL=1,8").designs
    rows = {one.name: one for one in found.designs}
    assert [*rows] == ["UNROLL1", "UNROLL8", "UNROLL8_quarter"]
    assert ": another target gives no more than 1 % less area or energy" in found.csv()
    for one in alone:
        assert rows[one.name].figures == one.figures
        assert "target" not in one.parameters
    fast, slower = rows["UNROLL8"].figures, rows["UNROLL8_quarter"]
    assert [one.parameters["target"] for one in found.designs] == ["fastest", "fastest", "quarter"]
    assert slower.figures["least_period_s"] <= 4 / fast["clock_hz"]
    assert slower.figures["area_m2"] < fast["area_m2"]
    assert "# mapped for: the fastest, half of it, a quarter of it\n" in found.csv()


def test_the_smallest_netlist_that_meets_the_target_is_taken(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those of map_description, with the periods and areas that each has by itself."""
    whole = flow.map_description
    netlists, each = [], []

    def one_by_one(*given: Any, **named: Any) -> Any:
        made = whole(*given, **named)
        netlists[:] = netlists or made.netlists
        return replace(made, netlists=tuple(netlists[len(each) : len(each) + 1]))

    taken = run(over="UNROLL=4", targets="700 MHz").designs[0].figures
    monkeypatch.setattr(flow, "map_description", one_by_one)
    for _ in range(3):
        found = run(over="UNROLL=4", targets="700 MHz", cache=False).designs[0].figures
        each.append((found["least_period_s"], found["area_m2"]))
    assert len(netlists) == 3
    assert len({*each}) > 1
    meets = [one for one in each if one[0] <= 1 / 700e6]
    best = min(meets, key=lambda one: one[1]) if meets else min(each)
    assert (taken["least_period_s"], taken["area_m2"]) == best


def test_a_generator_is_characterised_with_its_own_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    over = ["side=1", "cell_bit=8"]
    (one,) = dse.characterise("jacobi", library=TOY, over=over, targets="fastest", tasks=40).designs
    assert (one.name, one.facts["tasks"]) == ("n1", "40")
    several = generated("jacobi", {"cell_bit": "8,16"}, 1)
    assert [task.design.name for task in several] == ["n1_cell_bit8", "n1_cell_bit16"]
    assert not [note for note in one.notes if "unknown" in note]


CLOCKS = "use one clock, its rising edge, not gated"
BROKEN = {
    "always @(negedge clk) q <= a;": (
        ":2:3: q.CK: ",
        f"every flip-flop is clocked by 'clk'; {CLOCKS}",
    ),
    "wire g = clk & a; always @(posedge g) q <= a;": (":2:21: q.CK: g; every ", CLOCKS),
    "always @(posedge clk, posedge a, posedge b) if (a) q <= 0; else if (b) q <= 1; else q <= c;": (
        ":2:3: FF top.",
        "no flip-flop that is there can be that: leave set or reset out, or let the clock do it",
    ),
    "always @(posedge clk, posedge a) if (a) q <= b; else q <= c;": (
        ":2:3: ",
        "a flip-flop that takes its data without the clock; load it at an edge of the clock, or "
        "reset it to a constant",
    ),
    "box one (.a(a), .q(q));": (":2:7: one: box; no cell of toy; ", "known: "),
    "wire u; always @(posedge clk) q <= a ^ u;": ("top: u: nothing drives it", "assign it 0"),
    "always @* q = a;": ("top: clock: no path takes any time: outputs are constants", "alone"),
}


@pytest.mark.parametrize("line", BROKEN)
def test_faults_of_a_description_have_a_place_and_a_remedy(
    run: Run, line: str, tool: str, tmp_path: Path
) -> None:
    kind = "" if "box" in line else " reg"
    text = f"module top (input clk, a, b, c, output{kind} q);\n  {line}\nendmodule\n"
    box = "(* blackbox *) module box (input a, output q); endmodule\n"
    answer = "posedge a" not in line
    own = top_of(text + box, f"a,b,c,q\n1,0,0,-\n1,0,0,{answer:d}\n")
    told = fails(lambda: dse.characterise(own, library=TOY))
    place, remedy = BROKEN[line]
    assert told.removeprefix(str(tmp_path / "top.v")).startswith(place)
    assert remedy in told


DRIVEN_TWICE = """\
module part (input clk, a, b, output reg [1:0] r);
  always @(posedge clk) r <= {r[0], a};
  always @(posedge clk) r <= {b, r[1]};
endmodule
module top (input clk, a, b, output reg q, output [1:0] r, output y);
  always @(posedge clk) q <= a;
  part one (.clk(clk), .a(a), .b(b), .r(r));
  assign y = a;
  assign y = b;
  always @(posedge clk) if (b) q <= 0;
endmodule
"""


def test_signals_with_several_drivers_are_refused_at_once(
    run: Run, tool: str, tmp_path: Path
) -> None:
    own = top_of(DRIVEN_TWICE, "a,b,q,r,y\n1,0,0,-,-\n1,0,1,-,-\n")
    told = fails(lambda: dse.characterise(own, library=TOY))
    remedy = "drive it; let one process or assignment do so"
    assert told.replace(f"{tmp_path}/", "").splitlines() == [
        f"top: a: input a and input b {remedy}",
        f"top.v:2:3: r: top.v:2 and top.v:3 {remedy}",
        f"top.v:6:3: q: top.v:6 and top.v:10 {remedy}",
    ]


def test_what_ends_much_later_in_the_simulation_than_in_the_timing_is_an_error(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few per cent are of the delays, which are the worst of both edges; more is a fault."""

    def slower(times: float) -> Callable[..., Timing]:
        def analysed(*given: Any, **named: Any) -> Timing:
            timing = analyse(*given, **named)
            longer = {
                pins: Delay(times * one.rise_s, times * one.fall_s)
                for pins, one in timing.delays.items()
            }
            return replace(timing, delays=longer)

        return analysed

    monkeypatch.setattr(flow, "analyse", slower(3.0))
    assert re.fullmatch(
        r"UNROLL4: paths of the simulation are up to 1\d\d\.\d% longer than the period; "
        r"up to 5% are of delays, which are the worst of both edges, and more lacks in the timing; "
        r"ask for a clock of at most \d+\.?\d* MHz, or another library",
        fails(lambda: run(over="UNROLL=4")),
    )
    monkeypatch.setattr(flow, "analyse", slower(1.15))
    noted = r"^# note: paths of the simulation are up to [0-4]\.\d% longer than the period: "
    assert re.search(noted, run(over="UNROLL=4", cache=False).csv(), re.MULTILINE)


FAULTS = {
    "start,word,answer\n1,0x10000,-\n1,2,0\n1,3,0": (
        "vectors_8.csv:2:3: word: '0x10000'; the port has 16 bits; write a number below 0x10000"
    ),
    "start,word,answer\n1,two,-\n1,2,0": (
        "vectors_8.csv:2:3: word: 'two'; a cell is a whole number from 0, or - for an output not "
        "compared; write 12, 0x0c or 0b1100"
    ),
    "start,words,answer\n1,2,-\n1,2,0": "word: an input needs a column; add one with its values",
    "start,word,answer\n1,2,-\n1,-,0": "word: '-'; an input needs a value in every cycle; write it",
    "start,word,answer\n1,2,-\n1,2,-": "no output is compared; write the answers that are known",
    "start,word,answer\n1,2,0\n": "the table has 1 cycle, and the warm-up takes 1",
    "clk,start,word,answer\n1,1,2,-\n1,1,2,0": "each row is a cycle of the clock; leave this",
}


@pytest.mark.parametrize("table", FAULTS)
def test_faults_of_a_table_of_answers(run: Run, tmp_path: Path, table: str) -> None:
    (tmp_path / "vectors_8.csv").write_text(table)
    assert FAULTS[table] in fails(lambda: run(over="UNROLL=8"))


def test_what_your_own_verilog_needs_is_told_at_once(run: Run) -> None:
    assert fails(lambda: run(**dict.fromkeys(("top", "check", *TASK)))).splitlines() == [
        "top: Verilog of your own needs it; name the outermost module: --top NAME",
        "check: Verilog of your own needs it; give a table or waves: "
        "--check vectors.csv, --check run.vcd --dut tb.dut",
        "payload: Verilog of your own needs it; give the payload of a task: "
        '--payload "8 * WIDTH bit"',
        "cycles_per_task: Verilog of your own needs it; give the cycles from task to task: "
        '--cycles-per-task "16 / unroll"',
        "latency: Verilog of your own needs it; give the cycles from input to answer: "
        '--latency "16"',
    ]


def test_faults_of_answers_library_and_options_come_together(run: Run) -> None:
    many = {"check": "none.csv", "library": ["no.lib", "no.lib.gz"]}
    told = fails(lambda: run(over="UNROLL=1", targets="fast", **many))
    assert [line.partition(";")[0] for line in told.splitlines()] == [
        "targets: 'fast'",
        "no such file: 'none.csv'",
        *("no such file: 'no.lib'", "no such file: 'no.lib.gz'"),
    ]


WRONG = {
    "missing library": ({"library": "toy.lib"}, "toy.lib"),
    "missing file": ({"check": "vectors_{UNROL}.csv"}, "braces hold the name of a parameter"),
    "no parameter": ({"over": "LENGTH=1", "check": "vectors_1.csv"}, "no quantity 'UNROLL'"),
    "clock": (
        {"clock_port": "clock"},
        "hash.v:2:1: clock: 'clock'; the clock is an input of one bit",
    ),
    "unit": ({"clock": "2 W"}, "clock: '2 W'; a value in Hz is needed, not one in W"),
    "payload": (
        {"payload": "16 * WIDTH bit"},
        "payload: '16 * WIDTH bit'; there is no quantity 'WIDTH'",
    ),
    "no bits": ({"payload": "16 W"}, "payload: '16 W'; a value in bit is needed, not one in W"),
    "twice": (
        {"over": "UNROLL=1,1"},
        "over.UNROLL: 1,1; values are between commas, each of them once",
    ),
    "zero": ({"latency": "0"}, "latency: '0'; it must be positive"),
    "nan": ({"latency": "nan"}, "'nan'; it must be positive and finite; write"),
    "text": (
        {"over": "UNROLL=1:2"},
        "over.UNROLL: 1:2; a parameter of Verilog is a whole number here, no fraction and no text; "
        "write whole numbers with commas between: UNROLL=8,16",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_faults_of_a_request(run: Run, what: str) -> None:
    options, told = WRONG[what]
    assert told in fails(lambda: run(**{"over": "UNROLL=1", **options}))


@pytest.mark.parametrize("given", ["hash.v", "vectors_1.csv", "toy.lib", "part.vh"])
def test_an_output_that_is_an_input_is_refused(run: Run, tmp_path: Path, given: str) -> None:
    (tmp_path / "toy.lib").write_bytes(TOY.read_bytes())
    (tmp_path / "part.vh").write_text("")
    (tmp_path / "hash.v").write_text(f'`include "part.vh"\n{HASH}')
    (tmp_path / "link").symlink_to(tmp_path / given)
    was = (tmp_path / given).read_bytes()
    for out in (given, "link"):
        told = fails(lambda out=out: run(over="UNROLL=1", library="toy.lib", out=out))
        assert told == f"out: {out}; the table would replace one of its inputs; name another file"
    assert (tmp_path / given).read_bytes() == was


def test_a_cache_that_cannot_be_written_costs_no_result(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = run(over="UNROLL=8")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    found = run(over="UNROLL=8")
    assert (found.csv(), found.kept) == (right.csv(), 0)


def test_files_that_include_each_other_without_end_are_a_fault(tmp_path: Path) -> None:
    """Yosys would read them until the memory is full."""
    for name, other in (("a.v", "b.vh"), ("b.vh", "a.v")):
        (tmp_path / name).write_text(f'`include "{other}"\n')
    said = fails(lambda: with_included(tmp_path / "a.v"))
    assert "a.v'; a.v and b.vh include each other without end; leave one out, or put" in said
    for number in range(102):
        (tmp_path / f"{number}.v").write_text(f'`include "{number + 1}.v"\n')
    assert "more than 100 deep" in fails(lambda: with_included(tmp_path / "0.v"))


@pytest.mark.parametrize(
    ("cycles", "rule"),
    [
        ("0.001", "16 bits of a task take 0.9412 cycles or more through ports of 17 bits"),
        ("4", "answers in vectors_1.csv are 8 cycles apart or more"),
    ],
)
def test_a_pace_that_the_stimulus_refutes_is_a_fault(run: Run, cycles: str, rule: str) -> None:
    said = fails(lambda: run(over="UNROLL=1", cycles_per_task=cycles))
    assert said.startswith(f"UNROLL1: cycles_per_task: {cycles}; {rule}; correct it")


MEMORY = """\
module top (input clk, we, input [2:0] a, input [3:0] d, output reg [3:0] q);
  reg [3:0] words [0:7];
  always @(posedge clk) begin if (we) words[a] <= d; q <= words[a]; end
endmodule
"""


def test_a_memory_becomes_flip_flops_and_a_large_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_folder_of_hash(tmp_path, monkeypatch)
    rows = ["we,a,d,q", *(f"1,{a},{a + 3},-" for a in range(8)), "0,1,0,-", "0,1,0,4"]
    answers = "\n".join([*rows, ""])
    small, large = top_of(MEMORY, answers, "4 bit"), MEMORY.replace("[0:7]", "[0:8191]")
    (one,) = dse.characterise(small, library=TOY, targets="fastest").designs
    assert one.figures["flip_flops"] == 8 * 4 + 4
    monkeypatch.setattr(flow, "map_description", None)
    own = top_of(large, answers, "4 bit")
    assert fails(lambda: dse.characterise(own, library=TOY, targets="fastest")) == (
        f"{tmp_path}/top.v:2:13: words: 32.77 kbit (8192 x 4); memories become flip-flops here, of "
        "at most 20 kbit; characterise the design with a smaller one, or leave it outside"
    )
