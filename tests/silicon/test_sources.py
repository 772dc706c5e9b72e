"""Files as designers have them: packages, included files, memories; who reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

import dse
from dse.errors import StudyError
from dse.silicon.description import Sources
from dse.silicon.yosys import found_yosys
from tests.silicon.test_mapping import map_files
from tests.silicon.toy import TOY

pytestmark = pytest.mark.skipif(
    not any(one.has_slang for one in found_yosys()), reason="needs pyosys, for its slang"
)

PACKAGE = "package steps; localparam int BY = 1; endpackage\n"
FILES = ("steps.sv", "counter.sv")
COUNTER = """\
`include "width.svh"
module counter #(parameter int START = 1, parameter TABLE = "rom.hex") (
  input logic clk, input logic reset, output logic [`WIDTH-1:0] count
);
  import steps::*;
  logic [`WIDTH-1:0] rom [2];
  initial $readmemh(TABLE, rom);
  always_ff @(posedge clk) count <= reset ? `WIDTH'(START) : count + `WIDTH'(BY) + rom[count[0]];
endmodule
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl/steps.sv").write_text(PACKAGE)
    (tmp_path / "rtl/counter.sv").write_text(COUNTER)
    (tmp_path / "rtl/rom.hex").write_text("00 00\n")
    (tmp_path / "rtl/width.svh").write_text("`define WIDTH 4\n")
    return tmp_path


def counted(step: int) -> str:
    rows = ["reset,count", "1,-"]
    return "\n".join([*rows, *(f"0,{(1 + step * k) % 16}" for k in range(24))]) + "\n"


def sources(folder: str = "rtl") -> Sources:
    return Sources(tuple(f"{folder}/{name}" for name in FILES))


def characterised(step: int = 1) -> dse.Characterisation:
    Path("counted.csv").write_text(counted(step))
    figures = {"payload": "4 bit", "cycles_per_task": "1", "latency": "1"}
    own = dse.verilog(sources().files, top="counter", check="counted.csv", **figures)
    return dse.characterise(own, library=TOY, targets="fastest")


def test_files_are_read_with_packages_included_files_and_tables(folder: Path) -> None:
    (one,) = characterised().designs
    assert (one.figures["flip_flops"], one.facts["tasks"]) == (4.0, "24")
    assert not [note for note in one.notes if "slang" in note]
    assert characterised().kept == 1


def test_included_files_and_tables_that_change_are_seen(folder: Path) -> None:
    """The name of the table is a parameter, with a text that names the file."""
    assert characterised().kept == 0
    (folder / "rtl/rom.hex").write_text("01 01\n")
    assert characterised(2).kept == 0
    (folder / "rtl/rom.hex").write_text("00 00\n")
    assert characterised(1).kept == 1
    (folder / "rtl/width.svh").write_text("`define WIDTH 4 // bits\n")
    assert characterised(1).kept == 0


def mapped(text: str, **parameters: int) -> str:
    Path("top.sv").write_text(
        f"module top (input logic clk, a, output logic q);\n{text}\nendmodule"
    )
    try:
        found = map_files(Sources(("top.sv",)), "top", parameters=parameters)
    except StudyError as error:
        return str(error)
    return found.refused


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("logic u; always_ff @(posedge clk) q <= a ^ u;", "u: nothing drives it, and outputs"),
        ("logic u, v; assign v = u & a; always_ff @(posedge clk) q <= a;", ""),
        (
            "always_ff @(posedge clk) q <= nobody;",
            "top.sv:2:1: use of undeclared identifier 'nobody'",
        ),
        ("typedef enum {A, B} t; t s; always_ff @(posedge clk) begin s <= B; q <= s == A; end", ""),
    ],
)
def test_slang_reads_and_says_what_is_wrong(folder: Path, text: str, said: str) -> None:
    assert said in mapped(text) if said else mapped(text) == ""


def test_a_parameter_that_is_not_there_is_a_fault_and_a_value_that_is_arrives(folder: Path) -> None:
    text = "parameter W = 1; always_ff @(posedge clk) q <= W == 5 ? a : 1'b0;"
    told = "parameter 'LENGTH' does not exist in 'top'"
    assert mapped(text, LENGTH=3).startswith(told)
    assert "name a parameter of the top module" in mapped(text, LENGTH=3)
    assert mapped(text, W=5) == ""


def test_what_slang_refuses_yosys_may_read_which_is_said(folder: Path) -> None:
    """`bit` is a name in Verilog, and a word of SystemVerilog."""
    Path("top.v").write_text(
        "module top (input clk, input a, output reg q);\n"
        "  wire bit = a;\n  always @(posedge clk) q <= bit;\nendmodule\n"
    )
    found = map_files(Sources(("top.v",)), "top")
    assert found.refused.startswith(f"slang does not read it: {folder}/top.v:2:1: ")
    assert "read_verilog" in found.script


def test_a_list_of_files_is_refused_with_what_to_do_instead(folder: Path) -> None:
    with pytest.raises(StudyError) as caught:
        dse.characterise("rtl/all.f", library=TOY)
    assert str(caught.value) == (
        "hardware: rtl/all.f; removed before 1.0; name the files of the list on the command line"
    )


def test_a_case_that_says_it_is_full_is_no_latch(folder: Path) -> None:
    """Slang does not take the attribute up; Yosys does."""
    text = """\
module top (input clk, input [1:0] a, output reg q);
  reg x;
  always @* begin (* full_case *) case (a) 0: x = 1; 1: x = 0; 2: x = a[0]; endcase end
  always @(posedge clk) q <= x;
endmodule
"""
    Path("top.v").write_text(text)
    given = Sources(("top.v",))
    assert map_files(given, "top").netlists[0].instances
    Path("top.v").write_text(text.replace("(* full_case *)", ""))
    with pytest.raises(StudyError, match="x: a latch"):
        map_files(Sources(("top.v",)), "top")


def test_a_static_function_in_two_processes_has_no_argument_in_common(folder: Path) -> None:
    """Slang joins the arguments of all calls; Yosys does not."""
    text = """\
module top (input clk, input [1:0] a, b, output reg [1:0] p, q);
  function [1:0] turned(input [1:0] x); turned = {x[0], x[1]}; endfunction
  reg [1:0] c;
  always @* c = turned(a);
  always @(posedge clk) begin p <= c; q <= turned(b); end
endmodule
"""
    Path("top.v").write_text(text)
    found = map_files(Sources(("top.v",)), "top")
    assert len(found.netlists[0].instances) == 4
    assert "slang does not read it: two drivers of a" in found.refused
