"""What a search found, and which constraints conflict where it found nothing feasible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dse.model.evaluation import Ledger
from dse.model.space import Index

UNFINISHED = "unfinished"
"""The way of a proof that ended before it was done, or of a search that ran out of budget."""

INTERRUPTED, FAILING = "interrupted", "failing"
"""The ways of a search that was stopped before it was done: from outside, as designs failed."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """How the designs of a space were accounted for.

    Attributes
    ----------
    way
        ``enumerated``, ``composed``, ``sampled``; ``unfinished``, ``interrupted`` or
        ``failing``.
    reason
        Why this way.
    dominated
        Designs that were not evaluated because an evaluated one dominates a bound of theirs, or
        because fleets of theirs can be replaced by others that are at least as good.
    infeasible
        Designs that were not evaluated because bounds show that they miss a constraint.
    log
        Which reduction settled how many of these, by its name.
    """

    way: str = "sampled"
    reason: str = "a heuristic was requested"
    dominated: int = 0
    infeasible: int = 0
    log: Mapping[str, int] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Whether the search came to its end."""
        return self.way not in (UNFINISHED, INTERRUPTED, FAILING)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a search found; rows of designs stand in lexicographic order.

    Attributes
    ----------
    front_index, front_loss
        Designs (p, d) that no evaluated design dominates, the first of each vector of losses, and
        their losses (p, m).
    equals
        How many designs of the space share each of these vectors (p,); None where not known.
    sample_index
        A uniform sample (q, d) of the feasible and of the infeasible designs evaluated, or
        all of them where there are no more than the archive keeps.
    ledger
        What is known of the designs of the space.
    growth
        How the front of a heuristic grew: evaluations, share of the hypervolume.
    feasible
        Number of distinct designs evaluated that meet every constraint.
    failed, failure
        Number of designs without figures that count as infeasible; why the first has none.
    feasible_in_space
        How many designs of the whole space do, pruned ones too; None where that is not known:
        what was pruned by bounds on partial designs was not sorted into feasible and infeasible.
    reference_evaluations
        Designs evaluated besides, to have something to compare bounds with.
    certificate
        How it is accounted for.
    nearest_index, nearest_violation
        When nothing is feasible: the design (d,) with the least largest violation, the first of
        equals, and its violations (k,).  Otherwise None.
    satisfied
        When nothing is feasible: which constraints evaluated designs meet together; bit j of a
        set is constraint j.
    constraint_names
        The constraints in the order of the bits.
    """

    front_index: Index
    front_loss: NDArray[np.float64]
    equals: NDArray[np.int64] | None
    sample_index: Index
    ledger: Ledger
    feasible: int
    failed: int = 0
    failure: str = ""
    feasible_in_space: int | None
    reference_evaluations: int
    certificate: Certificate
    growth: tuple[tuple[int, float], ...] = ()
    nearest_index: NDArray[np.int64] | None
    nearest_violation: NDArray[np.float64] | None
    satisfied: frozenset[int]
    constraint_names: tuple[str, ...]

    @property
    def evaluated(self) -> int:
        """Number of distinct designs evaluated, with those that are infeasible by their program."""
        return self.ledger.known

    @property
    def exact(self) -> bool:
        """Whether every design of the space is accounted for: the front is the front."""
        return self.ledger.exact

    def conflicts(self) -> tuple[tuple[str, ...], ...]:
        """Return the minimal sets of constraints that no evaluated design meets together.

        Leave any one constraint out of a set, and some evaluated design meets the rest of it.
        Empty when a feasible design was found.
        """
        if self.feasible:
            return ()
        everything = (1 << len(self.constraint_names)) - 1
        found = _minimal_hitting_sets(everything & ~met for met in self.satisfied)
        sets = [tuple(_bits(conflict)) for conflict in found]
        return tuple(
            tuple(self.constraint_names[bit] for bit in conflict)
            for conflict in sorted(sets, key=lambda bits: (len(bits), bits))
        )


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def _minimal_hitting_sets(sets: Iterable[int]) -> set[int]:
    """Return the minimal bit sets that share a bit with each of `sets` (Berge's algorithm)."""
    hitting = {0}
    for required in _minimal(sets):
        extended = {
            grown
            for chosen in hitting
            for grown in (
                [chosen] if chosen & required else [chosen | 1 << bit for bit in _bits(required)]
            )
        }
        hitting = _minimal(extended)
    return hitting


def _minimal(sets: Iterable[int]) -> set[int]:
    """Return the sets that contain no other one."""
    kept: list[int] = []
    for candidate in sorted(set(sets), key=int.bit_count):
        if not any(candidate & other == other for other in kept):
            kept.append(candidate)
    return set(kept)
