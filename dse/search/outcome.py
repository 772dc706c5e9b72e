"""The result of a search, with the conflicts of constraints if nothing is feasible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dse.model.evaluation import Ledger
from dse.model.space import Index

UNFINISHED = "unfinished"
"""The way of an unfinished proof, or of a search with its budget used up."""

INTERRUPTED, FAILING = "interrupted", "failing"
"""The ways of a search that was stopped from outside, and by failing designs."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The account of the designs of a space.

    Attributes
    ----------
    way, reason
        ``enumerated``, ``composed``, ``sampled``, ``unfinished``, ``interrupted`` or ``failing``,
        and why.
    dominated, infeasible
        Unevaluated designs: with a dominated bound, or with replaceable fleets, and those that
        miss a constraint, as bounds show.
    log
        Number of these designs by reduction.
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
    """The result of a search, with designs in lexicographic order.

    Attributes
    ----------
    front_index, front_loss
        Designs (p, d) that no evaluated design dominates, the first of each vector of losses, and
        their losses (p, m).
    equals
        Number of designs of the space with each of these vectors (p,), or None if unknown.
    sample_index
        A uniform sample (q, d) of the feasible and of the infeasible evaluated designs, or all.
    ledger, certificate
        Account of the designs of the space, and of the unevaluated ones.
    growth
        Growth of the front of a heuristic: evaluations, share of the hypervolume.
    feasible, feasible_in_space
        Number of distinct evaluated designs that meet every constraint, and of those of the space,
        or None if bounds pruned some.
    failed, failure
        Number of designs without values, which count as infeasible, and the first cause.
    reference_evaluations
        Designs evaluated only to compare bounds with.
    nearest_index, nearest_violation
        If nothing is feasible, the design (d,) with the least largest violation, the first of
        equals, and its violations (k,).  Otherwise None.
    satisfied, constraint_names
        If nothing is feasible, the sets of constraints that designs meet: bit j is constraint j.
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
        """Number of distinct evaluated designs, with those that their program calls infeasible."""
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
        sets = sorted(map(_bits, found), key=lambda bits: (len(bits), bits))
        return tuple(tuple(self.constraint_names[bit] for bit in bits) for bits in sets)


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def _minimal_hitting_sets(sets: Iterable[int]) -> set[int]:
    """Return the minimal bit sets that share a bit with each of `sets` (Berge's algorithm)."""
    hitting = {0}
    for required in _minimal(sets):
        hitting = _minimal(
            chosen if chosen & required else chosen | 1 << bit
            for chosen in hitting
            for bit in _bits(required)
        )
    return hitting


def _minimal(sets: Iterable[int]) -> set[int]:
    """Return the sets that contain no other one."""
    kept: list[int] = []
    for candidate in sorted(set(sets), key=int.bit_count):
        if not any(candidate & other == other for other in kept):
            kept.append(candidate)
    return set(kept)
