"""Files as designers have them: packages, included files, memories."""

from __future__ import annotations

from pathlib import Path

import pytest

import dse
from dse.errors import StudyError
from dse.silicon.yosys import found_yosys
from tests.silicon.test_mapping import map_files
from tests.silicon.toy import TOY

pytestmark = pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")

PACKAGE = "package steps; localparam int BY = 1; endpackage\n"
FILES = ("rtl/steps.sv", "rtl/counter.sv")
COUNTER = """\
`include "width.svh"
module counter #(parameter int START = 1, parameter TABLE = "rom.hex") (
  input logic clk, input logic reset, output logic [`WIDTH-1:0] count
);
  logic [`WIDTH-1:0] rom [2];
  initial $readmemh(TABLE, rom);
  always_ff @(posedge clk)
    count <= reset ? `WIDTH'(START) : count + `WIDTH'(steps::BY) + rom[count[0]];
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


def characterised(step: int = 1) -> dse.Characterisation:
    Path("counted.csv").write_text(counted(step))
    figures = {"payload": "4 bit", "cycles_per_task": "1", "latency": "1"}
    own = dse.verilog(FILES, top="counter", check="counted.csv", **figures)
    return dse.characterise(own, library=TOY, targets="fastest")


def test_files_are_read_with_packages_included_files_and_tables(folder: Path) -> None:
    (one,) = characterised().designs
    assert (one.figures["flip_flops"], one.facts["tasks"]) == (4.0, "24")
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
    """Return the errors of a module with a text, none for a netlist."""
    Path("top.sv").write_text(
        f"module top (input logic clk, a, output logic q);\n{text}\nendmodule"
    )
    try:
        map_files(["top.sv"], "top", parameters=parameters)
    except StudyError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("logic u; always_ff @(posedge clk) q <= a ^ u;", "u: nothing drives it, and outputs"),
        ("logic u, v; assign v = u & a; always_ff @(posedge clk) q <= a;", ""),
        ("always_ff @(posedge clk) q <= other;", "other: nothing drives it, and outputs depend"),
        ("typedef enum {A, B} t; t s; always_ff @(posedge clk) begin s <= B; q <= s == A; end", ""),
        (
            "import other::*; always_ff @(posedge clk) q <= a;",
            "top.sv:2:1: syntax error, unexpected TOK_IMPORT; correct the line, or convert "
            "SystemVerilog to Verilog-2005 before, as with sv2v",
        ),
    ],
)
def test_files_are_read_or_refused_with_a_remedy(folder: Path, text: str, expected: str) -> None:
    assert expected in mapped(text) if expected else mapped(text) == ""


def test_a_list_of_files_is_refused_with_what_to_do_instead(folder: Path) -> None:
    with pytest.raises(StudyError) as caught:
        dse.characterise("rtl/all.f", library=TOY)
    assert str(caught.value) == (
        "hardware: rtl/all.f; removed before 1.0; name the files of the list on the command line"
    )


def test_a_case_that_says_it_is_full_is_no_latch(folder: Path) -> None:
    text = """\
module top (input clk, input [1:0] a, output reg q);
  reg x;
  always @* begin (* full_case *) case (a) 0: x = 1; 1: x = 0; 2: x = a[0]; endcase end
  always @(posedge clk) q <= x;
endmodule
"""
    Path("top.v").write_text(text)
    given = ["top.v"]
    assert map_files(given, "top").netlists[0].instances
    Path("top.v").write_text(text.replace("(* full_case *)", ""))
    with pytest.raises(StudyError, match="x: a latch"):
        map_files(["top.v"], "top")
