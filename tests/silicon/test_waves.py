"""Known answers of a designer: waves that a testbench recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dse
from dse.errors import StudyError
from dse.silicon.characterisation import Characterisation
from dse.silicon.vectors import read_waves
from dse.silicon.yosys import found_yosys
from tests.silicon.toy import TOY

pytestmark = pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")

SUM = """\
module sum #(parameter W = 4) (input clk, input rst, input [W-1:0] a, output reg [W-1:0] q);
  always @(posedge clk) if (rst) q <= 0; else q <= q + a;
endmodule
"""
DUMP = """\
$timescale 1 ns $end
$scope module tb $end
$var wire 4 ! total [3:0] $end
$scope module dut $end
$var wire 1 " clk $end
$var wire 1 # rst $end
$var wire 4 $ a
  [3:0] $end
$var reg 4 ! q [3:0] $end
$var reg 8 % hidden [7:0] $end
$upscope $end
$upscope $end
$enddefinitions $end
$dumpvars
0"
1#
bx $
bx !
$end
"""


def dump(values: str = "1 2 4 8 1 2 4 8") -> str:
    """Return waves: a reset, then values at the input just as the clock rises, and their sums."""
    text, total = DUMP, 0
    for number, value in enumerate([0, *map(int, values.split())]):
        text += f'#{10 * number + 5}\n1"\nb{total:b} !\nb{value:b} $\n0#\n#{10 * number + 10}\n0"\n'
        total = (total + value) % 16
    return text


def run(check: str, **options: Any) -> Characterisation:
    Path("sum.v").write_text(SUM)
    task = {"payload": "4 bit", "cycles_per_task": "1", "latency": "1", "dut": "tb.dut"}
    own = dse.verilog("sum.v", top="sum", check=check, **{**task, **options})
    return dse.characterise(own, library=TOY, targets="fastest")


def fails(check: str, **options: Any) -> str:
    with pytest.raises(StudyError) as raised:
        run(check, **options)
    return str(raised.value)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("run.vcd").write_text(dump())


def test_waves_are_what_stands_before_each_rising_edge() -> None:
    waves = read_waves(dump().splitlines(), file="run.vcd", scope="tb.dut", clock="clk")
    cells = dict(zip(waves.headers, waves.columns, strict=True))
    assert cells["rst"] == ("0x1", *["0x0"] * 8)
    assert cells["a"][:5] == ("-", "0x0", "0x1", "0x2", "0x4")
    assert cells["q"][:6] == ("-", "0x0", "0x0", "0x1", "0x3", "0x7")
    assert {*cells["hidden"]} == {"-"}
    assert dump().splitlines()[waves.lines[1] - 1] == '1"'


def test_a_clock_that_rises_from_unknown_takes_what_is_set_at_that_time() -> None:
    """As where a testbench sets the clock to 0 and turns it round at the same time."""
    late = dump().replace('0"\n1#', 'x"\nx#').replace('#5\n1"', '#5\n1#\n1"')
    late = late.replace("0#\n", "", 1)  # reset for one edge more
    waves = read_waves(late.splitlines(), file="run.vcd", scope="tb.dut", clock="clk")
    assert [column[0] for column in waves.columns[:3]] == ["0x1", "0x1", "0x0"]
    Path("run.vcd").write_text(late)
    assert run("run.vcd").designs[0].facts["tasks"] == "8"


def test_waves_are_stimulus_and_known_answers() -> None:
    (one,) = run("run.vcd").designs
    assert one.facts["tasks"] == "8"
    assert "1 unknown value of inputs in run.vcd taken as 0" in one.notes
    Path("run.vcd").write_text(dump().replace("b111 !", "b101 !"))
    assert fails("run.vcd").startswith(
        "run.vcd:56:1: sum: q: cycle 5, bit 1: expected 0x5, found 0x7; the netlist gives"
    )


FAULTS = {
    "scope": ({"dut": "tb.dud"}, "'tb.dud'; the dump has no signals of this scope; did you mean"),
    "instance": ({"dut": ""}, "dut: ''; waves need an instance; name it from the"),
    "clock": ({"clock_port": "clock"}, "'clock'; tb.dut has no signal of this name; did you mean"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_of_waves(what: str) -> None:
    options, told = FAULTS[what]
    assert told in fails("run.vcd", **options)


def test_what_is_no_dump_or_lacks_a_port_is_refused() -> None:
    Path("run.vcd").write_text(SUM)
    assert fails("run.vcd") == (
        "run.vcd: it is no value change dump; write one with $dumpfile and $dumpvars"
    )
    Path("run.vcd").write_text(dump().replace(" rst ", " reset "))
    assert "run.vcd: rst: the waves lack this input" in fails("run.vcd")
    Path("known.csv").write_text("rst,a,q\n1,0,-\n0,1,0\n")
    assert "dut: tb.dut; only waves have an instance" in fails("known.csv")


@pytest.mark.parametrize("name", ["tb.v", "tb.sv", "run.fst"])
def test_a_testbench_is_not_run(name: str) -> None:
    assert fails(name).startswith(f"check: {name}; removed before 1.0; ")
