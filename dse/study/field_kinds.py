"""Kinds of fields of a study: sections, values with a unit, mixes, ranges, choices, and their axes.

A field that carries a unit is written as text (``100 Gbit/s``) and becomes a `Given`: the name
of the column it sets, whose suffix is the unit, and its value in SI.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Tag,
    create_model,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from dse.algebra import units
from dse.algebra.magnitudes import fault_of
from dse.contract import Column, Parameter
from dse.contract.fields import field_rows
from dse.errors import UnitError
from dse.files.csv import is_number
from dse.model import labels
from dse.model.space import Axis, Numbers


@dataclass(frozen=True, kw_only=True)
class Given:
    """A value of a study in SI and the column that it sets."""

    column: str
    value: float


Default = TypeVar("Default")
Section = TypeVar("Section", bound="StudySection")
Amount = Given | None
"""Value of a field with a unit that may be omitted."""


def fault(rule: str, remedy: str) -> PydanticCustomError:
    """Return an error whose message keeps rule and remedy apart."""
    return PydanticCustomError("study", "{rule}; {remedy}", {"rule": rule, "remedy": remedy})


def checked_label(written: Any) -> Any:
    """Return a label as it is written, or raise an error if it is not valid."""
    wrong = labels.fault_of_label(written) if isinstance(written, str) else None
    if wrong:
        raise fault(*wrong)
    return written


def _read(written: Any, columns: tuple[str, ...]) -> Given:
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        example = units.example(columns[0])
        raise UnitError("this is one number with its unit", f"write for instance {example!r}")
    failures = []
    for column in columns:
        try:
            value = units.parse(written, column)
            if wrong := fault_of(value, column, signed=True):
                raise UnitError(*wrong)
            return Given(column=column, value=value)
        except UnitError as error:
            failures.append(error)
    rule = failures[0].rule
    if len({failure.rule for failure in failures}) > 1:
        shown = " or ".join(units.label(name) or "a number" for name in columns)
        rule = f"its unit must be {shown}"
    raise UnitError(rule, failures[0].remedy)


@dataclass(frozen=True)
class Coded:
    """Metadata of a field with named values: its one column holds the position of the name."""

    neutral: ClassVar[float] = 0.0  # the first name means no choice

    columns: tuple[str, ...]
    names: tuple[str, ...]
    belongs_to: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Unit:
    """Metadata of a field with a unit: a row of the table that `dse.contract.fields` describes."""

    TYPES: ClassVar[tuple[str, ...]] = ("string", "number")
    WORDS: ClassVar[Mapping[str, str]] = {}

    description: str
    columns: tuple[str, ...]
    kind: Collection[str] = ()
    among: tuple[float, ...] = ()
    neutral: float = 0.0
    assumed: float | None = None
    usual: float | None = None
    unwritten: str = ""
    instead: tuple[str, ...] = ()
    belongs_to: tuple[str, ...] = ()

    @property
    def integer(self) -> bool:
        """Return whether it takes whole numbers only."""
        return "integer" in self.kind

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Validate the written value with `read`."""
        return core_schema.no_info_plain_validator_function(self._validated)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the field to editors, with its unit and an example."""
        unit = " or ".join(filter(None, (units.label(name) for name in self.columns)))
        return {
            "description": self.description + (f" [{unit}]" if unit else ""),
            "type": [*self.TYPES],
            "examples": [*self.WORDS] or [units.example(name) for name in self.columns],
        }

    def _validated(self, written: Any) -> Given | None:
        if written is None or isinstance(written, Given):
            return written
        try:
            return self.read(written)
        except UnitError as error:
            raise fault(error.rule, error.remedy) from error

    def read(self, written: Any) -> Given:
        """Return the value in SI, or raise UnitError with the unit to write."""
        if "duration" in self.kind and isinstance(written, str):
            written = units.in_seconds(written)
        given, zero = _read(written, self.columns), "zero" in self.kind
        if given.value < 0 or (given.value == 0 and not zero):
            rule, least = ("0 or more",) * 2 if zero else ("positive", "more than 0")
            raise UnitError(f"it must be {rule}", f"write {least}")
        if given.column.endswith("_share") and given.value > 1:
            raise UnitError("a share is at most 1", "write 100 % or less")
        if self.integer and given.value != round(given.value):
            whole = units.show(max(1.0, round(given.value)), given.column)
            raise UnitError("it must be a whole number", f"write for instance {whole}")
        if self.among and given.value not in self.among:
            shown = ", ".join(units.show(value, given.column) for value in self.among)
            nearest = min(self.among, key=lambda value: abs(value - given.value))
            raise UnitError(f"it is one of {shown}", f"write {units.show(nearest, given.column)}")
        return given


class Arrivals(Unit):
    """Metadata of the variation of gaps between arrivals: one of `WORDS`, or ``{cv2: 4}``."""

    TYPES = ("string", "number", "object")
    WORDS: ClassVar[Mapping[str, str]] = {"steady": "0", "poisson": "1"}

    def read(self, written: Any) -> Given:
        """Return the number of a word, of a mapping with `cv2`, or a single number."""
        if isinstance(written, str):
            written = self.WORDS.get(written, written)
        elif isinstance(written, Mapping) and [*written] == ["cv2"]:
            written = written["cv2"]
        if is_number(str(written)):
            return super().read(written)
        words = [*self.WORDS]
        rule = f"this is one of {', '.join(words)}, or a number as {{cv2: 4}}"
        raise UnitError(rule, f"write {' or '.join(words)}")


def amounts(section: str, names: type[StudySection], prefix: str = "") -> Any:
    """Return a section with the fields of `fields.csv` after those of `names`."""
    rows = field_rows(section)
    declared = {row["field"]: (Annotated[Amount, _unit(row, prefix)], None) for row in rows}
    declare: Any = create_model
    return declare(names.__name__, __base__=names, __module__=__name__, **declared)


def _unit(row: Mapping[str, str], prefix: str) -> Unit:
    texts = {name: row[name] for name in ("assumed", "usual", "neutral") if row[name]}
    kind = row["kind"].split()
    return _KINDS.get(kind[0] if kind else "", Unit)(
        row["description"],
        tuple(prefix + name for name in row["columns"].split()),
        kind,
        tuple(map(float, row["among"].split())),
        unwritten=row["unwritten"],
        instead=tuple(row["instead"].split()),
        belongs_to=tuple(row["belongs_to"].split()),
        **{name: float(text) for name, text in texts.items()},
    )


def no_items() -> list[Any]:
    """Return an empty list, the default of a field: pydantic parses the signature of `list`."""
    return []


def option(description: str, default: Default, **limits: Any) -> Default:
    """Return the declaration of an optional field.  `limits` as in `Field` of pydantic."""
    declared: Default = Field(default=default, description=description, **limits)
    return declared


def entries(description: str, **limits: Any) -> Any:
    """Return the declaration of an optional mapping.  `limits` as in `option`."""
    return Field(default_factory=dict, description=description, **limits)


def items(description: str, **limits: Any) -> Any:
    """Return the declaration of an optional list.  `limits` as in `option`."""
    return Field(default_factory=no_items, description=description, **limits)


class StudySection(BaseModel):
    """A mapping of a study.  An unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)
    word: ClassVar[str] = "section"
    """Its name in errors."""

    @classmethod
    def declared(cls) -> dict[str, Unit | Coded]:
        """Return the declarations of the fields that set columns."""
        every = ((name, data) for name, one in cls.model_fields.items() for data in one.metadata)
        return {name: data for name, data in every if isinstance(data, Unit | Coded)}

    def givens(self) -> dict[str, float]:
        """Return the columns of its amounts, in SI, neutral if another column has the unit."""
        found: dict[str, float] = {}
        for name, unit in self.declared().items():
            given = getattr(self, name)
            if isinstance(given, Given):
                found |= dict.fromkeys(unit.columns, unit.neutral) | {given.column: given.value}
        return found


