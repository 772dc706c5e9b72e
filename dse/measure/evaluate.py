"""Quantities and the evaluator from the `evaluate` section of a study."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from dse.algebra import units
from dse.algebra.magnitudes import compared_with_zero
from dse.algebra.units import duration
from dse.contract import Column, Objective
from dse.contract.evaluators import (
    Evaluator,
    Measurement,
    Ranges,
    RecordedEvaluator,
    Shelf,
    Value,
    key,
)
from dse.errors import UnitError, nearest, plural
from dse.files.document import Document
from dse.files.headers import DIMENSIONLESS
from dse.files.inputs import Input, base_of, content_of, locate
from dse.files.json import read_regular, reason
from dse.measure.command import Command, placeholders, taken_names, wrong_arguments
from dse.measure.function import FileFunction, FunctionEvaluator, code_identity, require_function
from dse.measure.outputs import Declared
from dse.model.beforehand import MOST_CODES
from dse.model.measured import Bench, Design, MeasuredColumns, MemoryShelf
from dse.model.problem import Problem
from dse.model.space import Axis, Space, unit_names_of
from dse.plugins import registry
from dse.search.settings import SearchSettings
from dse.study import schema, workload_interface_budget
from dse.study.axes import written_unit
from dse.study.reader import Path, Reader
from dse.study.tables import column_quantity, columns_of, read_input, refuse_impossible

_PLAIN = ("", *DIMENSIONLESS)
"""Texts that mean no unit."""

LARGEST_FILE_BYTE = 16 * 2**20
"""Most bytes of a file that is part of an evaluator."""

_BESIDE = re.compile(r"\{study\}/([^{}]+)")

AxisUnits = Mapping[str, str | None]
"""Written unit of each axis, or None for choices."""


@dataclass(frozen=True)
class Outputs:
    """Measured outputs: quantity in SI -> unit of the output, and its place in the study.

    `ranges` has least and most of outputs that have them, in SI.  The study states the least of the
    `stated` ones.
    """

    units: Mapping[str, str]
    places: Mapping[str, Path]
    ranges: Mapping[str, tuple[float, float]]
    stated: frozenset[str]


def outputs_of(section: schema.EvaluateSection, reader: Reader) -> Outputs:
    """Return the outputs of a section."""
    found: dict[str, str] = {}
    places: dict[str, Path] = {}
    ranges: dict[str, tuple[float, float]] = {}
    stated: set[str] = set()
    known = registry.names(Objective)
    for name, said in section.outputs.items():
        place: Path = ("outputs", name)
        about = said if isinstance(said, schema.OutputSection) else schema.OutputSection(unit=said)
        with reader.at(place):
            quantity, unit = _quantity(name, about.unit)
            if quantity in found:
                raise UnitError(f"two outputs are {quantity}", "write one of them")
            found[quantity], places[quantity] = unit, (*reader.path, *place)
            ranges |= _range(quantity, unit, about, quantity in known)
            stated |= {quantity} if about.least is not None else set()
    if not section.outputs:
        rule = "a measurement has at least one output"
        reader.fault(("outputs",), rule, "add for instance `outputs: {area: um2}`", "")
    return Outputs(found, places, ranges, frozenset(stated))


def _range(
    quantity: str, unit: str, said: schema.OutputSection, known: bool
) -> dict[str, tuple[float, float]]:
    """Return least and most of an output, if any.  Values of models are rarely below 0."""
    ends = []
    for written in (said.least, said.most):
        plain = isinstance(written, int | float)
        text = f"{written} {unit}".rstrip() if plain else written
        ends.append(None if text is None else units.parse(text, quantity))
    least, most = ends
    if least is None and known and not registry.get(Objective, quantity).signed:
        least = 0.0
    if least is None and most is None:
        return {}
    found = -math.inf if least is None else least, math.inf if most is None else most
    if found[0] >= found[1]:
        raise UnitError("its least is not below its most", "correct one of them")
    return {quantity: found}


def _quantity(name: str, unit: str | int | None) -> tuple[str, str]:
    """Return the quantity of an output, with its SI unit, and the unit of the output."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise UnitError("the name of an output is letters, digits and _", "rename it")
    if unit is None:
        rule = "an output has a unit"
        raise UnitError(
            rule, f"write for instance `{name}: um2`, or `{name}: 1` for a plain number"
        )
    unit = "" if str(unit) in _PLAIN else str(unit)
    suffix = units.factor(unit)[1]
    own = units.suffix(name)
    if own and own != suffix:
        raise UnitError(
            f"{name} is in {units.label(name)}, not in {unit or 'no unit'}", "rename it"
        )
    return name if own or not suffix else f"{name}_{suffix}", unit


