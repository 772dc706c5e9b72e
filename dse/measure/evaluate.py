"""Quantities and the evaluator from the `evaluate` section of a study."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from dse.algebra import units
from dse.algebra.magnitudes import compared_with_zero
from dse.contract import Column, Objective
from dse.contract.evaluators import Evaluator, MeasurementCache, RecordedEvaluator, Value, key
from dse.errors import UnitError, nearest, plural
from dse.files.document import Document
from dse.files.headers import DIMENSIONLESS
from dse.files.inputs import Input, base_of, content_of, locate
from dse.files.json import read_regular, reason
from dse.measure import evaluators
from dse.measure.evaluators import Declared
from dse.model.measured import MOST_CODES, MeasuredColumns, MeasurementSetup, MemoryCache
from dse.model.problem import Problem
from dse.model.space import Axis, Space, unit_names_of
from dse.plugins import registry
from dse.search.settings import SearchSettings
from dse.study import schema
from dse.study.field_kinds import written_unit
from dse.study.reader import Path, Reader
from dse.study.tables import column_quantity, columns_of, read_input, refuse_impossible

LARGEST_FILE_BYTE = 16 * 2**20
"""Largest file whose content is part of an evaluator."""

_BESIDE = re.compile(r"\{study\}/([^{}]+)")

AxisUnits = Mapping[str, str | None]
"""Written unit of each axis, or None for choices."""


def outputs_of(section: schema.EvaluateSection, taken: Collection[str], reader: Reader) -> Declared:
    """Return the outputs of a section.  Quantities that the study sets are `taken`."""
    found: dict[str, str] = {}
    ranges: dict[str, tuple[float, float]] = {}
    stated: set[str] = set()
    for name, about in section.outputs.items():
        if not isinstance(about, schema.OutputSection):
            about = schema.OutputSection(unit=about)
        with reader.at(("outputs", name)):
            quantity, unit = _quantity(name, about.unit)
            if quantity in found:
                raise UnitError(f"two outputs are {quantity}", "write one of them")
            found[quantity] = unit
            ranges |= _range(quantity, unit, about)
            stated |= {quantity} if about.least is not None else set()
            if quantity in taken:
                rule = f"{quantity} is set by this study, and cannot be measured as well"
                raise UnitError(rule, "rename one of them")
    if not section.outputs:
        rule = "a measurement has at least one output"
        reader.fault(("outputs",), rule, "add for instance `outputs: {area: um2}`", "")
    signs = section.infeasible.exit if section.infeasible else ()
    exits = (signs,) if isinstance(signs, int) else tuple(signs)
    return Declared(units=found, ranges=ranges, stated=frozenset(stated), exits=exits)


def _range(quantity: str, unit: str, about: schema.OutputSection) -> dict[str, tuple[float, float]]:
    """Return least and most of an output, if any.  Most values of models are at least 0."""
    ends = []
    for written in (about.least, about.most):
        text = f"{written} {unit}".rstrip() if isinstance(written, int | float) else written
        ends.append(None if text is None else units.parse(text, quantity))
    least, most = ends
    known = quantity in registry.names(Objective)
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
        remedy = f"write for instance `{name}: um2`, or `{name}: 1` for a plain number"
        raise UnitError("an output has a unit", remedy)
    unit = "" if str(unit) in DIMENSIONLESS else str(unit)
    suffix = units.factor(unit)[1]
    own = units.suffix(name)
    if own and own != suffix:
        rule = f"{name} is in {units.label(name)}, not in {unit or 'no unit'}"
        raise UnitError(rule, "rename it")
    return name if own or not suffix else f"{name}_{suffix}", unit


def evaluator_of(
    section: schema.EvaluateSection, outputs: Declared, axis_units: AxisUnits, reader: Reader
) -> Evaluator | None:
    """Return the evaluator of a section, or None after an error."""
    if reader.document.recorded is not None:
        _file_hashes(section, reader)
        return replace(reader.document.recorded, outputs=outputs.units)
    function = reader.document.evaluate
    ways = {"command": section.command, "function": section.function, "a function": function}
    given = [name for name, there in ways.items() if there is not None]
    if len(given) != 1:
        rule = (
            "designs are measured by one of `command`, `function`, or a function given to dse.run"
        )
        reader.fault((), rule, f"remove one of {', '.join(given)}" if given else "add one", "")
        return None
    if section.command is not None:
        return _command(section, outputs, axis_units, reader)
    if section.infeasible is not None and section.infeasible.exit:
        rule = "a function has no exit status"
        reader.fault(("infeasible", "exit"), rule, "remove it, and raise dse.InfeasibleDesign")
    if function is None:
        return _file_function(section, outputs, axis_units, reader)
    for name in [name for name in ("timeout", "memory") if getattr(section, name) is not None]:
        rule = "a function given to dse.run has no limits"
        reader.fault((name,), rule, "remove it, or name a function of a file")
    try:
        inspect.signature(function).bind(**dict.fromkeys(axis_units))
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        rule = f"{name} is called with {', '.join(axis_units)}: {error}"
        reader.fault((), rule, "name its arguments and the axes alike", "")
    except ValueError:
        pass  # a function of C has no known arguments
    known = _known(section, outputs, reader, function=evaluators.code_identity(function))
    return evaluators.FunctionEvaluator(function=function, **known)


def _file_function(
    section: schema.EvaluateSection, outputs: Declared, axis_units: AxisUnits, reader: Reader
) -> evaluators.FileFunction | None:
    """Return a function in a file in the study's folder, which is read but not imported."""
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
        evaluators.require_function(text, function, axis_units)
    known = _known(section, outputs, reader, function=written) | _limits(section)
    return evaluators.FileFunction(
        file=str(place.absolute()), name=function, beside=str(place.parent.absolute()), **known
    )


