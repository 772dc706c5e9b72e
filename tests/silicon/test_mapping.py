"""Verilog becomes a netlist of a library's cells, which computes the same; faults have places."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dse.contract.generators import Generator
from dse.errors import DseError, MissingLibraryError, StudyError
from dse.plugins import registry
from dse.silicon import yosys
from dse.silicon.cells import CellLibrary
from dse.silicon.description import Reading
from dse.silicon.liberty import read_liberty
from dse.silicon.mapping import Mapped, map_description, usable_cells
from dse.silicon.yosys import ToolTimeError, chosen_yosys, found_yosys
from tests.silicon.evaluate import evaluated, first_wrong_bit
from tests.silicon.toy import TOY, toy

TOOLS = found_yosys()
pytestmark = pytest.mark.skipif(not TOOLS, reason="needs pyosys or yosys")


@pytest.fixture(params=TOOLS, ids=lambda one: one.name)
def tool(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what maps, each that is installed, as if it were alone."""
    monkeypatch.setattr(yosys, "found_yosys", lambda: (request.param,))
    return str(request.param.name)


COUNTER = """
module counter #(parameter WIDTH = 2) (
  input clock, input reset, output reg [WIDTH-1:0] count
);
  always @(posedge clock) count <= reset ? 0 : count + 1;
endmodule
"""


def map_read(reads: Reading, library: CellLibrary, top: str) -> Mapped:
    return map_description(reads, library, usable_cells(library), top=top, target_period_s=1e-9)


def map_files(
    sources: Sequence[str], top: str, parameters: Mapping[str, int] | None = None
) -> Mapped:
    return map_read(Reading.of_files(sources, top, parameters or {}), toy(), top)


def mapped(verilog: str, library: CellLibrary | None = None, top: str = "top") -> Mapped:
    return map_read(Reading.of_text(verilog), library or toy(), top)


def test_a_mapped_engine_gives_known_answers(tool: str) -> None:
    jacobi = registry.get(Generator, "jacobi")
    design = jacobi(side=1, cell_bit=8)
    vectors = jacobi.answers(design, seed=2, tasks=20)
    found = mapped(design.verilog, top=design.top)
    assert {one.cell for one in found.netlists[0].instances} <= set(toy().cells)
    shown = evaluated(found.netlists[0], toy(), vectors.stimulus, vectors.cycles)
    assert first_wrong_bit(vectors, shown) == ""
    assert re.fullmatch(tool + r" \d+\.\d+\S*", yosys.full_name(chosen_yosys()))


def test_a_parameter_reaches_the_top(tool: str, tmp_path: Path) -> None:
    file = tmp_path / "my counter.v"
    file.write_text(COUNTER)
    found = map_files([str(file)], "counter", {"WIDTH": 3})
    assert len(found.netlists[0].outputs["count"]) == 3
    with pytest.raises(StudyError, match=r"'LENGTH'.*; name a parameter of the top module"):
        map_files([str(file)], "counter", {"LENGTH": 3})


def test_set_and_reset_are_tied_off_where_there_is_no_other_flip_flop(tool: str) -> None:
    cells = {name: cell for name, cell in toy().cells.items() if name != "DFF"}
    found = mapped(COUNTER, replace(toy(), cells=cells), top="counter")
    flip_flops = [one for one in found.netlists[0].instances if one.cell == "DFFR"]
    assert [one.nets["RN"] for one in flip_flops] == [1, 1]


FAULTS = {
    "always @(posedge clock) q <= a +;": (
        ":3:1: syntax error, unexpected ';'; correct the line, or convert SystemVerilog to "
        "Verilog-2005 before, as with sv2v"
    ),
    "missing one (a, q);": (
        ":3:11: Module 'missing' referenced in module 'top' in cell 'one' is not part of "
        "the design.; give the file that has this module, or correct its name"
    ),
    "always @* if (a) q = clock;": (
        ":3:3: q: a latch, which holds its value without a clock; "
        "assign the signal on every path through its process, or clock it"
    ),
    "wire x = ~(y & a), y = ~(x | a); always @(posedge clock) q <= x;": (
        "a combinational loop through x, y; break it with a register"
    ),
}


@pytest.mark.parametrize("line", FAULTS)
def test_faults_name_their_place_and_remedy(line: str, tool: str, tmp_path: Path) -> None:
    file = tmp_path / "top.v"
    kind = "" if "missing" in line else " reg"
    file.write_text(f"module top (input clock, input a, output{kind} q);\n\n  {line}\nendmodule\n")
    with pytest.raises(StudyError) as caught:
        map_files([str(file)], "top")
    (fault,) = caught.value.faults
    expected = FAULTS[line]
    told = str(fault).removeprefix(str(file))
    assert told == expected or (told.endswith(expected) and "loop" in expected)


def test_a_top_that_is_not_there(tool: str) -> None:
    with pytest.raises(StudyError, match=r"'bottom' not found.*name a module of these files"):
        mapped(COUNTER, top="bottom")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ("INV BUF NOR2", "no flip-flop that can be used; add the file that has them"),
        ("DFF NAND2 BUF", "no inverter that can be used; add the file that has them"),
        ("DFF INV XOR2 INV_WEAK LATCH", "no buffer and no gate of two inputs that can be used, not "
         "INV_WEAK (marked as unused by the library), not LATCH (a latch); "
         "add the file that has them"),
    ],
)  # fmt: skip
def test_what_is_wrong_before_anything_runs(cells: str, said: str) -> None:
    few = {name: toy().cells[name] for name in cells.split()}
    with pytest.raises(StudyError) as caught:
        map_read(Reading.of_text(COUNTER), replace(toy(), cells=few), "a b")
    assert str(caught.value) == (
        "top: 'a b'; a name is letters, digits and underscores; rename it\n"
        f"library: toy.lib; the library has {said}"
    )


