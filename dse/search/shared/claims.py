"""Which process evaluates a design that several ask for at once.

A storage has no turns, and a trial that waited may run after one of a higher number, or in two
processes.  So each process writes a claim into its trials before it looks at those of others, and
decides after: of two that want one design, or the last of the budget, at least the later one sees
the other.  It yields to a claim that is decided, and to one of a batch that goes first; for one
of a batch that goes after it, it waits until that is decided, or given up.  Nobody waits for a
batch that goes first, so that no two wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from optuna.trial import FrozenTrial

from dse.search.shared.parameters import NamedParameters, Row
from dse.search.shared.storage import is_gone, this_process

PREFIX = "claim of "
"""Of the attribute of a trial that holds a process's claim."""

GIVEN_UP = None
"""What the attribute holds when the trial is left to another process that claims it."""


@dataclass(frozen=True)
class TrialClaim:
    """A trial that a process has, or is about to claim.

    Attributes
    ----------
    trial
        Its number.
    row
        Its design; None where that cannot be read, or not yet.
    holder
        The attribute that holds the claim, empty where there is none.
    first
        The lowest number of the trials that the process claimed with it.
    decided
        Whether the process evaluates the design.
    """

    trial: int
    row: Row | None
    holder: str
    first: int
    decided: bool

    def precedes(self, other: TrialClaim) -> bool:
        """Tell whether `other` yields to this one."""
        return self.decided or (self.first, self.holder) < (other.first, other.holder)

    @property
    def written(self) -> dict[str, object]:
        """What the attribute holds."""
        return {**this_process(), "first": self.first, "decided": self.decided}


def own_holder() -> str:
    """Return the attribute that holds the claims of this process."""
    return PREFIX + "{machine} {process}".format(**this_process())


def trial_claims(trials: Iterable[FrozenTrial], named: NamedParameters) -> Iterator[TrialClaim]:
    """Yield the claims on trials; a trial without any is one that nobody has decided on."""
    for trial in trials:
        row = named.row(trial.params)
        written = _written(trial)
        for name, said in written.items():
            yield TrialClaim(trial.number, row, name, int(said["first"]), bool(said["decided"]))
        if not written:
            yield TrialClaim(trial.number, row, "", trial.number, decided=False)


def is_abandoned(trial: FrozenTrial) -> bool:
    """Tell whether all processes that claim a trial are known to have ended."""
    return bool(written := _written(trial)) and all(map(is_gone, written.values()))


def _written(trial: FrozenTrial) -> dict[str, Any]:
    """Return what processes that claim a trial have written, by attribute."""
    attributes = trial.user_attrs.items()
    return {name: said for name, said in attributes if name.startswith(PREFIX) and said is not None}
