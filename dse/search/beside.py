"""The host alone, added to what a search of the space found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dse.model.front import nondominated
from dse.model.matrices import distinct_rows
from dse.model.problem import Problem
from dse.model.space import Index
from dse.search.outcome import FAILING, INTERRUPTED, Outcome
from dse.search.searchable import Searchable


def hosts_beside(problem: Searchable) -> Index:
    """Return the designs of the host alone (h, d), of which there may be none."""
    none = np.empty((0, len(problem.sizes)), dtype=np.int64)
    return problem.hosts if isinstance(problem, Problem) else none


def beside_hosts(problem: Searchable, outcome: Outcome) -> Outcome:
    """Return an outcome with the designs of the host alone: evaluated, and on the front or not.

    A search that was stopped examines nothing more.  The design that comes nearest to being
    feasible, and what conflicts, stay those of the space.
    """
    if not isinstance(problem, Problem) or not len(problem.hosts):
        return outcome
    ledger = outcome.ledger
    if outcome.certificate.way in (INTERRUPTED, FAILING):
        return replace(outcome, ledger=replace(ledger, unknown=ledger.unknown + len(problem.hosts)))
    hosts = problem.evaluate(problem.hosts)
    fit = hosts.feasible
    index = np.concatenate([problem.hosts[fit], outcome.front_index])
    loss = np.concatenate([hosts.loss[fit], outcome.front_loss])
    best = nondominated(loss)
    index, loss = index[best], loss[best]
    order = distinct_rows(index)
    feasible, known = outcome.feasible + int(fit.sum()), outcome.feasible_in_space
    found = replace(
        outcome,
        front_index=index[order],
        front_loss=loss[order],
        sample_index=np.concatenate([problem.hosts, outcome.sample_index]),
        ledger=replace(ledger, evaluated=ledger.evaluated + len(fit)),
        feasible=feasible,
        feasible_in_space=None if known is None else known + int(fit.sum()),
    )
    if not fit.any():
        return found
    return replace(found, nearest_index=None, nearest_violation=None, satisfied=frozenset())
