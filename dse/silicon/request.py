"""Requests for characterisation: a generator, or own Verilog with the place of its answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import removed
from dse.algebra import units
from dse.algebra.expression import is_float, parse_expression
from dse.contract.generators import Design, Generator, Value
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
)
from dse.files.document import no_such
from dse.plugins import registry
from dse.silicon.description import ENDINGS, Sources
from dse.silicon.figures import FIGURES, Target
from dse.silicon.flow import Characteriser
from dse.silicon.tasks import DesignTask
from dse.silicon.vectors import WAVES, WrittenVectors, recorded

_WHOLE = re.compile(r"[+-]?\d+")


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


_UNITLESS = ("cycles_per_task", "latency")
"""Quantities without a unit."""


@dataclass(frozen=True, kw_only=True)
class Verilog:
    """A user's own hardware, as `dse.verilog` describes it.

    Attributes
    ----------
    sources
        Verilog or SystemVerilog.
    top, clock_port
        The outermost module, and its clock input.
    check
        CSV of known answers, or waves.  ``{name}`` is replaced by the value of a parameter.
    figures
        Quantities of one task, as written, by the names of `FIGURES`.
    dut
        Instance of the design in waves.
    """

    sources: Sources
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
        _check_whole(over)
        return results_of(*(partial(self._task, row) for row in combinations(over)))

    def _task(self, parameters: Mapping[str, Value]) -> DesignTask:
        figures, texts, vectors = results_of(
            lambda: self._figures(parameters),
            lambda: self.sources.texts,
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
        return DesignTask(design, vectors, self.sources)

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
        path = _placed(str(self.check), parameters)
        if instead := removed.remedy("value", f"check={path.suffix}"):
            raise StudyError([Fault("check", str(path), removed.RULE, instead)])
        if path.suffix == WAVES:
            return WrittenVectors(recorded(path, self.dut, self.clock_port))
        if self.dut:
            rule = "only waves have an instance of the design"
            remedy = f"check against a file that ends in {WAVES}"
            raise StudyError([Fault("dut", self.dut, rule, remedy)])
        return WrittenVectors.read(path)


_GIVE = {
    "top": "name the outermost module: --top NAME",
    "check": "give a table or waves: --check vectors.csv, --check run.vcd --dut tb.dut",
    "payload": 'give the payload of a task: --payload "8 * WIDTH bit"',
    "cycles_per_task": 'give the cycles from task to task: --cycles-per-task "16 / unroll"',
    "latency": 'give the cycles from input to answer: --latency "16"',
}


def _check_whole(over: Mapping[str, str]) -> None:
    """Raise StudyError if Yosys would read the value of a Verilog parameter as text."""
    refuse(
        Fault(
            f"over.{name}",
            written,
            "a parameter of Verilog is a whole number here, no fraction and no text",
            f"write whole numbers with commas between: {name}=8,16",
        )
        for name, written in over.items()
        if not all(isinstance(row[name], int) for row in combinations({name: written}))
    )


def _value(text: str, name: str, parameters: Mapping[str, Value]) -> float:
    """Return a quantity in SI: a number, or an expression over parameters before a unit."""
    numbers = {key: np.array(float(one)) for key, one in parameters.items()}
    try:
        plain = name in _UNITLESS or is_float(text)
        count, factor = (text, 1.0) if plain else _before_unit(text, FIGURES[name])
        value = factor * _number(count, numbers)
    except UnitError as error:
        raise StudyError([Fault(name, repr(text), error.rule, error.remedy)]) from None
    if not math.isfinite(value):
        rule, remedy = "it must be a finite number", "write for instance 16"
        raise StudyError([Fault(name, repr(text), rule, remedy)])
    if value <= 0:
        raise StudyError([Fault(name, repr(text), "it must be positive", "write a larger value")])
    return value


def _number(text: str, numbers: Mapping[str, NDArray[np.float64]]) -> float:
    """Return a number, which may be infinite or NaN, or the value of an expression."""
    if is_float(text):
        return float(text)
    return float(parse_expression(text, [*numbers], constant=True).value(numbers))


def _before_unit(text: str, quantity: str) -> tuple[str, float]:
    """Return the text before a unit, and the unit's value: ``8 * WIDTH`` and 1 of ``bit``."""
    found = re.fullmatch(r"(.*[\s\d)])([^\W\d].*)", text.strip())
    if found is None:
        return "1", units.parse(text, quantity)
    return found[1], units.parse(f"1 {found[2]}", quantity)