class Range(StudySection):
    """Evenly spaced values: whole numbers by step, others by number of points."""

    start: int | float | str = Field(alias="from", description="First value")
    to: int | float | str = Field(description="Last value")
    step: int | float | str | None = option("Distance of two values", None)
    points: int | None = option("How many values", None, ge=1, le=1_000_000)
    grid: Literal["linear", "log"] = option("Even in the values or in their logarithm", "linear")


Scalar = int | float | bool | str


def form(written: Any) -> str:
    """Return the tag of a written value: a mapping, a list, or a single value."""
    if isinstance(written, dict | StudySection):
        return "range"
    return "list" if isinstance(written, list) else "one"


def range_or_one(written: Any) -> str:
    """Return the tag of a value that may be a mapping or a single value."""
    return "range" if form(written) == "range" else "one"


SectionOrName = Annotated[
    Annotated[Section, Tag("range")] | Annotated[str | None, Tag("one")], Discriminator(form)
]
"""A section, or the name that replaces it."""

Node = Annotated[str, AfterValidator(lambda name: re.sub(r"^(\d+)nm$", r"\1 nm", name))]
"""The node of a process: `65nm` is `65 nm`."""

Label = Annotated[
    str,
    Field(
        description="Text that people read in place of the name", max_length=labels.LONGEST_LABEL
    ),
    BeforeValidator(checked_label),
]

