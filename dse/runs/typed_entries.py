"""The entries of the files of a run with their types, checked before any use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dse.files.inputs import INPUTS

_Count: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 1024)]
_Row: TypeAlias = Annotated[int, Field(ge=1, lt=1 << 62)]
_Number: TypeAlias = float | int | Literal["inf", "-inf"] | None
"""A number in JSON: NaN is null, and an infinity is text."""
_Ends: TypeAlias = Annotated[list[float | int], Field(min_length=2, max_length=2)]
_Sha256: TypeAlias = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]
_Copy: TypeAlias = Annotated[str, Field(pattern=rf"\A{INPUTS}/[^/\\\x00]+\z")]
_Sense: TypeAlias = Literal["minimise", "maximise"]


class _Entries(BaseModel):
    """Entries of JSON of exact types, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class _Input(_Entries):
    """The copy of a file that a study names."""

    copy_: _Copy = Field(alias="copy")
    sha256: _Sha256


class _Recommended(_Entries):
    """The recommended design, and its row of front.csv."""

    row: _Row
    design: str
    rule: str
    ranges: dict[str, _Ends] = {}
    omitted: dict[str, list[str]] = {}


class _FrontEntries(_Entries):
    """The entries of one front."""

    front: _Count
    exact: bool
    reference_point: dict[str, _Number]
    hypervolume: _Number
    hypervolume_error: _Number
    hypervolume_share_of_exact: _Number
    hypervolume_share_at_least: _Number
    hypervolume_share_error: _Number
    recommended: _Recommended | None


class _Point(_FrontEntries):
    """The entries of one value of a sweep."""

    value: str | float | int | bool


class _Certificate(_Entries):
    """The account of the designs of a space."""

    way: list[str]
    reason: list[str]
    unfinished: list[str]
    designs: _Count
    evaluated: _Count
    pruned_as_dominated: _Count
    pruned_as_infeasible: _Count
    pruned_by: dict[str, _Count]
    evaluated_as_reference: _Count
    floats: str


class _LedgerEntries(_Entries):
    """The states of all designs, counted."""

    evaluated: _Count
    infeasible: _Count
    failed: _Count
    unknown: _Count
    pruned: _Count


class _Measured(_Entries):
    """The account of measurements."""

    identity: list[str]
    designs: _Count
    measured_anew: _Count
    infeasible: _Count
    failed: _Count
    causes: dict[str, _Count]


class _Growth(_Entries):
    """The hypervolume of a heuristic's front, over evaluations."""

    evaluations: list[_Count]
    share: list[_Number]


class _Picture(_Entries):
    """The texts of a picture besides the tables."""

    title: str
    axes: list[str]
    category: str | None
    limits: bool
    sweep: str | None
    names: list[str]
    labels: dict[str, str] = {}


class _Source(_Entries):
    """The source of inputs, and the evidence for it."""

    evidence: str
    source: str
    inputs: list[str]


class _Checksums(_Entries):
    """The checksums of files and of the manifest's own entries."""

    files: dict[str, _Sha256]
    sizes: dict[str, _Count]
    entries: dict[str, _Sha256]
    both: _Sha256


class _Manifest(_Entries):
    """The entries of every manifest of a run that has ended."""

    format: int
    question: str
    study: str
    study_file: str
    study_sha256: _Sha256
    overrides: dict[str, Any]
    inputs: dict[str, _Input]
    objectives: dict[str, _Sense] = Field(min_length=1)
    constraints: list[str]
    designs: _Count
    versions: dict[str, str]
    method: str
    options: dict[str, Any] = {}
    seed: _Count
    evaluated: _Count
    feasible: _Count
    failed: _Count
    failure: str
    feasible_in_space: _Count | None
    interrupted: bool
    exact: bool
    ledger: _LedgerEntries
    unmet: list[str] = []
    growth: _Growth | None = None
    certificate: _Certificate
    wall_s: float | int
    evaluations_stored: _Count
    front: _Count
    notes: list[str]
    picture: _Picture
    measured: _Measured | None = None
    sources: list[_Source]
    checksums: _Checksums


class _PlainManifest(_Manifest, _FrontEntries):
    """The manifest of a run without a sweep."""


class _SweptManifest(_Manifest):
    """The manifest of a run with a sweep, with a point for each value."""

    sweep: str
    points: list[_Point] = Field(min_length=1)


class _Measurement(_Entries):
    """One requested design and its measurement."""

    design: dict[str, str | float | int | bool]
    values: dict[str, float | int]
    cause: str
    kind: Literal[
        "", "infeasible", "exit", "signal", "timeout", "output", "start", "worker", "memory"
    ]
    attempts: _Count
    seconds: Annotated[float | int, Field(ge=0)]
    said: str
    folder: str


class MeasurementsFile(_Entries):
    """The measurements of a run."""

    identity: str
    measurements: list[_Measurement]


_RULES = {"missing": "is missing", "extra_forbidden": "is no entry that a run writes"}


def manifest_type(found: Mapping[str, Any]) -> type[BaseModel]:
    """Return the type of a manifest, with or without a sweep."""
    return _SweptManifest if "sweep" in found else _PlainManifest


def wrong_entries(model: type[BaseModel], found: Any) -> Iterator[str]:
    """Yield a line for each entry that is missing or of another type."""
    try:
        model.model_validate(found)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False):
            path, rule = ".".join(map(str, each["loc"])), _RULES.get(each["type"])
            yield f"{path} {rule}" if rule else f"{path}: {each['msg']}"


def contradictions(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield the contradictions among entries of right types."""
    rows, picture = manifest["front"], manifest["picture"]
    for one in manifest.get("points", [manifest]):
        if one["recommended"] is not None and one["recommended"]["row"] > rows:
            yield f"recommended.row is {one['recommended']['row']}, and the front has {rows} rows"
    if len(picture["names"]) != rows:
        yield f"picture.names are {len(picture['names'])}, and the front has {rows} rows"
