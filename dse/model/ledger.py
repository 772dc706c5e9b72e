"""The ledger of a space: what is known of each of its designs, and what its front may be called.

| state | meaning |
| --- | --- |
| evaluated | figures are known: computed by models, or measured |
| infeasible | the program that measures says itself that there is no such design |
| failed | an accident: nothing is known of the design |
| unknown | it was not evaluated yet |
| pruned | bounds rule it out |

Every word on how complete a front is comes from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

ENTRY, AGAIN, LACKING = "ledger", "measure_again", "lacking"
"""The entries of a manifest that have it, and the command that measures again what failed."""


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Numbers of designs by state."""

    evaluated: int = 0
    infeasible: int = 0
    failed: int = 0
    unknown: int = 0
    pruned: int = 0

    def __add__(self, other: Self) -> Ledger:
        """Return the ledger of both."""
        pairs = zip(self.to_dict().items(), other.to_dict().values(), strict=True)
        return Ledger(**{name: count + more for (name, count), more in pairs})

    @property
    def known(self) -> int:
        """How many designs were evaluated, or are infeasible as their program says."""
        return self.evaluated + self.infeasible

    @property
    def settled(self) -> bool:
        """Whether no design is left but those that failed by accident."""
        return not self.unknown

    @property
    def exact(self) -> bool:
        """Whether every design is accounted for: the front is the front."""
        return self.settled and not self.failed

    @property
    def but(self) -> str:
        """What an otherwise exact front lacks; empty where it is exact, or is not proven."""
        if not self.failed or not self.settled:
            return ""
        designs = "design" if self.failed == 1 else "designs"
        return f"exact but for {self.failed:,} {designs} that failed"

    @property
    def proof(self) -> str:
        """How complete the front is, in two words or a few more."""
        return "proven complete" if self.exact else self.but or "not proven"

    @property
    def front(self) -> str:
        """What the front may be called."""
        if self.exact:
            return "an exact front"
        return f"a front that is {self.but or 'not proven'}"

    @property
    def measured(self) -> str:
        """What was done with designs of a space, all of which were requested."""
        said = "every design is measured"
        if self.infeasible:
            said = "every design is measured, or infeasible as its program says"
        return f"every design was asked for, and {self.failed:,} failed" if self.failed else said

    def to_dict(self) -> dict[str, int]:
        """Return plain data, for JSON."""
        return asdict(self)


STATES = tuple(entry.name for entry in fields(Ledger))


def ledger_of(manifest: Mapping[str, Any]) -> Ledger:
    """Return the ledger of a run; one from before ledgers tells only whether its front is exact."""
    said = manifest.get(ENTRY)
    if isinstance(said, Mapping):
        found = {name: said[name] for name in STATES if isinstance(said.get(name), int)}
        return Ledger(**found)
    return Ledger(unknown=0 if manifest.get("exact") else 1)


def remedy_of(manifest: Mapping[str, Any]) -> str:
    """Return how designs of a run that failed are measured again; empty where that is not known."""
    said = manifest.get(AGAIN)
    return f"measure again what failed: {said}" if said and ledger_of(manifest).failed else ""
