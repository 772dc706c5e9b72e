"""Methods that account for every design."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dse.contract import method

if TYPE_CHECKING:
    from dse.search import Outcome, Progress
    from dse.search.archive import Searchable

_proving = partial(method, budget=6_000_000_000, proves=True)


@_proving(description="the proven front, composed or enumerated, whichever suits the space")
def exact(
    problem: Searchable, progress: Progress | None, *, budget: int | None, limit: int
) -> Outcome:
    """Prove the front, by composing fleets or by enumeration, as suits the space."""
    return _proven(problem, "exact", progress, budget=budget, limit=limit)


@_proving(description="the proven front: every design is evaluated")
def enumerate(
    problem: Searchable, progress: Progress | None, *, budget: int | None, limit: int
) -> Outcome:
    """Prove the front by evaluation of all designs."""
    return _proven(problem, "enumerate", progress, budget=budget, limit=limit)


@_proving(description="branch and bound: prunes partial designs that cannot reach the front")
def compose(
    problem: Searchable, progress: Progress | None, *, budget: int | None, limit: int
) -> Outcome:
    """Prove the front by putting designs together from their stages."""
    return _proven(problem, "compose", progress, budget=budget, limit=limit)


def _proven(*given: Any, **limits: Any) -> Outcome:
    from dse.search.exact import prove

    return prove.prove(*given, **limits)