def _command(
    section: schema.EvaluateSection, outputs: Declared, axis_units: AxisUnits, reader: Reader
) -> evaluators.Command:
    arguments = [str(argument) for argument in section.command or ()]
    for name in [name for name in axis_units if name in evaluators.PLACES]:
        rule = f"{{{name}}} stands for something else in a command"
        replace(reader, path=("axes",)).fault((name,), rule, "rename the axis", repr(name))
    where = reader.below("command")
    for position, rule, remedy in evaluators.wrong_arguments(arguments, axis_units):
        where.fault((position,), rule, remedy)
    _require_program(arguments[0], where.below(0))
    return evaluators.Command(
        arguments=tuple(arguments),
        beside=str(FilePath(reader.document.file).parent.absolute()),
        units={name: unit for name, unit in axis_units.items() if unit},
        **_limits(section),
        **_known(section, outputs, reader, arguments=arguments),
    )


def _limits(section: schema.EvaluateSection) -> dict[str, Any]:
    """Return the limits of a program."""
    timeout, memory = section.timeout, section.memory
    most = None if memory is None else int(memory.value)
    return {"timeout_s": None if timeout is None else timeout.value, "memory_byte": most}


def _require_program(program: str, reader: Reader) -> None:
    """Report a program that cannot be started."""
    place = str(locate(reader.document, program)) if "/" in program else program
    if "{" in program or shutil.which(os.path.abspath(place) if "/" in program else place):
        return
    if "/" not in program:
        rule = f"no program {program!r} is found in PATH"
        reader.fault((), rule, f"install it, or write './{program}' for one in its folder", "")
    elif os.path.isfile(place):
        rule = f"{place!r} is not executable"
        reader.fault((), rule, f"make it so: chmod +x {os.path.basename(place)}", "")
    else:
        known = [entry.name for entry in FilePath(place).parent.glob("*")]
        remedy = nearest(FilePath(place).name, known) if known else base_of(reader.document)
        reader.fault((), f"there is no file {place!r}", remedy, "")


