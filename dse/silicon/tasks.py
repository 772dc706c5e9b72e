"""Tasks of characterisation: designs of a generator or of own Verilog, and their known answers."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dse import removed
from dse.algebra import units
from dse.algebra.expression import is_float, parse_expression
from dse.contract.generators import Bits, Design, Generator, Value, Vectors
from dse.errors import (
    ArgumentError,
    Fault,
    StudyError,
    UnitError,
    UnknownPluginError,
    followed,
    nearest,
    refuse,
    results_of,
    visible,
)
from dse.plugins import registry
from dse.silicon.description import ENDINGS, Reading, elaborating, run_description, source_texts
from dse.silicon.figures import AT_ONE_CLOCK, FIGURES, Target
from dse.silicon.netlist import clock_input, netlist_of, placed
from dse.silicon.vectors import WAVES, WrittenVectors, recorded
from dse.silicon.yosys import chosen_yosys

STIMULUS_SEED = 1
"""Seed of the random tasks of a generator."""

MOST_BIT = 20_000
"""Largest memory.  A larger one would be a macro, with other area and power."""

_MOST_DIGITS = 40
"""Hexadecimal digits of a value that are shown."""

_UNITLESS = ("cycles_per_task", "latency")
_WHOLE = re.compile(r"[+-]?\d+")
_GIVE = {
    "top": "name the outermost module: --top NAME",
    "check": "give a table or waves: --check vectors.csv, --check run.vcd --dut tb.dut",
    "payload": 'give the payload of a task: --payload "8 * WIDTH bit"',
    "cycles_per_task": 'give the cycles from task to task: --cycles-per-task "16 / unroll"',
    "latency": 'give the cycles from input to answer: --latency "16"',
}


def sha256(content: bytes) -> str:
    """Return a hash of some content."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class DesignTask:
    """A design with its inputs and expected outputs.

    Attributes
    ----------
    design
        Its description and the quantities of one task.
    vectors
        Known answers: bits, or a table whose ports are known once the design is read.
    sources
        The user's own descriptions, and the texts of all files that they name.  No files if
        `design` has the text.
    target
        Clock that its logic is mapped for.
    """

    design: Design
    vectors: Vectors | WrittenVectors
    sources: Sequence[str] = ()
    texts: Mapping[Path, str] = field(default_factory=dict)
    target: Target = AT_ONE_CLOCK

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

    def read(self) -> tuple[Vectors, Reading, tuple[str, ...]]:
        """Return known answers, the reading of the description that has their ports, and notes.

        Raises
        ------
        StudyError
            An error in the description or the table of answers, or a memory that is too large.
        """
        design = self.design
        if isinstance(self.vectors, Vectors):
            return self.vectors, Reading.of_text(design.verilog), ()
        reads = Reading.of_files(self.sources, design.top, design.parameters)
        script = [*elaborating(design.top), "write_json described.json"]
        files = run_description(chosen_yosys(), reads, script, done="described.json")
        modules = json.loads(files["described.json"])["modules"]
        ports = netlist_of({design.top: {**modules[design.top], "cells": {}}}, top=design.top)
        clock_input(ports, design.clock)
        vectors = self.vectors.of(ports, design)
        refuse(fault for module in modules.values() for fault in _large_memories(module))
        return vectors, reads, tuple(self.vectors.notes(ports))

    def check_answers(
        self, vectors: Vectors, outputs: Mapping[str, Bits], sure: Mapping[str, Bits]
    ) -> None:
        """Raise StudyError if `outputs` of a netlist are wrong answers, or not `sure`.

        The error has the cycle, port, expected and found value of the first.
        """
        wrong: dict[str, Bits] = {}
        for port, known in vectors.known.items():
            differs = outputs[port] != vectors.expected[port]
            wrong[port] = (differs | ~sure[port]) & known[:, None]
        first = {port: int(np.argmax(bad.any(axis=1))) for port, bad in wrong.items() if bad.any()}
        if not first:
            return
        port = min(first, key=lambda name: first[name])
        cycle = first[port]
        bit = int(np.argmax(wrong[port][cycle]))
        expected, found = (hexadecimal(one[port][cycle]) for one in (vectors.expected, outputs))
        written = f"cycle {cycle}, bit {bit}: expected {expected}, found {found}"
        rule, remedy = "the netlist gives another answer", "correct the design, or the answer"
        if not sure[port][cycle, bit]:
            rule = "the answer depends on a register that nothing has set"
            remedy = "reset it, or give it cycles to fill"
        fault = Fault(port, written, rule, remedy)
        if isinstance(self.vectors, WrittenVectors) and port in self.vectors.table.headers:
            table = self.vectors.table  # which several designs may share
            place = table.fault(cycle, table.headers.index(port), rule, remedy)
            named = f"{self.design.name}: {port}" if place.line else port
            fault = replace(place, where=named, written=written)
        raise StudyError([fault])


