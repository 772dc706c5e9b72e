"""The evidence behind each number of a study, and where the number comes from.

Evidence is one word: that of a core, or of a figure of a record, which has one; else `given` by the
study, `assumed` by a record, a `default` of the program, `published`, or `unstated`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from dse.files.document import is_record
from dse.model.designs import AREAS
from dse.study.assumptions import Assumption, assumptions_of, column_path
from dse.study.environment import DEVICE, KERNEL, PLATFORM
from dse.study.scenario import field_path
from dse.study.study import Study
from dse.study.workload_interface_budget import PATHS
from dse.study.written import is_written

GIVEN, ASSUMED, DEFAULT = "given", "assumed", "default"

MOST_ASSUMPTIONS = 2_000
"""Numbers that are listed by source."""

Source = tuple[str, str]
"""Evidence, and where from."""

_NAMED = {"interface": DEVICE, "kernel": KERNEL, "budget": PLATFORM}
"""The field that names a record, by how the columns begin that the record sets."""

_GRADE = re.compile(r"(?:^|\()(measured|derived|spec|report)\b[^:]*: ")
"""A source, or a remark in it, that says how a figure was found."""


def source_of(study: Study, entry: Assumption) -> Source:
    """Return the evidence behind a number of a study, and where the number comes from."""
    if entry.bound is not None:
        return GIVEN, "a constraint of the study"
    if entry.metric is not None:
        return _of_design(study, *entry.metric, entry.quantity)
    return _of_column(study, entry.quantity, entry.touched[1] if entry.touched else 0)


def _of_design(study: Study, place: int, row: int, metric: str) -> Source:
    stage = study.problem.stages[place]
    evidence, node, text = study.sureness.designs[stage.name][stage.designs.names[row]]
    new = study.document.stages[place].get("scale_to", node)
    if metric in AREAS and new != node:
        return "derived", f"{node}, scaled to {new}: {text}"
    return evidence or "unstated", f"{node}: {text}" if node else text


def _of_column(study: Study, column: str, row: int) -> Source:
    """Return the source of a column at the row of a record, where there is one."""
    document, path = study.document, field_path(column)
    kind = "" if "." in column else column.partition("_")[0]  # of a stage
    if column in PATHS and is_written(document, path):
        return GIVEN, "the study"
    if designs := document.data.get("designs"):
        return "unstated", f"the table {designs if isinstance(designs, str) else designs['table']}"
    if kind not in study.sureness.records:
        return (DEFAULT, "default of dse") if column in PATHS else (GIVEN, "the study")
    record = study.sureness.records[kind][row]
    field = column.removeprefix(f"{kind}_").replace("power_cap", "usable_power")
    omitted = path.rpartition(".")[2] in study.sureness.unspecified.get(row, ())
    if getattr(record, field) is None or (omitted and kind == "interface"):
        return DEFAULT, "default of dse"
    text = getattr(record, "sources", {}).get(field) or record.source
    found = _GRADE.search(text)
    evidence = found[1] if found else "published" if text else "unstated"
    evidence = "fitted" if field in record.fitted else evidence
    evidence = ASSUMED if field in record.assumptions else evidence
    name = _written_name(study, kind, row)
    text = text.removeprefix(f"{evidence}: ")
    own = is_record(name) or evidence == ASSUMED or not text
    return evidence, ": ".join(filter(None, (name * own, text)))


def _written_name(study: Study, kind: str, row: int) -> str:
    """Return the name of a record, or of its file, as the study writes it."""
    section, _, field = _NAMED[kind].partition(".")
    names = study.document.section("axes").get(_NAMED[kind])
    names = names or study.document.section(section)[field]
    return str(names[row] if isinstance(names, list) else names)


def by_source(study: Study, entries: Iterable[Assumption]) -> dict[Source, list[Assumption]]:
    """Return numbers by where they come from."""
    found: dict[Source, list[Assumption]] = {}
    for entry in entries:
        found.setdefault(source_of(study, entry), []).append(entry)
    return found


def unpublished(study: Study, design: Sequence[int]) -> set[str]:
    """Return the inputs behind one design, a choice per axis, that nobody has published.

    A record or the program assumes them, or they are omitted, and zero or unlimited for that
    reason.  The host alone has those of records that are a choice.
    """
    axes, alone = study.problem.space.axes, min(design, default=0) < 0
    known = assumptions_of(study, designs=False)
    near = (one for one in known if one.touched or not alone)
    near = (one for one in near if one.concerns(np.array(design)[np.newaxis]))
    found = {one.name for one in near if source_of(study, one)[0] in (ASSUMED, DEFAULT)}
    found |= {f"{stage}.leakage_power" for stage in study.sureness.unleaking}
    chosen = {axis.name: row for axis, row in zip(axes, design, strict=True)}
    row = chosen.get(DEVICE, -1 if alone else 0)
    if row < 0 or "interface" not in study.sureness.records:
        return found
    record = study.sureness.records["interface"][row]
    columns = (f"interface_{name}" for name in record.assumptions)
    assumed = [name for name in columns if _of_column(study, name, row)[0] == ASSUMED]
    names = {column_path(name).partition(".")[2] for name in assumed}
    label = record.name if DEVICE in chosen else "interface"
    return found | {
        f"{label}.{name}" for name in names.union(study.sureness.unspecified.get(row, ()))
    }