def _known(
    section: schema.EvaluateSection, outputs: Declared, reader: Reader, **parts: object
) -> dict[str, Any]:
    """Return the arguments of any evaluator: outputs, their ranges, and its identity.

    Equal `parts`, outputs, files and version, as canonical JSON, give equal values.
    """
    version = "" if section.version is None else str(section.version)
    parts |= {"outputs": dict(outputs.units), "version": version}
    parts["files"] = _file_hashes(section, reader)
    identity = json.dumps({name: part for name, part in parts.items() if part}, sort_keys=True)
    return {"outputs": outputs.units, "identity": identity, "declared": outputs}


def _file_hashes(section: schema.EvaluateSection, reader: Reader) -> dict[str, str]:
    """Return the hash of each file of a section, and add these files to the inputs of the run."""
    found = {}
    document, recorded = reader.document, bool(reader.document.recorded)
    own: list[tuple[Path, str]] = [(("command",), name) for name in _own_files(section)]
    for position, pattern in enumerate(section.files):
        where: Path = ("files", position)
        names = _matching(pattern, document)
        if not names and not recorded:
            reader.fault(where, f"no file matches {pattern!r}", base_of(document), "")
        own += [(where, name) for name in names]
    for where, name in own:
        try:
            content = content_of(document, name, LARGEST_FILE_BYTE + 1)
        except (OSError, ValueError) as error:
            if where[0] == "files" and not recorded:
                reader.fault(where, f"{name} cannot be read: {reason(error)}", "check it", "")
            continue  # other rules are on the program and its arguments
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
    """Return the files in the study's folder that a pattern names, sorted."""
    if document.recorded:  # only the copies in a finished run count
        known = {*document.inputs, *document.contents}
        return sorted(name for name in known if FilePath(name).match(pattern))
    if not any(mark in pattern for mark in "*?["):
        return [pattern]
    base = FilePath(document.file).parent
    return sorted(str(one.relative_to(base)) for one in base.glob(pattern) if one.is_file())


def _own_files(section: schema.EvaluateSection) -> list[str]:
    """Return the program, arguments and function of a section in the study's folder."""
    if section.function is not None:
        return [section.function.rpartition(":")[0]]
    arguments = [str(argument) for argument in section.command or ()]
    program = [one for one in arguments[:1] if "/" in one and "{" not in one]
    return program + [match[1] for one in arguments if (match := _BESIDE.fullmatch(one))]


def measured_quantities(
    written: schema.StudyFile, space: Space, reader: Reader
) -> tuple[MeasuredColumns | None, dict[str, Objective]]:
    """Return the measured columns of a study, and their quantities.  Errors are added."""
    section, here = written.evaluate or schema.EvaluateSection(), reader.below("evaluate")
    taken = {name for axis in space.axes for name in axis.columns} | set(space.constants)
    outputs = outputs_of(section, taken, here)
    own = written.axes.keys() - schema.DECLARED.keys()
    for name in sorted(own & {*map(units.stem, outputs.units.keys() - taken)}):
        rule = "it is an output as well, and a name stands for one of them"
        reader.fault(("axes", name), rule, "rename the axis or the output", repr(name))
    source = section.function or (str(section.command[0]) if section.command else "a function")
    about = {"words": "What is measured", "source": f"measured by {source}"}
    quantities = {name: column_quantity(name, **about) for name in outputs.units}
    before = len(reader.faults)
    free = tuple(place for place, axis in enumerate(space.axes) if axis.name in own)
    axes = [space.axes[place] for place in free]
    evaluator = evaluator_of(section, outputs, _axis_units(written, axes, here), here)
    pool = _pool(written, space.axes, reader) if axes else None
    if evaluator is None or len(reader.faults) > before:
        return None, quantities
    setup = _setup(evaluator, outputs, axes, reader.document)
    return MeasuredColumns(setup, free, tuple(outputs.units), pool=pool), quantities