def hexadecimal(bits: Bits) -> str:
    """Return the value of a port in hexadecimal, only the end of a wide one."""
    number = int("".join("01"[bit] for bit in bits[::-1].astype(int)), 2)
    digits = f"{number:0{-(-len(bits) // 4)}x}"
    return f"0x{digits}" if len(digits) <= _MOST_DIGITS else f"...{digits[-_MOST_DIGITS:]}"


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


# Designs of a generator, or of own Verilog


@dataclass(frozen=True, kw_only=True)
class Verilog:
    """A user's own hardware, as `dse.verilog` describes it.

    Attributes
    ----------
    sources
        Files of Verilog or SystemVerilog, in the order of reading.
    top, clock_port
        The outermost module, and its clock input.
    check
        CSV of known answers, or waves.  ``{name}`` is replaced by the value of a parameter.
    figures
        Quantities of one task, as written, by the names of `FIGURES`.
    dut
        Instance of the design in waves.
    """

    sources: Sequence[str]
    top: str | None
    check: str | None
    clock_port: str
    figures: Mapping[str, str]
    dut: str = ""

    def design_tasks(self, over: Mapping[str, str]) -> list[DesignTask]:
        """Return the designs with their answers, one per combination of parameters.

        Raises
        ------
        StudyError
            All errors: missing values, else errors in quantities, sources and answers.
        """
        given = {"top": self.top, "check": self.check, **self.figures}
        missing = [name for name in _GIVE if given.get(name) is None]
        refuse(Fault(name, "", "Verilog of your own needs it", _GIVE[name]) for name in missing)
        rows = combinations(over)
        rule = "a parameter of Verilog is a whole number here, no fraction and no text"
        refuse(
            Fault(
                f"over.{name}", text, rule, f"write whole numbers with commas between: {name}=8,16"
            )
            for name, text in over.items()
            if not all(isinstance(row[name], int) for row in rows)
        )
        return results_of(*(partial(self._task, row) for row in rows))

    def _task(self, parameters: Mapping[str, Value]) -> DesignTask:
        figures, texts, vectors = results_of(
            lambda: self._figures(parameters),
            lambda: source_texts(self.sources),
            lambda: self._answers(parameters),
        )
        top = str(self.top)
        design = Design(
            name="_".join(f"{key}{value}" for key, value in parameters.items()) or top,
            parameters=parameters,
            verilog="\n".join(texts.values()),
            top=top,
            clock=self.clock_port,
            **figures,
        )
        return DesignTask(design, vectors, self.sources, texts)

    def _figures(self, parameters: Mapping[str, Value]) -> dict[str, Any]:
        """Return each quantity in SI for a combination of parameters."""
        names = [name for name in FIGURES if name in self.figures]
        values = results_of(*(partial(_value, self.figures[one], one, parameters) for one in names))
        found = {FIGURES[name]: value for name, value in zip(names, values, strict=True)}
        flights = max(1.0, float(np.ceil(found["latency_cycles"] / found["cycles_per_task"])))
        once = found["payload_bit"] / 8.0
        found["latency_cycles"] = round(found["latency_cycles"])
        return {"tasks_in_flight": flights, "read_byte": once, "written_byte": once, **found}

    def _answers(self, parameters: Mapping[str, Value]) -> WrittenVectors:
        """Return the known answers of a combination of parameters."""
        try:
            path = Path(str(self.check).format(**parameters))
        except (KeyError, IndexError, ValueError):
            rule = "braces hold the name of a parameter"
            remedy = nearest("", parameters) if parameters else "leave them out"
            raise StudyError([Fault("check", repr(self.check), rule, remedy)]) from None
        if instead := removed.remedy("value", f"check={path.suffix}"):
            raise StudyError([Fault("check", str(path), removed.RULE, instead)])
        if path.suffix == WAVES:
            return WrittenVectors(recorded(path, self.dut, self.clock_port))
        if self.dut:
            rule = "only waves have an instance of the design"
            remedy = f"check against a file that ends in {WAVES}"
            raise StudyError([Fault("dut", self.dut, rule, remedy)])
        return WrittenVectors.read(path)


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
            rule, remedy = "values are between commas, each of them once", f"write {name}=1,2,4"
            faults.append(Fault(f"over.{name}", written, rule, remedy))
        values.append([int(part) if _WHOLE.fullmatch(part) else part for part in parts])
    refuse(faults)
    return [dict(zip(over, row, strict=True)) for row in product(*values)]


