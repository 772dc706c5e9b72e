"""A toy library, and netlists of it written by hand as Yosys would write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from dse.silicon.cells import CellLibrary
from dse.silicon.liberty import read_liberty
from dse.silicon.netlist import Netlist, read_netlist

TOY = Path(__file__).with_name("toy.lib")

Cells = Mapping[str, str]
"""By the name of an instance: ``"NAND2 A=a B=b Y=c"``."""


@cache
def toy() -> CellLibrary:
    return read_liberty(TOY)


def yosys_json(inputs: Sequence[str], outputs: Sequence[str], cells: Cells) -> str:
    """Return a module ``top``; nets are words, ``0``, ``1`` and ``x`` are constants."""
    numbers: dict[str, int] = {}

    def bit(net: str) -> int | str:
        return net if net in "01x" else numbers.setdefault(net, 2 + len(numbers))

    ports = {name: {"direction": "input", "bits": [bit(name)]} for name in inputs}
    ports |= {name: {"direction": "output", "bits": [bit(name)]} for name in outputs}
    instances = {}
    for name, written in cells.items():
        kind, *pins = written.split()
        nets = {pin: [bit(net)] for pin, net in (pair.split("=") for pair in pins)}
        instances[name] = {"type": kind, "connections": nets}
    names = {name: {"hide_name": 0, "bits": [number]} for name, number in numbers.items()}
    module = {"ports": ports, "cells": instances, "netnames": names}
    return json.dumps({"creator": "by hand", "modules": {"top": module}})


def netlist(inputs: Sequence[str], outputs: Sequence[str], cells: Cells) -> Netlist:
    return read_netlist(yosys_json(inputs, outputs, cells), top="top")


def verilog(inputs: Sequence[str], outputs: Sequence[str], cells: Cells) -> str:
    """Return the same module as structural Verilog."""
    lines = [f"module top ({', '.join([*inputs, *outputs])});"]
    lines += [f"  input {name};" for name in inputs] + [f"  output {name};" for name in outputs]
    nets = {pair.split("=")[1] for written in cells.values() for pair in written.split()[1:]}
    lines += [f"  wire {net};" for net in sorted(nets - {*inputs, *outputs, "0", "1"})]
    for name, written in cells.items():
        kind, *pins = written.split()
        joined = ", ".join(f".{pin}({net})" for pin, net in (pair.split("=") for pair in pins))
        lines.append(f"  {kind} {name} ({joined});")
    return "\n".join([*lines, "endmodule", ""])


PATH = {
    "start": "DFF CK=clk D=d Q=a",
    "nand": "NAND2 A=a B=b Y=c",
    "inv": "INV A=c Y=e",
    "end": "DFF CK=clk D=e Q=q",
}
"""A path between two flip-flops: `clk`, `d` and `b` are inputs, `q` is an output."""


def path() -> Netlist:
    return netlist(("clk", "d", "b"), ("q",), PATH)