def _axis_units(written: schema.StudyFile, axes: Sequence[Axis], reader: Reader) -> AxisUnits:
    if not axes:
        rule = "a design that is measured differs in axes of the study, and it has none of its own"
        reader.fault((), rule, "add for instance `axes: {unroll: [1, 2, 4]}`", "")
    return {
        axis.name: written_unit(written.axes[axis.name]) if axis.ordered else None for axis in axes
    }


def _setup(
    evaluator: Evaluator, outputs: Declared, axes: Sequence[Axis], document: Document
) -> MeasurementSetup:
    """Return the measurements of an evaluator, for a finished run those on these axes."""
    cache: MeasurementCache = MemoryCache()
    found = {}
    if isinstance(evaluator, RecordedEvaluator):
        found = {
            key(evaluator.identity, pair[0]): pair
            for pair in evaluator.found
            if all(pair[0].get(axis.name) in axis.places for axis in axes)
        }
        cache.keep({one: pair[1] for one, pair in found.items()}, {})
    elif document.caches is not None:
        cache = document.caches(evaluator.identity, outputs.ranges)
    return MeasurementSetup(evaluator, cache, found, unit_names_of(axes))


def measuring_lines(problem: Problem, settings: SearchSettings, each: str) -> Iterator[str]:
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
    evaluator = measured.setup.evaluator
    outputs = evaluator.outputs.items()
    named = ", ".join(f"{units.stem(name) or name} [{unit or '1'}]" for name, unit in outputs)
    yield f"measured: {named}; up to {plural(most, 'design')}{each}, chosen by {settings.method}"
    parts = json.loads(evaluator.identity).items()
    yield f"measured by: {'; '.join(f'{name} {json.dumps(part)}' for name, part in parts)}"


_POOL: Path = ("designs",)

Columns = dict[str, tuple[str, Column | list[str]]]
"""Columns by the name of their axis: name in SI, and numbers or texts, one for each row."""


def with_axes(written: schema.StudyFile, reader: Reader) -> schema.StudyFile:
    """Return a study whose axes are the columns of its pool."""
    for name in ("axes", "stages", "sweep"):
        if name in written.model_fields_set:
            rule = "the rows of `designs` are all designs that there are"
            reader.fault((name,), rule, "write it as columns of the table, or remove it", "")
    axes: dict[str, Any] = {}
    for name, (quantity, cells) in _pool_columns(written, reader).items():
        if isinstance(cells, list):
            axes[name] = [*dict.fromkeys(cells)]
        elif units.suffix(quantity):
            axes[name] = [units.exact_text(one, quantity) for one in np.unique(cells).tolist()]
        else:
            axes[name] = np.unique(cells).tolist()
    if math.prod(map(len, axes.values())) > MOST_CODES:
        rule = "its columns have too many values"
        reader.fault(_POOL, rule, "drop columns that only name designs", "")
    reader.raise_any()
    return written.model_copy(update={"axes": axes})


def _pool(
    written: schema.StudyFile, axes: tuple[Axis, ...], reader: Reader
) -> list[tuple[Value, ...]] | None:
    """Return the values of the designs in a study's pool, each once, or None without a pool."""
    if written.designs is None:
        return None
    columns = _pool_columns(written, reader)
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


def _pool_columns(written: schema.StudyFile, reader: Reader) -> Columns:
    section = written.designs
    if isinstance(section, schema.DesignsSection):
        reader.fault(_POOL, "a pool is the name of a CSV file", "write `designs: pool.csv`", "")
        return {}
    table = read_input(str(section), reader.below(*_POOL))
    if table is None:
        return {}
    places = {header: place for place, header in enumerate(table.headers)}
    found, meant = {}, compared_with_zero(written.constraints)
    for header, cells in columns_of(table, places, reader):
        refuse_impossible(table, places[header.written], header.name, cells, meant, reader)
        found[units.stem(header.name)] = header.name, cells
    return found
