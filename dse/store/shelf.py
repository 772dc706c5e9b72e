"""What a study's designs are looked up in: its own store, then those of other runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dse.contract.evaluators import Measurement, Ranges, Value
from dse.store.store import Store


@dataclass(frozen=True)
class StoreShelf:
    """Measurements of one evaluator; a `dse.contract.evaluators.Shelf`.

    What `reused` stores have is copied to the own one when it is asked for, so that a run has all
    that it counts with, after no attempt of its own.  Failures are not: they may have been those
    of another day or machine.  Nor are values outside the `ranges` of this run.
    """

    store: Store
    identity: str
    reused: tuple[Store, ...] = ()
    ranges: Ranges = field(default_factory=dict)

    def known(self, keys: Sequence[str]) -> dict[str, Measurement]:
        """Return those of the measurements that are kept."""
        found = {name: row.measurement for name, row in self.store.find(keys).items()}
        for other in self.reused:
            left = [name for name in keys if name not in found]
            rows = {
                name: row for name, row in other.find(left).items() if self._holds(row.measurement)
            }
            if rows:
                taken = {name: replace(row.measurement, attempts=0) for name, row in rows.items()}
                self.keep(taken, {name: row.design for name, row in rows.items()})
                found |= taken
        return {name: found[name] for name in keys if name in found}

    def _holds(self, found: Measurement) -> bool:
        """Tell whether what another run measured holds in this one."""
        values = found.values
        inside = (low <= values[name] <= high for name, (low, high) in self.ranges.items())
        return found.has_values and all(inside)

    def keep(
        self, found: Mapping[str, Measurement], designs: Mapping[str, Mapping[str, Value]]
    ) -> None:
        """Keep measurements and the designs that they are of; on disk before this returns."""
        self.store.keep(self.identity, found, designs)
