"""A description simulated as it is written, by Yosys, before any time is spent on mapping it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dse.contract.generators import Design, Vectors
from dse.errors import StudyError, refuse
from dse.silicon.descriptions.description import Reading, elaborating, reading, run_description
from dse.silicon.descriptions.vectors import NOT_COMPARED, bits_written
from dse.silicon.descriptions.waves import read_waves
from dse.silicon.figures import Conditions
from dse.silicon.netlists.answers import Answers
from dse.silicon.netlists.clocks import clock_input
from dse.silicon.netlists.memories import memories_in, too_large
from dse.silicon.netlists.netlist import read_netlist
from dse.silicon.programs import raise_errors
from dse.silicon.tasks import DesignTask, check_answers
from dse.silicon.yosys import Yosys, chosen_yosys, run_yosys

MOST_CYCLES = 1000
"""So many cycles are simulated; the netlist is held to all of them."""


class Held(NamedTuple):
    """Bits of known answers, how the description was read that gives them, and what to note."""

    vectors: Vectors
    reads: Reading
    notes: tuple[str, ...]


def held_vectors(task: DesignTask, conditions: Conditions) -> Held:
    """Return known answers, those of a user once the description is seen to give them.

    Raises
    ------
    StudyError
        What is wrong with the description or the table of answers, a memory that is too large, or
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
    memories = memories_in(described)
    refuse(too_large(memories))
    notes += (f"made of flip-flops: {one}" for one in memories)
    return Held(vectors, replace(reads, ways=[found.commands], refused=found.refused), (*notes,))


def _hold(task: DesignTask, vectors: Vectors, columns: Mapping[str, Sequence[str]]) -> None:
    """Refuse a description that gives a wrong answer.

    Bits that Yosys takes for unknown are not compared: of a sum with an unknown bit that is all of
    them, in a netlist only some.
    """
    found = _answers(vectors, columns)
    known = {
        port: vectors.known[port][: len(bits)] & bits[:, 0] for port, bits in found.known.items()
    }
    first = {port: bits[: len(known[port])] for port, bits in vectors.expected.items()}
    known_first = replace(vectors, expected=first, known=known)
    check_answers(task, known_first, found, what="description")


def _answers(vectors: Vectors, columns: Mapping[str, Sequence[str]]) -> Answers:
    """Return the outputs of columns; where a bit is unknown, all of that output are."""
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
    """Return what Yosys replays: inputs change while the clock is high, after its edge.

    A reset without a clock that ended with the edge would let it through.
    """
    widths = {**{port: bits.shape[1] for port, bits in vectors.stimulus.items()}, clock: 1}
    signals = [
        {"path": [f"\\{port}"], "offset": 0, "width": width, "init_only": False}
        for port, width in widths.items()
    ]
    none = np.zeros((vectors.cycles, 0), np.bool_)
    rows = np.concatenate([none, *vectors.stimulus.values()], axis=1)[:MOST_CYCLES, ::-1]
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
