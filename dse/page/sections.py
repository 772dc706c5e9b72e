"""What a page says in words and tables: the front, assumptions and sources, certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dse import contract
from dse.model.ledger import ledger_of, remedy_of
from dse.page.page_run import PageRun
from dse.plugins import registry
from dse.reports.front_table import front_table
from dse.reports.sections import Section
from dse.reports.words import listed
from dse.runs import checksums
from dse.study.assumptions import Assumption, assumptions_of

MOST_ROWS = 200
"""Rows of the table that is read without scripts."""

RECORDS = {
    "interface": contract.Interface,
    "kernel": contract.Kernel,
    "budget": contract.Platform,
    "platform": contract.Platform,
}
"""What a record is, by how the columns that it sets begin."""

ASSUMED = "assumed, not published"

MOST_ASSUMPTIONS = 2_000
"""Numbers that a page lists."""


def front_section(run: PageRun) -> Section:
    """Return the front as a table: all of it, or the rows that tell most."""
    return front_table(run.view, run.name, MOST_ROWS)


def assumptions_section(run: PageRun) -> Section:
    """Return every number that the study assumes, and where it comes from."""
    found = assumptions_of(run.study)
    rows = tuple(
        (entry.name, entry.show(entry.value), _source(run.study.document.data, entry))
        for entry in found[:MOST_ASSUMPTIONS]
    )
    notes = run.run.manifest.get("notes") or ()
    lines = tuple(f"{note[:1].upper()}{note[1:]}." for note in notes)
    if left := len(found) - len(rows):
        lines += (f"{left:,} more are numbers of designs or constraints, which the run has.",)
    return Section("assumptions", run.name, lines, ("assumption", "value", "source"), rows)


def _source(data: Mapping[str, Any], entry: Assumption) -> str:
    """Return where the value of an assumption comes from."""
    if entry.bound is not None:
        return "a constraint of the study"
    if entry.metric is not None:
        return _of_stage(data["stages"][entry.metric[0]])
    section, _, field = entry.name.partition(".")
    written = data.get(section)
    if entry.touched is None and isinstance(written, dict) and field in written:
        return "the study"
    kind = RECORDS.get(entry.quantity.partition("_")[0])
    named = {section} if entry.touched is not None else set(_texts(data))
    if kind is not None:
        for name in sorted(named & {*registry.names(kind)}):
            return _of_record(registry.get(kind, name), entry.quantity)
    return "default, or from a record of the user's own"


def _of_stage(stage: Mapping[str, Any]) -> str:
    if "table" in stage:
        return f"the table {stage['table']}"
    core = str(stage.get("core", ""))
    if core not in registry.names(contract.Core):
        return f"the record {core}" if core else "the study"
    models = registry.get(contract.Core, core).models
    return models[str(stage.get("model", next(iter(models))))].source


def _of_record(record: Any, quantity: str) -> str:
    """Return the source of one field of a record, as precisely as it says."""
    field = next((name for name in vars(record) if quantity.endswith(f"_{name}")), quantity)
    source = str(getattr(record, "sources", {}).get(field) or record.source)
    if field in record.assumptions:
        return f"{ASSUMED} ({record.name}: {source})"
    return f"{source}, fitted" if field in record.fitted else source


def _texts(value: Any) -> Iterator[str]:
    """Yield every text that a study gives as a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _texts(entry)


def certificate_section(run: PageRun) -> Section:
    """Return what was proven of the front, and how."""
    manifest = run.run.manifest
    certificate = manifest.get("certificate") or {}
    ledger = ledger_of(manifest)
    claim = "This front is not proven: a better design may have been missed."
    if ledger.exact:
        claim = "This is the Pareto front: every design of the study is accounted for."
    elif ledger.but:
        claim = f"This front is {ledger.but}: one of these may be better."
    lines = [claim, *(f"Unfinished: {why}." for why in certificate.get("unfinished", ()))]
    if remedy := remedy_of(manifest):
        lines.append(f"{remedy[0].upper()}{remedy[1:]}")
    sums = checksums.are_due(manifest)
    lines.append(
        "The files of the run are those that it wrote, by their checksums."
        if sums
        else "The run is from before checksums were kept: whether it was changed is not known."
    )
    ways = " and ".join(certificate.get("way", ()))
    reasons = listed(list(certificate.get("reason", ())))
    counts = ("designs", "evaluated", "pruned_as_dominated", "pruned_as_infeasible", "ties")
    rows = [("way", f"{ways}: {reasons}" if reasons else ways)]
    rows += [
        (name.replace("_", " "), f"{certificate[name]:,}") for name in counts if name in certificate
    ]
    rows.append(("method, seed", f"{manifest['method']}, {manifest['seed']}"))
    rows += [
        (key, str(certificate[name]))
        for key, name in (("numbers", "floats"),)
        if name in certificate
    ]
    rows.append(("constraints", "; ".join(manifest.get("constraints", ())) or "none"))
    rows += [(f"set: {path}", str(value)) for path, value in manifest.get("overrides", {}).items()]
    versions = manifest.get("versions", {})
    rows.append(("versions", ", ".join(f"{name} {number}" for name, number in versions.items())))
    rows.append(("checksum of the study", str(manifest.get("study_sha256", ""))))
    return Section("certificate", run.name, tuple(lines), rows=tuple(rows))


def study_section(run: PageRun) -> Section:
    """Return the study as it was written, with the files that it reads."""
    manifest = run.run.manifest
    return Section("study", f"{run.name}: {manifest['study_file']}", (str(manifest["study"]),))