Values = Annotated[
    Annotated[Range, Tag("range")]
    | Annotated[list[Scalar], Tag("list"), Field(min_length=1)]
    | Annotated[Scalar, Tag("one")],
    Discriminator(form),
    Field(description="A range, a list of choices, or one value"),
]


Uncertainty = Annotated[
    dict[str, int | float | str],
    entries("Relative standard uncertainty of values: {area: 10 %}"),
]


_WHOLE = 1e-9
"""Allowed difference of the sum of rounded shares from 1."""


@dataclass(frozen=True, kw_only=True)
class Mix(Given):
    """Sizes with their shares of all offloads.  The value is the mean size."""

    sizes: tuple[float, ...]
    shares: tuple[float, ...]

    @property
    def note(self) -> str:
        """Return a text with the mixed sizes and their mean."""
        pairs = zip(self.sizes, self.shares, strict=True)
        listed = [f"{units.show(size, self.column)} ({share:.3g})" for size, share in pairs]
        mean = units.show(self.value, self.column)
        return f"workload.granularity: sizes and shares {', '.join(listed)}: {mean} on average"


class Sizes(Unit):
    """Metadata of a field that holds one size, or a mapping of sizes to shares."""

    TYPES = ("string", "number", "object")

    def read(self, written: Any) -> Given:
        """Return one size, or a mix."""
        if not isinstance(written, Mapping):
            return super().read(written)
        sizes = tuple(super(Sizes, self).read(size).value for size in written)
        shares = tuple(map(_share, written.values()))
        total, rule = math.fsum(shares), ""
        if abs(total - 1.0) > _WHOLE:
            rule = f"the shares of all sizes add up to {total:.4g}, not 1"
        if len({*sizes}) < len(written):
            rule = "a mix has each size once"
        if not written:
            rule = "a mix has at least one size"
        if rule:
            raise UnitError(rule, "write for instance {64 B: 3/4, 1500 B: 1/4}")
        mean = sum(share * size for size, share in zip(sizes, shares, strict=True))
        return Mix(column=self.columns[0], value=mean, sizes=sizes, shares=shares)


def _share(written: Any) -> float:
    """Return a share: ``7/12``, ``0.25`` or ``25 %``."""
    try:
        share = float(Fraction(written)) if isinstance(written, str) and "/" in written else None
        share = units.parse(written, "share") if share is None else share
    except (UnitError, ValueError, ZeroDivisionError, TypeError):
        share = math.nan
    if not 0.0 < share <= 1.0:
        raise UnitError("a share of offloads is more than 0 and at most 1", "write 7/12, or 58 %")
    return share