def evaluator_of(
    section: schema.EvaluateSection,
    declared: Outputs,
    axis_units: AxisUnits,
    reader: Reader,
) -> Evaluator | None:
    """Return the evaluator of a section, or None after an error."""
    _note_unused(section, axis_units, reader)
    if reader.document.recorded is not None:
        _files(section, reader)
        return replace(reader.document.recorded, outputs=declared.units)
    function = reader.document.evaluate
    ways = {
        "command": section.command,
        "function": section.function,
        "a function": function,
    }
    given = [name for name, there in ways.items() if there is not None]
    if len(given) != 1:
        rule = (
            "designs are measured by one of `command`, `function`, or a function given to dse.run"
        )
        reader.fault((), rule, f"remove one of {', '.join(given)}" if given else "add one", "")
        return None
    if section.command is not None:
        return _command(section, declared, axis_units, reader)
    _refuse_exits(section, reader)
    if section.timeout is not None and function is None:
        rule = "a function cannot be ended when its time is over"
        reader.fault(("timeout",), rule, "remove it, or write a command")
    if section.memory is not None:
        rule = "a function has the memory of this program"
        reader.fault(("memory",), rule, "remove it, or write a command")
    if section.function is not None:
        return _function(section, declared, axis_units, reader)
    if function is None:
        return None
    _require_arguments(function, axis_units, reader)
    known = _known(section, declared, reader, function=code_identity(function))
    return FunctionEvaluator(function=function, **known)


def _function(
    section: schema.EvaluateSection, declared: Outputs, axis_units: AxisUnits, reader: Reader
) -> FileFunction | None:
    """Return a function of a file beside the study, which is read here and not imported."""
    written = str(section.function)
    name, _, function = written.rpartition(":")
    place, where = locate(reader.document, name), ("function",)
    if not (name.endswith(".py") and function.isidentifier()):
        rule = "a function is written as its file and its name"
        reader.fault(where, rule, "write for instance `function: model.py:area`")
        return None
    try:
        text = read_regular(place, LARGEST_FILE_BYTE).decode()
    except (OSError, ValueError) as error:
        reader.fault(where, f"{name} cannot be read: {reason(error)}", base_of(reader.document), "")
        return None
    with reader.at(where):
        require_function(text, function, axis_units)
    known = _known(section, declared, reader, function=written)
    return FileFunction(file=str(place.absolute()), name=function, **known)


def _known(
    section: schema.EvaluateSection, declared: Outputs, reader: Reader, **parts: object
) -> dict[str, Any]:
    """Return the arguments of any evaluator: outputs, their declarations, and its identity.

    A design has the same values if `parts`, outputs, files and version are the same, as canonical
    JSON.
    """
    version = "" if section.version is None else str(section.version)
    parts |= {"outputs": dict(declared.units), "version": version}
    parts["files"] = _files(section, reader)
    said = {name: part for name, part in parts.items() if part}
    signs = section.infeasible or schema.InfeasibleSection()
    exits = signs.exit if isinstance(signs.exit, list) else [signs.exit]
    words = {
        name: tuple(str(each) for each in (value if isinstance(value, list) else [value]))
        for name, value in signs.output.items()
    }
    return {
        "outputs": declared.units,
        "identity": json.dumps(said, sort_keys=True),
        "declared": Declared(
            ranges=declared.ranges, stated=declared.stated, infeasible=words, exits=tuple(exits)
        ),
    }


def _files(section: schema.EvaluateSection, reader: Reader) -> dict[str, str]:
    """Return the hash of each file of a section, and keep these with the run."""
    return _file_hashes(_own_files(section.command or (), section.function), section.files, reader)


