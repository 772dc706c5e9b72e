"""What is to be characterised: designs with their descriptions, and what is known of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path

import numpy as np

from dse.contract.generators import Design, Generator, Value, Vectors
from dse.errors import ArgumentError, Fault, StudyError, nearest, results_of
from dse.plugins import registry
from dse.silicon.answers import Answers
from dse.silicon.description import elaborated
from dse.silicon.sources import NO_SOURCES, Sources
from dse.silicon.targets import STATED, Target
from dse.silicon.testbench import TESTBENCH, WAVES, recorded
from dse.silicon.vectors import RISES, WrittenVectors, first_wrong

_WHOLE = re.compile(r"[+-]?\d+")
_SAME_PACE = 0.01
"""Relative; the last task of a table may be short of a whole pace."""


@dataclass(frozen=True)
class DesignTask:
    """A design, and what goes into it and must come out.

    Attributes
    ----------
    design
        Its description and what one task is.
    vectors
        Known answers: bits, or a table whose ports are known once the design is mapped.
    sources
        Descriptions of the user's own; no files where `design` has the text.
    target
        What its logic is mapped for, and how it multiplies.
    """

    design: Design
    vectors: Vectors | WrittenVectors
    sources: Sources = NO_SOURCES
    target: Target = STATED

    @property
    def row(self) -> str:
        """The name of its row: of the design, and of what it is mapped for."""
        return f"{self.design.name}{self.target.suffix}"

    @cached_property
    def description_sha256(self) -> str:
        """Hash of the description: of every file, and where a macro or a parameter names one, of
        what elaborates from it.
        """
        text = self.design.verilog
        if not self.sources.is_wholly_named:
            text += elaborated(self.sources, self.design.top, self.design.parameters)
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def vectors_sha256(self) -> str:
        """Hash of stimulus and answers."""
        if isinstance(self.vectors, WrittenVectors):
            return hashlib.sha256(self.vectors.table.text.encode()).hexdigest()
        digest = hashlib.sha256(str(self.vectors.warm_up).encode())
        for part in (self.vectors.stimulus, self.vectors.expected, self.vectors.known):
            for port, bits in part.items():
                digest.update(f"{port} {bits.shape} ".encode())
                digest.update(np.packbits(bits).tobytes())
        return digest.hexdigest()


def check_answers(
    task: DesignTask, vectors: Vectors, found: Answers, what: str = "netlist"
) -> None:
    """Refuse a design whose netlist, or `what` else was simulated, gives a wrong answer.

    Raises
    ------
    StudyError
        The first one, with the design; tables of answers may be those of several.
    """
    written_in = task.vectors if isinstance(task.vectors, WrittenVectors) else None
    wrong = first_wrong(vectors, found, written_in, what)
    if wrong is not None:
        named = f"{task.design.name}: {wrong.where}" if wrong.line else wrong.where
        raise StudyError([replace(wrong, where=named)])


@dataclass(frozen=True)
class OwnHardware:
    """What a user says of hardware of his own.

    Attributes
    ----------
    sources
        Verilog or SystemVerilog, and how it is read.
    top, clock
        The outermost module, and its clock input.
    check
        CSV of known answers, waves or testbench; ``{name}`` stands for a parameter.
    dut
        Instance of the design in waves or testbench.
    warm_up
        Cycles before transitions are counted; 0 for those before the first answer.
    done
        Output that is 1 as a task ends, by which tasks are counted; empty where none is.
    time_limit_s
        Longest time that a testbench runs.
    """

    sources: Sources
    top: str
    clock: str
    check: str
    time_limit_s: float
    dut: str = ""
    warm_up: int = 0
    chosen: Sequence[Mapping[str, Value]] = field(default_factory=lambda: [{}])
    done: str = ""

    @cached_property
    def vectors(self) -> Sequence[WrittenVectors]:
        """Known answers of each combination of parameters.

        Raises
        ------
        StudyError
            What is wrong with them, all at once.
        """
        return results_of(*(partial(self._vectors, parameters) for parameters in self.chosen))

    def _vectors(self, parameters: Mapping[str, Value]) -> WrittenVectors:
        path = _placed(self.check, parameters)
        if path.suffix in (*TESTBENCH, *WAVES):
            table = recorded(
                path,
                self.dut,
                self.clock,
                self.sources,
                parameters,
                time_limit_s=self.time_limit_s,
            )
            return WrittenVectors(table, self.warm_up, self.done)
        if self.dut:
            rule = "only waves and testbenches have an instance of the design"
            remedy = f"check against one that ends in {' or '.join((*TESTBENCH, *WAVES))}"
            raise StudyError([Fault(where="dut", written=self.dut, rule=rule, remedy=remedy)])
        return WrittenVectors.read(path, self.warm_up, self.done)

    def counted_cycles(self, stated: Sequence[float] | None) -> list[float]:
        """Return cycles from task to task as the answers have them, for each combination.

        ``(last - first) / (n - 1)`` of the cycles in which `done` says that a task ends.

        Raises
        ------
        StudyError
            Tables have no such output, it may be 1 between tasks, or their tasks contradict what
            was stated.
        """
        found = []
        for place, vectors in enumerate(self.vectors):
            rows = vectors.ends()
            cycles = float(np.diff(rows).mean())
            rule = remedy = ""
            if stated is not None and abs(stated[place] / cycles - 1) > _SAME_PACE:
                rule = f"{self.done} says that a task ends every {cycles:.4g} cycles"
                remedy = "correct it or omit it"
            elif stated is None and 1 < np.count_nonzero(np.diff(rows) > 1) + 1 < len(rows):
                rule = f"{self.done} is 1 in {len(rows)} cycles, some of them in a row"
                rule += ": it may stay 1 where no task ends"
                remedy = f"write `{RISES}{self.done}` if so; else state {cycles:.4g} cycles"
            if rule:
                written = "" if stated is None else f"{stated[place]:g}"
                fault = Fault(where="cycles_per_task", written=written, rule=rule, remedy=remedy)
                raise StudyError([fault])
            found.append(cycles)
        return found


def combinations(over: Mapping[str, str]) -> list[dict[str, Value]]:
    """Return every combination of values, written ``1,2,4``; whole numbers are numbers.

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
            faults.append(Fault(where=f"over.{name}", written=written, rule=rule, remedy=remedy))
        values.append([int(part) if _WHOLE.fullmatch(part) else part for part in parts])
    if faults:
        raise StudyError(faults)
    return [dict(zip(over, row, strict=True)) for row in product(*values)]


