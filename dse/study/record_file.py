"""Record files: their shape, and the records of plug-ins in their sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from dse import contract
from dse.algebra import units
from dse.errors import KeyPath, UnitError, nearest, quoted
from dse.files.document import Document
from dse.plugins import registry
from dse.study import core_models
from dse.study.core_models import Form
from dse.study.field_kinds import (
    Given,
    Label,
    Node,
    StudySection,
    Uncertainty,
    amounts,
    no_items,
)
from dse.study.reader import Reader, validate_as
from dse.study.schema import InterfaceSection, KernelSection, unspecified_fields

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", description="Name in results")]
Text = Annotated[str, Field(description="In plain words")]
Fields = Annotated[list[str], Field(default_factory=no_items)]


Provides = Annotated[
    list[Name],
    Field(default_factory=no_items, description="Functions that it computes, `dse list functions`"),
]


class SureEntry(StudySection):
    """Trust in the values of a record."""

    assumptions: Fields = Field(description="Fields that are assumed, not measured")
    fitted: Fields = Field(description="Fields that are fitted to measurements")
    uncertainty: Uncertainty


class ParameterEntry(StudySection):
    """A parameter of a law, and the range on which the law was fitted."""

    low: float = Field(allow_inf_nan=False, description="Least value fitted on")
    high: float = Field(allow_inf_nan=False, description="Largest value fitted on")
    integer: bool = Field(default=False, description="Whether it takes whole numbers only")
    description: Text = ""


class LawEntry(StudySection):
    """A quantity as a function of parameters."""

    form: Form
    over: list[str] = Field(
        default_factory=no_items, max_length=2, description="Parameters it depends on"
    )
    coefficients: list[float | str] = Field(
        min_length=1, description="With units, but exponents and rates of growth have none"
    )


class CoreEntry(StudySection):
    """A family of cores, given by laws."""

    name: Name
    label: Label = ""
    provides: Provides
    node: Node = Field(default="", description="In plain words")
    evidence: Literal["", "synthesis", "placed", "measured", "vendor"] = ""
    summary: Text = ""
    source: Text = ""
    note: Text = ""
    uncertainty: Uncertainty
    parameters: dict[Name, ParameterEntry] = Field(min_length=1, max_length=2)
    laws: dict[str, LawEntry | float | str] = Field(
        description="Quantity -> law, or one value for all designs"
    )


class InterfaceEntry(SureEntry, InterfaceSection):
    """An interface: the fields of a study's section, and its source."""

    name: Name
    label: Label = ""
    source: Text = ""
    note: Text = ""


class KernelEntry(SureEntry, KernelSection):
    """Time on the host: the fields of a study's kernel, and its source."""

    name: Name
    provides: Provides
    host: Text = ""
    source: Text = ""


class _Platform(SureEntry):
    name: Name
    processor: Text = ""
    source: Text = ""


class PlatformEntry(amounts("platform", _Platform)):  # type: ignore[misc]
    """Surroundings of the cores: memory, constant power and a power cap (energy roofline)."""


class Record(StudySection):
    """A record file: records that a study can use, and their source."""

    word: ClassVar[str] = "record"

    core: CoreEntry | None = None
    interface: InterfaceEntry | None = None
    kernel: KernelEntry | None = None
    platform: PlatformEntry | None = None
    provenance: dict[str, Any] = Field(
        default_factory=dict,
        description="File, sha256, date, method, range and residuals of the underlying data",
    )


