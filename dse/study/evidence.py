"""Evidence behind each number of a study, and its source.

Evidence is one word.  It is the word of a core, or of a value of a record that has one.  Otherwise
it is `given` by the study, `assumed` by a record, a `default` of the program, `published`, or
`unstated`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dse import contract
from dse.model.designs import AREAS
from dse.study.environment import DEVICE
from dse.study.overrides import is_written
from dse.study.scenario import field_path
from dse.study.study import Study
from dse.study.workload_interface_budget import PATHS

GIVEN, ASSUMED, DEFAULT = "given", "assumed", "default"

MOST_ASSUMPTIONS = 2_000
"""Most numbers that are listed by source."""

_GRADE = re.compile(r"(?:^|\(|: )(measured|derived|spec|report)\b[^:]*: ")
"""Pattern of a source, or a remark in it, that states the origin of a value."""


def source_of(study: Study, entry: Any) -> tuple[str, str]:
    """Return the evidence behind an `Assumption` of a study, and the source of its value."""
    if entry.bound is not None:
        return GIVEN, "a constraint of the study"
    if entry.metric is None:
        return _of_column(study, entry.quantity, entry.touched[1] if entry.touched else 0)
    place, row = entry.metric
    stage = study.problem.stages[place]
    evidence, node, source = study.sureness.designs[stage.name][stage.designs.names[row]]
    text = source.partition("\n")[0]  # without the laws of a record
    new = study.document.stages[place].get("scale_to", node)
    if entry.quantity in AREAS and new != node:
        return "derived", f"{node}, scaled to {new}: {text}"
    return evidence or "unstated", f"{node}: {text}" if node else text


def _of_column(study: Study, column: str, row: int) -> tuple[str, str]:
    """Return the source of a column, at the row of a record if there is one."""
    document, path = study.document, field_path(column)
    kind = "" if "." in column else column.partition("_")[0]  # of a stage
    if column in PATHS and is_written(document, path):
        return GIVEN, "the study"
    if designs := document.data.get("designs"):
        return "unstated", f"the table {designs if isinstance(designs, str) else designs['table']}"
    if kind not in study.sureness.records:
        return (DEFAULT, "default of dse") if column in PATHS else (GIVEN, "the study")
    field = column.removeprefix(f"{kind}_").replace("power_cap", "usable_power")
    omitted = study.sureness.unspecified.get(row, ()) if kind == "interface" else ()
    return _of_record(study.sureness.records[kind][row], field, path.rpartition(".")[2] in omitted)


def _of_record(record: Any, field: str, omitted: bool) -> tuple[str, str]:
    """Return the source of one field of a record, as precisely as the record states it."""
    text = getattr(record, "sources", {}).get(field) or record.source
    if field in record.assumptions:
        return ASSUMED, text if record.name in text else f"{record.name}: {text}"
    if omitted or getattr(record, field) == getattr(contract.Interface, field, ""):
        return DEFAULT, "default of dse"
    graded = _GRADE.search(text)
    evidence = graded[1] if graded else "published" if text else "unstated"
    return "fitted" if field in record.fitted else evidence, text.removeprefix(f"{evidence}: ")


def unpublished(study: Study, known: Iterable[Any], design: Sequence[int]) -> set[str]:
    """Return the unpublished inputs behind one design, a choice per axis.

    A record or the program assumes them, of the `known` assumptions, or they are omitted, and zero
    or unlimited for that reason.  For the host without accelerators they are inputs of chosen
    records.
    """
    alone, point = min(design, default=0) < 0, np.array(design)[np.newaxis]
    near = (one for one in known if one.concerns(point) and (one.touched or not alone))
    found = {one.name for one in near if source_of(study, one)[0] in (ASSUMED, DEFAULT)}
    names = [axis.name for axis in study.problem.space.axes]
    row = design[names.index(DEVICE)] if DEVICE in names else -int(alone)
    leakage = {f"{stage}.leakage_power" for stage in study.sureness.unleaking}
    return {name.partition(".")[2] for name in found} | _unwritten(study, row) | leakage


def _unwritten(study: Study, row: int) -> set[str]:
    """Return the fields that an interface assumes or omits, even those without effect."""
    records = study.sureness.records.get("interface", ())[row : row + 1] if row >= 0 else ()
    columns = [f"interface_{name}" for record in records for name in record.assumptions]
    columns = [name for name in columns if _of_column(study, name, row)[0] == ASSUMED]
    names = {field_path(name).partition(".")[2] for name in columns}
    return names.union(study.sureness.unspecified.get(row, ()))