def generated(
    name: str, chosen: Sequence[Mapping[str, Value]], *, seed: int, tasks: int
) -> list[DesignTask]:
    """Return designs of a generator with random tasks; all that it ships if none are chosen.

    Raises
    ------
    StudyError
        A parameter or a value that the generator does not have; all faults at once.
    UnknownPluginError
        There is no such generator.
    """
    generator = registry.get(Generator, name)
    designs = []
    faults = []
    for parameters in chosen or generator.designs:
        try:
            designs.append(generator(**parameters))
        except ArgumentError as error:
            faults.append(Fault(where="over", written="", rule=str(error), remedy=""))
    if faults:
        raise StudyError(faults)
    return [
        DesignTask(design, generator.answers(design, seed=seed, tasks=tasks))
        for design in _named_apart(designs)
    ]


def _named_apart(designs: Sequence[Design]) -> Iterator[Design]:
    """Yield designs; those of one name get the parameters in which they differ behind it."""
    for design in designs:
        alike = [one.parameters for one in designs if one.name == design.name]
        differing = [
            f"{key}{value}"
            for key, value in design.parameters.items()
            if any(one[key] != value for one in alike)
        ]
        yield replace(design, name="_".join([design.name, *differing]))


def written_by_hand(
    own: OwnHardware, figures_of: Mapping[str, Sequence[float]]
) -> list[DesignTask]:
    """Return designs of files of the user's own, one for each combination of parameters.

    `figures_of` has what one task is, in SI: ``payload_bit``, ``cycles_per_task``,
    ``latency_cycles``, ...: a value for each.

    Raises
    ------
    StudyError
        A file cannot be read, or a table of answers has a fault; all at once.
    """
    texts, vectors = results_of(lambda: own.sources.texts, lambda: own.vectors)
    found = []
    for place, parameters in enumerate(own.chosen):
        name = "_".join(f"{key}{value}" for key, value in parameters.items()) or own.top
        figures = {key: values[place] for key, values in figures_of.items()}
        design = Design(
            name=name,
            parameters=parameters,
            verilog="\n".join([*own.sources.define, *texts.values()]),
            top=own.top,
            clock=own.clock,
            payload_bit=figures["payload_bit"],
            cycles_per_task=figures["cycles_per_task"],
            latency_cycles=round(figures["latency_cycles"]),
            tasks_in_flight=figures["tasks_in_flight"],
            read_byte=figures["read_byte"],
            written_byte=figures["written_byte"],
        )
        found.append(DesignTask(design, vectors[place], own.sources))
    return found


def _placed(written: str, parameters: Mapping[str, Value]) -> Path:
    try:
        return Path(written.format(**parameters))
    except (KeyError, IndexError, ValueError):
        rule = "braces hold the name of a parameter"
        remedy = nearest("", parameters) if parameters else "leave them out"
        fault = Fault(where="check", written=repr(written), rule=rule, remedy=remedy)
        raise StudyError([fault]) from None