def _placed(written: str, parameters: Mapping[str, Value]) -> Path:
    try:
        return Path(written.format(**parameters))
    except (KeyError, IndexError, ValueError):
        rule = "braces hold the name of a parameter"
        remedy = nearest("", parameters) if parameters else "leave them out"
        raise StudyError([Fault("check", repr(written), rule, remedy)]) from None


# Requests as text: reading, checks and names in a table

_SEED = 1
"""Seed of the random tasks of a generator."""


def are_files(hardware: Iterable[str]) -> bool:
    """Return whether hardware is files of Verilog, not the name of a generator."""
    return any(Path(one).suffix in ENDINGS for one in hardware)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request: a generator by its name, or Verilog, over values of parameters."""

    hardware: str | Verilog
    over: Mapping[str, str]
    tasks: int

    @property
    def name(self) -> str:
        """Return its name in texts."""
        return self.hardware if isinstance(self.hardware, str) else str(self.hardware.top)

    def design_tasks(self) -> list[DesignTask]:
        """Return the designs with their answers.

        Raises
        ------
        StudyError
            Everything that is wrong with them.
        """
        if not isinstance(self.hardware, str):
            return self.hardware.design_tasks(self.over)
        chosen = combinations(self.over) if self.over else []
        try:
            return _generated(self.hardware, chosen, self.tasks)
        except UnknownPluginError as error:
            remedy = followed(error.remedy, f"files of Verilog end in {' or '.join(ENDINGS)}")
            if instead := removed.remedy("value", f"hardware={Path(self.hardware).suffix}"):
                raise StudyError(
                    [Fault("hardware", self.hardware, removed.RULE, instead)]
                ) from None
            raise StudyError([Fault("hardware", "", error.rule, remedy)]) from None

    def check_output(self, out: Path, tasks: Sequence[DesignTask], others: Iterable[Path]) -> None:
        """Raise StudyError if the output is an input file: a description, answers or `others`.

        Raises
        ------
        StudyError
            The output is one of them, by any name.
        """
        read = [*others]
        for task in tasks:
            read += task.sources.texts
            if isinstance(task.vectors, WrittenVectors):
                read.append(Path(task.vectors.table.file))
        if any(out.exists() and out.samefile(one) for one in read):
            rule, remedy = "the table would replace one of its inputs", "name another file"
            raise StudyError([Fault("out", str(out), rule, remedy)])

    def remarks(self, characteriser: Characteriser, targets: Sequence[Target]) -> Iterator[str]:
        """Yield the lines above a table: the design, its source and its stimulus."""
        origin, what = "", self.hardware
        stimulus = f"{self.tasks} random tasks at least, seed {_SEED}"
        if isinstance(what, str):
            origin = f"{registry.get(Generator, what).source}; "
        else:
            stimulus = Path(str(what.check)).name
            what = ", ".join(Path(one).name for one in what.sources.files)
        yield f"source: {origin}characterised by dse from {what}"
        yield from characteriser.remarks(targets)
        yield f"stimulus: {stimulus}"


def _generated(name: str, chosen: Sequence[Mapping[str, Value]], tasks: int) -> list[DesignTask]:
    """Return designs of a generator with random tasks, by default all that it ships.

    Raises
    ------
    StudyError
        A parameter or a value that the generator does not have, all errors at once.
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
            faults.append(Fault("over", "", str(error), ""))
    refuse(faults)
    return [
        DesignTask(design, generator.answers(design, seed=_SEED, tasks=tasks))
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


def check_library_files(files: Sequence[str | Path]) -> None:
    """Raise StudyError if files of a library do not exist.

    Raises
    ------
    StudyError
        All of them at once.
    """
    missing = [Path(file) for file in files if not Path(file).is_file()]
    faults = [fault for path in missing for fault in no_such(path, "file", "*.lib*").faults]
    if faults or not files:
        none = Fault("library", "", "no file", "name a .lib file")
        raise StudyError(faults or [none])


def between_commas(given: str | Sequence[str]) -> list[str]:
    """Return the parts between commas, of one text or several."""
    several = [given] if isinstance(given, str) else [*given]
    return [part.strip() for text in several for part in text.split(",") if part.strip()]
