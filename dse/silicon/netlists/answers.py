"""What nets and outputs of a netlist settle at, cycle by cycle: held to known answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.contract.generators import Bits
from dse.errors import ArgumentError, Fault, StudyError, nearest
from dse.silicon.cells.boolean import UNKNOWN, Integers
from dse.silicon.netlists.gates import Gates
from dse.silicon.netlists.netlist import CONSTANT_1, Netlist

MOST_CYCLES = 64
"""So many cycles at most are simulated together."""


MOST_PASSES = 20
"""So many times within one cycle may clears and presets follow from each other."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Settled values of outputs.

    Attributes
    ----------
    outputs
        Settled value of each output port in each cycle of the stimulus, shape (cycles, bits):
        what the edge that ends the cycle finds there.
    known
        Which of them depend on no state unknown at the start, same shapes.
    """

    outputs: Mapping[str, Bits]
    known: Mapping[str, Bits]


def driven_ports(
    netlist: Netlist, clock: str, stimulus: Mapping[str, Bits], warm_up: int | None = None
) -> tuple[Integers, Bits]:
    """Return the nets of all input ports but the clock, and their values by cycle.

    Raises
    ------
    ArgumentError
        A port without stimulus, or of another shape; no cycles for a warm-up.
    """
    wanted = {port: nets for port, nets in netlist.inputs.items() if port != clock}
    faults = [f"input {port}: no stimulus; give it one" for port in wanted if port not in stimulus]
    for port, bits in stimulus.items():
        if port not in wanted:
            faults.append(f"stimulus of {port}: no such input; {nearest(port, wanted)}")
        elif np.ndim(bits) != 2 or np.shape(bits)[1] != len(wanted[port]):
            rule = f"shape {np.shape(bits)}; it is (cycles, {len(wanted[port])})"
            faults.append(f"stimulus of {port}: {rule}; give a column for each bit")
    lengths = {port: len(bits) for port, bits in stimulus.items()}
    if len({*lengths.values()}) > 1:
        faults.append(f"stimulus: cycles {lengths}; all have the same; give as many to each")
    cycles = max(lengths.values(), default=0)
    if warm_up is not None and not 1 <= warm_up < cycles:
        rule = f"the stimulus has {cycles} cycles; 1 or more of them warm up, 1 or more are counted"
        faults.append(f"warm_up {warm_up}; {rule}; give more cycles")
    if faults:
        raise ArgumentError("\n".join(faults))
    nets = np.array([net for nets in wanted.values() for net in nets], np.int64)
    columns = [np.asarray(stimulus[port], np.bool_) for port in wanted]
    return nets, np.concatenate([np.zeros((cycles, 0), np.bool_), *columns], axis=1)


def settled_at(
    gates: Gates, state: Integers, driven: Integers, stimuli: Bits, radix: int, nets: Integers
) -> tuple[NDArray[np.uint8], Integers]:
    """Return the settled values of some nets, shape (cycles, nets), and the state after them."""
    found = [np.zeros((0, len(nets)), np.uint8)]
    for first in range(0, len(stimuli), MOST_CYCLES):
        settled = settle_cycles(gates, state, driven, stimuli[first : first + MOST_CYCLES], radix)
        state = settled.state
        found.append(settled.values[:, nets])
    return np.concatenate(found), state


def by_port(netlist: Netlist, values: Bits) -> dict[str, Bits]:
    """Return the columns of `values` by output port."""
    ends = np.cumsum([len(nets) for nets in netlist.outputs.values()])
    return dict(zip(netlist.outputs, np.split(values, ends[:-1], axis=1), strict=True))


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
        `dse.silicon.cells.boolean.BINARY`, or `TERNARY` where entries of `state` may be `UNKNOWN`.

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
            raise StudyError([Fault(f"cycle {cycle}", "", rule, remedy)])
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
