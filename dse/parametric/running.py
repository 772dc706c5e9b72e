"""How cores run, and how many: clocks and instances that would admit a design."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dse.parametric.attempt import Attempts, changed_study
from dse.parametric.change import NUMBER, RUN, NumberRepair, Override, Repair
from dse.parametric.loosen import RATE, Field
from dse.parametric.repair import field_repair
from dse.parametric.written import WrittenStage, stages_of
from dse.study.fields import Unit
from dse.study.stages import COMPUTE_ALONE
from dse.study.study import Study

TOP = "1"
MEET = "meet"
LEAST = "least"

TIMES = (2, 4, 8)
"""How many times as many instances of each design a mixed fleet is given."""


def running_of(attempts: Attempts) -> Iterator[Repair]:
    """Yield clocks and numbers of instances that would admit a design."""
    stages = stages_of(attempts.infeasible.document)
    if stages:
        yield from _policies(attempts, stages)
    for stage in stages:
        yield from _fractions(attempts, stage)
        yield from _instances(attempts, stage)


def _ways(attempts: Attempts) -> tuple[bool, ...]:
    """Return in which directions a number is looked for: more; with constraints less as well.

    What the models require never asks for less of a clock or of instances.
    """
    return (True, False) if attempts.infeasible.problem.constraints else (True,)


def _field(path: str, column: str, *, more: bool, besides: tuple[Override, ...] = ()) -> Field:
    whole = not column.endswith(".clock")
    return Field(path, column, Unit("", column, integer=whole), more, besides)


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
        found = attempts.repair(top, *rest, instead=f"instead of {MEET}", rank=RUN)
        base = changed_study(infeasible, [top, *rest])
        if not found and base is not None and infeasible.problem.constraints:
            column = f"{stages[0].name}.clock"
            slower = _field(top[0], column, more=False, besides=tuple(rest))
            found = _as_choice(field_repair(attempts, base, slower), MEET, RUN)
        yield from found
    elif infeasible.problem.constraints and RATE in infeasible.problem.available:
        met = [(path, MEET) for path in paths]
        yield from attempts.repair(*met, instead="instead of a fraction of the top", rank=RUN)


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
    for more in _ways(attempts):
        if base is None or (more and not written):
            continue  # unwritten, it runs at the top already
        found = field_repair(attempts, base, _field(path, column, more=more))
        if found is not None:
            yield replace(found, rank=RUN)


def _instances(attempts: Attempts, stage: WrittenStage) -> Iterator[Repair]:
    """Yield other numbers of instances than the study tries."""
    infeasible, fields = attempts.infeasible, stage.fields
    column, path = f"{stage.name}.instances", stage.path("instances")
    written = fields.get("instances") not in (None, LEAST)
    if fields.get("counts"):
        yield from _counts(attempts, stage)
    elif fields.get("fleet") == "mixed":
        if written or _counts_compute_alone(infeasible):
            yield from _of_each(attempts, stage, written=written)
    elif written:
        for more in _ways(attempts):
            found = field_repair(attempts, infeasible, _field(path, column, more=more))
            yield from () if found is None else (found,)
    elif _counts_compute_alone(infeasible):
        base = changed_study(infeasible, [(path, "1")])
        if base is not None:
            found = field_repair(attempts, base, _field(path, column, more=True))
            yield from _as_choice(found, LEAST, RUN)


def _counts_compute_alone(infeasible: Study) -> bool:
    """Tell whether the least instances that carry the rate may be too few for all else."""
    return COMPUTE_ALONE in infeasible.notes


def _counts(attempts: Attempts, stage: WrittenStage) -> Iterator[Repair]:
    """Yield other counts of one design of a fixed fleet."""
    counts = [
        (f"{stage.name}.{name}", str(count)) for name, count in stage.fields["counts"].items()
    ]
    for path, _ in counts if stage.is_named else ():
        others = tuple(entry for entry in counts if entry[0] != path)
        for more in _ways(attempts):
            field = _field(path, path, more=more, besides=others)
            found = field_repair(attempts, attempts.infeasible, field)
            yield from () if found is None else (found,)


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
        found = attempts.repair((path, text), instead=f"instead of up to {most}", rank=rank)
        if found:
            yield from found
            return


def _as_choice(found: NumberRepair | None, now: str, rank: int) -> tuple[Repair, ...]:
    """Return a number in place of a policy, which has no size."""
    if found is None:
        return ()
    return (
        Repair(
            overrides=found.overrides,
            written=found.written,
            instead=f"instead of {now}",
            design=found.design,
            limit=found.limit,
            rank=rank,
        ),
    )
