"""The value at which each net settles, cycle by cycle, with two or three values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.errors import Fault, StudyError
from dse.silicon.functions import UNKNOWN, Integers
from dse.silicon.gates import Gates
from dse.silicon.netlist import CONSTANT_1

MOST_PASSES = 20
"""So many times within one cycle may clears and presets follow from each other."""


@dataclass(frozen=True, eq=False)
class Settled:
    """What some cycles came to.

    Attributes
    ----------
    values
        Settled value of each net, shape (cycles, nets).
    state
        Of each flip-flop after the last cycle's edge, shape (flip-flops,).
    forced
        Which cycles had a state cleared or preset within them, shape (cycles,).
    """

    values: NDArray[np.uint8]
    state: Integers
    forced: NDArray[np.bool_]


def settle_cycles(
    gates: Gates, state: Integers, ports: Integers, stimulus: NDArray[np.bool_], radix: int
) -> Settled:
    """Return settled values of cycles that begin in `state`.

    Parameters
    ----------
    ports, stimulus
        Nets of the input ports, shape (ports,), and their values, shape (cycles, ports).
    radix
        `dse.silicon.functions.BINARY`, or `TERNARY` where entries of `state` may be `UNKNOWN`.

    Notes
    -----
    Flip-flops take their next state at the edge that ends a cycle.  Clear and preset act at once
    and keep a state through the edge; clear wins over preset.  An unknown clear or preset makes
    a state unknown that it would change.

    Raises
    ------
    StudyError
        Clears and presets do not come to rest.
    """
    cycles = len(stimulus)
    values = np.zeros((cycles, gates.net_count), np.uint8)
    forced = np.zeros(cycles, np.bool_)
    nets = np.zeros(gates.net_count, np.int64)
    nets[CONSTANT_1] = 1
    for cycle in range(cycles):
        nets[ports] = stimulus[cycle]
        for _ in range(MOST_PASSES):
            nets[gates.states] = state
            for level in gates.levels:
                nets[level.functions.outputs] = level.functions.at(nets, radix)
            held = _held(gates, nets, state, radix)
            if np.array_equal(held, state):
                break
            state, forced[cycle] = held, True
        else:
            rule = "clears and presets do not come to rest within a cycle"
            remedy = "drive them without a loop through what they act on"
            fault = Fault(where=f"cycle {cycle}", written="", rule=rule, remedy=remedy)
            raise StudyError([fault])
        values[cycle] = nets
        following = np.empty_like(state)
        following[gates.next_state.outputs - gates.net_count] = gates.next_state.at(nets, radix)
        state = _held(gates, nets, following, radix)
    return Settled(values, state, forced)


def _held(gates: Gates, nets: Integers, state: Integers, radix: int) -> Integers:
    """Return a state after clear and preset, given the values of all nets."""
    held = state.copy()
    for functions, value in ((gates.preset, 1), (gates.clear, 0)):
        acts = np.zeros_like(state)
        acts[functions.outputs - gates.net_count] = functions.at(nets, radix)
        held[acts == 1] = value
        held[(acts == UNKNOWN) & (held != value)] = UNKNOWN
    return held
