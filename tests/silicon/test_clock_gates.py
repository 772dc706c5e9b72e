"""Clock gates: what they hold, when they must be enabled, and what they save, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.errors import StudyError
from dse.silicon.cells import LookupTable
from dse.silicon.liberty import read_liberty
from dse.silicon.mapping import gated_counts, gating, sized_gates
from dse.silicon.netlist import Netlist, read_netlist
from dse.silicon.power import average_power
from dse.silicon.simulation import Activity, simulate_gates
from dse.silicon.timing import analyse
from dse.silicon.yosys import found_yosys
from tests.silicon.toy import TOY, netlist, yosys_json

NS, PJ = 1e-9, 1e-12
GATE = TOY.with_name("toy_gate.lib")
LIBRARY = read_liberty(TOY, GATE)
ENABLES = np.array([1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1]) == 1
WORDS = np.array([0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0]) == 1


def gated() -> Netlist:
    """A flip-flop that takes `d` where `en` was 1 a cycle before."""
    cells = {
        "enable": "DFF CK=clk D=en Q=a",
        "gate": "GATE CK=clk EN=a TE=0 G=g",
        "held": "DFF CK=g D=d Q=q",
    }
    return netlist(("clk", "d", "en"), ("q",), cells)


def simulated(idle: int = 0) -> Activity:
    timing = analyse(gated(), LIBRARY, clock="clk")
    stimulus = {"d": WORDS[:, None], "en": ENABLES[:, None]}
    return simulate_gates(
        gated(), LIBRARY, timing, clock="clk", stimulus=stimulus, warm_up=3, idle=idle
    )


def test_an_enable_is_early_by_its_setup_and_by_the_delay_of_the_gate() -> None:
    """Clock to Q, rising, 0.12 ns, slew 0.08; setup 0.03 + 0.008; gate 0.05 + 2 x 0.02 = 0.09 ns.

    Falling: 0.06 + 0.04 + 0.004 + 0.09.  The slew of the gated clock is 0.04 + 4 x 0.02 = 0.12, so
    that the flip-flop behind it takes 0.1 + 0.1 x 0.12.
    """
    timing = analyse(gated(), LIBRARY, clock="clk")
    assert timing.period_s == pytest.approx((0.12 + 0.038 + 0.09) * NS)
    assert timing.ends == "gate"
    assert timing.delays[2, "CK", "Q"].rise_s == pytest.approx(0.112 * NS)
    assert timing.delays[1, "CK", "G"].rise_s == pytest.approx(0.09 * NS)


def test_a_flip_flop_behind_a_gate_has_the_slew_of_its_clock() -> None:
    """A setup of 1 ns and a tenth of the clock's slew, which is 0.12 ns there and 0 elsewhere."""
    axis, flip_flop = np.array([0, NS]), LIBRARY.cells["DFF"]
    setup = LookupTable(axis, axis, NS * np.array([[1, 1.1], [1, 1.1]]))
    data = flip_flop.pins["D"]
    arcs = [replace(arc, rise_constraint=setup, fall_constraint=setup) for arc in data.arcs]
    pins = {**flip_flop.pins, "D": replace(data, arcs=tuple(arcs))}
    cells = {**LIBRARY.cells, "DFF": replace(flip_flop, pins=pins)}
    timing = analyse(gated(), replace(LIBRARY, cells=cells), clock="clk")
    assert timing.period_s == pytest.approx(1.012 * NS)
    assert timing.ends == "held"


def test_a_state_is_held_where_its_gate_is_closed() -> None:
    found = simulated(idle=4)
    shown = [False]
    for cycle in range(1, len(WORDS)):
        taken = cycle > 1 and ENABLES[cycle - 2]
        shown.append(bool(WORDS[cycle - 1]) if taken else shown[-1])
    assert found.outputs["q"][3:, 0].tolist() == shown[3:]
    assert found.known["q"][3:].all()
    (net,) = (one.nets["G"] for one in gated().instances if one.name == "gate")
    passed = int(ENABLES[1:-2].sum())  # two edges after it came, in a cycle that is counted
    assert found.toggles[net] == found.settled[net] == 2 * passed
    assert found.high[net] == pytest.approx(passed / found.cycles / 2)
    assert found.idle is not None
    assert (found.idle.cycles, found.idle.toggles[net]) == (4, 8)  # the last enable stays