_KINDS: Mapping[str, type[Unit]] = {"mix": Sizes, "arrivals": Arrivals}
"""Fields whose first kind says more than a unit."""

MOST_VALUES = 1_000_000
"""Most values of one axis.  A longer axis is a typing mistake rather than a question."""

MOST_LISTED = 4_000_000
"""Most values of all axes of a stage together, which bounds the memory to about 100 MiB."""

_DIGITS = 12
"""Significant digits of a computed value, which undo the rounding of the logarithm."""

Read = Callable[[Any], float]


def expand(written: Any, read: Read, *, integer: bool) -> list[float]:
    """Return the values of a range, a list or a single scalar, in SI."""
    if isinstance(written, Range):
        return _expand_range(written, read, integer=integer)
    values = [read(value) for value in (written if isinstance(written, list) else [written])]
    seen: set[float] = set()
    for position, value in enumerate(values):
        if value in seen:
            raise UnitError(f"{written[position]!r} is twice in the list", "write it once")
        seen.add(value)
    return values


def _expand_range(written: Range, read: Read, *, integer: bool) -> list[float]:
    start, stop = read(written.start), read(written.to)
    if stop < start:
        rule = f"the range from {written.start} to {written.to} is empty"
        raise UnitError(rule, "write the smaller value at `from`")
    if written.grid == "log" and start <= 0:
        raise UnitError("a logarithmic grid has to start above 0", "raise `from`")
    if written.step is not None and written.points is not None:
        raise UnitError("`step` and `points` exclude each other", "remove one of them")
    if written.points is None and (integer or written.step is not None):
        return _by_step(start, stop, written, read)
    if written.points is None:
        rule = "a range of real numbers needs `points` or `step`"
        raise UnitError(rule, "add for instance points: 11")
    grid = np.geomspace if written.grid == "log" else np.linspace
    # rounded, so that 64 .. 65536 holds exactly 1024
    values = [float(f"{value:.{_DIGITS}g}") for value in grid(start, stop, written.points)]
    return sorted({float(round(value)) for value in values}) if integer else values


def _by_step(start: float, stop: float, written: Range, read: Read) -> list[float]:
    if written.grid == "log":
        raise UnitError("a logarithmic grid needs `points`", "add for instance points: 9")
    step = 1.0 if written.step is None else read(written.step)
    if step <= 0:
        raise UnitError("the step must be more than 0", "write for instance step: 1")
    steps = (stop - start) / step * (1 + 1e-12)  # counted before any value is listed
    if steps >= MOST_VALUES:
        count = f"{int(steps) + 1:,}" if steps < 1e15 else f"some {steps:.1g}"
        raise UnitError(
            f"the range has {count} values, more than {MOST_VALUES:,}",
            "widen the step, or give `points`; are all units right, GHz and Hz for instance?",
        )
    values: list[float] = (start + step * np.arange(int(steps) + 1)).tolist()
    return values


def numeric(path: str, unit: Unit, written: Any) -> Axis:
    """Return the axis of a field with a unit.

    All values set the same column.  The other columns of the field get their neutral value.
    """

    def read(scalar: Any) -> tuple[float, str]:
        given = unit.read(scalar)
        return given.value, given.column

    values, column = _of_one_kind(written, read, integer=unit.integer)
    axis = scaled(path, values, is_log(written), column)
    others = dict.fromkeys(unit.columns, np.broadcast_to(unit.neutral, axis.size))
    return replace(axis, columns=others | dict(axis.columns))


def _of_one_kind(
    written: Any, read: Callable[[Any], tuple[float, str]], *, integer: bool
) -> tuple[list[float], str]:
    """Return the values of an axis and their kind, of which `read` returns both."""
    kinds: set[str] = set()

    def value(scalar: Any) -> float:
        number, kind = read(scalar)
        kinds.add(kind)
        return number

    values = expand(written, value, integer=integer)
    if len(kinds) > 1:
        raise UnitError("the values have different kinds of unit", "write all in one unit")
    return values, kinds.pop()


