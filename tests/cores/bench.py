"""Simulation of a design in registers and cycles with Icarus Verilog, against its answers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dse.contract.generators import Bits, Design, Vectors

needs_icarus = pytest.mark.skipif(
    shutil.which("iverilog") is None, reason="needs iverilog (Icarus Verilog)"
)


def first_wrong(design: Design, vectors: Vectors, folder: Path) -> str:
    """Return the first wrong output, empty when every known one is right."""
    printed = simulated(design, vectors, folder)
    for cycle in range(vectors.cycles):
        for port, expected in vectors.expected.items():
            if vectors.known[port][cycle]:
                wanted = text_of(expected[cycle])
                if printed[port][cycle] != wanted:
                    return f"{port} in cycle {cycle}: {printed[port][cycle]}, not {wanted}"
    return ""


def text_of(bits: Bits) -> str:
    return "".join("01"[bit] for bit in bits[::-1].astype(int))


def simulated(design: Design, vectors: Vectors, folder: Path) -> dict[str, list[str]]:
    """Return what each output shows at each clock edge, as binary text."""
    (folder / "design.v").write_text(design.verilog)
    packed = np.hstack(list(vectors.stimulus.values()))
    rows = "\n".join(text_of(row) for row in packed)
    (folder / "stimulus.txt").write_text(rows + "\n")
    (folder / "bench.v").write_text(bench(design, vectors))
    compiled = folder / "bench.out"
    sources = [folder / "bench.v", folder / "design.v"]
    subprocess.run(
        ["iverilog", "-g2001", "-Wall", "-Wno-timescale", "-o", compiled, *sources], check=True
    )
    run = subprocess.run(
        ["vvp", "-n", compiled], cwd=folder, capture_output=True, text=True, check=True
    )
    shown = [line.split() for line in run.stdout.splitlines()]
    return dict(zip(vectors.expected, map(list, zip(*shown, strict=True)), strict=True))


def bench(design: Design, vectors: Vectors) -> str:
    widths = {port: bits.shape[1] for port, bits in vectors.stimulus.items()}
    answers = {port: bits.shape[1] for port, bits in vectors.expected.items()}
    total = sum(widths.values())
    ports = [f".{port}({port})" for port in (*widths, *answers)]
    return "\n".join(
        [
            "`timescale 1ns/1ps",
            "module bench;",
            "reg clock = 0;",
            *(f"reg [{width - 1}:0] {port};" for port, width in widths.items()),
            *(f"wire [{width - 1}:0] {port};" for port, width in answers.items()),
            f"reg [{total - 1}:0] rows [0:{vectors.cycles - 1}];",
            f"{design.top} core (.{design.clock}(clock), {', '.join(ports)});",
            "integer cycle;",
            "initial begin",
            '  $readmemb("stimulus.txt", rows);',
            f"  for (cycle = 0; cycle < {vectors.cycles}; cycle = cycle + 1) begin",
            f"    {{{', '.join(reversed(widths))}}} = rows[cycle];",
            f'    #5 $display("{" ".join("%b" for _ in answers)}", {", ".join(answers)});',
            "    clock = 1; #5 clock = 0;",
            "  end",
            "end",
            "endmodule\n",
        ]
    )
