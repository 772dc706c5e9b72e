"""Power of a mapped netlist from how often its nets change.

Energy of a cycle, with n transitions per cycle of a net or pin:

    E = sum over nets n C V^2 / 2  +  sum over pins n (E_rise + E_fall) / 2

with C the load of a net, without wires, and E the tables ``internal_power`` at the slew of the
related pin and the load.  The clock has two transitions in each cycle, behind a clock gate in the
cycles that it passes.  Every transition of a net is a full one, even in a short glitch.

The input that causes a transition of an output is not known: tables of several related pins are
weighted by how often each changes.  Conditions ``when`` are weighted by their probability.  Pins
are taken for independent, each 1 for the share `high` of the time, and the state of a flip-flop
that no pin shows, half of the time.  For an output the given conditions are taken for complete.
For an input, no energy counts if all of them are false, and a table without a condition covers the
rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.silicon.cells import Cell, CellLibrary, InternalPower, names_in, truth_table
from dse.silicon.netlist import Clocks, Netlist, PinNets, by_cell
from dse.silicon.simulation import Switched
from dse.silicon.timing import Timing

MOST_CONDITION_PINS = 12
"""A condition ``when`` on more pins than this holds half of the time."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Power:
    """Power of a netlist at a clock period: of transitions with glitches, and without, and leakage.

    Without glitches each net changes at most once in a cycle.
    """

    period_s: float
    dynamic_w: float
    settled_w: float
    leakage_w: float
    notes: tuple[str, ...] = ()


def average_power(
    netlist: Netlist,
    library: CellLibrary,
    timing: Timing,
    activity: Switched,
    *,
    clock: str,
    period_s: float,
) -> Power:
    """Return the mean power of a netlist whose nets change as often as in `activity`."""
    clock_net = Clocks(netlist, library, clock).net
    slew_s = (timing.rise_slews_s + timing.fall_slews_s) / 2
    known = slew_s, timing.loads_f, np.asarray(activity.high, float)
    groups = [_Group(cell, nets, len(at), *known) for cell, at, nets in by_cell(netlist, library)]
    joined = np.zeros(netlist.net_count, bool)
    joined[[net for instance in netlist.instances for net in instance.nets.values()]] = True
    charge_j = np.where(joined, 0.5 * timing.loads_f * library.voltage_v**2, 0.0)
    found = []
    for counted in (activity.toggles, activity.settled):
        rate = np.asarray(counted, float) / activity.cycles
        rate[clock_net] = 2.0
        inside_j = sum(
            group.internal(pin, rate).sum() for group in groups for pin in group.cell.pins
        )
        found.append(float(charge_j @ rate + inside_j) / period_s)
    leakage = sum(library.cells[instance.cell].leakage_w for instance in netlist.instances)
    return Power(period_s, found[0], found[1], leakage, tuple(_notes(groups)))


def _notes(groups: Sequence[_Group]) -> Iterator[str]:
    """Yield the assumptions behind the energies."""
    cells = [group.cell.pins.values() for group in groups]
    if any(len({one.related_pin for one in pin.power}) > 1 for pins in cells for pin in pins):
        yield (
            "energy of outputs by how often each related pin changes, in cells that list it by pin"
        )
    if not all(any(pin.power for pin in pins) for pins in cells):
        yield "some cells give no internal energy: it is not counted"


class _Group:
    """All instances of one cell."""

    def __init__(
        self,
        cell: Cell,
        nets: PinNets,
        count: int,
        slew_s: Floats,
        loads_f: Floats,
        high: Floats,
    ) -> None:
        self.cell, self.nets, self.count = cell, nets, count
        self.slew_s, self.loads_f, self.high = slew_s, loads_f, high
        self.per_transition = {
            name: {
                one: self._mean(name, one)
                for one in dict.fromkeys(p.related_pin for p in pin.power)
            }
            for name, pin in cell.pins.items()
        }

    def internal(self, name: str, rate: Floats) -> Floats:
        """Return the energy (J) of a cycle inside each instance that a pin's transitions take."""
        parts = self.per_transition[name]
        zero = np.zeros(self.count)
        if not parts:
            return zero
        own = self.of(rate, name)
        weights = {pin: self.of(rate, pin) if pin in self.nets else zero + 1.0 for pin in parts}
        total = sum(weights.values(), zero)
        mean = np.where(total > 0, 0.0, 1.0 / len(parts))
        safe = np.where(total > 0, total, 1.0)
        return own * sum((parts[pin] * (weights[pin] / safe + mean) for pin in parts), zero)

    def of(self, column: Floats, pin: str) -> Floats:
        """Return the value of a column over nets for a pin, 0 if it is not connected."""
        net = self.nets[pin]
        return np.where(net >= 0, column[net], 0.0)

    def _mean(self, name: str, related: str) -> Floats:
        """Return the energy (J) per transition of a pin, the mean over conditions."""
        output = self.cell.pins[name].direction == "output"
        slew = self.of(self.slew_s, related if related in self.nets else name)
        load = self.of(self.loads_f, name) if output else np.zeros(self.count)
        groups = [p for p in self.cell.pins[name].power if p.related_pin == related]
        energy = np.zeros(self.count)
        for rail in dict.fromkeys(group.rail for group in groups):
            of_rail = [group for group in groups if group.rail == rail]
            for group, share in zip(of_rail, self._shares(of_rail, output), strict=True):
                tables = (one for one in (group.rise, group.fall) if one is not None)
                energy += share * (sum(one.at(slew, load) for one in tables) / 2)
        return energy

    def _shares(self, groups: list[InternalPower], output: bool) -> Iterator[Floats]:
        """Yield how much of the transitions each group has."""
        chances = [self._probability(group.when) if group.when else None for group in groups]
        covered = sum((share for share in chances if share is not None), np.zeros(self.count))
        plain = sum(chance is None for chance in chances)
        rest = np.maximum(1.0 - covered, 0.0)
        for chance in chances:
            if chance is None:
                yield rest / plain
            elif output and not plain:
                even = np.full(self.count, 1.0 / len(groups))
                yield np.divide(chance, covered, out=even, where=covered > 0)
            else:
                yield chance

    def _probability(self, when: str) -> Floats:
        """Return how probable a condition is, its pins independent."""
        names = names_in(when)
        if len(names) > MOST_CONDITION_PINS:
            return np.full(self.count, 0.5)
        table = truth_table(when, names)
        chance = np.ones((1, self.count))
        for name in names:
            high = self.of(self.high, name) if name in self.nets else 0.5
            chance = np.concatenate((chance * (1.0 - high), chance * high))
        return np.asarray(table.astype(float) @ chance)