def test_what_takes_too_long_is_ended(tool: str) -> None:
    slow = yosys.Yosys(tool, (sys.executable, "-c", "input()"), time_limit_s=0.001)
    with pytest.raises(ToolTimeError) as caught:
        yosys.run_yosys(slow, [], {})
    assert str(caught.value) == "mapping took more than 0.001 s; make the design smaller"


def test_what_takes_too_much_memory_is_told(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dse.workers.programs.machine_byte", lambda: 30_000_000)
    greedy = yosys.Yosys(tool, (sys.executable, "-c", "bytes(1 << 25)"))
    with pytest.raises(ToolTimeError, match="mapping took all memory; make the design smaller"):
        yosys.run_yosys(greedy, [], {})


def test_without_yosys_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yosys, "found_yosys", lambda: ())
    with pytest.raises(MissingLibraryError) as caught:
        yosys.chosen_yosys()
    assert str(caught.value) == (
        'mapping of Verilog needs pyosys, which is not installed; pip install "accel-dse[rtl]", '
        "or a yosys on the PATH"
    )


def test_a_tool_that_crashes_is_told(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = yosys.Yosys(tool, ("sh", "-c", "echo killed by the system; kill -9 $$"))
    monkeypatch.setattr("dse.silicon.mapping.chosen_yosys", lambda: broken)
    with pytest.raises(DseError, match="ended before its work was done; its last line: killed"):
        mapped(COUNTER, top="counter")


def test_cells_are_omitted_by_rule() -> None:
    omitted = usable_cells(toy()).omitted
    assert omitted["LATCH"] == "a latch"
    assert "NAND2" not in omitted
    gate = toy().cells["NAND2"]
    held = replace(toy(), cells={**toy().cells, "DLYGATE": replace(gate, name="DLYGATE")})
    assert usable_cells(held).omitted["DLYGATE"] == "by its name"


WITHOUT_ARCS = {
    "related_pin of setup": ('related_pin : "CK"; timing_type : setup', "timing_type : setup"),
    "setup_falling alone": ("timing_type : setup_rising", "timing_type : setup_falling"),
    "setup of one edge": ('fall_constraint (of_data) { values ("0.06, 0.16"); }', ""),
    "delay of one edge": ('cell_fall (plane) { values ("0.05, 0.15", "0.15, 0.25"); }', ""),
    "delay of no edge": ("timing_type : rising_edge", "timing_type : falling_edge"),
}


@pytest.mark.parametrize("arc", WITHOUT_ARCS)
def test_a_cell_without_an_arc_that_timing_needs_is_not_used(tmp_path: Path, arc: str) -> None:
    """Paths into it would end without its setup, or not at all: a clock of 10 GHz for 5."""
    (tmp_path / "toy.lib").write_text(TOY.read_text().replace(*WITHOUT_ARCS[arc]))
    library = read_liberty(tmp_path / "toy.lib")
    pin, kind = ("D", "setup_rising") if "setup" in arc else ("Q", "rising_edge")
    assert [*usable_cells(library).notes()] == [
        "timing needs more than some cells have: "
        f"not DFF and DFFR (no whole {kind} from CK to {pin})"
    ]
    with pytest.raises(
        StudyError, match=rf"no flip-flop .*, not DFF and DFFR \(no whole {kind} from CK"
    ):
        mapped(COUNTER, library, "counter")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_maps_ends_with_the_program_that_it_maps_for(tmp_path: Path, number: int) -> None:
    """Workers are ended so, and no mapping may go on without them."""
    beats = tmp_path / "beats"
    tool = (
        f"import time\nfor _ in range(6000):\n"
        f"    open({str(beats)!r}, 'a').write('.')\n    time.sleep(0.01)"
    )
    code = (
        "import sys; from dse.silicon.yosys import Yosys, run_yosys\n"
        f"run_yosys(Yosys('it', (sys.executable, '-c', {tool!r})), [], {{}})"
    )
    program = subprocess.Popen([sys.executable, "-c", code])
    while not beats.exists() or beats.stat().st_size < 20:  # it waits for the tool by now
        assert program.poll() is None
        time.sleep(0.01)
    program.send_signal(number)
    assert program.wait() == -number
    time.sleep(0.2)
    heard = beats.stat().st_size
    time.sleep(0.5)
    assert beats.stat().st_size == heard


def test_what_maps_ends_with_a_program_that_is_told_to_while_it_starts() -> None:
    """Between the start of a tool and its name being known nothing is forgotten."""
    code = (
        "import os, signal, subprocess\n"
        "class Told(subprocess.Popen):\n"
        "    def __init__(self, *arguments, **options):\n"
        "        super().__init__(*arguments, **options)\n"
        "        print(self.pid, flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "subprocess.Popen = Told\n"
        "from dse.silicon.yosys import Yosys, run_yosys\n"
        "run_yosys(Yosys('it', ('sleep', '60')), [], {})"
    )
    program = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert program.returncode == -signal.SIGTERM
    for _ in range(500):  # what it started hears that there is nobody any more
        try:
            os.kill(int(program.stdout), 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    pytest.fail("it goes on")
