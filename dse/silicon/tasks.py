"""Tasks of characterisation: designs with their descriptions, and their known answers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from dse.contract.generators import Bits, Design, Value, Vectors
from dse.errors import Fault, StudyError, refuse
from dse.silicon.descriptions.description import elaborated
from dse.silicon.descriptions.sources import NO_SOURCES, Sources
from dse.silicon.descriptions.vectors import WrittenVectors
from dse.silicon.figures import STATED, Target
from dse.silicon.kept_results import sha256
from dse.silicon.netlists.gates import Answers

MOST_DIGITS = 40
"""Hexadecimal digits of a value that are shown."""

_WHOLE = re.compile(r"[+-]?\d+")


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
        """Return the hash of every file, and of the elaborated design if a macro names a file.

        A parameter may name one, too.
        """
        text = self.design.verilog
        if not self.sources.is_wholly_named:
            text += elaborated(self.sources, self.design.top, self.design.parameters)
        return sha256(text.encode())

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


def check_answers(
    task: DesignTask, vectors: Vectors, found: Answers, what: str = "netlist"
) -> None:
    """Raise StudyError if a design's netlist, or the simulated `what`, gives a wrong answer.

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
        rule, remedy = f"the {what} gives another answer", "correct the design, or the answer"
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


def combinations(over: Mapping[str, str]) -> list[dict[str, Value]]:
    """Return every combination of values, written ``1,2,4``, with whole numbers as integers.

    Examples
    --------
    >>> combinations({"unroll": "1, 2", "structure": "chained"})
    [{'unroll': 1, 'structure': 'chained'}, {'unroll': 2, 'structure': 'chained'}]
    """
    faults = []
    values: list[list[Value]] = []
    for name, written in over.items():
        parts = [part.strip() for part in written.strip("[]").split(",")]
        if not all(parts) or len({*parts}) < len(parts):
            rule, remedy = "values stand between commas, each of them once", f"write {name}=1,2,4"
            faults.append(Fault(f"over.{name}", written, rule, remedy))
        values.append([int(part) if _WHOLE.fullmatch(part) else part for part in parts])
    refuse(faults)
    return [dict(zip(over, row, strict=True)) for row in product(*values)]