def _value(text: str, name: str, parameters: Mapping[str, Value]) -> float:
    """Return a quantity in SI: a number, or an expression over parameters before a unit.

    ``8 * WIDTH bit`` is 8 * WIDTH times the value of ``1 bit``.
    """
    count, factor = text, 1.0
    try:
        if name not in _UNITLESS and not is_float(text):
            found = re.fullmatch(r"(.*[\s\d)])([^\W\d].*)", text.strip())
            count, unit = found.groups() if found else ("1", text)
            factor = units.parse(f"1 {unit}" if found else unit, FIGURES[name])
        if is_float(count):
            value = factor * float(count)
        else:
            numbers = {key: np.array(float(one)) for key, one in parameters.items()}
            value = factor * float(
                parse_expression(count, [*numbers], constant=True).value(numbers)
            )
    except UnitError as error:
        raise StudyError([Fault(name, repr(text), error.rule, error.remedy)]) from None
    if not 0 < value < math.inf:
        rule = "it must be positive and finite"
        raise StudyError([Fault(name, repr(text), rule, "write for instance 16")])
    return value


def are_files(hardware: Iterable[str]) -> bool:
    """Return whether hardware is files of Verilog, not the name of a generator."""
    return any(Path(one).suffix in ENDINGS for one in hardware)


def generated(name: str, over: Mapping[str, str], tasks: int) -> list[DesignTask]:
    """Return designs of a generator with random tasks, by default all that it ships.

    A generator, parameters or values that are not there are errors, all reported at once.
    """
    try:
        generator = registry.get(Generator, name)
    except UnknownPluginError as error:
        rule, instead = error.rule, removed.remedy("value", f"hardware={Path(name).suffix}")
        remedy = followed(error.remedy, f"files of Verilog end in {' or '.join(ENDINGS)}")
        fault = Fault("hardware", "", rule, remedy)
        if instead:
            fault = Fault("hardware", name, removed.RULE, instead)
        raise StudyError([fault]) from None
    designs: list[Design] = []
    faults = []
    for parameters in combinations(over) if over else generator.designs:
        try:
            designs.append(generator(**parameters))
        except ArgumentError as error:
            faults.append(Fault("over", "", str(error), ""))
    refuse(faults)
    return [
        DesignTask(design, generator.answers(design, seed=STIMULUS_SEED, tasks=tasks))
        for design in _named_apart(designs)
    ]


def _named_apart(designs: Sequence[Design]) -> Iterator[Design]:
    """Yield designs.  Equal names are extended by the parameters that differ."""
    for design in designs:
        alike = [one.parameters for one in designs if one.name == design.name]
        differing = [
            f"{key}{value}"
            for key, value in design.parameters.items()
            if any(one[key] != value for one in alike)
        ]
        yield replace(design, name="_".join([design.name, *differing]))
