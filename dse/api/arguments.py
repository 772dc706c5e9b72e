"""Arguments of public functions: one table of kinds, which commands read too, and sources."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from dse import removed
from dse.errors import ArgumentError, OutputError, quoted

if TYPE_CHECKING:
    from dse.files.document import Assignments as Assignments
    from dse.files.document import Assignments as Forms
    from dse.files.document import Assignments as Overrides
    from dse.files.document import Assignments as Settings
    from dse.files.document import Assignments as Uncertainties
    from dse.files.document import Document
    from dse.runs.result import Result
    from dse.runs.solved import Run
    from dse.study.study import Study

    __all__ = ["Assignments", "Forms", "Overrides", "Settings", "Uncertainties"]

    StudySource = str | Path | Mapping[str, Any] | Study


P = ParamSpec("P")
R = TypeVar("R")

Count = int
Limit = int
Seed = int
Names = str | Sequence[str]
Paths = str | Path | Sequence[str | Path]
PerByte = Literal["latency", "computing"]
Precision = Literal["single", "double"]


@dataclass(frozen=True)
class Kind:
    """Allowed values of an argument in words, and their check.

    Attributes
    ----------
    word
        The type of a word of the command line that gives it, or None if no word can.
    several
        Whether it may be given more than once there.
    metavar
        Its placeholder in the help of a command.
    positional
        Whether it needs no name there if it needs none in Python.
    """

    what: str
    allows: Callable[[Any], bool]
    word: Any = None
    several: bool = False
    metavar: str | None = None
    positional: bool = True


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Return a public function that raises ArgumentError for arguments not of their `KINDS`."""
    shape = signature(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs.keys() - shape.parameters.keys():
            if instead := removed.remedy("argument", f"{function.__name__}.{name}"):
                raise ArgumentError(f"{name}: {removed.RULE}; {instead}")
        try:
            given = shape.bind(*args, **kwargs).arguments
        except TypeError:
            return function(*args, **kwargs)  # Python names the missing or unknown argument
        check_kinds(shape.parameters, given)
        return function(*args, **kwargs)

    return call


def check_kinds(shape: Mapping[str, Parameter], given: Mapping[str, Any]) -> None:
    """Raise ArgumentError if a value is neither the default of its argument nor of its kind.

    Raises
    ------
    ArgumentError
        A value is neither.
    """
    for name, value in given.items():
        parameter = shape[name]
        for each in value if parameter.kind is Parameter.VAR_POSITIONAL else (value,):
            if each is not parameter.default and not argument_kind(parameter).allows(each):
                what = argument_kind(parameter).what
                raise ArgumentError(f"{name}={_shown(each)}: give {what}")


def argument_kind(parameter: Parameter) -> Kind:
    """Return the kind of an argument by its annotation, a function for anything callable."""
    written = str(parameter.annotation).removesuffix(" | None")
    return FUNCTION if written.startswith("Callable[") else KINDS[written]


def texts(given: str | Sequence[str]) -> list[str]:
    """Return one text, or several, as a list."""
    return [given] if isinstance(given, str) else list(given)


def paths(given: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    """Return one path, or several."""
    return (Path(given),) if isinstance(given, str | Path) else tuple(map(Path, given))


def _shown(value: Any) -> str:
    """Return a value as a program writes it, or its type."""
    plain = value is None or isinstance(value, str | int | float | list | tuple | dict | Path)
    return quoted(value) if plain else f"<{type(value).__name__}>"


def _whole(low: int, high: float = float("inf")) -> Kind:
    limit = f"{low} or more" if high == float("inf") else f"{low} to {high}"

    def allows(value: Any) -> bool:
        try:
            return not isinstance(value, bool) and low <= operator.index(value) <= high
        except TypeError:
            return False

    return Kind(f"a whole number, {limit}", allows, int, metavar="N")


def _one_of(choice: Any) -> Kind:
    names = choice.__args__
    known = " or ".join(repr(name) for name in names)
    return Kind(known, lambda value: isinstance(value, str) and value in names, choice)


def _instance(what: str, *types: type) -> Callable[..., Kind]:
    return lambda **more: Kind(what, lambda value: isinstance(value, types), **more)


def _is_study(value: Any) -> bool:
    from dse.study.study import Study

    return isinstance(value, str | Path | Mapping | Study)


def _is_run(value: Any) -> bool:
    if isinstance(value, str | Path):
        return True
    from dse.runs.result import Result

    return isinstance(value, Result)


def _several(what: str, word: type, metavar: str, *types: type) -> Kind:
    def allows(value: Any) -> bool:
        many = isinstance(value, list | tuple | set | frozenset)
        return isinstance(value, types) or (many and all(isinstance(one, types) for one in value))

    return Kind(f"a {what} or a list of {what}s", allows, word, several=True, metavar=metavar)


def _assigned(example: str, metavar: str) -> Kind:
    def allows(value: Any) -> bool:
        return isinstance(value, str | list | tuple | Mapping)  # their reader checks the rest

    return Kind(example, allows, str, several=True, metavar=metavar, positional=False)


_STUDY = "the path of a study, YAML text, a dict or a Study"
_SOURCE = f"{_STUDY}, a Result or its folder"
_PATH = _instance("a path", str, Path)
_TEXT = _instance("a text", str)
_FIELDS = "{'workload.rate': '73 Gbps'} or 'workload.rate=73 Gbps'"

FUNCTION = Kind("a function", callable)

KINDS: Mapping[str, Kind] = {
    "StudySource": Kind(_STUDY, _is_study, Path, metavar="STUDY"),
    "StudySource | Result": Kind(
        _SOURCE, lambda value: _is_study(value) or _is_run(value), Path, metavar="STUDY"
    ),
    "str | Path | Result": Kind("the folder of a run, or a Result that was saved", _is_run, Path),
    "str | Path": _PATH(word=Path),
    "Paths": _several("path", Path, "FILE", str, Path),
    "str": _TEXT(word=str),
    "Names": _several("text", str, "NAME", str),
    "bool": _instance("True or False", bool)(word=bool),
    "Count": _whole(1),
    "Limit": _whole(0),
    "Seed": _whole(0, 2**32 - 1),
    "Overrides": _assigned(_FIELDS, "PATH=VALUE"),
    "Settings": _assigned(_FIELDS, "FIELD=VALUE"),
    "Assignments": _assigned("'1 u8 + 2 u16', 'des.u8=1 des.u16=2', or a dict of these", "DESIGN"),
    "Uncertainties": _assigned("{'area': '10 %'} or 'area=10 %'", "PATH=PERCENT"),
    "Forms": _assigned("{'area': 'affine'} or 'area=affine'", "QUANTITY=FORM"),
    "PerByte": _one_of(PerByte),
    "Precision": _one_of(Precision),
    "str | Verilog": Kind(
        "the name of a generator, or what dse.verilog returns",
        lambda value: isinstance(value, str) or type(value).__name__ == "Verilog",  # of a wing
    ),
    **dict.fromkeys(("Progress", "Stop"), FUNCTION),
}
"""Kinds by the annotation of the argument.  An argument's default is always allowed."""


def override_pairs(overrides: Overrides | None) -> list[tuple[str, str]]:
    """Return overrides as pairs of dotted path and YAML."""
    from dse.files.document import assignments
    from dse.study.overrides import EXAMPLE

    return [*assignments(overrides, EXAMPLE).items()]


def document_of(
    study: StudySource,
    overrides: Overrides | None = None,
    evaluate: Callable[..., Any] | None = None,
) -> Document:
    """Return the document of a study with fields replaced and `evaluate` for measuring its designs.

    Raises
    ------
    StudyError
        The study is not well-formed, or a field does not exist.
    """
    from dse.study import study as studies
    from dse.study.overrides import override

    pairs = override_pairs(overrides)
    if isinstance(study, studies.Study):
        found = override(study.document, pairs)
    else:
        found = studies.read_study(study, pairs)
    if evaluate is None:
        return found
    if not found.measures:
        raise ArgumentError(
            "evaluate: the study does not say what is measured; add for instance "
            "`evaluate: {outputs: {area: um2}}`, or so the `core` of a stage"
        )
    return replace(found, evaluate=evaluate)


def study_of(source: StudySource | Result, overrides: Overrides | None = None) -> Document:
    """Return the document of a study, of a `Result`, or of the run in a folder."""
    from dse.files.document import Document
    from dse.study.overrides import override

    found = known(source)
    if isinstance(found, Path) and found.is_dir():
        from dse.runs import finished

        found = finished.read_run(found).document
    if isinstance(found, Path):
        return document_of(found, overrides)
    document = found if isinstance(found, Document) else found.document
    return override(document, override_pairs(overrides))


def known(source: StudySource | Result) -> Path | Document | Run:
    """Return a path, the document of a study that is no file, or the run of a `Result`.

    Raises
    ------
    StudyError
        Nothing is at the path.
    """
    from dse.files.document import no_such
    from dse.study import study as studies

    if isinstance(source, studies.Study):
        return source.document
    if isinstance(source, Mapping) or (isinstance(source, str) and "\n" in source):
        return studies.read_study(source)
    if not isinstance(source, str | Path):
        return source.run
    path = Path(source)
    if not os.path.exists(path):
        raise no_such(path, "file or folder of a run", "*.y*ml", "*/manifest.json")
    return path


def also_unfinished(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function of a study or run that takes the folder of an unfinished run as well."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        source, *others = args or (kwargs.pop("source", None),)
        path = Path(source) if isinstance(source, str) and "\n" not in source else source
        if not isinstance(path, Path) or not path.is_dir():
            return function(source, *others, **kwargs)  # type: ignore[arg-type]
        from dse.runs.unfinished import readable

        with readable(path) as so_far:
            return function(so_far, *others, **kwargs)  # type: ignore[arg-type]

    return call


def folder_of(run: str | Path | Result) -> Path:
    """Return the folder of a run.

    Raises
    ------
    OutputError
        A `Result` was not saved.
    """
    if isinstance(run, str | Path):
        return Path(run)
    if run.folder is None:
        raise OutputError("this result was not saved; save it first: result.save(folder)")
    return run.folder
