"""From the section of a study that says what measures to an evaluator."""

from __future__ import annotations

import inspect
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath

from dse.contract.evaluators import Evaluator, Measurer
from dse.errors import nearest
from dse.evaluators.command import (
    Command,
    FunctionEvaluator,
    placeholders,
    source_of,
    taken_names,
    wrong_arguments,
)
from dse.evaluators.outputs import Declared
from dse.files.position import dotted
from dse.plugins import registry
from dse.study import schema
from dse.study.evaluator_files import file_hashes
from dse.study.faults import Faults, Path
from dse.study.inputs import base_of, locate
from dse.study.outputs import Outputs
from dse.study.scenario import Scenario


def evaluator_of(
    section: schema.EvaluateSection,
    declared: Outputs,
    told: Mapping[str, str | None],
    scenario: Scenario,
    path: Path,
    faults: Faults,
) -> Evaluator | None:
    """Return what measures; `told` has the unit in which each axis is written, None for choices."""
    outputs = declared.units
    _note_unused(section, told, scenario)
    if recorded := faults.document.recorded.get(dotted(path)):
        file_hashes(section, scenario, path, faults)
        return replace(recorded, outputs=outputs)
    function = faults.document.evaluate
    given = [
        name
        for name, there in (
            ("command", section.command),
            ("using", section.using),
            ("a function", function),
        )
        if there is not None
    ]
    if len(given) != 1:
        rule = "designs are measured by one of `command`, `using`, or a function given to dse.run"
        faults.add(path, rule, f"remove one of {', '.join(given)}" if given else "add one", "")
        return None
    if section.command is not None:
        return _command(section, section.command, declared, told, scenario, path, faults)
    _refuse_exits(section, path, faults)
    parts: dict[str, object] = {"outputs": dict(outputs)}
    if section.using is not None:
        if section.timeout is not None:
            rule = "a function cannot be ended when its time is over"
            faults.add((*path, "timeout"), rule, "remove it, or write a command")
        with faults.at((*path, "using")):
            found = registry.get(Measurer, str(section.using))
            function = found.function
            parts |= {"using": found.name, "plugin_version": found.version}
    elif function is not None:
        parts["function"] = source_of(function)
    if function is None:
        return None
    _require_arguments(function, told, path, faults)
    parts["files"] = file_hashes(section, scenario, path, faults)
    parts["version"] = "" if section.version is None else str(section.version)
    return FunctionEvaluator(
        function=function,
        outputs=outputs,
        identity=_identity(**parts),
        declared=_declared(section, declared),
    )


def _declared(section: schema.EvaluateSection, outputs: Outputs) -> Declared:
    """Return what a section says of outputs and exit statuses besides their units."""
    said = section.infeasible or schema.InfeasibleSection()
    exits = said.exit if isinstance(said.exit, list) else [said.exit]
    words = {
        name: tuple(str(each) for each in (value if isinstance(value, list) else [value]))
        for name, value in said.output.items()
    }
    return Declared(ranges=outputs.ranges, infeasible=words, exits=tuple(exits))


def _refuse_exits(section: schema.EvaluateSection, path: Path, faults: Faults) -> None:
    if section.infeasible is not None and section.infeasible.exit:
        rule = "a function has no exit status"
        faults.add((*path, "infeasible", "exit"), rule, "remove it, and raise dse.InfeasibleDesign")


def _note_unused(
    section: schema.EvaluateSection, told: Mapping[str, str | None], scenario: Scenario
) -> None:
    """Note the axes that no argument of a command names, also where nothing measures any more."""
    arguments = [str(argument) for argument in section.command or ()]
    if not arguments or wrong_arguments(arguments, told):
        return
    named = {name for name, _ in placeholders(arguments)}
    unused = [name for name in told if name not in named]
    if unused and "input" not in named:
        scenario.notes.append(
            f"no argument of the command uses {', '.join(unused)}: the program has to read it "
            f"from design.json, in its working folder"
        )


def _identity(**parts: object) -> str:
    """Return what makes values of a design the same, as canonical JSON."""
    return json.dumps({name: part for name, part in parts.items() if part}, sort_keys=True)


def _require_arguments(
    function: Callable[..., object], told: Mapping[str, str | None], path: Path, faults: Faults
) -> None:
    """Refuse a function that does not take the axes of the study."""
    try:
        inspect.signature(function).bind(**dict.fromkeys(told))
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        rule = f"{name} is called with {', '.join(told)}: {error}"
        faults.add(path, rule, "name its arguments and the axes alike", "")
    except ValueError:  # of a function of C, whose arguments nobody knows
        return


def _command(
    section: schema.EvaluateSection,
    command: Sequence[str | int | float],
    declared: Outputs,
    told: Mapping[str, str | None],
    scenario: Scenario,
    path: Path,
    faults: Faults,
) -> Command | None:
    arguments = [str(argument) for argument in command]
    where = (*path, "command")
    for name in taken_names(told):
        rule = f"{{{name}}} stands for something else in a command"
        faults.add(("axes", name), rule, "rename the axis", repr(name))
    for position, rule, remedy in wrong_arguments(arguments, told):
        faults.add((*where, position), rule, remedy)
    _require_program(arguments[0], (*where, 0), faults)
    identity = _identity(
        arguments=arguments,
        outputs=dict(declared.units),
        files=file_hashes(section, scenario, path, faults),
        version="" if section.version is None else str(section.version),
    )
    timeout = section.timeout
    return Command(
        arguments=tuple(arguments),
        outputs=declared.units,
        identity=identity,
        declared=_declared(section, declared),
        beside=str(FilePath(faults.document.file).parent.absolute()),
        units={name: unit for name, unit in told.items() if unit},
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
            faults.add(
                path, rule, f"install it, or write './{program}' for one beside the study", ""
            )
        return
    place = locate(document, program)
    if not place.is_file():
        known = [entry.name for entry in place.parent.glob("*")] if place.parent.is_dir() else []
        remedy = nearest(place.name, known) if known else base_of(document)
        faults.add(path, f"there is no file {str(place)!r}", remedy, "")
    elif not os.access(place, os.X_OK):
        rule = f"{str(place)!r} is not executable"
        faults.add(path, rule, f"make it so: chmod +x {place.name}", "")