def _file_hashes(own: Sequence[str], patterns: Sequence[str], reader: Reader) -> dict[str, str]:
    """Return the hash of each of its `own` files and of the files that `patterns` name.

    They are kept in the inputs of `reader`, to be copied to the run.
    """
    found = {}
    for position, pattern in [*((None, name) for name in own), *enumerate(patterns)]:
        where: Path = ("command",) if position is None else ("files", position)
        names = _matching(pattern, reader.document) if position is not None else [pattern]
        if not names and not reader.document.recorded:
            reader.fault(where, f"no file matches {pattern!r}", base_of(reader.document), "")
        for name in names:
            try:
                content = content_of(reader.document, name, LARGEST_FILE_BYTE + 1)
            except (OSError, ValueError) as error:
                if position is not None and not reader.document.recorded:
                    reader.fault(where, f"{name} cannot be read: {reason(error)}", "check it", "")
                continue  # another rule reports errors of the program and its arguments
            if len(content) > LARGEST_FILE_BYTE:
                reader.notes.append(
                    f"{name} has more than {LARGEST_FILE_BYTE >> 20} MiB: changes of its content "
                    f"go unnoticed; announce them by another `version`"
                )
                continue
            reader.inputs[name] = Input(name, content)
            found[name] = hashlib.sha256(content).hexdigest()
    return found


def _matching(pattern: str, document: Document) -> list[str]:
    """Return the files beside the study that a pattern names, sorted."""
    if document.recorded:  # for a finished run only its copies count
        known = {*document.inputs, *document.contents}
        return sorted(name for name in known if FilePath(name).match(pattern))
    if not any(mark in pattern for mark in "*?["):
        return [pattern]
    base = FilePath(document.file).parent
    return sorted(str(one.relative_to(base)) for one in base.glob(pattern) if one.is_file())


def _own_files(command: Sequence[object], function: str | None) -> list[str]:
    """Return the program and arguments of a command that lie beside the study.

    For a function, return its file.
    """
    if function is not None:
        return [function.rpartition(":")[0]]
    arguments = [str(argument) for argument in command]
    program = [one for one in arguments[:1] if "/" in one and "{" not in one]
    return program + [match[1] for one in arguments if (match := _BESIDE.fullmatch(one))]


def _refuse_exits(section: schema.EvaluateSection, reader: Reader) -> None:
    if section.infeasible is not None and section.infeasible.exit:
        rule = "a function has no exit status"
        reader.fault(("infeasible", "exit"), rule, "remove it, and raise dse.InfeasibleDesign")


def _note_unused(section: schema.EvaluateSection, axis_units: AxisUnits, reader: Reader) -> None:
    """Note the axes that no argument of a command names, even for a finished run."""
    arguments = [str(argument) for argument in section.command or ()]
    if not arguments or wrong_arguments(arguments, axis_units):
        return
    named = {name for name, _ in placeholders(arguments)}
    unused = [name for name in axis_units if name not in named]
    if unused and "input" not in named:
        reader.notes.append(
            f"no argument of the command uses {', '.join(unused)}: the program has to read it "
            f"from design.json, in its working folder"
        )


def _require_arguments(
    function: Callable[..., object], axis_units: AxisUnits, reader: Reader
) -> None:
    """Report a function that does not take the axes of the study."""
    try:
        inspect.signature(function).bind(**dict.fromkeys(axis_units))
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        rule = f"{name} is called with {', '.join(axis_units)}: {error}"
        reader.fault((), rule, "name its arguments and the axes alike", "")
    except ValueError:  # of a function of C, whose arguments are unknown
        return


def _command(
    section: schema.EvaluateSection, declared: Outputs, axis_units: AxisUnits, reader: Reader
) -> Command | None:
    arguments = [str(argument) for argument in section.command or ()]
    for name in taken_names(axis_units):
        rule = f"{{{name}}} stands for something else in a command"
        replace(reader, path=("axes",)).fault((name,), rule, "rename the axis", repr(name))
    where = reader.below("command")
    for position, rule, remedy in wrong_arguments(arguments, axis_units):
        where.fault((position,), rule, remedy)
    _require_program(arguments[0], where.below(0))
    timeout, memory = section.timeout, section.memory
    return Command(
        arguments=tuple(arguments),
        beside=str(FilePath(reader.document.file).parent.absolute()),
        units={name: unit for name, unit in axis_units.items() if unit},
        timeout_s=None if timeout is None else timeout.value,
        memory_byte=None if memory is None else int(memory.value),
        **_known(section, declared, reader, arguments=arguments),
    )