def parameter_values(parameter: Parameter, written: Any) -> list[float]:
    """Return the values of a core parameter, dimensionless numbers."""

    def read(scalar: Any) -> float:
        if isinstance(scalar, bool) or not isinstance(scalar, int | float):
            raise UnitError(f"{scalar!r} is not a number", "write a number")
        if parameter.integer and scalar != round(scalar):
            raise UnitError(f"{parameter.name} is a whole number", f"write {round(scalar)}")
        if scalar <= 0:
            raise UnitError(f"{parameter.name} must be more than 0", f"write {parameter.low:g}")
        return float(scalar)

    return expand(written, read, integer=parameter.integer)


def is_log(written: Any) -> bool:
    """Return whether written values are a range that is even in their logarithm."""
    return isinstance(written, Range) and written.grid == "log"


def scaled(name: str, values: ArrayLike, log: bool = False, column: str = "") -> Axis:
    """Return an axis of numbers on their scale that sets one column, by default its own."""
    numbers, column = np.array(values, dtype=np.float64), column or name
    return Axis(name, {column: numbers}, Numbers(numbers), column, log=log)


def choices(name: str, columns: Mapping[str, Column], labels: Sequence[str]) -> Axis:
    """Return an axis of named choices without an order."""
    return Axis(name, columns, tuple(labels), "", ordered=False)


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NUMBER = re.compile(r"\s*[-+]?\.?\d|\s*$")


def free_axis(name: str, written: Any, taken: Collection[str]) -> Axis:
    """Return the axis that a study calls `name`.

    Its column has the name and the SI unit of its values: ``clock: [100 MHz]`` is ``clock_hz``.
    """
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        rule = "an axis of its own name is letters, digits and _, and no word of Python"
        raise UnitError(rule, "rename it")
    axis = _texts(name, written) or _numbers(name, written)
    for column in axis.columns:
        if column in taken:
            raise UnitError(f"{column} is a column of this study already", "rename the axis")
    return axis


def written_unit(written: Any) -> str:
    """Return the unit in which the first value of an axis is written, or an empty text."""
    if isinstance(written, Range):
        written = written.start
    first = written[0] if isinstance(written, list) else written
    if not isinstance(first, str):
        return ""
    found = re.fullmatch(r"\s*[-+]?[\d.,]+(?:[eE][-+]?\d+)?\s*(.*?)\s*", first)
    return found[1] if found else ""


def _texts(name: str, written: Any) -> Axis | None:
    """Return the axis of choices, or None if a value is a number."""
    values = written if isinstance(written, list) else [written]
    if isinstance(written, Range) or not all(map(_is_text, values)):
        return None
    labels = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    expand(labels, lambda label: label, integer=False)
    return choices(name, {name: np.arange(len(labels), dtype=np.float64)}, labels)


def _is_text(value: Any) -> bool:
    """Return whether a value is a choice: ``-O2``, ``./a.json``, ``8b10b``, but no number."""
    if isinstance(value, bool) or not isinstance(value, str):
        return isinstance(value, bool)
    if not _NUMBER.match(value):
        return True
    try:
        units.parse_any(value)
    except UnitError:
        return not value.split()[1:]  # a number and a word are an unknown unit
    return False


def _numbers(name: str, written: Any) -> Axis:
    def read(scalar: Any) -> tuple[float, str]:
        if isinstance(scalar, bool):
            raise UnitError("numbers and choices cannot be mixed", "write one kind of value")
        return units.parse_any(scalar)

    whole = isinstance(written, Range) and written.points is None and isinstance(written.start, int)
    values, suffix = _of_one_kind(written, read, integer=whole and isinstance(written.to, int))
    own = not suffix or units.suffix(name) == suffix
    return scaled(name, values, is_log(written), name if own else f"{name}_{suffix}")


def axes_labels(axes: Sequence[Axis]) -> dict[str, Sequence[str]]:
    """Return the texts of the axes that are choices with their own names."""
    return {
        axis.name: axis.labels for axis in axes if axis.name in axis.columns and not axis.ordered
    }
