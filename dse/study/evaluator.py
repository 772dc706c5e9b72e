"""From the section of a study that says what measures to an evaluator, and to its files."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from dse.algebra import units
from dse.contract import Objective
from dse.contract.evaluators import Evaluator, Measurer
from dse.errors import UnitError, dotted, nearest
from dse.evaluators.command import (
    Command,
    placeholders,
    taken_names,
    wrong_arguments,
)
from dse.evaluators.function import FileFunction, FunctionEvaluator, require_function, source_of
from dse.evaluators.outputs import Declared
from dse.files.document import CHEAPER
from dse.files.headers import DIMENSIONLESS
from dse.files.inputs import base_of, locate
from dse.files.json import read_regular
from dse.plugins import registry
from dse.study import schema
from dse.study.faults import Faults, Path
from dse.study.measurers import LARGEST_FILE_BYTE, Values, file_hashes, matching, own_files, plugged
from dse.study.scenario import Scenario

PLAIN = ("", *DIMENSIONLESS)
"""What stands for no unit."""

FIDELITIES: Path = (*CHEAPER.split("."),)
"""Where cheaper levels stand; a function given to dse.run is of the last one."""

AxisUnits = Mapping[str, str | None]
"""The unit in which each axis is written, None for choices."""


@dataclass(frozen=True)
class Outputs:
    """What is measured: quantity in SI -> unit of the output, and its place in the study.

    `ranges` has least and most of those that have one, in SI.
    """

    units: Mapping[str, str]
    places: Mapping[str, Path]
    expected: Mapping[str, str]
    ranges: Mapping[str, tuple[float, float]]


def outputs_of(
    section: schema.MeasuringSection,
    path: Path,
    faults: Faults,
    *,
    known: Collection[str] | None = None,
) -> Outputs:
    """Return the outputs of a section, or those of the plug-in that it names."""
    written = dict(section.outputs)
    if not written and section.using is not None:
        with faults.at((*path, "using")):
            found_by = registry.get(Measurer, section.using)
            of_core = known is not None and found_by.core_outputs
            written = dict(of_core or found_by.outputs)
    found: dict[str, str] = {}
    places: dict[str, Path] = {}
    expected: dict[str, str] = {}
    ranges: dict[str, tuple[float, float]] = {}
    columns = () if known is None else known  # the names of other outputs are the user's
    known = registry.names(Objective) if known is None else known
    for name, said in written.items():
        place = (*path, "outputs", name)
        about = said if isinstance(said, schema.OutputSection) else schema.OutputSection(unit=said)
        with faults.at(place):
            quantity, unit = _quantity(name, about.unit, columns)
            if quantity in found:
                raise UnitError(f"two outputs are {quantity}", "write one of them")
            found[quantity], places[quantity] = unit, place
            if about.expect is not None:
                expected[quantity] = about.expect
            ranges |= _range(quantity, unit, about, quantity in known)
    if not written:
        rule = "a measurement has at least one output"
        faults.add((*path, "outputs"), rule, "add for instance `outputs: {area: um2}`", "")
    return Outputs(found, places, expected, ranges)


def _range(
    quantity: str, unit: str, said: schema.OutputSection, known: bool
) -> dict[str, tuple[float, float]]:
    """Return least and most of an output, if any: what models compute is rarely less than 0."""
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


def _quantity(name: str, unit: str | int | None, columns: Collection[str]) -> tuple[str, str]:
    """Return the quantity that an output is, with its SI unit, and the unit of the output.

    One that is called like a column of a core is that column.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise UnitError("the name of an output is letters, digits and _", "rename it")
    if unit is None:
        rule = "an output has a unit"
        raise UnitError(
            rule, f"write for instance `{name}: um2`, or `{name}: 1` for a plain number"
        )
    unit = "" if str(unit) in PLAIN else str(unit)
    suffix = units.factor(unit)[1]
    own = units.suffix(name)
    if own and own != suffix:
        raise UnitError(
            f"{name} is in {units.label(name)}, not in {unit or 'no unit'}", "rename it"
        )
    quantity = name if own or not suffix else f"{name}_{suffix}"
    alike = sorted(one for one in columns if units.stem(one) == units.stem(quantity))
    if alike and quantity not in columns:
        shown = " or ".join(units.label(one) or "no unit" for one in alike)
        rule = (
            f"{units.stem(quantity)} is a quantity of models, in {shown}, not in {unit or 'none'}"
        )
        raise UnitError(rule, "choose a unit of that kind, or another name")
    return quantity, unit


