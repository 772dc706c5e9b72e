"""Activity against Icarus Verilog, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dse.silicon.simulation import simulate_gates
from tests.silicon.netlists import CLOCK, GATES, LIBRARY, PINS, Case, made

WARM_UP = 4
EXPRESSIONS = {
    "tie": {"Y": "1'b1"},
    "inv": {"Y": "~{A}"},
    "nand": {"Y": "~({A} & {B})"},
    "xor": {"Y": "{A} ^ {B}"},
    "mux": {"Y": "({A} & ~{C}) | ({B} & {C})"},
    "add": {"S": "{A} ^ {B} ^ {C}", "T": "({A} & {B}) | ({C} & ({A} ^ {B}))"},
}


def verilog(case: Case, name: str, *, delays: bool) -> str:
    """Return a module that runs a case by itself: values by cycle, then toggles by net."""
    netlist = case.netlist
    nets = range(3, netlist.net_count)
    lines = [f"module {name};", "wire n0 = 0, n1 = 1; reg n2 = 0; reg counting = 0;"]
    lines += [f"reg n{net};" for net in netlist.inputs["a"]]
    lines += [f"wire n{net};" for net in nets if net not in netlist.inputs["a"]]
    for k, instance in enumerate(netlist.instances):
        own = {pin: f"n{net}" for pin, net in instance.nets.items()}
        expressions = EXPRESSIONS.get(instance.cell, {"Q": f"s{k}", "N": f"~s{k}"})
        if instance.cell == "dff":
            lines += [f"reg s{k} = 0; always @(posedge n{CLOCK}) s{k} <= {own['D']};"]
        for pin, expression in expressions.items():
            cause = (PINS.get(instance.cell) or "K")[0]
            up, down = case.ticks.get((k, cause, pin), (1, 1))
            after = f"#({up},{down})" if delays else ""
            lines += [f"reg f{k}{pin}; always_comb f{k}{pin} = {expression.format(**own)};"]
            lines += [f"assign {after} {own[pin]} = f{k}{pin};"]
    lines += [f"integer t{net} = 0;" for net in nets]
    lines += [f"always @(n{net}) if (counting) t{net} = t{net} + 1;" for net in nets]
    lines += ["initial begin"]
    shown = ",".join(f"n{net}" for net in reversed(netlist.outputs["z"]))
    for number, row in enumerate(case.stimulus):
        if number == WARM_UP:
            lines += ["counting = 1;"]
        lines += [f"n{CLOCK} = 1;" if number else ""]
        lines += [
            f"n{net} <= {int(bit)};" for net, bit in zip(netlist.inputs["a"], row, strict=True)
        ]
        half = case.period // 2
        lines += [f"#{half} n{CLOCK} = 0; #{case.period - half - 1}"]
        lines += [f'$display("{name} z %b", {{{shown}}});' if number >= WARM_UP else "", "#1"]
    counts = ",".join(f"t{net}" for net in nets)
    lines += [f'$display("{name} t{" %0d" * len(nets)}", {counts});', "end", "endmodule"]
    return "\n".join(lines)


@pytest.mark.skipif(not shutil.which("iverilog"), reason="iverilog is not installed")
@pytest.mark.parametrize("delays", [True, False])
def test_outputs_and_glitches_are_those_of_icarus_verilog(tmp_path: Path, delays: bool) -> None:
    """Its delays of an assignment are inertial, one for all inputs.

    Delays are long, so that no two events share an instant: there the order is Icarus's own.
    """
    slowest = (300_000, 900_000, 3_000_000)
    cases = {
        f"m{k}": made(k, gates=60, flip_flops=6, slowest=slowest[k % 3], cycles=24, by_pin=False)
        for k in range(12)
    }
    written = [verilog(case, name, delays=delays) for name, case in cases.items()]
    source, compiled = tmp_path / "all.v", tmp_path / "all.vvp"
    source.write_text("`timescale 1fs/1fs\n" + "\n".join(written))
    tops = [word for name in cases for word in ("-s", name)]
    subprocess.run(["iverilog", "-g2012", *tops, "-o", compiled, source], check=True)
    said = subprocess.run(["vvp", "-n", compiled], check=True, capture_output=True, text=True)
    glitches = 0
    for name, case in cases.items():
        found = simulate_gates(
            case.netlist,
            LIBRARY,
            case.timing,
            clock="clk",
            stimulus={"a": case.stimulus},
            warm_up=WARM_UP,
        )
        own = [line.split()[1:] for line in said.stdout.splitlines() if line.startswith(name + " ")]
        rows = [list(reversed(words[1])) for words in own if words[0] == "z"]
        toggles = [int(word) for words in own if words[0] == "t" for word in words[1:]]
        assert np.where(found.outputs["z"][WARM_UP:], "1", "0").tolist() == rows
        ours = found.toggles if delays else found.settled
        if delays:
            assert ours[3:].tolist() == toggles
        else:
            assert found.settled.sum() <= found.toggles.sum()
        glitches += int(sum(found.toggles - found.settled))
    assert glitches > 100


def test_both_writings_of_a_cell_are_known() -> None:
    assert EXPRESSIONS.keys() == GATES.keys()
