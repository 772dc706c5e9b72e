"""Choices that would admit a design: how offloads are handed over, other designs, other devices.

Each is tried by a search of the study with that one choice.  What belongs to a device is never
changed: another device is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np

from dse import contract
from dse.parametric.repairs.attempt import Attempts, changed_study
from dse.parametric.repairs.change import CATALOGUE, NOTHING, PART, RUN, Repair
from dse.plugins import registry
from dse.reports.text import listed
from dse.study import schema, workload_interface_budget
from dse.study.measured import evaluated
from dse.study.written import WrittenStage, is_owned, is_written, stages_of

HOW = ("interface.transfer", "interface.wait", "interface.pcie")
"""Choices of an interface on how work is handed over."""

LINK = "interface.pcie"
"""A choice of an interface whose values are in order, each carrying more."""

KINDS = {"interface.device": contract.Interface, "budget.platform": contract.Platform}
"""Fields that name a record, and the kind of it."""

UNSPECIFIED = "which the study does not specify"


def choices_of(attempts: Attempts) -> Iterator[Repair]:
    """Yield the choices that would admit a design."""
    for stage in stages_of(attempts.infeasible.document):
        yield from _idle(attempts, stage)
        yield from _designs(attempts, stage)
    yield from _handing_over(attempts)
    yield from _rows(attempts)
    yield from _records(attempts)


def _idle(attempts: Attempts, stage: WrittenStage) -> Iterator[Repair]:
    """Yield whether idle pipelines may switch, where the study says."""
    written = stage.fields.get("idle")
    known = get_args(schema.StageSection.model_fields["idle"].annotation)
    for other in known if written is not None else ():
        if other != written:
            yield from attempts.choice(
                (stage.path("idle"), other), instead=f"instead of {written}", rank=RUN
            )


def _handing_over(attempts: Attempts) -> Iterator[Repair]:
    """Yield other ways to transfer and to wait, where they are not those of a device."""
    problem, document = attempts.infeasible.problem, attempts.infeasible.document
    for path in HOW:
        column = path.replace(".", "_")
        if column not in problem.available or not is_owned(document, path):
            continue
        known = workload_interface_budget.CHOICES[column]
        now = [known[int(code)] for code in np.unique(problem.space.values(column))]
        for other in known if path != LINK else _wider(known, now):
            if other not in now:
                instead = f"instead of {listed(now, 'or')}"
                found = attempts.choice((path, other), instead=instead, rank=RUN)
                yield from found
                if found and path == LINK:  # the least that is enough
                    break


def _wider(links: Sequence[str], now: Sequence[str]) -> list[str]:
    """Return links of PCI Express that carry more than those of today, the least first."""

    def carries(link: str) -> int:
        generation, _, lanes = link.removeprefix("gen").partition(" x")
        return 2 ** int(generation) * int(lanes) if lanes else 0

    most = max(map(carries, now), default=0)
    return sorted((link for link in links if carries(link) > most > 0), key=carries)


def _designs(attempts: Attempts, stage: WrittenStage) -> Iterator[Repair]:
    """Yield designs of the same core or table that the study does not specify."""
    restricted = zip(("designs", "parameters"), NOTHING, strict=True)
    opened = [(stage.path(name), text) for name, text in restricted if stage.fields.get(name)]
    if not opened or stage.fields.get("counts"):
        return
    whole = changed_study(attempts.infeasible, opened)
    if whole is None or whole.problem.size <= attempts.infeasible.problem.size:
        return
    solved = attempts.solve(*opened)
    if solved is not None:
        (counts,) = solved[0].problem.counts(solved[1])
        start = f"{stage.name}."
        used = [name.removeprefix(start) for name in counts if name.startswith(start)]
        chosen = [(stage.path("designs"), _names(used)), *(o for o in opened if o[1] == "{}")]
        yield from attempts.choice(*chosen, instead=f", {UNSPECIFIED}", rank=PART)


def _rows(attempts: Attempts) -> Iterator[Repair]:
    """Yield a row of a table of evaluated designs that the study does not specify."""
    said = attempts.infeasible.document.data.get("designs")
    if not isinstance(said, dict):
        return
    restricted = zip(("only", "parameters"), NOTHING, strict=True)
    opened = [(f"designs.{name}", text) for name, text in restricted if said.get(name)]
    solved = attempts.solve(*opened) if opened else None
    if solved is not None:
        label = solved[0].problem.space.axes[0].labels[int(solved[1][0, 0])]
        others = [override for override in opened if override[1] == "{}"]
        row = (evaluated.DESIGN, label)
        yield from attempts.choice(row, *others, instead=f", {UNSPECIFIED}", rank=PART)


def _records(attempts: Attempts) -> Iterator[Repair]:
    """Yield the devices and platforms of the catalogue that the study does not try."""
    document = attempts.infeasible.document
    for path, kind in KINDS.items():
        if not is_written(document, path):
            continue
        section, _, name = path.partition(".")
        axes = {axis.name: axis.labels for axis in attempts.infeasible.problem.space.axes}
        now = axes[path] if path in axes else [str(document.data[section][name])]
        instead = f"instead of {now[0]}" if len(now) == 1 else "besides those that the study tries"
        for other in registry.names(kind):
            if other not in now:
                yield from attempts.choice((path, other), instead=instead, rank=CATALOGUE)


def _names(names: Sequence[str]) -> str:
    """Return names as YAML: one, or a list."""
    plain = all(re.fullmatch(r"[A-Za-z]\w*", name) for name in names)
    if len(names) == 1:
        return names[0] if plain else json.dumps(names[0])
    return f"[{', '.join(names)}]" if plain else json.dumps(list(names))