def evaluator_of(
    section: schema.MeasuringSection,
    declared: Outputs,
    axis_units: AxisUnits,
    values: Values,
    scenario: Scenario,
    path: Path,
    faults: Faults,
) -> Evaluator | None:
    """Return what measures the outputs of a section; None where a fault was added."""
    outputs = declared.units
    _note_unused(section, axis_units, scenario)
    if recorded := faults.document.recorded.get(dotted(path)):
        _files(section, scenario, path, faults)
        return replace(recorded, outputs=outputs)
    function = None if path[:2] == FIDELITIES else faults.document.evaluate
    given = [
        name
        for name, there in (
            ("command", section.command),
            ("function", section.function),
            ("using", section.using),
            ("a function", function),
        )
        if there is not None
    ]
    if len(given) != 1:
        rule = (
            "designs are measured by one of `command`, `function`, `using`, or a function given "
            "to dse.run"
        )
        faults.add(path, rule, f"remove one of {', '.join(given)}" if given else "add one", "")
        return None
    if section.settings and section.using is None:
        rule = "settings are those of a plug-in"
        faults.add((*path, "settings"), rule, "remove them, or name one: `using: NAME`", "")
    if section.command is not None:
        return _command(section, section.command, declared, axis_units, scenario, path, faults)
    _refuse_exits(section, path, faults)
    parts: dict[str, object] = {"outputs": dict(outputs)}
    if section.timeout is not None and function is None:
        rule = "a function cannot be ended when its time is over"
        faults.add((*path, "timeout"), rule, "remove it, or write a command")
    if section.function is not None:
        return _function(section, section.function, declared, axis_units, scenario, path, faults)
    if section.using is not None:
        files = [one for each in section.files for one in matching(each, faults.document)]
        function, own = plugged(section.using, section.settings, files, values, path, faults)
        parts |= own
    elif function is not None:
        parts["function"] = source_of(function)
    if function is None:
        return None
    _require_arguments(function, axis_units, path, faults)
    parts["files"] = _files(section, scenario, path, faults)
    parts["version"] = "" if section.version is None else str(section.version)
    return FunctionEvaluator(
        function=function,
        outputs=outputs,
        identity=_identity(**parts),
        declared=_declared(section, declared),
    )


def _function(
    section: schema.MeasuringSection,
    written: str,
    declared: Outputs,
    axis_units: AxisUnits,
    scenario: Scenario,
    path: Path,
    faults: Faults,
) -> FileFunction | None:
    """Return a function of a file beside the study, which is read here and not imported."""
    name, _, function = written.rpartition(":")
    place, where = locate(faults.document, name), (*path, "function")
    if not (name.endswith(".py") and function.isidentifier()):
        rule = "a function is written as its file and its name"
        faults.add(where, rule, "write for instance `function: model.py:area`")
        return None
    try:
        text = read_regular(place, LARGEST_FILE_BYTE).decode()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        faults.add(where, f"{name} cannot be read: {reason}", base_of(faults.document), "")
        return None
    with faults.at(where):
        require_function(text, function, axis_units)
    identity = _identity(
        function=written,
        outputs=dict(declared.units),
        files=_files(section, scenario, path, faults),
        version="" if section.version is None else str(section.version),
    )
    return FileFunction(
        file=str(place.absolute()),
        name=function,
        outputs=declared.units,
        identity=identity,
        declared=_declared(section, declared),
    )


def _files(
    section: schema.MeasuringSection, scenario: Scenario, path: Path, faults: Faults
) -> dict[str, str]:
    """Return the hash of each file of a section, and keep these with the run."""
    own = own_files(section.command or (), section.function)
    return file_hashes(own, section.files, scenario.inputs, scenario.notes, path, faults)


