"""Generators of hardware: designs as Verilog text, with the answers that they must give.

A generator is a function of parameters that returns a `Design`.  `answers` returns its inputs in
each clock cycle, and the outputs that they require.
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
    """A parameter of a generator and its possible values, of which the first is the default."""

    name: str
    description: str
    values: tuple[Value, ...]


@dataclass(frozen=True, kw_only=True)
class Design:
    """Hardware as synthesizable Verilog-2001, with its task.

    Attributes
    ----------
    name
        Name within its generator, for instance ``u4``.
    parameters
        Value of every parameter of the generator.
    verilog
        Text of all modules.
    top, clock
        The outermost module, and its clock input.  Every change is at its rising edge.
    payload_bit
        Payload of one task.
    cycles_per_task
        Initiation interval at full rate, in cycles, below 1 if several tasks start per cycle.
    latency_cycles
        Clock edges from the one that takes the first input of a task to the one at which its first
        output can be taken.
    tasks_in_flight
        Independent tasks that it works on at once.
    read_byte, written_byte
        Bytes that enter and leave for one task.
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
    """Inputs of a design and its required outputs, cycle by cycle, at full rate.

    Cycle c is the time before rising clock edge c.  Row c of an input is its value at that edge,
    and row c of an output is the value that the same edge finds.

    Attributes
    ----------
    stimulus
        Every input but the clock.
    expected
        Every output.
    known
        For every output the cycles in which `expected` holds, shape (cycles,).  In others the
        output may be anything.
    warm_up
        The first cycle in which everything works at full rate, which it does until the end.
    tasks
        Number of tasks with answers in `expected`.
    """

    stimulus: Mapping[str, Bits]
    expected: Mapping[str, Bits]
    known: Mapping[str, NDArray[np.bool_]]
    warm_up: int
    tasks: int

    @property
    def cycles(self) -> int:
        """Return the number of clock cycles."""
        return len(next(iter(self.known.values())))


@dataclass(frozen=True)
class Generator:
    """A family of designs, made from parameters and called like its function.

    Attributes
    ----------
    function
        ``function(**parameters) -> Design``: the same text whenever it is called.  Raises
        ValueError for values that do not go together.
    answers
        ``answers(design, seed=..., tasks=...) -> Vectors``: at least that many random tasks, with
        answers from a model of the arithmetic, not of the hardware.
    parameters
        Its parameters and their values.
    designs
        Parameters of the designs that are characterised by default.
    description
        One line that helps to choose.
    source
        The standard or paper that defines the computation.
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
        """Return the name of the function."""
        return str(self.function.__name__)

    def __call__(self, **parameters: Any) -> Design:
        """Return the design with these parameters.  Parameters not given have their first value.

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
"""Decorator that makes a `Generator` of the function below it."""


def bits_of(values: ArrayLike, width: int) -> Bits:
    """Return whole numbers as bits, least significant first, negative ones in two's complement.

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