def record_contents(
    found: Document, kinds: Mapping[type, str]
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Return the records of a file by section, of which each has a kind, and their provenance."""
    reader = Reader(found)
    record = validate_as(Record, reader)
    records: dict[str, Any] = {}
    if record is not None:
        for kind, section in kinds.items():
            written = getattr(record, section)
            if isinstance(written, CoreEntry):
                records[section] = _core(written, reader)
            elif written is not None:
                records[section] = _record(kind, written, section, reader)
        if not records:
            remedy = f"add one of {', '.join(kinds.values())}"
            reader.fault((), "a record file holds at least one record", remedy, "")
    reader.raise_any()
    return records, record.provenance if record else {}


def _record(kind: Any, written: SureEntry, section: str, reader: Reader) -> Any:
    """Return a record of the contract but a core: numbers in SI, texts, and the trust in them."""
    given = {name: getattr(written, name) for name in type(written).model_fields}
    values = {name: value for name, value in given.items() if isinstance(value, Given)}
    columns = {name: one.column.removeprefix(f"{section}_") for name, one in values.items()}
    fields: dict[str, Any] = {columns[name]: one.value for name, one in values.items()}
    fields |= {name: value for name, value in given.items() if isinstance(value, str)}
    if section == "interface":
        fields["unspecified"] = unspecified_fields(
            {name for name, value in given.items() if value is not None}
        )
        if fields.pop("device", None) is not None:
            rule = "a record is complete by itself"
            reader.fault(("interface", "device"), rule, "remove it, and write out its fields")
    if section == "kernel":
        fields["provides"] = _provided(given["provides"], section, reader)
    zeros = tuple(one.column for one in values.values() if one.value == 0.0)
    return kind(**fields, **_sureness(written, section, columns, reader), zeros=zeros)


def _provided(names: Sequence[str], section: str, reader: Reader) -> tuple[str, ...]:
    """Return the known functions that a record names, and report unknown ones."""
    known = registry.names(contract.Function)
    for place, name in enumerate(names):
        if name not in known:
            rule, remedy = "this function is not known", nearest(name, known)
            reader.fault((section, "provides", place), rule, remedy, quoted(name))
    return tuple(names)


def _sureness(
    written: SureEntry, section: str, columns: Mapping[str, str], reader: Reader
) -> dict[str, Any]:
    """Return the trust in the values of a section, by field of the contract."""
    for where, names in (("fitted", written.fitted), ("uncertainty", written.uncertainty)):
        for place, name in enumerate(names):
            if name not in columns:
                key = place if where == "fitted" else name
                rule, remedy = "the record has no such value", nearest(name, columns)
                reader.fault((section, where, key), rule, remedy, quoted(name))
    shares = {}
    for name, value in written.uncertainty.items():
        with reader.at((section, "uncertainty", name)):
            shares[columns.get(name, name)] = core_models.share(value)
    return {
        "assumptions": tuple(columns.get(name, name) for name in written.assumptions),
        "fitted": tuple(columns.get(name, name) for name in written.fitted),
        "uncertainty": shares,
    }


def _core(written: CoreEntry, reader: Reader) -> contract.Core | None:
    parameters = []
    for name, entry in written.parameters.items():
        if entry.high < entry.low:
            rule, remedy = "`high` is below `low`", "exchange them"
            reader.fault(("core", "parameters", name, "high"), rule, remedy)
        parameters.append(contract.Parameter(name=name, **entry.model_dump()))
    known = set(written.parameters)
    read = ((name, _law(name, law, known, reader)) for name, law in written.laws.items())
    laws = {name: law for name, law in read if law is not None}
    lacking = core_models.missing(written.laws)
    if lacking:
        rule = f"a core needs {' and '.join(lacking)}"
        reader.fault(("core", "laws"), rule, f"add {lacking[0].split()[0]}: ...", "it is missing")
    if reader.faults:
        return None
    provides = _provided(written.provides, "core", reader)
    lines = [written.source or "a record of the user's own", *filter(None, [written.note])]
    lines += [f"  {name} = {core_models.law_text(name, law)}" for name, law in laws.items()]
    spread = core_models.stated(written.uncertainty, reader.below("core"))
    model = contract.Model(
        function=lambda **columns: core_models.law_metrics(laws, parameters, columns),
        parameters=tuple(parameters),
        design_name="_".join(f"{name}{{{name}}}" for name in written.parameters),
        source="\n".join(lines),
        uncertainty=spread,
        assumed=()
        if {"latency", "tasks_in_flight"} & laws.keys()
        else (core_models.QUANTITIES["latency"],),
    )
    return contract.Core(
        name=written.name,
        summary=written.summary,
        models={"law": model},
        provides=provides,
        node=written.node,
        evidence=written.evidence,
        label=written.label,
    )


def _law(
    figure: str, written: LawEntry | float | str, known: set[str], reader: Reader
) -> core_models.Law | None:
    path: KeyPath = ("core", "laws", figure)
    if figure not in core_models.QUANTITIES:
        rule, remedy = "this quantity is not known", nearest(figure, core_models.QUANTITIES)
        reader.fault(path, rule, remedy, quoted(figure))
        return None
    where: KeyPath = (*path, "coefficients")
    if isinstance(written, float | str):
        written, where = LawEntry(form="constant", coefficients=[written]), path
    for position, name in enumerate(written.over):
        if name not in known or name in written.over[:position]:
            rule = "this is no parameter of the core, or is given twice"
            reader.fault((*path, "over", position), rule, nearest(name, known))
    expected = 1 if written.form == "constant" else 1 + len(written.over)
    with reader.at(where):
        if (written.form == "constant") == bool(written.over):
            raise UnitError(f"{written.form} over {len(written.over)} parameters", "correct `over`")
        if len(written.coefficients) != expected:
            raise UnitError(
                f"{written.form} over {len(written.over)} parameters has {expected} coefficients",
                f"write {expected}",
            )
        names = core_models.unit_names(figure, written.form, expected)
        values = tuple(map(units.parse, written.coefficients, names))
        return core_models.Law(form=written.form, over=tuple(written.over), coefficients=values)
    return None