def _require_program(program: str, reader: Reader) -> None:
    """Report a program that cannot be started."""
    document = reader.document
    if "{" in program:
        return
    if "/" not in program:
        if shutil.which(program) is None:
            rule = f"no program {program!r} is found in PATH"
            reader.fault((), rule, f"install it, or write './{program}' for one in its folder", "")
        return
    place = locate(document, program)
    if not place.is_file():
        known = [entry.name for entry in place.parent.glob("*")] if place.parent.is_dir() else []
        remedy = nearest(place.name, known) if known else base_of(document)
        reader.fault((), f"there is no file {str(place)!r}", remedy, "")
    elif not os.access(place, os.X_OK):
        rule = f"{str(place)!r} is not executable"
        reader.fault((), rule, f"make it so: chmod +x {place.name}", "")


def measured_of(
    written: schema.StudyFile, outputs: Outputs, space: Space, reader: Reader
) -> MeasuredColumns | None:
    """Return the measured outputs of a study, or None after an error."""
    section, here = written.evaluate or schema.EvaluateSection(), reader.below("evaluate")
    before = len(reader.faults)
    own = written.axes.keys() - workload_interface_budget.DECLARED.keys()
    free = [place for place, axis in enumerate(space.axes) if axis.name in own]
    axes = [space.axes[place] for place in free]
    if not axes:
        rule = "a design that is measured differs in axes of the study, and it has none of its own"
        here.fault((), rule, "add for instance `axes: {unroll: [1, 2, 4]}`", "")
    axis_units = {
        axis.name: written_unit(written.axes[axis.name]) if axis.ordered else None for axis in axes
    }
    evaluator = evaluator_of(section, outputs, axis_units, here)
    pool = rows_of(written, space.axes, reader) if axes else None
    if evaluator is None or len(reader.faults) > before:
        return None
    bench = bench_of(evaluator, reader.document, axes, outputs.ranges)
    return MeasuredColumns(bench, tuple(free), tuple(outputs.units), pool=pool)


def bench_of(
    evaluator: Evaluator,
    document: Document,
    axes: Sequence[Axis],
    ranges: Ranges,
) -> Bench:
    """Return the measurements of the designs of an evaluator.

    A finished run recorded designs of all values of its sweep, also outside these axes.
    """
    found: dict[str, tuple[Design, Measurement]] = {}
    if isinstance(evaluator, RecordedEvaluator):
        found = {
            key(evaluator.identity, design): (design, measurement)
            for design, measurement in evaluator.found
            if all(design.get(axis.name) in axis.places for axis in axes)
        }
        shelf: Shelf = MemoryShelf()
        shelf.keep({one: pair[1] for one, pair in found.items()}, {})
    else:
        shelf_of = document.shelves or (lambda identity, ranges: MemoryShelf())
        shelf = shelf_of(evaluator.identity, ranges)
    return Bench(evaluator, shelf, found, unit_names_of(axes))


def measured_quantities(
    written: schema.StudyFile, space: Space, reader: Reader
) -> tuple[MeasuredColumns | None, dict[str, Objective]]:
    """Return the measured columns of a study, and their quantities.  Errors are added."""
    section = written.evaluate or schema.EvaluateSection()
    outputs = outputs_of(section, reader.below("evaluate"))
    taken = {name for axis in space.axes for name in axis.columns} | set(space.constants)
    for name in sorted(taken & outputs.units.keys()):
        rule = f"{name} is set by this study, and cannot be measured as well"
        reader.fault(outputs.places[name], rule, "rename one of them")
    for name in sorted(map(units.stem, outputs.units.keys() - taken)):
        if name in written.axes and name not in workload_interface_budget.DECLARED:
            rule = "it is an output as well, and a name stands for one of them"
            reader.fault(("axes", name), rule, "rename the axis or the output", repr(name))
    measured = measured_of(written, outputs, space, reader)
    source = section.function or (str(section.command[0]) if section.command else "a function")
    about = {"words": "What is measured", "source": f"measured by {source}"}
    return measured, {name: column_quantity(name, **about) for name in outputs.units}


def _most_spent(
    section: schema.EvaluateSection | None,
    settings: SearchSettings,
    designs: int,
    each: str,
) -> Iterator[str]:
    """Yield the longest time to measure so many designs, as far as it is known.

    `each` names the values of a sweep to which the designs belong.
    """
    if section is not None and section.timeout is not None:
        longest = section.timeout.value * (1 + section.retries)
        whole = duration(math.ceil(designs / section.workers) * longest)
        attempts = f" x {1 + section.retries} attempts" if section.retries else ""
        workers = f" / {section.workers} workers" if section.workers > 1 else ""
        yield (
            f"time: at most {plural(designs, 'design')} x {duration(section.timeout.value)}"
            f"{attempts}{workers} = {whole}{each}"
        )
    if settings.time_s is not None:
        yield (
            f"budget of time: {duration(settings.time_s)}; no design is begun that would not end "
            f"within it if it took as long as the longest before"
        )