def test_energies_by_hand() -> None:
    """A cycle in which only clocks move and the gate passes 0.3 pulses, at 1 V.

    clock      pins 0.02 and 0.03 pF, twice, halved                         0.0500 pJ
               the gate's own pin 0.003 + 0.001, the flip-flop's 0.008      0.0120
    behind     0.02 pF x 0.6 / 2                                            0.0060
               output of the gate 0.6 x (0.008 + 0.004) / 2                 0.0036
               flip-flop, slew 0.09: 0.6 x (0.0069 + 0.0029) / 2            0.00294
    """
    logic = gated()
    toggles = np.zeros(logic.net_count, np.int64)
    (net,) = (one.nets["G"] for one in logic.instances if one.name == "gate")
    toggles[net] = 6
    found = simulated()
    counted = type(found)(
        outputs={}, known={}, cycles=10, toggles=toggles, settled=toggles, high=found.high
    )
    timing = analyse(logic, LIBRARY, clock="clk")
    power = average_power(logic, LIBRARY, timing, counted, clock="clk", period_s=1 * NS)
    assert power.dynamic_w * NS == pytest.approx(0.07454 * PJ)
    assert power.leakage_w == pytest.approx(19 * NS)


@pytest.mark.parametrize(("flip_flops", "gates"), [(16, 1), (17, 2), (40, 3)])
def test_gates_are_as_many_as_their_flip_flops_need(flip_flops: int, gates: int) -> None:
    cells = {"gate": "GATE CK=clk EN=en TE=0 G=g"}
    cells |= {f"held{number}": f"DFF CK=g D=d Q=q{number}" for number in range(flip_flops)}
    outputs = [f"q{number}" for number in range(flip_flops)]
    one = read_netlist(yosys_json(["clk", "en", "d"], outputs, cells), top="top")
    found = sized_gates(one, LIBRARY)
    counts = gated_counts(found, LIBRARY, "clk")
    assert counts == {"clock_gates": gates, "gated_flip_flops": flip_flops}
    few, many = (analyse(each, LIBRARY, clock="clk").period_s for each in (one, found))
    assert many < few or gates == 1


@pytest.mark.parametrize(
    ("gate", "rule"),
    [
        ("GATE CK=g EN=en TE=0 G=h", "two.CK: g; a clock gate is clocked by 'clk'"),
        ("NAND2 A=g B=d Y=h", "two.A: g; a clock drives flip-flops only"),
    ],
)
def test_clocks_behind_gates_drive_flip_flops_alone(gate: str, rule: str) -> None:
    cells = {"one": "GATE CK=clk EN=en TE=0 G=g", "two": gate, "held": "DFF CK=g D=d Q=q"}
    with pytest.raises(StudyError, match=rule):
        analyse(netlist(("clk", "d", "en"), ("q", "h"), cells), LIBRARY, clock="clk")


SUM = """
module sum(input clk, input reset, input add, input [7:0] word,
           output reg [7:0] total, output reg [7:0] last);
  always @(posedge clk) begin
    if (reset) total <= 3; else if (add) total <= total + word;
    if (add) last <= reset ? 0 : word;
  end
endmodule
"""


def written_sum(folder: Path) -> None:
    rows, total, last = ["reset,add,word,total,last", "1,1,0,-,-"], 3, 0
    draw = np.random.default_rng(1)
    for cycle in range(60):
        reset, add, word = int(cycle == 30), int(draw.integers(2)), int(draw.integers(256))
        add = add if cycle < 58 else 0
        rows.append(f"{reset},{add},{word},{total},{last}")
        total = 3 if reset else (total + word) % 256 if add else total
        last = (0 if reset else word) if add else last
    (folder / "sum.csv").write_text("\n".join(rows) + "\n")
    (folder / "sum.v").write_text(SUM)


@pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")
def test_gated_hardware_answers_the_same_and_rests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At rest two gates of 0.03 pF: 2 x (0.03 + 0.004) pJ a cycle; 16 multiplexers are saved."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    written_sum(tmp_path)
    own = dse.verilog(
        "sum.v", top="sum", check="sum.csv", payload="8 bit", cycles_per_task="1", latency="1"
    )
    plain, none, both = (
        dse.characterise(own, library=[TOY, GATE], gate_clocks=fewest, targets="fastest")
        .designs[0]
        .figures
        for fewest in (None, 9, 8)
    )
    assert {*both} - {*plain} == {"clock_gates", "gated_flip_flops"}
    assert (none["clock_gates"], both["clock_gates"], both["gated_flip_flops"]) == (0, 2, 16)
    assert both["idle_power_w"] / both["clock_hz"] == pytest.approx(2 * 0.034 * PJ)
    assert plain["idle_power_w"] / plain["clock_hz"] >= 16 * (0.02 + 0.008) * PJ
    assert both["area_m2"] < plain["area_m2"]
    with pytest.raises(
        StudyError, match=r"toy\.lib; the library has no integrated clock gate; add"
    ):
        dse.characterise(own, library=TOY, gate_clocks=8)


def test_a_gate_without_a_setup_is_none(tmp_path: Path) -> None:
    (tmp_path / "gate.lib").write_text(GATE.read_text().replace("setup_rising", "hold_rising"))
    library = read_liberty(TOY, tmp_path / "gate.lib")
    rule = r"no integrated clock gate, not GATE \(no whole setup_rising from CK to EN\); add the"
    with pytest.raises(StudyError, match=rule):
        next(gating(library, 8))
