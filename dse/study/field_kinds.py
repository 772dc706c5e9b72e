"""Kinds of fields of a study: sections, values with a unit, mixes, ranges, choices.

A field that carries a unit is written as text (``100 Gbit/s``) and becomes a `Given`: the name
of the column it sets, whose suffix is the unit, and its value in SI.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, TypeVar

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
from dse.contract.fields import field_rows
from dse.errors import UnitError
from dse.files.csv import is_number
from dse.model import labels


class Given(BaseModel):
    """A value of a study in SI and the column that it sets."""

    model_config = ConfigDict(frozen=True, defer_build=True)

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
        raise fault("this is one number with its unit", f"write for instance {example!r}")
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
    raise fault(rule, failures[0].remedy)


@dataclass(frozen=True)
class Coded:
    """Metadata of a field with named values: its column holds the position of the name."""

    column: str
    names: tuple[str, ...]
    belongs_to: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the column that it sets."""
        return (self.column,)

    @property
    def neutral(self) -> float:
        """Return the position of the first name, which means no choice."""
        return 0.0


@dataclass(frozen=True, eq=False)
class Unit:
    """Metadata of a field with a unit.  Its rules as in `dse.contract.fields`.

    Attributes
    ----------
    description, columns
        Meaning of the field, and columns whose suffix is the unit, one per unit.
    kind, among
        Words on its values, and the only values.
    neutral, assumed, usual, unwritten
        Values if it is not given, and the words for them.
    instead, belongs_to
        Fields that replace it, and fields of which one must not be neutral.
    """

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
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the field to editors, with its unit and an example."""
        unit = " or ".join(filter(None, (units.label(name) for name in self.columns)))
        return {
            "description": self.description + (f" [{unit}]" if unit else ""),
            "type": ["string", "number"],
            "examples": [units.example(name) for name in self.columns],
        }

    def read(self, written: Any) -> Given | None:
        """Return the value in SI, or raise an error that names the unit to write."""
        if written is None or isinstance(written, Given):
            return written
        given, zero = _read(written, self.columns), "zero" in self.kind
        if given.value < 0 or (given.value == 0 and not zero):
            rule, least = ("0 or more",) * 2 if zero else ("positive", "more than 0")
            raise fault(f"it must be {rule}", f"write {least}")
        if self.integer and given.value != round(given.value):
            whole = units.show(max(1.0, round(given.value)), given.column)
            raise fault("it must be a whole number", f"write for instance {whole}")
        if self.among and given.value not in self.among:
            shown = ", ".join(units.show(value, given.column) for value in self.among)
            nearest = min(self.among, key=lambda value: abs(value - given.value))
            raise fault(f"it is one of {shown}", f"write {units.show(nearest, given.column)}")
        return given


class Arrivals(Unit):
    """Metadata of the variation of gaps between arrivals: one of `WORDS`, or ``{cv2: 4}``."""

    WORDS: ClassVar[Mapping[str, str]] = {"steady": "0", "poisson": "1"}

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the field to editors."""
        found = super().__get_pydantic_json_schema__(schema, handler)
        return found | {"type": ["string", "number", "object"], "examples": [*self.WORDS]}

    def read(self, written: Any) -> Given | None:
        """Return the number of a word, of a mapping with `cv2`, or a single number."""
        if isinstance(written, str):
            written = self.WORDS.get(written, written)
        elif isinstance(written, Mapping) and [*written] == ["cv2"]:
            written = written["cv2"]
        if written is None or isinstance(written, Given) or is_number(str(written)):
            return super().read(written)
        words = [*self.WORDS]
        rule = f"this is one of {', '.join(words)}, or a number as {{cv2: 4}}"
        raise fault(rule, f"write {' or '.join(words)}")


def neutral(unit: Unit) -> dict[str, float]:
    """Return the columns of a field, each with the value that leaves it without effect."""
    return dict.fromkeys(unit.columns, unit.neutral)


def quantity(description: str, *columns: str, **about: Any) -> Any:
    """Return the declaration of an optional field with a unit.  `about` as in `Unit`."""
    declared: Any = Field(default=None)
    declared.metadata.append(Unit(description, columns, **about))
    return declared


