"""Notes of a run: assumptions, failures, unknown designs, and implausible numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.model.cells import opaque
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.designs import host_notes
from dse.reports.text import in_words, listed, plural
from dse.runs.measurements import causes_of, causes_text
from dse.runs.solved import Quality, SolvedStudy
from dse.search.exact.prove import ENOUGH
from dse.study.assumptions import assumptions_of
from dse.study.demand import OFFERED, RATE
from dse.study.overrides import Sweep
from dse.study.stages import COMPUTE_ALONE
from dse.study.study import Study

PLAUSIBLE_INSTANCES = 1e4
"""The largest processors have some thousand cores."""

PLAUSIBLE: Mapping[str, float] = {"m2": 1e-2, "w": 1e4}
"""Limits by unit: a dozen of the largest dies (a reticle is 858 mm2), the power of a rack."""

FIGURES, FIGURE_MATTERS = 4, 0.25
"""Most numbers to check in a message, and the least effect of half of one."""

INSTANCES = "instances"


@dataclass(frozen=True)
class FrontOfPart:
    """The front of a study at one value of its sweep, and whether it is exact."""

    study: Study
    front: Index
    quality: Quality
    exact: bool


_UNKNOWN = {
    False: "infeasible, as the program says",
    True: "failed, and nothing is known of them",
}

Parts = Sequence[FrontOfPart]


Facts = Mapping[str, Any]
"""Entries of a manifest: the counts of a search, its first failure, and unmet constraints."""

UNMET = "unmet"
"""Entry with the constraints that no design meets, by value of a sweep."""


def notes_of(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    """Yield the notes on fronts, the most general first."""
    for part in parts:
        yield from part.study.notes
        yield from host_notes(part.study.problem)
    for rule in (_opaque, _estimated, _unmeasured, _implausible, _empty):
        yield from rule(parts, sweep, facts)


def _opaque(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    problem = parts[0].study.problem
    for name, reason in (opaque(problem) if problem.size > ENOUGH else {}).items():
        yield (
            f"{name} cannot be bounded ({reason}), so that nothing is pruned by it: "
            f"{plural(facts['evaluated'], 'design')} evaluated"
        )


def _estimated(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    if any(part.quality.hypervolume.error for part in parts):
        goals = len(parts[0].study.problem.goals)
        yield (
            f"the hypervolume of so many designs in {goals} objectives is estimated, as the exact "
            f"one takes too much work; ± is one standard error"
        )


def _unmeasured(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    for place, part in enumerate(parts):
        measured, before = part.study.problem.measured, part.study.problem.beforehand
        if measured is None or before is None:
            continue
        setup, size = measured.setup, before.most
        known = setup.ledger.known
        at = "" if sweep is None else _at(sweep, [place])
        if known < size and (setup.seen or sweep is None):
            yield (
                f"{known:,} of {size:,} designs are measured{at}; results "
                f"compare these alone, the others are unknown"
            )
        for failed, said in _UNKNOWN.items():
            causes = causes_of(setup.seen.values(), failed=failed)
            yield from (f"{said}: {line}" for line in causes_text(causes, setup.unit_names))


def _implausible(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    """Yield the numbers to check for the first recommended design that is out of proportion."""
    for place, part in enumerate(parts):
        if len(part.front):
            best = part.study.preference.first(part.study.problem, part.front)[0]
            if found := implausible(part.study, best):
                yield found[0] + ("" if sweep is None else _at(sweep, [place]))
                return


def _empty(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    """Yield the values of a sweep without a front, by reason."""
    if sweep is None:
        return
    empty = [place for place, part in enumerate(parts) if not len(part.front)]
    unmeasured = [place for place in empty if parts[place].study.problem.unmeasured]
    if unmeasured:
        yield f"no design is measured{_at(sweep, unmeasured)}"
    reasons: dict[str, list[int]] = {}
    for place in (place for place in empty if place not in unmeasured):
        unmet_here = facts.get(UNMET, ())[place : place + 1]
        reasons.setdefault("".join(unmet_here), []).append(place)
    none = "nothing found before the interrupt" if facts["interrupted"] else "no feasible design"
    for reason, places in reasons.items():
        yield f"{none}{_at(sweep, places)}{f'; {reason}' if reason else ''}"


def unmet_by(answer: SolvedStudy) -> str:
    """Return the fewest constraints that no evaluated design meets together, or an empty text."""
    outcome, problem = answer.outcome, answer.study.problem
    fewest = next(iter(outcome.conflicts()), ())
    if not fewest:
        return ""
    together = " together" * (len(fewest) > 1)
    among = " by a design evaluated" * (outcome.evaluated < problem.whole_size)
    least = " with the least instances that carry the rate" * (COMPUTE_ALONE in answer.study.notes)
    return f"never met{together}{among}{least}: {listed(fewest)}"


def _at(sweep: Sweep, places: Sequence[int]) -> str:
    """Return some values of a sweep."""
    shown = ", ".join(sweep.written[place] for place in places[:8])
    more = f" and {len(places) - 8} more" if len(places) > 8 else ""
    return f" at {sweep.path} = {shown}{more}"


def implausible(study: Study, design: NDArray[np.int64]) -> tuple[str, dict[str, Any]] | None:
    """Return the written numbers to check for a design (d,) beyond any chip, or None.

    As a sentence, and as facts: the quantities beyond their limit in SI, and the names of the
    numbers that decide the first of them.
    """
    problem = study.problem
    if not problem.stages:
        return None
    beyond = dict(_beyond(problem, design[np.newaxis, :]))
    if not beyond:
        return None
    sizes = [
        f"{size:,.0f} {name}" if name == INSTANCES else f"{in_words(name)} {units.show(size, name)}"
        for name, size in beyond.items()
    ]
    fields = [*_mattering(study, design, next(iter(beyond)))][:FIGURES]
    checked = listed([f"{name} ({written})" for name, written in fields]) or "all figures"
    text = f"check the units of {checked}: no chip has {listed(sizes)}"
    return text, {"beyond": beyond, "check": [name for name, _ in fields]}


def _beyond(problem: Problem, point: Index) -> Iterator[tuple[str, float]]:
    """Yield the quantities of a design (1, d) beyond their limit."""
    instances = float(sum(problem.counts(point)[0].values()))
    if instances > PLAUSIBLE_INSTANCES:
        yield INSTANCES, instances
    columns = problem.describe(point)
    reported = [entry.name for entry in problem.quantities if entry.report]
    for name in dict.fromkeys([*(goal.name for goal in problem.goals), *reported]):
        if columns[name][0] > PLAUSIBLE.get(units.suffix(name), np.inf):
            yield name, float(columns[name][0])


def _mattering(study: Study, design: NDArray[np.int64], name: str) -> Iterator[tuple[str, str]]:
    """Yield the numbers that decide a quantity of a design, as written, by decreasing effect.

    Demand and clocks decide the number of instances.
    """
    point = design[np.newaxis, :]
    known = [entry for entry in assumptions_of(study, of=point) if entry.bound is None]
    known = [entry for entry in known if entry.concerns(point)]
    if name == INSTANCES:
        demand = (RATE, OFFERED, "clock_hz")
        yield from ((one.name, one.show(one.value)) for one in known if one.quantity in demand)
        return
    today = float(study.problem.describe(point)[name][0])
    effects = []
    for entry in known:
        half = np.ceil(entry.value / 2) if entry.integer else entry.value / 2
        changed = entry.at(float(half))
        if (design < changed.sizes).all():  # counts that are searched may end before
            effect = abs(float(changed.describe(point)[name][0]) / today - 1.0)
            effects += [(effect, entry.name, entry.show(entry.value))] * (effect > FIGURE_MATTERS)
    yield from ((path, shown) for _, path, shown in sorted(effects, reverse=True))