def _declared(section: schema.MeasuringSection, outputs: Outputs) -> Declared:
    """Return what a section says of outputs and exit statuses besides their units."""
    said = section.infeasible or schema.InfeasibleSection()
    exits = said.exit if isinstance(said.exit, list) else [said.exit]
    words = {
        name: tuple(str(each) for each in (value if isinstance(value, list) else [value]))
        for name, value in said.output.items()
    }
    return Declared(ranges=outputs.ranges, infeasible=words, exits=tuple(exits))


def _refuse_exits(section: schema.MeasuringSection, path: Path, faults: Faults) -> None:
    if section.infeasible is not None and section.infeasible.exit:
        rule = "a function has no exit status"
        faults.add((*path, "infeasible", "exit"), rule, "remove it, and raise dse.InfeasibleDesign")


def _note_unused(
    section: schema.MeasuringSection, axis_units: AxisUnits, scenario: Scenario
) -> None:
    """Note the axes that no argument of a command names, also where nothing measures any more."""
    arguments = [str(argument) for argument in section.command or ()]
    if not arguments or wrong_arguments(arguments, axis_units):
        return
    named = {name for name, _ in placeholders(arguments)}
    unused = [name for name in axis_units if name not in named]
    if unused and "input" not in named:
        scenario.notes.append(
            f"no argument of the command uses {', '.join(unused)}: the program has to read it "
            f"from design.json, in its working folder"
        )


def _identity(**parts: object) -> str:
    """Return what makes values of a design the same, as canonical JSON."""
    return json.dumps({name: part for name, part in parts.items() if part}, sort_keys=True)


def _require_arguments(
    function: Callable[..., object],
    axis_units: AxisUnits,
    path: Path,
    faults: Faults,
) -> None:
    """Refuse a function that does not take the axes of the study."""
    try:
        inspect.signature(function).bind(**dict.fromkeys(axis_units))
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        rule = f"{name} is called with {', '.join(axis_units)}: {error}"
        faults.add(path, rule, "name its arguments and the axes alike", "")
    except ValueError:  # of a function of C, whose arguments nobody knows
        return


def _command(
    section: schema.MeasuringSection,
    command: Sequence[str | int | float],
    declared: Outputs,
    axis_units: AxisUnits,
    scenario: Scenario,
    path: Path,
    faults: Faults,
) -> Command | None:
    arguments = [str(argument) for argument in command]
    where = (*path, "command")
    for name in taken_names(axis_units):
        rule = f"{{{name}}} stands for something else in a command"
        faults.add(("axes", name), rule, "rename the axis", repr(name))
    for position, rule, remedy in wrong_arguments(arguments, axis_units):
        faults.add((*where, position), rule, remedy)
    _require_program(arguments[0], (*where, 0), faults)
    identity = _identity(
        arguments=arguments,
        outputs=dict(declared.units),
        files=_files(section, scenario, path, faults),
        version="" if section.version is None else str(section.version),
    )
    timeout = section.timeout
    return Command(
        arguments=tuple(arguments),
        outputs=declared.units,
        identity=identity,
        declared=_declared(section, declared),
        beside=str(FilePath(faults.document.file).parent.absolute()),
        units={name: unit for name, unit in axis_units.items() if unit},
        timeout_s=None if timeout is None else timeout.value,
    )


def _require_program(program: str, path: Path, faults: Faults) -> None:
    """Refuse a program that cannot be started."""
    document = faults.document
    if "{" in program:
        return
    if "/" not in program:
        if shutil.which(program) is None:
            rule = f"no program {program!r} is found in PATH"
            faults.add(path, rule, f"install it, or write './{program}' for one in its folder", "")
        return
    place = locate(document, program)
    if not place.is_file():
        known = [entry.name for entry in place.parent.glob("*")] if place.parent.is_dir() else []
        remedy = nearest(place.name, known) if known else base_of(document)
        faults.add(path, f"there is no file {str(place)!r}", remedy, "")
    elif not os.access(place, os.X_OK):
        rule = f"{str(place)!r} is not executable"
        faults.add(path, rule, f"make it so: chmod +x {place.name}", "")
