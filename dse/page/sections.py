"""Words and tables of a page: the front, assumptions and sources, certificate."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from dse import contract
from dse.errors import dotted
from dse.files.document import Document, parse_document
from dse.model.evaluation import ledger_of
from dse.model.tables import UNNAMED
from dse.page.contents import PageRun, with_choices
from dse.plugins import registry
from dse.plugins.registry import DISTRIBUTION
from dse.reports.front_text import front_table
from dse.reports.sections import Section
from dse.reports.text import listed, violation_text
from dse.study import assumptions
from dse.study.overrides import settable

_MOST_ROWS = 200
"""Rows of the table that is read without scripts."""


def front_section(run: PageRun) -> Section:
    """Return the front as a table: all of it, or representative rows."""
    return front_table(with_choices(run.view), run.name, _MOST_ROWS)


def cores_section(run: PageRun) -> Section:
    """Return a description of the cores in names of designs on the front."""
    known = registry.names(contract.Core)
    words = {word for design in run.designs for word in design.split()}
    shown = [name for name in known if any(word.startswith(f"{name}_") for word in words)]
    stages = run.study.document.stages
    named = [[stage["core"]] if "core" in stage else shown for stage in stages]
    used = dict.fromkeys(name for names in named for name in names if name in known)
    lines = []
    for core in (registry.get(contract.Core, name) for name in used):
        source = ", ".join(filter(None, (core.node, core.evidence)))
        lines.append(f"{core.name}: {core.summary}{f' ({source})' * bool(source)}.")
    return Section("cores", "Cores", tuple(lines))


def assumptions_sections(run: PageRun) -> tuple[Section, Section]:
    """Return each number that the study assumes by source: of the recommended design, of others."""
    pick = run.recommended
    found = assumptions.assumptions_of(run.study, of=pick)
    near: list[assumptions.Assumption] = []
    far: list[assumptions.Assumption] = []
    for entry in found[: assumptions.MOST_ASSUMPTIONS]:
        (near if not len(pick) or entry.concerns(pick) else far).append(entry)
    notes = run.run.manifest["notes"]
    lines = tuple(f"{note[:1].upper()}{note[1:]}." for note in notes)
    if left := len(found[assumptions.MOST_ASSUMPTIONS :]):
        lines += (f"{left:,} more are numbers of designs or constraints, which the run has.",)
    lines += tuple(
        f"Of {axis.size:,} choices only the recommended one is listed; the run has all."
        for axis in run.study.problem.space.axes
        if axis.size > assumptions.MOST_RECORDS
    )
    return _by_source(run, near), replace(_by_source(run, far), lines=lines)


def _by_source(run: PageRun, entries: Sequence[assumptions.Assumption]) -> Section:
    groups: dict[tuple[str, str], list[assumptions.Assumption]] = {}
    for entry in entries:
        groups.setdefault(assumptions.source_of(run.study, entry), []).append(entry)
    rows = tuple(
        (
            "\n".join(entry.name for entry in some),
            "\n".join(entry.show(entry.value) for entry in some),
            evidence,
            source,
        )
        for (evidence, source), some in groups.items()
    )
    headers = ("assumption", "value", "evidence", "source")
    return Section("assumptions", headers=headers, rows=rows)


def claim_of(manifest: Mapping[str, Any]) -> str:
    """Return how sure a front is, in a sentence."""
    ledger = ledger_of(manifest)
    if ledger.exact:
        return "This is the Pareto front: every design of the study is accounted for."
    if ledger.but:
        return f"This front is {ledger.but}: one of these may be better."
    return "This front is not proven: a better design may have been missed."


def certificate_section(run: PageRun) -> Section:
    """Return the claim that was proven of the front, and the proof."""
    manifest = run.run.manifest
    certificate = manifest["certificate"]
    lines = [claim_of(manifest), *(f"Unfinished: {why}." for why in certificate["unfinished"])]
    lines.append("Checksums match: files unchanged since the run.")
    ways = " and ".join(certificate["way"])
    reasons = listed(certificate["reason"])
    counts = ("evaluated", "pruned_as_dominated", "pruned_as_infeasible")
    counted = [
        f"{certificate[name]:,} {name.replace('_', ' ')}" for name in counts if certificate[name]
    ]
    how = f"{ways}: {reasons}" if reasons else ways
    lines.append(f"{certificate['designs']:,} designs, {listed(counted)} ({how}).")
    lines.append(f"Numbers: {certificate['floats']}.")
    versions = ", ".join(f"{name} {number}" for name, number in manifest["versions"].items())
    lines.append(f"Method {manifest['method']}, seed {manifest['seed']}; {versions}.")
    lines.append(f"Checksum of the study: {manifest['study_sha256']}")
    made = f"{date.today():%d %B %Y}, dse {manifest['versions'].get(DISTRIBUTION, '')}"
    return Section("certificate", lines=tuple(lines), facts=[lines[0], made.lstrip("0")])


def study_section(run: PageRun) -> Section:
    """Return the study as it was written, with the values that were set instead."""
    manifest = run.run.manifest
    pairs = tuple((path, str(value)) for path, value in manifest["overrides"].items())
    title = f"{run.name}: {manifest['study_file']}"
    return written_section(title, str(manifest["study"]), pairs)


def written_section(title: str, text: str, overrides: Sequence[tuple[str, str]]) -> Section:
    """Return the lines of a study.  Its `facts` are the numbers of the replaced lines."""
    lines = tuple(text.splitlines())
    if not overrides:
        return Section("study", title, lines, facts=())
    said = " ".join(shlex.join(["--set", f"{path}={value}"]) for path, value in overrides)
    document = parse_document(text, title)
    replaced = {line for path, _ in overrides for line in _lines_of(document, path, lines)}
    return Section("study", title, lines, remarks=(said,), facts=tuple(sorted(replaced)))


def _lines_of(document: Document, path: str, lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines, from 0, of a field that an override replaces, if the study has it."""
    wanted = settable(document, path)
    place = next((at for key, at in document.positions.items() if dotted(key) == wanted), None)
    if place is None:
        return
    first = place.line - 1
    yield first
    for number in range(first + 1, len(lines)):
        inside = lines[number][:1].isspace() and _indent(lines[number]) > _indent(lines[first])
        if not inside:
            return
        yield number


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" -"))


def infeasible_sections(facts: Mapping[str, Any]) -> list[Section]:
    """Return why no design is feasible, and repairs that admit one, from an `InfeasibleError`."""
    lines = tuple(
        f"No design meets {listed(list(rules))}{' together' * (len(rules) > 1)}."
        for rules in facts.get("conflicts", ())
    )
    missed = [(rule, by) for rule, by in facts.get("violations", {}).items() if not by <= 0]
    rows = tuple((rule, violation_text(by, rule)) for rule, by in missed)
    nearest = f"Nearest design: {facts.get('nearest_design') or UNNAMED}"
    repairs = tuple(
        (
            "\n".join(map(str, one["overrides"].values())),
            str(one.get("design") or ""),
            " ".join(shlex.join(["--set", f"{k}={v}"]) for k, v in one["overrides"].items()),
        )
        for one in facts.get("repairs", ())
        if one.get("overrides")
    )
    changes = "Any one of these changes makes the study feasible, the smallest first"
    return [
        Section("conflicts", "No feasible design", lines),
        *[Section("missed", nearest, (), ("constraint", "by that design"), rows)] * bool(rows),
        *[Section("repairs", changes, (), ("change", "then", "option"), repairs)] * bool(repairs),
    ]
