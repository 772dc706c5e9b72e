"""What the fields of a study are made of: sections, values with a unit, ranges and choices.

A field that carries a unit is written as text (``100 Gbit/s``) and becomes a `Given`: the name
of the column it sets, whose suffix is the unit, and its value in SI.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Tag,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from dse.algebra import units
from dse.errors import UnitError
from dse.files.csv import is_number


class Given(BaseModel):
    """A value of a study in SI and the column that it sets."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    column: str
    value: float


Amount = Given | None
"""What a field with a unit holds that may be left out."""


def fault(rule: str, remedy: str) -> PydanticCustomError:
    """Return an error whose message keeps rule and remedy apart."""
    return PydanticCustomError("study", "{rule}; {remedy}", {"rule": rule, "remedy": remedy})


def _read(written: Any, columns: tuple[str, ...]) -> Given:
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        example = units.example(columns[0])
        raise fault("this is one number with its unit", f"write for instance {example!r}")
    failures = []
    for column in columns:
        try:
            return Given(column=column, value=units.parse(written, column))
        except UnitError as error:
            failures.append(error)
    rule = failures[0].rule
    if len({failure.rule for failure in failures}) > 1:
        shown = " or ".join(units.label(units.suffix(name)) or "a number" for name in columns)
        rule = f"its unit must be {shown}"
    raise fault(rule, failures[0].remedy)


class Unit:
    """Metadata of a field: the columns that it may set, told apart by their units."""

    def __init__(
        self,
        description: str,
        *columns: str,
        integer: bool = False,
        zero: bool = False,
        among: tuple[float, ...] = (),
        words: Mapping[str, float] | None = None,
        key: str = "",
        counts: bool = False,
    ) -> None:
        """Keep what the field means and may be; the suffix of each column is its unit.

        `words` stand for values; `key` is that of a mapping which says what a number is; what
        `counts` things may be a share of one, and is a whole number where nobody asks for a share.
        """
        self.columns = columns
        self.integer = integer
        self.zero = zero
        self.among = among
        self.description = description
        self.words = words or {}
        self.key = key
        self.counts = counts

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Validate what is written with `read`."""
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the field to editors, with its unit and an example."""
        unit = " or ".join(filter(None, (units.label(units.suffix(name)) for name in self.columns)))
        examples = [*self.words] or [units.example(name) for name in self.columns]
        return {
            "description": self.description + (f" [{unit}]" if unit else ""),
            "type": ["string", "number", *(["object"] if self.key else [])],
            "examples": examples,
        }

    def read(self, written: Any) -> Given | None:
        """Return the value in SI, or raise a fault that names the unit to write."""
        if written is None or isinstance(written, Given):
            return written
        if isinstance(written, str) and written in self.words:
            return Given(column=self.columns[0], value=self.words[written])
        if self.key:
            written = self._keyed(written)
        given = _read(written, self.columns)
        if given.value < 0 or (given.value == 0 and not self.zero):
            least = "0 or more" if self.zero else "more than 0"
            raise fault(f"it must be {least}", f"write {least}")
        if self.integer and given.value != round(given.value):
            whole = units.show(max(1.0, round(given.value)), given.column)
            raise fault("it must be a whole number", f"write for instance {whole}")
        if self.among and given.value not in self.among:
            shown = ", ".join(units.show(value, given.column) for value in self.among)
            nearest = min(self.among, key=lambda value: abs(value - given.value))
            raise fault(f"it is one of {shown}", f"write {units.show(nearest, given.column)}")
        return given

    def _keyed(self, written: Any) -> Any:
        """Return the number of a mapping with `key`, or one written alone."""
        if isinstance(written, Mapping) and [*written] == [self.key]:
            return written[self.key]
        if is_number(str(written)) and not isinstance(written, bool):
            return written
        rule = f"this is one of {', '.join(self.words)}, or a number as {{{self.key}: 4}}"
        raise fault(rule, f"write {' or '.join(self.words)}")


_LONG = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(min|h)\s*")
_LONG_S = {"min": 60, "h": 3600}


class Duration(Unit):
    """Metadata of a time that may be minutes or hours, too."""

    def read(self, written: Any) -> Given | None:
        """Return the value in seconds, or raise a fault that names the unit to write."""
        found = _LONG.fullmatch(written) if isinstance(written, str) else None
        if found:
            written = f"{float(Fraction(found[1]) * _LONG_S[found[2]]):f} s"
        return super().read(written)


class StudySection(BaseModel):
    """A mapping of a study; a key that it does not know is a fault."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)
    word: ClassVar[str] = "section"
    """What faults call it."""

    def givens(self) -> dict[str, float]:
        """Return the columns that this section sets, in SI."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return {given.column: given.value for given in values if isinstance(given, Given)}


def unit_of(model: type[StudySection], name: str) -> Unit | None:
    """Return what a field of a section carries as its unit, None for a choice."""
    metadata = model.model_fields[name].metadata
    return next((data for data in metadata if isinstance(data, Unit)), None)


class Range(StudySection):
    """Evenly spaced values: whole numbers by step, others by number of points, or any value."""

    start: Annotated[int | float | str, Field(alias="from", description="First value")]
    to: Annotated[int | float | str, Field(description="Last value")]
    step: Annotated[int | float | str | None, Field(description="Distance of two values")] = None
    points: Annotated[int | None, Field(ge=1, le=1_000_000, description="How many values")] = None
    grid: Annotated[
        Literal["linear", "log"], Field(description="Even in the values or in their logarithm")
    ] = "linear"
    continuous: Annotated[
        bool, Field(description="Any value in the range, for a heuristic search; on this grid")
    ] = False


Scalar = int | float | bool | str


def no_items() -> list[Any]:
    """Return an empty list, the default of a field: pydantic parses the signature of `list`."""
    return []


def form(written: Any) -> str:
    """Return the tag of what is written: a mapping, a list, or a single value."""
    if isinstance(written, dict | StudySection):
        return "range"
    return "list" if isinstance(written, list) else "one"


def range_or_one(written: Any) -> str:
    """Return the tag of what may be a mapping or a single value."""
    return "range" if form(written) == "range" else "one"


Values = Annotated[
    Annotated[Range, Tag("range")]
    | Annotated[list[Scalar], Tag("list"), Field(min_length=1)]
    | Annotated[Scalar, Tag("one")],
    Discriminator(form),
    Field(description="A range, a list of choices, or one value"),
]

Uncertainty = Annotated[
    dict[str, int | float | str],
    Field(
        default_factory=dict, description="Relative standard uncertainty of figures: {area: 10 %}"
    ),
]
