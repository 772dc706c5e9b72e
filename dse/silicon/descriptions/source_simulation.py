"""A description simulated as it is written, by Yosys, before any time is spent on mapping it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dse.contract.generators import Design, Vectors
from dse.errors import Fault, StudyError, refuse
from dse.silicon.cells.library import Cell
from dse.silicon.descriptions.description import Reading, elaborating, reading, run_description
from dse.silicon.descriptions.vectors import NOT_COMPARED, bits_written
from dse.silicon.descriptions.waves import read_waves
from dse.silicon.figures import Conditions
from dse.silicon.netlists.answers import Answers
from dse.silicon.netlists.clocks import clock_input
from dse.silicon.netlists.drivers import driven_twice
from dse.silicon.netlists.macros import macro_faults
from dse.silicon.netlists.netlist import read_netlist
from dse.silicon.programs import raise_errors
from dse.silicon.tasks import DesignTask, check_answers
from dse.silicon.yosys import Yosys, chosen_yosys, run_yosys

MOST_CYCLES = 1000
"""So many cycles are simulated; the netlist is held to all of them."""


class Held(NamedTuple):
    """Bits of known answers, how the description was read that gives them, and what to note.

    `inside` has the values of each pin of a macro by cycle, as cells of a table; `described` is
    what Yosys makes of a user's description before it maps it.
    """

    vectors: Vectors
    reads: Reading
    notes: tuple[str, ...]
    inside: Mapping[str, Sequence[str]] = {}
    described: str = ""


def held_vectors(
    task: DesignTask, conditions: Conditions, macros: Mapping[str, Cell] | None = None
) -> Held:
    """Return known answers, those of a user once the description is seen to give them.

    Modules that are called like `macros` are not read as parts of the design, but simulated.

    Raises
    ------
    StudyError
        What is wrong with the description or the table of answers, or the first wrong answer.
    """
    if isinstance(task.vectors, Vectors):
        return Held(task.vectors, Reading.of_text(task.design.verilog), ())
    yosys = chosen_yosys(conditions.time_limit_s)
    top = task.design.top
    script = [*elaborating(top), "write_rtlil described.il"]
    script += ["delete */c:*", "write_json ports.json"]
    reads = reading(task.sources, yosys, top, task.design.parameters, [*(macros or {})])
    found = run_description(yosys, reads, script, done="ports.json")
    files = found.output.files
    ports, described = read_netlist(files["ports.json"], top=top), files["described.il"]
    clock_input(ports, task.design.clock)
    vectors = task.vectors.of(ports, task.design)
    notes = [*task.vectors.notes(ports)]
    modules = _modules(task, described, macros or {}, yosys)
    columns: Mapping[str, Sequence[str]] = {}
    falling = re.search(r"parameter \\CLK_POLARITY (1'0|0)$", described, re.M)
    if modules or not falling:  # else mapping refuses it
        try:
            columns = _simulated(described, modules, vectors, task.design, yosys)
        except StudyError as error:
            if modules:
                raise
            notes.append(
                "answers were not held against the source, which Yosys cannot simulate: "
                + str(error)
            )
        else:
            _hold(task, vectors, columns)
    inside = {name: column for name, column in columns.items() if "." in name}
    succeeded = replace(reads, ways=[found.commands], refused=found.refused)
    return Held(vectors, succeeded, tuple(notes), inside, described)


def _modules(
    task: DesignTask, described: str, macros: Mapping[str, Cell], yosys: Yosys
) -> dict[str, str]:
    """Return the module of each macro that a description has, as Yosys writes it.

    Raises
    ------
    StudyError
        A macro that cannot be simulated: one with parameters, without a module, or not clocked.
    """
    cells = re.findall(r"^  cell \\(\S+) \\?(\S+)$\n((?:    .*\n)*)", described, re.M)
    used = {kind: macros[kind] for kind, _, _ in cells if kind in macros}
    faults = [*macro_faults(used.values())]
    for kind, name, inside in cells:
        if kind in macros and "    parameter " in inside:
            rule = "a macro has no parameters, for the library has one cell of its name"
            remedy = "write the values into its module, and leave them out here"
            faults.append(Fault(name, kind, rule, remedy))
    refuse(faults)
    script = ("hierarchy -check -top {0}", "proc", "tee -q -o drivers check", "write_rtlil {0}.il")
    found = {}
    for kind in used:
        whole = run_description(
            yosys,
            reading(task.sources, yosys, kind),
            [line.format(kind) for line in script],
            done=f"{kind}.il",
        )
        found[kind] = whole.output.files[f"{kind}.il"]
        for signal in driven_twice(whole.output.files["drivers"]):
            rule = "two processes of the macro's module drive it, which cannot be simulated"
            faults.append(Fault(f"{kind}.{signal}", "", rule, "let one process drive it"))
    refuse(faults)
    return found


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
    described: str,
    modules: Mapping[str, str],
    vectors: Vectors,
    design: Design,
    yosys: Yosys,
) -> Mapping[str, Sequence[str]]:
    """Return the values of ports in the first cycles, as cells of a table; with macros in all."""
    cycles = vectors.cycles if modules else min(vectors.cycles, MOST_CYCLES)
    script = ["read_rtlil described.il"]
    script += (f"read_rtlil -overwrite {one}.il" for one in modules)
    script += (f"setattr -mod -set keep_hierarchy 1 {one}" for one in modules)
    script += [f"hierarchy -check -top {design.top}"] if modules else []
    files = {"described.il": described, **{f"{one}.il": text for one, text in modules.items()}}
    return _replayed([*script, "flatten"], files, vectors, cycles, design, yosys)


def _replayed(
    script: Sequence[str],
    files: Mapping[str, str],
    vectors: Vectors,
    cycles: int,
    design: Design,
    yosys: Yosys,
) -> Mapping[str, Sequence[str]]:
    """Return the values of ports, and of modules that are kept, of what a script reads."""
    shown = ["rename -hide w:*", "sim -q -r stimulus.yw -vcd found.vcd", "write_json done.json"]
    stimulus = {"stimulus.yw": _witness(design.clock, vectors, cycles)}
    output = run_yosys(yosys, [*script, *shown], {**files, **stimulus})
    raise_errors(output, (), done="done.json")
    lines = output.files["found.vcd"].splitlines()
    waves = read_waves(lines, file="found.vcd", scope=design.top, clock=design.clock, below=True)
    return dict(zip(waves.headers, waves.columns, strict=True))


def _witness(clock: str, vectors: Vectors, cycles: int) -> str:
    """Return what Yosys replays: inputs change while the clock is high, after its edge.

    A reset without a clock that ended with the edge would let it through.
    """
    widths = {**{port: bits.shape[1] for port, bits in vectors.stimulus.items()}, clock: 1}
    signals = [
        {"path": [f"\\{port}"], "offset": 0, "width": width, "init_only": False}
        for port, width in widths.items()
    ]
    none = np.zeros((vectors.cycles, 0), np.bool_)
    rows = np.concatenate([none, *vectors.stimulus.values()], axis=1)[:cycles, ::-1]
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