def measuring_lines(
    problem: Problem,
    settings: SearchSettings,
    section: schema.EvaluateSection | None,
    each: str,
) -> Iterator[str]:
    """Yield lines on the measurements of a study, if there are any.

    `each` follows counts if the study runs for each value of a sweep.
    """
    measured, before = problem.measured, problem.beforehand
    if measured is None or before is None:
        return
    if before.pool is not None:
        pool = plural(len(before.pool), "design")
        yield f"a pool of {pool}, of which rules leave {before.most:,}"
    elif before.count is None:
        yield "rules on axes alone exclude designs, of too many to be counted"
    elif before.count:
        left = problem.size - before.count
        yield f"rules on axes alone leave {left:,} of {plural(problem.size, 'design')}"
    most = min(settings.budget or before.most, before.most)
    evaluator = measured.bench.evaluator
    outputs = evaluator.outputs.items()
    named = ", ".join(f"{units.stem(name) or name} [{unit or '1'}]" for name, unit in outputs)
    yield f"measured: {named}; up to {plural(most, 'design')}{each}, chosen by {settings.method}"
    parts = json.loads(evaluator.identity).items()
    yield f"measured by: {'; '.join(f'{name} {json.dumps(part)}' for name, part in parts)}"
    yield from _most_spent(section, settings, most, each)


PATH: Path = ("designs",)

OTHERS = ("axes", "stages", "sweep")
"""Sections that define the designs in another way."""

Columns = dict[str, tuple[str, Column | list[str]]]
"""Columns by the name of their axis: name in SI, and numbers or texts, a row each."""


def with_axes(written: schema.StudyFile, reader: Reader) -> schema.StudyFile:
    """Return a study whose axes are the columns of its pool."""
    for name in OTHERS:
        if name in written.model_fields_set:
            rule = "the rows of `designs` are all designs that there are"
            reader.fault((name,), rule, "write it as columns of the table, or remove it", "")
    axes: dict[str, Any] = {}
    for name, (quantity, cells) in _read(written, reader).items():
        if isinstance(cells, list):
            axes[name] = [*dict.fromkeys(cells)]
        elif units.suffix(quantity):
            axes[name] = [units.show_exactly(one, quantity) for one in np.unique(cells).tolist()]
        else:
            axes[name] = np.unique(cells).tolist()
    if prod(map(len, axes.values())) > MOST_CODES:
        rule = "its columns have too many values"
        reader.fault(PATH, rule, "drop columns that only name designs", "")
    reader.raise_any()
    return written.model_copy(update={"axes": axes})


def rows_of(
    written: schema.StudyFile, axes: tuple[Axis, ...], reader: Reader
) -> list[tuple[Value, ...]] | None:
    """Return the values of the designs in a study's pool, each once, or None without a pool."""
    if written.designs is None:
        return None
    columns = _read(written, reader)
    reader.raise_any()
    found: list[list[Value]] = []
    for axis in axes:
        cells = columns[axis.name][1]
        if isinstance(cells, list):
            found.append([*map(str, cells)])
        else:  # a value written with its unit may be read as the float next to it
            values = np.sort(axis.columns[axis.unit_name])
            middles = (values[1:] + values[:-1]) / 2
            found.append(values[np.searchsorted(middles, cells)].tolist())
    return [*dict.fromkeys(zip(*found, strict=True))]


def _read(written: schema.StudyFile, reader: Reader) -> Columns:
    """Return the columns of the table."""
    section = written.designs
    if isinstance(section, schema.DesignsSection):
        reader.fault(PATH, "a pool is the name of a CSV file", "write `designs: pool.csv`", "")
        return {}
    table = read_input(str(section), reader.below(*PATH))
    if table is None:
        return {}
    places = {header: place for place, header in enumerate(table.headers)}
    found, meant = {}, compared_with_zero(written.constraints)
    for header, cells in columns_of(table, places, reader):
        refuse_impossible(table, places[header.written], header.name, cells, meant, reader)
        found[units.stem(header.name)] = header.name, cells
    return found
