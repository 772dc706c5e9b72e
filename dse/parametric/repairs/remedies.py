"""Everything that would admit a design, the least first, and what was too much work to try."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from dse import contract
from dse.parametric.repairs.attempt import (
    CATALOGUE,
    NOTHING,
    NUMBER,
    PART,
    RUN,
    Attempts,
    Override,
    Repair,
    changed_study,
    choice_words,
)
from dse.parametric.repairs.repair import Field, field_repair, repairs_of
from dse.plugins import registry
from dse.reports.text import listed
from dse.study import schema, workload_interface_budget
from dse.study.demand import RATE
from dse.study.field_kinds import Unit
from dse.study.measured import evaluated
from dse.study.stages import COMPUTE_ALONE
from dse.study.study import Study
from dse.study.written import WrittenStage, is_owned, is_written, stages_of

TOP = "1"
MEET = "meet"
LEAST = "least"

TIMES = (2, 4, 8)
"""How many times as many instances of each design a mixed fleet is given."""

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


@dataclass(frozen=True)
class Remedies:
    """Repairs of a study, the least first, and changes that were not tried."""

    repairs: tuple[Repair, ...] = ()
    untried: tuple[str, ...] = ()

    @property
    def relaxed(self) -> frozenset[str]:
        """The constraints and requirements that a repair relaxes."""
        return frozenset(rule for found in self.repairs for rule in found.constraints)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "repairs": [found.to_dict() for found in self.repairs],
            "untried": list(self.untried),
        }


def remedies_of(infeasible: Study, *, composed: bool) -> Remedies:
    """Return the remedies of a study that no design meets.

    First how the cores run and work is handed over, which gives up nothing that is required; then
    numbers, the smallest change first; then other designs of the study's own, and last other
    devices and platforms of the catalogue.
    """
    attempts = Attempts(infeasible, composed=composed)
    found = [
        *repairs_of(attempts),
        *_running_of(attempts),
        *choices_of(attempts),
    ]
    least: dict[tuple[Override, ...], Repair] = {}
    for repair in sorted(found, key=lambda repair: repair.order):
        least.setdefault(repair.overrides, repair)  # more of the least on an axis, less of the most
    return Remedies(tuple(least.values()), tuple(dict.fromkeys(attempts.untried)))


def _running_of(attempts: Attempts) -> Iterator[Repair]:
    """Yield clocks and numbers of instances that would admit a design."""
    stages = stages_of(attempts.infeasible.document)
    if stages:
        yield from _policies(attempts, stages)
    for stage in stages:
        yield from _fractions(attempts, stage)
        yield from _instances(attempts, stage)


def _numbers(
    attempts: Attempts,
    path: str,
    column: str,
    *,
    base: Study | None = None,
    besides: tuple[Override, ...] = (),
    ways: tuple[bool, ...] = (),
) -> Iterator[Repair]:
    """Yield the nearest values of a number that admit a design: more; with constraints also less.

    What the models require never asks for less of a clock or of instances.
    """
    if not ways:
        ways = (True, False) if attempts.infeasible.problem.constraints else (True,)
    unit = Unit("", (column,), integer=not column.endswith(".clock"))
    for more in ways:
        field = Field(path, column, unit, more, besides)
        yield from filter(None, [field_repair(attempts, base or attempts.infeasible, field)])


def _as_choice(found: Iterator[Repair], now: str) -> Iterator[Repair]:
    """Yield a number in place of a policy, which has no size."""
    for repair in found:
        what = choice_words(repair.overrides, f"instead of {now}")
        yield replace(
            repair, what=what, rank=RUN, value=math.nan, size=math.inf, violated=(), least=True
        )


def _policies(attempts: Attempts, stages: tuple[WrittenStage, ...]) -> Iterator[Repair]:
    """Yield the top clock in place of one that meets the rate, and the reverse.

    All stages that state theirs change together; else that of one decides.
    """
    infeasible = attempts.infeasible
    meeting = _following(infeasible)
    stated = [stage for stage in stages if stage.fields.get("clock") is not None]
    paths = [stage.path("clock") for stage in stated if _meets(stage) or not meeting]
    paths = paths or [stages[0].path("clock")]
    top, *rest = ((path, TOP) for path in paths)
    if meeting:
        found = attempts.choice(top, *rest, instead=f"instead of {MEET}", rank=RUN)
        base = changed_study(infeasible, [top, *rest])
        yield from found
        if not found and base is not None and infeasible.problem.constraints:
            column, besides = f"{stages[0].name}.clock", tuple(rest)
            slower = _numbers(attempts, top[0], column, base=base, besides=besides, ways=(False,))
            yield from _as_choice(slower, MEET)
    elif infeasible.problem.constraints and RATE in infeasible.problem.available:
        met = [(path, MEET) for path in paths]
        yield from attempts.choice(*met, instead="instead of a fraction of the top", rank=RUN)


def _meets(stage: WrittenStage) -> bool:
    return bool(stage.fields.get("clock") == MEET)


def _following(study: Study) -> bool:
    """Tell whether clocks that are not written follow the rate."""
    return RATE in study.problem.available and any(one.common for one in study.problem.stages)


def _fractions(attempts: Attempts, stage: WrittenStage) -> Iterator[Repair]:
    """Yield other fractions of the top clock, the nearest."""
    infeasible = attempts.infeasible
    written = stage.fields.get("clock") is not None
    if _meets(stage) if written else _following(infeasible):
        return
    column, path = f"{stage.name}.clock", stage.path("clock")
    base = infeasible if written else changed_study(infeasible, [(path, TOP)])
    if base is None or not (written or infeasible.problem.constraints):
        return
    # unwritten, it runs at the top already
    found = _numbers(attempts, path, column, base=base, ways=() if written else (False,))
    yield from (replace(one, rank=RUN) for one in found)


def _instances(attempts: Attempts, stage: WrittenStage) -> Iterator[Repair]:
    """Yield other numbers of instances than the study tries."""
    fields, path, column = stage.fields, stage.path("instances"), f"{stage.name}.instances"
    written = fields.get("instances") not in (None, LEAST)
    too_few = COMPUTE_ALONE in attempts.infeasible.notes  # the least may be, for all else
    if fields.get("counts"):
        yield from _counts(attempts, stage)
    elif fields.get("fleet") == "mixed":
        if written or too_few:
            yield from _of_each(attempts, stage, written=written)
    elif written:
        yield from _numbers(attempts, path, column)
    elif too_few:
        base = changed_study(attempts.infeasible, [(path, "1")])
        if base is not None:
            yield from _as_choice(_numbers(attempts, path, column, base=base, ways=(True,)), LEAST)


def _counts(attempts: Attempts, stage: WrittenStage) -> Iterator[Repair]:
    """Yield other counts of one design of a fixed fleet."""
    counts = [
        (f"{stage.name}.{name}", str(count)) for name, count in stage.fields["counts"].items()
    ]
    for path, _ in counts if stage.is_named else ():
        others = tuple(entry for entry in counts if entry[0] != path)
        yield from _numbers(attempts, path, path, besides=others)


def _of_each(attempts: Attempts, stage: WrittenStage, *, written: bool) -> Iterator[Repair]:
    """Yield a larger mixed fleet: as many of each as the rate needs, or several times more."""
    path = stage.path("instances")
    problem = attempts.infeasible.problem
    most = max(
        int(axis.columns[axis.unit_name].max())
        for axis in problem.space.axes
        if axis.name.startswith(f"{stage.name}.") and not axis.name.endswith(".clock")
    )
    rank = NUMBER if written else RUN
    texts = [LEAST] if written and RATE in problem.available else []
    for text in [*texts, *(f"{{from: 0, to: {times * most}}}" for times in TIMES)]:
        found = attempts.choice((path, text), instead=f"instead of up to {most}", rank=rank)
        if found:
            yield from found
            return
