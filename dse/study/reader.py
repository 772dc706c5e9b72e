"""Reading of a study by place, with all errors collected before one is reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dse import removed
from dse.errors import (
    ENOUGH_FAULTS,
    Fault,
    PluginError,
    StudyError,
    UnitError,
    nearest,
    quoted,
    shortened,
)
from dse.files.document import Document
from dse.files.inputs import Input

Path = tuple[str | int, ...]
Shape = TypeVar("Shape", bound=BaseModel)


@dataclass
class Reader:
    """One place of a document to read, with the errors and notes of all places.

    Attributes
    ----------
    document, path
        Document, and the place in it that is the base of the paths of `fault` and `at`.
    faults, paths
        Errors, and the places of the errors that `fault` has added.
    notes
        Assumptions behind results, in words.
    inputs
        Files that it names and that were read, by the name as written.
    refused
        Notes on rejected fits, and the measured offloads that are faster.
    """

    document: Document
    path: Path = ()
    faults: list[Fault] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    inputs: dict[str, Input] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def below(self, *keys: str | int) -> Reader:
        """Return the reader of a place inside, which adds to the same errors and notes."""
        return replace(self, path=(*self.path, *keys))

    def fault(self, path: Path, rule: str, remedy: str, written: str | None = None) -> None:
        """Add an error at `path`.  The text written there is looked up unless given."""
        path = (*self.path, *path)
        if written is None:
            written = show_written(lookup(self.document.data, path))
            written = "" if rule.startswith(written) else written
        fault = self.document.fault(path, written, rule, remedy)
        if fault not in self.faults:
            self.faults.append(fault)
        self.paths.append(path)
        if len(self.faults) >= ENOUGH_FAULTS:
            raise StudyError(self.faults)

    @contextmanager
    def at(self, path: Path) -> Iterator[None]:
        """Turn an error with rule and remedy raised inside into an error at `path`."""
        try:
            yield
        except (UnitError, PluginError) as error:
            self.fault(path, error.rule, error.remedy)
        except StudyError as error:  # of another file that the study names
            if len(self.faults) >= ENOUGH_FAULTS:
                raise
            self.faults += [fault for fault in error.faults if fault not in self.faults]

    def raise_any(self) -> None:
        """Raise StudyError with all errors, if there are any."""
        if self.faults:
            raise StudyError(self.faults)


MISSING = object()


def lookup(data: Any, path: Path) -> Any:
    """Return the value at `path` of plain data, or `MISSING`."""
    for key in path:
        known = range(len(data)) if isinstance(data, list) else data
        if not isinstance(known, range | Mapping) or key not in known:
            return MISSING
        data = data[key]
    return data


def show_written(value: Any) -> str:
    """Return a value as its writer would recognise it, shortened."""
    if value is MISSING or isinstance(value, Mapping | list):
        return ""
    if isinstance(value, str):
        return quoted(value)
    return shortened("nothing" if value is None else str(value))


def validate_as(model: type[Shape], reader: Reader) -> Shape | None:
    """Return the document of a reader as `model`, or None if its shape has errors, now added."""
    try:
        return model.model_validate(reader.document.data)
    except ValidationError as error:
        problems = error.errors()
        old = {each["loc"][:-1] for each in problems if _instead(each["loc"])}
        for problem in problems:
            if problem["type"] != "missing" or problem["loc"][:-1] not in old:
                _add(reader, dict(problem), model)
    return None


def _instead(path: Path) -> str:
    """Return the replacement of a removed field, or an empty text."""
    names = [key for key in path if isinstance(key, str)]
    for place, key in enumerate(names):
        if key in ("axes", "outputs"):  # the name that follows is the author's own
            names = [*names[: place + 1], *names[place + 2 :][-1:]]
            break
    return removed.remedy("field", ".".join(names))


def _add(reader: Reader, problem: dict[str, Any], model: type[BaseModel]) -> None:
    data, kind = reader.document.data, problem["type"]
    path: Path = ()
    for key in problem["loc"]:  # without the names of union branches among the keys
        if key not in TAGS or lookup(data, (*path, key)) is not MISSING:
            path = (*path, key)
    value = lookup(data, path)
    gone = kind == "extra_forbidden" or (kind == "string_type" and isinstance(value, Mapping))
    if problem["loc"][-1] in SCALARS and path != problem["loc"]:
        rule = "it must be one value: a number with its unit, or a name"
        reader.fault(path, rule, "write one value")  # once, not for each kind of value
    elif gone and (instead := _instead(path)):
        reader.fault(path, removed.RULE, instead)
    elif kind == "extra_forbidden":
        remedy = nearest(str(path[-1]), _known_keys(path[:-1], model))
        reader.fault(path, "this key is not known here", remedy, "")
    elif kind == "missing":
        key = "from" if path[-1] == "start" else path[-1]
        place = f"a {getattr(model, 'word', 'section')}" if len(path) == 1 else "this section"
        reader.fault(path, f"{place} needs `{key}`", f"add {key}: ...", "it is missing")
    else:
        reader.fault(path, *_in_words(problem, value))


def _in_words(problem: dict[str, Any], value: Any) -> tuple[str, str]:
    """Return rule and remedy for a value of a wrong shape."""
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "study":
        return context["rule"], context["remedy"]
    if kind == "string_type" and isinstance(value, list):
        return "it must be one name", "write one; `axes` compares several"
    if kind == "literal_error":
        return f"it must be {context['expected']}", "write one of them"
    if kind in ENDS:
        key, words = ENDS[kind]
        allowed = words.format(context[key])
        return f"it must be {allowed}", f"write {allowed}"
    rule = problem["msg"].replace("Input should be", "it must be").replace("a valid", "a")
    return RULES.get(kind, (rule, "correct the value"))


ENDS = {
    "greater_than": ("gt", "more than {:,}"),
    "greater_than_equal": ("ge", "{:,} or more"),
    "less_than": ("lt", "less than {:,}"),
    "less_than_equal": ("le", "{:,} or less"),
}
"""Kinds of numbers that are out of range: pydantic's name of the end, and our words."""

_WHOLE = ("it must be a whole number", "write for instance 100")

RULES = {
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "dict_type": ("it must be a mapping", "write `key: value` pairs, indented below it"),
    "model_type": ("it must be a section", "write `key: value` pairs, indented below it"),
    "union_tag_invalid": ("it must be one value or a section", "write a name, or `key: value`"),
    "list_type": ("it must be a list", "write for instance [a, b]"),
    "too_short": ("it is empty", "write at least one entry"),
    "too_long": ("it has too many entries", "keep one of them"),
    "string_pattern_mismatch": (
        "a name is letters, digits and underscores, and starts with a letter",
        "write for instance des_1",
    ),
    "string_type": ("it must be text", "write it in quotes"),
}
"""Kinds of shape errors in our words: rule and remedy."""


SCALARS = ("int", "float", "bool", "str")
TAGS = ("range", "list", "one", *SCALARS)


def _known_keys(path: Path, root: type[BaseModel]) -> list[str]:
    """Return the keys that the sections at `path` of a `root` may have."""
    models = [root]
    for key in path:
        found = [one.model_fields[str(key)] for one in models if str(key) in one.model_fields]
        models = [one for field in found for one in _sections_of(field.annotation)] or models
    fields = [pair for model in models for pair in model.model_fields.items()]
    return [field.alias or name for name, field in fields]


def _sections_of(annotation: Any) -> list[type[BaseModel]]:
    """Return the sections inside an annotation such as ``list[Stage]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    inside = map(_sections_of, getattr(annotation, "__args__", ()))
    return [one for found in inside for one in found]