def amounts(section: str, names: type[StudySection], prefix: str = "") -> Any:
    """Return a section with the fields of `fields.csv` after those of `names`."""
    declared = {row["field"]: (Amount, _amount(row, prefix)) for row in field_rows(section)}
    declare: Any = create_model
    return declare(names.__name__, __base__=names, __module__=__name__, **declared)


def _amount(row: Mapping[str, str], prefix: str) -> Any:
    texts = {name: row[name] for name in ("assumed", "usual", "neutral") if row[name]}
    return quantity(
        row["description"],
        *(prefix + name for name in row["columns"].split()),
        kind=row["kind"].split(),
        among=tuple(map(float, row["among"].split())),
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


def choice(description: str, *coded: Any) -> Any:
    """Return the declaration of a field with named values.  `coded` as in `Coded`."""
    declared: Any = option(description, None)
    declared.metadata.append(Coded(*coded))
    return declared


def entries(description: str, **limits: Any) -> Any:
    """Return the declaration of an optional mapping.  `limits` as in `option`."""
    return Field(default_factory=dict, description=description, **limits)


def items(description: str, **limits: Any) -> Any:
    """Return the declaration of an optional list.  `limits` as in `option`."""
    return Field(default_factory=no_items, description=description, **limits)


class Duration(Unit):
    """Metadata of a time that may be minutes or hours, too."""

    def read(self, written: Any) -> Given | None:
        """Return the value in seconds, or raise an error that names the unit to write."""
        return super().read(units.in_seconds(written) if isinstance(written, str) else written)


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
        """Return the columns that this section sets, in SI."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return {given.column: given.value for given in values if isinstance(given, Given)}


class Range(StudySection):
    """Evenly spaced values: whole numbers by step, others by number of points, or any value."""

    start: int | float | str = Field(alias="from", description="First value")
    to: int | float | str = Field(description="Last value")
    step: int | float | str | None = option("Distance of two values", None)
    points: int | None = option("How many values", None, ge=1, le=1_000_000)
    grid: Literal["linear", "log"] = option("Even in the values or in their logarithm", "linear")
    continuous: bool = option("Any value in the range, for a heuristic search, on this grid", False)


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

_DOTS = re.compile(r"\s*([\d.]*\d)\s*([A-Za-z%]*)\s*\.\.\s*([\d.]*\d)\s*([A-Za-z%/]*)\s*")


def dotted_range(written: Any) -> Any:
    """Return ``8..64`` or ``1..4 KiB`` as a range, and any other value unchanged."""
    found = _DOTS.fullmatch(written) if isinstance(written, str) else None
    if found is None:
        return written
    low, unit, high, last = found.groups()
    ends = (f"{low} {unit or last}", f"{high} {last}") if last else (float(low), float(high))
    return dict(zip(("from", "to"), ends, strict=True))


Values = Annotated[
    Annotated[Range, Tag("range")]
    | Annotated[list[Scalar], Tag("list"), Field(min_length=1)]
    | Annotated[Scalar, Tag("one")],
    Discriminator(form),
    BeforeValidator(dotted_range),
    Field(description="A range, a list of choices, or one value"),
]


Uncertainty = Annotated[
    dict[str, int | float | str],
    entries("Relative standard uncertainty of values: {area: 10 %}"),
]


_WHOLE = 1e-9
"""Allowed difference of the sum of rounded shares from 1."""


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

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the field to editors."""
        found = super().__get_pydantic_json_schema__(schema, handler)
        return found | {"type": ["string", "number", "object"]}

    def read(self, written: Any) -> Given | None:
        """Return one size, or a mix, or raise an error that names a correct text."""
        if not isinstance(written, Mapping):
            return super().read(written)
        found = [super(Sizes, self).read(size) for size in written]
        sizes = tuple(given.value for given in found if given is not None)
        shares = tuple(_share(share) for share in written.values())
        total, rule = math.fsum(shares), ""
        if abs(total - 1.0) > _WHOLE:
            rule = f"the shares of all sizes add up to {total:.4g}, not 1"
        if len({*sizes}) < len(written):
            rule = "a mix has each size once"
        if not written:
            rule = "a mix has at least one size"
        if rule:
            raise fault(rule, "write for instance {64 B: 3/4, 1500 B: 1/4}")
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
        raise fault("a share of offloads is more than 0 and at most 1", "write 7/12, or 58 %")
    return share
