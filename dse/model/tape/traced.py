"""Columns that write down what functions do with them, through numpy's own protocols."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


class UntracedError(TypeError):
    """What a function asks of its columns cannot be written down before there are numbers."""


class UncompiledError(TypeError):
    """An operation has no machine code with the same results."""


@dataclass(frozen=True)
class Node:
    """One value of a tape: a constant, an input or a call.

    Attributes
    ----------
    function
        What is called with the values of `arguments`; None for a constant and an input.
    arguments
        Positions of other nodes.
    value
        Of a constant.
    name
        Of an input.
    dtype
        Of the value.
    opaque
        Whether nothing is known of the function but that it takes columns and returns one.
    """

    function: Any = None
    arguments: tuple[int, ...] = ()
    value: Any = None
    name: str = ""
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float64))
    opaque: bool = False


@dataclass(frozen=True)
class Tape:
    """The losses and violations of a problem as operations on its columns.

    Attributes
    ----------
    nodes
        Every value, after its arguments.
    loss, violation
        Positions of the losses, and of the violations.
    rounded
        The losses as they are compared, where `dse.model.evaluation.SPLIT` times them is finite.
    feasible
        Whether a design meets every constraint.
    undefined
        Whether a violation is NaN.
    made
        Where the column of each function is.
    opaque
        Functions that are called with columns because they cannot be traced, each with the reason.
    """

    nodes: tuple[Node, ...]
    loss: tuple[int, ...]
    rounded: tuple[int, ...]
    violation: tuple[int, ...]
    feasible: int
    undefined: int
    made: Mapping[str, int]
    opaque: Mapping[str, str]


@dataclass
class Recorder:
    """Writes nodes down, each operation once.

    Attributes
    ----------
    nodes
        All values so far, each after its arguments.
    refused
        What could not be written down since this was last empty.
    """

    nodes: list[Node] = field(default_factory=list)
    refused: str = ""
    _known: dict[Any, int] = field(default_factory=dict)

    def input(self, name: str) -> Traced:
        """Return the column `name` of the study."""
        return Traced(self, self._node(("input", name), Node(name=name)))

    def call(self, function: Callable[..., Any], inputs: Sequence[Any]) -> Traced:
        """Return what an elementwise function makes of columns and constants."""
        if set(np.geterr().values()) & {"raise", "call", "print", "log"}:
            raise self.refusal("numbers that are not finite are an error")
        arguments = tuple(map(self.position, inputs))
        found = [self.nodes[one] for one in arguments]
        empty = [np.empty(0, one.dtype) if one.value is None else one.value for one in found]
        with np.errstate(all="ignore"):
            dtype = np.asarray(function(*empty)).dtype
        if dtype.kind not in "fiub":
            raise self.refusal(f"numbers of the type {dtype}")
        node = Node(function, arguments, dtype=dtype)
        return Traced(self, self._node((function, arguments), node))

    def opaque(self, function: Callable[..., Any], inputs: Sequence[Traced], name: str) -> Traced:
        """Return what a function makes of columns of which nothing else is known."""
        arguments = tuple(one.node for one in inputs)
        node = Node(function, arguments, name=name, opaque=True)
        return Traced(self, self._node(object(), node))

    def position(self, value: Any) -> int:
        """Return which node a column or a constant is."""
        if isinstance(value, Traced):
            return value.node
        array = np.asarray(value)
        if array.size != 1 or array.dtype.kind not in "fiub":
            raise self.refusal(f"a table of {array.size} values")
        key = (type(value), array.dtype.str, array.shape, array.tobytes())
        return self._node(key, Node(value=value, dtype=array.dtype))

    def refusal(self, what: str) -> UntracedError:
        """Return the error that says what cannot be written down; a function may not hide it."""
        self.refused = self.refused or what
        return UntracedError(what)

    def _node(self, key: Any, node: Node) -> int:
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(node)
        return self._known[key]


FILLED = (np.zeros_like, np.ones_like)
"""Functions that return one value in the shape of a column; as one row it broadcasts likewise."""


def _refusing(what: str) -> Any:
    """Return a method that refuses to say what a column without numbers does not know."""

    def refuse(self: Traced, *_: Any, **__: Any) -> Any:
        raise self.recorder.refusal(what)

    return refuse


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """A column without numbers, which writes down what is done with it."""

    def __init__(self, recorder: Recorder, node: int) -> None:
        """Stand for the value of a node."""
        self.recorder, self.node = recorder, node

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Write an elementwise function of columns down."""
        if method != "__call__" or options or ufunc.nout != 1 or ufunc.signature:
            raise self.recorder.refusal(f"numpy.{ufunc.__name__} with {method} and {[*options]}")
        return self.recorder.call(ufunc, inputs)

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: Mapping[str, Any]
    ) -> Any:
        """Write ``numpy.where`` and ``numpy.clip`` down."""
        if function is np.ndim:
            return 1  # at least: columns have rows
        if function in (np.where, np.clip) and len(arguments) == 3 and not options:
            return self.recorder.call(function, arguments)
        if function in FILLED and len(arguments) == 1 and not options:
            return function(np.empty(1, self.recorder.nodes[self.node].dtype))
        raise self.recorder.refusal(f"numpy.{function.__name__}")

    def __pow__(self, other: Any) -> Any:
        """Write a power down: arrays know shorter ways to some of them than ``numpy.power``."""
        return self.recorder.call(operator.pow, (self, other))

    def __rpow__(self, other: Any) -> Any:
        """Write a power down."""
        return self.recorder.call(operator.pow, (other, self))

    __array__ = _refusing("its numbers")
    __bool__ = _refusing("whether something holds")
    __float__ = __int__ = __index__ = __complex__ = _refusing("its number")
    __getitem__ = _refusing("some of its rows")
    __len__ = _refusing("how many rows it has")
    __iter__ = _refusing("each of its rows")

    def __getattr__(self, name: str) -> Any:
        """Refuse what only arrays have."""
        if not name.startswith("__"):
            self.recorder.refusal(f"its {name}")
        raise AttributeError(name)


def floats(column: Any) -> NDArray[np.float64]:
    """Return a column as floats."""
    found: NDArray[np.float64] = np.asarray(column).astype(np.float64)
    return found
