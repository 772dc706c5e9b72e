"""Generators of hardware: designs as Verilog text, with the answers that they must give.

A generator is a function of parameters that returns a `Design`; `answers` gives what goes into it
in each clock cycle, and what must come out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract.decorator import decorator
from dse.errors import ArgumentError, nearest

Bits = NDArray[np.bool_]
"""Values of a port, one row per clock cycle, least significant bit first: shape (cycles, bits)."""

Value = int | str


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A parameter of a generator: the values that it may have, the first where none is given."""

    name: str
    description: str
    values: tuple[Value, ...]


@dataclass(frozen=True, kw_only=True)
class Design:
    """Hardware as synthesizable Verilog-2001, and what one task is in it.

    Attributes
    ----------
    name
        Tells it from others of its generator, for instance ``u4``.
    parameters
        What it was made with: every parameter of the generator.
    verilog
        Text of all modules.
    top, clock
        The outermost module, and its clock input; everything happens when that rises.
    payload_bit
        Payload of one task.
    cycles_per_task
        Initiation interval at full rate, in cycles; below 1 when several tasks start per cycle.
    latency_cycles
        Clock edges from the one that takes the first input of a task to the one at which its first
        output can be taken.
    tasks_in_flight
        Independent tasks that it works on at once.
    read_byte, written_byte
        What enters and leaves for one task.
    """

    name: str
    parameters: Mapping[str, Value]
    verilog: str
    top: str
    clock: str
    payload_bit: float
    cycles_per_task: float
    latency_cycles: int
    tasks_in_flight: float
    read_byte: float
    written_byte: float


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """What goes into a design and what must come out of it, cycle by cycle, at full rate.

    Cycle c is the time before rising clock edge c: row c of an input stands when that edge comes,
    and row c of an output is what the same edge finds there.

    Attributes
    ----------
    stimulus
        Every input but the clock.
    expected
        Every output.
    known
        For every output the cycles in which `expected` holds, shape (cycles,); in others the
        output may be anything.
    warm_up
        The first cycle in which everything works at full rate, as it does to the end.
    tasks
        How many tasks' answers are in `expected`.
    """

    stimulus: Mapping[str, Bits]
    expected: Mapping[str, Bits]
    known: Mapping[str, NDArray[np.bool_]]
    warm_up: int
    tasks: int

    @property
    def cycles(self) -> int:
        """How many clock cycles there are."""
        return len(next(iter(self.known.values())))


@dataclass(frozen=True)
class Generator:
    """A family of designs, made from parameters; called like its function.

    Attributes
    ----------
    function
        ``function(**parameters) -> Design``: the same text whenever it is called.  Raises
        ValueError for values that do not go together.
    answers
        ``answers(design, seed=..., tasks=...) -> Vectors``: at least that many random tasks, with
        answers from a model of the arithmetic, not of the hardware.
    parameters
        What it takes, and which values.
    designs
        The designs that are characterised when nobody says which: parameters of each.
    description
        One line for those who choose.
    source
        The standard or paper that says what the hardware computes.
    """

    function: Callable[..., Design]
    _: KW_ONLY
    answers: Callable[..., Vectors]
    parameters: tuple[Choice, ...]
    designs: tuple[Mapping[str, Value], ...]
    description: str
    source: str

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(self.function.__name__)

    def __call__(self, **parameters: Any) -> Design:
        """Return the design with these parameters, and the first value of those not given.

        Raises
        ------
        ArgumentError
            A parameter that the generator does not have, or values that it cannot have.
        """
        known = {choice.name: choice for choice in self.parameters}
        for name, value in parameters.items():
            if name not in known:
                rule = f"{name!r} is no parameter of generator {self.name!r}"
                raise ArgumentError(f"{rule}; {nearest(name, known)}")
            if value not in known[name].values:
                allowed = ", ".join(map(str, known[name].values))
                raise ArgumentError(f"{self.name}: {name} cannot be {value!r}; one of {allowed}")
        given = {
            choice.name: parameters.get(choice.name, choice.values[0]) for choice in known.values()
        }
        try:
            return self.function(**given)
        except ValueError as error:
            raise ArgumentError(f"{self.name}: {error}") from error


generator = decorator(Generator)
"""Make a `Generator` of the function below it."""


def bits_of(values: ArrayLike, width: int) -> Bits:
    """Return whole numbers as bits, least significant first: two's complement where negative.

    Parameters
    ----------
    values
        Shape (...), whole numbers of at most 64 bits.
    width
        Bits kept of each, at most 64.

    Returns
    -------
    ndarray
        Shape (..., width).
    """
    whole = np.asarray(values)[..., None]
    return np.asarray((whole >> np.arange(width, dtype=whole.dtype)) & whole.dtype.type(1), bool)
