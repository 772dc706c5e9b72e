"""A description simulated as it is written, by Yosys, before any time is spent on mapping it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dse.contract.generators import Design, Vectors
from dse.errors import StudyError
from dse.silicon.answers import Answers
from dse.silicon.description import Reading, elaborating, reading, run_description
from dse.silicon.figures import Conditions
from dse.silicon.netlist import read_netlist
from dse.silicon.programs import raise_errors
from dse.silicon.tasks import DesignTask, check_answers
from dse.silicon.timing import clock_input
from dse.silicon.vectors import NOT_COMPARED, bits_written
from dse.silicon.waves import read_waves
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
        What is wrong with the description or the table of answers, or the first wrong answer.
    """
    if isinstance(task.vectors, Vectors):
        return Held(task.vectors, Reading.of_text(task.design.verilog), ())
    yosys, limit_s = chosen_yosys(conditions.tool), conditions.time_limit_s
    top = task.design.top
    script = [*elaborating(top), "write_rtlil described.il"]
    script += ["delete */c:*", "write_json ports.json"]
    reads = reading(task.sources, yosys, top, task.design.parameters)
    found = run_description(yosys, reads, script, done="ports.json", time_limit_s=limit_s)
    files = found.output.files
    ports, described = read_netlist(files["ports.json"], top=top), files["described.il"]
    clock_input(ports, task.design.clock)
    vectors = task.vectors.of(ports, task.design)
    notes = [*task.vectors.notes(ports)]
    if not re.search(r"parameter \\CLK_POLARITY (1'0|0)$", described, re.M):
        notes += _hold(task, vectors, described, yosys, limit_s)  # else mapping refuses it
    return Held(vectors, reads.narrowed(found), tuple(notes))


def _hold(
    task: DesignTask, vectors: Vectors, described: str, yosys: Yosys, limit_s: float
) -> Iterator[str]:
    """Refuse a description that gives a wrong answer; yield why it cannot be simulated.

    Bits that Yosys takes for unknown are not compared: of a sum with an unknown bit that is all of
    them, in a netlist only some.
    """
    try:
        columns = _simulated(described, vectors, task.design, yosys, limit_s)
    except StudyError as error:
        yield f"answers were not held against the source, which Yosys cannot simulate: {error}"
        return
    values, known = {}, {}
    for port, expected in vectors.expected.items():
        cells = columns[port]
        values[port] = bits_written(cells, expected.shape[1])
        said = np.array([cell != NOT_COMPARED for cell in cells])
        known[port] = vectors.known[port][: len(cells)] & said
    first = {port: bits[: len(values[port])] for port, bits in vectors.expected.items()}
    every = {port: np.ones_like(bits) for port, bits in values.items()}
    known_first = replace(vectors, expected=first, known=known)
    check_answers(task, known_first, Answers(values, every), what="description")


def _simulated(
    described: str, vectors: Vectors, design: Design, yosys: Yosys, time_limit_s: float
) -> Mapping[str, Sequence[str]]:
    """Return the values of ports in the first cycles, as cells of a table."""
    script = [
        *("read_rtlil described.il", "flatten", "rename -hide w:*"),
        *("sim -q -r stimulus.yw -vcd found.vcd", "write_json done.json"),
    ]
    files = {"described.il": described, "stimulus.yw": _witness(design.clock, vectors)}
    output = run_yosys(yosys, script, files, time_limit_s=time_limit_s)
    raise_errors(output, (), done="done.json")
    lines = output.files["found.vcd"].splitlines()
    waves = read_waves(lines, file="found.vcd", scope=design.top, clock=design.clock)
    return dict(zip(waves.headers, waves.columns, strict=True))


def _witness(clock: str, vectors: Vectors) -> str:
    """Return inputs as Yosys replays them: a step for each cycle, and the edge after the last."""
    signals = [
        {"path": [f"\\{port}"], "offset": 0, "width": bits.shape[1], "init_only": False}
        for port, bits in vectors.stimulus.items()
    ]
    none = np.zeros((vectors.cycles, 0), np.bool_)
    rows = np.concatenate([none, *vectors.stimulus.values()], axis=1)[:MOST_CYCLES]
    rows = np.concatenate([rows, rows[-1:]])[:, ::-1]
    edge = {"path": [f"\\{clock}"], "edge": "posedge", "offset": 0}
    return json.dumps(
        {
            "format": "Yosys Witness Trace",
            "clocks": [edge],
            "signals": signals,
            "steps": [{"bits": "".join("01"[bit] for bit in row)} for row in rows.astype(int)],
        }
    )
