"""Tasks of characterisation: designs with their known answers, and the check of these."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dse.algebra import units
from dse.contract.generators import Bits, Design, Vectors
from dse.errors import Fault, StudyError, refuse, visible
from dse.silicon.description import (
    NO_SOURCES,
    Reading,
    Sources,
    elaborating,
    reading,
    run_description,
)
from dse.silicon.figures import STATED, Conditions, Target
from dse.silicon.gates import Answers
from dse.silicon.netlist import clock_input, placed, read_netlist
from dse.silicon.vectors import NOT_COMPARED, WrittenVectors, bits_written, read_waves
from dse.silicon.yosys import Yosys, chosen_yosys, raise_errors, run_yosys


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


# A description simulated as it is written, by Yosys, before any time is spent on mapping it

MOST_SIMULATED = 1000
"""Number of simulated cycles.  The netlist is checked in every cycle."""

MOST_BIT = 20_000
"""Largest memory.  A larger one would be a macro, with other area and power."""

_MEMORY = re.compile(
    r'^  attribute \\src "(.*)"\n'
    r"  memory (?:width (\d+) )?(?:size (\d+) )?(?:offset \S+ )?\\(\S+)$",
    re.M,
)
_WRITTEN = re.compile(r'^  cell \$memwr\S* \S+\n    parameter \\MEMID "\\\\(.*)"$', re.M)


class Held(NamedTuple):
    """Bits of known answers, the reading of the description that gives them, and notes."""

    vectors: Vectors
    reads: Reading
    notes: tuple[str, ...]


def held_vectors(task: DesignTask, conditions: Conditions) -> Held:
    """Return known answers, a user's only after the description is simulated to give them.

    Raises
    ------
    StudyError
        An error in the description or the table of answers, a memory that is too large, or
        the first wrong answer.
    """
    if isinstance(task.vectors, Vectors):
        return Held(task.vectors, Reading.of_text(task.design.verilog), ())
    yosys = chosen_yosys(conditions.time_limit_s)
    top = task.design.top
    script = [*elaborating(top), "write_rtlil described.il"]
    script += ["delete */c:*", "write_json ports.json"]
    reads = reading(task.sources, yosys, top, task.design.parameters)
    found = run_description(yosys, reads, script, done="ports.json")
    files = found.output.files
    ports, described = read_netlist(files["ports.json"], top=top), files["described.il"]
    clock_input(ports, task.design.clock)
    vectors = task.vectors.of(ports, task.design)
    notes = [*task.vectors.notes(ports)]
    if not re.search(r"parameter \\CLK_POLARITY (1'0|0)$", described, re.M):  # mapping refuses it
        try:
            columns = _simulated(described, vectors, task.design, yosys)
        except StudyError as error:
            notes.append(
                "answers were not held against the source, which Yosys cannot simulate: "
                + str(error)
            )
        else:
            _hold(task, vectors, columns)
    memories = _memories_in(described)
    refuse(_too_large(memories))
    notes += (f"made of flip-flops: {one}" for one in memories)
    return Held(vectors, replace(reads, ways=[found.commands], refused=found.refused), (*notes,))


def _hold(task: DesignTask, vectors: Vectors, columns: Mapping[str, Sequence[str]]) -> None:
    """Raise StudyError if a description gives a wrong answer.

    Bits that are unknown to Yosys are not compared: if one bit of a sum is unknown, Yosys takes
    all of them for unknown, a netlist only some.
    """
    found = _answers(vectors, columns)
    known = {
        port: vectors.known[port][: len(bits)] & bits[:, 0] for port, bits in found.known.items()
    }
    first = {port: bits[: len(known[port])] for port, bits in vectors.expected.items()}
    known_first = replace(vectors, expected=first, known=known)
    check_answers(task, known_first, found, what="description")


def _answers(vectors: Vectors, columns: Mapping[str, Sequence[str]]) -> Answers:
    """Return the outputs of columns.  An unknown bit makes all bits of that output unknown."""
    values, known = {}, {}
    for port, expected in vectors.expected.items():
        values[port] = bits_written(columns[port], expected.shape[1])
        said = np.array([[cell != NOT_COMPARED] for cell in columns[port]])
        known[port] = np.broadcast_to(said, values[port].shape)
    return Answers(values, known)


def _simulated(
    described: str, vectors: Vectors, design: Design, yosys: Yosys
) -> Mapping[str, Sequence[str]]:
    """Return the values of ports in the first cycles, as cells of a table."""
    files = {"described.il": described, "stimulus.yw": _witness(design.clock, vectors)}
    script = ["read_rtlil described.il", "flatten", "rename -hide w:*"]
    script += ["sim -q -r stimulus.yw -vcd found.vcd", "write_json done.json"]
    output = run_yosys(yosys, script, files)
    raise_errors(output, (), done="done.json")
    lines = output.files["found.vcd"].splitlines()
    waves = read_waves(lines, file="found.vcd", scope=design.top, clock=design.clock)
    return dict(zip(waves.headers, waves.columns, strict=True))


def _witness(clock: str, vectors: Vectors) -> str:
    """Return the trace that Yosys replays: inputs change while the clock is high, after its edge.

    A reset without a clock that ended with the edge would let it through.
    """
    widths = {**{port: bits.shape[1] for port, bits in vectors.stimulus.items()}, clock: 1}
    signals = [
        {"path": [f"\\{port}"], "offset": 0, "width": width, "init_only": False}
        for port, width in widths.items()
    ]
    none = np.zeros((vectors.cycles, 0), np.bool_)
    rows = np.concatenate([none, *vectors.stimulus.values()], axis=1)[:MOST_SIMULATED, ::-1]
    texts = ("".join("01"[bit] for bit in row) for row in rows.astype(int))
    steps = [f"{level}{text}" for text in texts for level in "101"]
    return json.dumps(
        {
            "format": "Yosys Witness Trace",
            "clocks": [],
            "signals": signals,
            "steps": [{"bits": bits} for bits in steps[1:]],
        }
    )


class Memory(NamedTuple):
    """A memory that is written.  `source` is its place."""

    name: str
    words: int
    width: int
    source: str

    @property
    def bits(self) -> int:
        """Return how many it has."""
        return self.words * self.width

    def __str__(self) -> str:
        """Return name and size as messages have them."""
        size = units.show(self.bits, "memory_bit")
        return f"{self.name}, a memory of {size} ({self.words} x {self.width})"


def _memories_in(described: str) -> list[Memory]:
    """Return the memories that a description writes to, as Yosys has it after ``proc``."""
    written = {*_WRITTEN.findall(described)}
    return [
        Memory(visible(name), int(words or 1), int(width or 1), source)
        for source, width, words, name in _MEMORY.findall(described)
        if name in written
    ]


def _too_large(memories: Iterable[Memory]) -> Iterator[Fault]:
    """Yield memories that are not made of flip-flops, because they have more than `MOST_BIT`."""
    for one in memories:
        if one.bits > MOST_BIT:
            most = units.show(MOST_BIT, "memory_bit")
            rule = f"memories become flip-flops here, of at most {most}"
            remedy = "characterise the design with a smaller one, or leave it outside"
            shown = f"{units.show(one.bits, 'memory_bit')} ({one.words} x {one.width})"
            yield placed(Fault(one.name, shown, rule, remedy), one.source)
