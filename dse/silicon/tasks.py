"""Tasks of characterisation: designs with their known answers, and the check of these."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract.generators import Bits, Design, Vectors
from dse.errors import Fault, StudyError, refuse, visible
from dse.silicon.description import (
    NO_SOURCES,
    Reading,
    Sources,
    elaborating,
    run_description,
)
from dse.silicon.figures import STATED, Target
from dse.silicon.gates import Answers
from dse.silicon.netlist import clock_input, netlist_of, placed
from dse.silicon.vectors import WrittenVectors
from dse.silicon.yosys import chosen_yosys


def sha256(content: bytes) -> str:
    """Return a hash of some content."""
    return hashlib.sha256(content).hexdigest()


MOST_DIGITS = 40
"""Hexadecimal digits of a value that are shown."""


@dataclass(frozen=True)
class DesignTask:
    """A design with its inputs and expected outputs.

    Attributes
    ----------
    design
        Its description and the quantities of one task.
    vectors
        Known answers: bits, or a table whose ports are known once the design is mapped.
    sources
        The user's own descriptions.  No files if `design` has the text.
    target
        Clock that its logic is mapped for.
    """

    design: Design
    vectors: Vectors | WrittenVectors
    sources: Sources = NO_SOURCES
    target: Target = STATED

    @cached_property
    def description_sha256(self) -> str:
        """Return the hash of every file."""
        return sha256(self.design.verilog.encode())

    @cached_property
    def vectors_sha256(self) -> str:
        """Return the hash of stimulus and answers."""
        if isinstance(self.vectors, WrittenVectors):
            return sha256(self.vectors.table.text.encode())
        digest = hashlib.sha256(str(self.vectors.warm_up).encode())
        for part in (self.vectors.stimulus, self.vectors.expected, self.vectors.known):
            for port, bits in part.items():
                digest.update(f"{port} {bits.shape} ".encode())
                digest.update(np.packbits(bits).tobytes())
        return digest.hexdigest()


def check_answers(task: DesignTask, vectors: Vectors, found: Answers) -> None:
    """Raise StudyError if a design's netlist gives a wrong answer.

    Raises
    ------
    StudyError
        The first wrong answer: cycle, port, expected, found.  The design is named if the answers
        are in a table, which several designs may share.
    """
    wrong: dict[str, Bits] = {}
    for port, known in vectors.known.items():
        differs = found.outputs[port] != vectors.expected[port]
        wrong[port] = (differs | ~found.known[port]) & known[:, None]
    first = {port: int(np.argmax(bad.any(axis=1))) for port, bad in wrong.items() if bad.any()}
    if not first:
        return
    port = min(first, key=lambda name: first[name])
    cycle = first[port]
    bit = int(np.argmax(wrong[port][cycle]))
    expected, given = (hexadecimal(one[port][cycle]) for one in (vectors.expected, found.outputs))
    written = f"cycle {cycle}, bit {bit}: expected {expected}, found {given}"
    if found.known[port][cycle, bit]:
        rule, remedy = "the netlist gives another answer", "correct the design, or the answer"
    else:
        rule = "the answer depends on a register that nothing has set"
        remedy = "reset it, or give it cycles to fill"
    table = task.vectors.table if isinstance(task.vectors, WrittenVectors) else None
    if table is None or port not in table.headers:
        raise StudyError([Fault(port, written, rule, remedy)])
    fault = table.fault(cycle, table.headers.index(port), rule, remedy)
    named = f"{task.design.name}: {port}" if fault.line else port
    raise StudyError([replace(fault, where=named, written=written)])


def hexadecimal(bits: Bits) -> str:
    """Return the value of a port in hexadecimal, only the end of a wide one."""
    number = int("".join("01"[bit] for bit in bits[::-1].astype(int)), 2)
    digits = f"{number:0{-(-len(bits) // 4)}x}"
    return f"0x{digits}" if len(digits) <= MOST_DIGITS else f"...{digits[-MOST_DIGITS:]}"


# Descriptions of users, read before any time is spent on mapping them

MOST_BIT = 20_000
"""Largest memory.  A larger one would be a macro, with other area and power."""


def read_task(task: DesignTask) -> tuple[Vectors, Reading, tuple[str, ...]]:
    """Return known answers, the reading of the description that has their ports, and notes.

    Raises
    ------
    StudyError
        An error in the description or the table of answers, or a memory that is too large.
    """
    design = task.design
    if isinstance(task.vectors, Vectors):
        return task.vectors, Reading.of_text(design.verilog), ()
    reads = Reading.of_files(task.sources, design.top, design.parameters)
    script = [*elaborating(design.top), "write_json described.json"]
    files = run_description(chosen_yosys(), reads, script, done="described.json")
    modules = json.loads(files["described.json"])["modules"]
    ports = netlist_of({design.top: {**modules[design.top], "cells": {}}}, top=design.top)
    clock_input(ports, design.clock)
    vectors = task.vectors.of(ports, design)
    refuse(fault for module in modules.values() for fault in _large_memories(module))
    return vectors, reads, tuple(task.vectors.notes(ports))


def _large_memories(module: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield an error for each memory of more than `MOST_BIT` that a module writes to."""
    cells = module["cells"].values()
    written = {one["parameters"]["MEMID"] for one in cells if one["type"].startswith("$memwr")}
    for name, one in module.get("memories", {}).items():
        bits = one["size"] * one["width"]
        if f"\\{name}" in written and bits > MOST_BIT:
            shown, most = (units.show(each, "memory_bit") for each in (bits, MOST_BIT))
            size = f"{shown} ({one['size']} x {one['width']})"
            rule = f"memories become flip-flops here, of at most {most}"
            remedy = "characterise the design with a smaller one, or leave it outside"
            fault = Fault(visible(name), size, rule, remedy)
            yield placed(fault, str(one["attributes"].get("src", "")))
