"""A tape laid out on a space: what is known beforehand, what is read off tables, what is left.

With P_v the product of the sizes of the axes that a value v depends on, and N designs, the work is
``sum_v P_v`` for the values of which P_v is at most `TABLE` (each is computed once, whatever
designs are requested), and one operation for each design and value that is left.  The memory is
``8 B * P_v`` for each table that is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.errors import DseError
from dse.model.space import Space
from dse.model.tape.traced import Node, Tape

TABLE = 16_384
"""Most values of a table: 128 KiB, so that the tables of a study stay in the cache."""


@dataclass(frozen=True)
class Table:
    """A value that depends on few axes: for each of their positions, in lexicographic order."""

    axes: int
    strides: tuple[tuple[int, int], ...]
    values: NDArray[Any]


@dataclass(frozen=True)
class Operation:
    """An operation that is left for each design: on which axes it depends, and what it calls."""

    node: int
    axes: int
    function: Callable[..., Any]
    arguments: tuple[int, ...]


Step = tuple[Operation | None, int, tuple[int, ...]]
"""What makes a value (None: a table), which, and what is not needed afterwards."""


NEUTRAL: Mapping[Any, float] = {
    np.multiply: 1.0,
    np.true_divide: 1.0,
    np.minimum: np.inf,
    np.maximum: -np.inf,
    np.logical_and: 1.0,
    np.logical_or: 0.0,
}
"""With what an operation changes nothing: on either side, in a quotient as the divisor."""


@dataclass
class Layout:
    """What is left of a tape on one space.

    Attributes
    ----------
    known
        Values that are the same for all designs.
    tables
        Values that are read off tables.
    calls
        Operations that are left, in order.
    same
        For every node, the node whose value it has.
    """

    tape: Tape
    space: Space
    known: dict[int, Any] = field(default_factory=dict)
    tables: dict[int, Table] = field(default_factory=dict)
    calls: list[Operation] = field(default_factory=list)
    same: list[int] = field(default_factory=list)
    _axes: list[int] = field(default_factory=list)
    _failing: set[int] = field(default_factory=set)
    _first: dict[Any, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Lay the tape out."""
        with np.errstate(all="ignore"):
            for position, node in enumerate(self.tape.nodes):
                self.same.append(position)
                self._axes.append(0)
                self._place(position, node)
            self._tabulate(self._needed())

    @property
    def outputs(self) -> tuple[int, ...]:
        """The values that are requested, in the order in which a tape names them."""
        tape = self.tape
        every = (*tape.loss, *tape.rounded, *tape.violation, tape.feasible, tape.undefined)
        return tuple(self.same[one] for one in every)

    @cached_property
    def steps(self) -> list[Step]:
        """The steps that make outputs, in order: tables are read when they are needed."""
        order: dict[int, Operation | None] = {}
        for call in self.calls:
            for one in call.arguments:
                if one in self.tables:
                    order.setdefault(one)
            order[call.node] = call
        for one in sorted(self.tables):
            order.setdefault(one)
        found: list[Step] = []
        kept = {*self.known, *self.outputs}
        for node, step in reversed(order.items()):
            arguments = step.arguments if step else ()
            last = tuple(one for one in dict.fromkeys(arguments) if one not in kept)
            kept.update(last)
            found.append((step, node, last))
        return found[::-1]

    def _place(self, position: int, node: Node) -> None:
        """Find out what a value depends on, and whether it is that of another node."""
        if node.value is not None:
            self.known[position] = node.value
        elif node.function is None:
            self._input(position, node.name)
        else:
            arguments = [self.same[one] for one in node.arguments]
            for one in arguments:
                self._axes[position] |= self._axes[one]
            if all(one in self.known for one in arguments):
                self._compute(position, node, [self.known[one] for one in arguments], self.known)
            elif not node.opaque:
                found = self._simpler(node, arguments)
                if found is None:  # what is known here may make two operations one
                    key = (node.function, node.dtype, *arguments)
                    found = self._first.setdefault(key, position)
                self.same[position] = found
                self._axes[position] = self._axes[self.same[position]]

    def _input(self, position: int, name: str) -> None:
        """Place a column of the study: a later axis overrides an earlier one, and constants."""
        owners = [place for place, axis in enumerate(self.space.axes) if name in axis.columns]
        values = self.space.axes[owners[-1]].columns[name] if owners else self.space.constants[name]
        if len(np.unique(values.view(np.int64))) == 1:  # bit by bit, zeros of either sign too
            self.known[position] = values[:1]
        else:
            self._axes[position] = 1 << owners[-1]

    def _compute(
        self, position: int, node: Node, values: Sequence[Any], found: dict[int, Any]
    ) -> None:
        """Keep a value, unless its function fails here: then it is called for designs only."""
        try:
            found[position] = node.function(*values)
        except DseError:
            self._failing.add(position)

    def _simpler(self, node: Node, arguments: Sequence[int]) -> int | None:
        """Return which of its arguments a value is, bit by bit, if any."""
        if node.function is np.where:
            return self._chosen(node, arguments)
        neutral = NEUTRAL.get(node.function)
        if neutral is None:
            return None
        first, second = arguments
        pairs = [(first, second)]
        pairs += [(second, first)] * (node.function is not np.true_divide)
        for kept, other in pairs:
            same = self.tape.nodes[kept].dtype == node.dtype
            if same and other in self.known and np.ravel(self.known[other])[0] == neutral:
                return kept
        return None

    def _chosen(self, node: Node, arguments: Sequence[int]) -> int | None:
        """Return the branch that is always taken."""
        condition, yes, no = arguments
        if yes != no and condition not in self.known:
            return None
        branch = yes if yes == no or np.ravel(self.known[condition])[0] else no
        return branch if self.tape.nodes[branch].dtype == node.dtype else None

    def _needed(self) -> list[int]:
        """Return the values that outputs are made of and that are not known, in order."""
        found: set[int] = set()
        pending = list(self.outputs)
        while pending:
            position = pending.pop()
            if position in found or position in self.known:
                continue
            found.add(position)
            pending += [self.same[one] for one in self.tape.nodes[position].arguments]
        return sorted(found)

    def _small(self, position: int, arguments: Sequence[int], found: Mapping[int, Any]) -> bool:
        """Whether a value can be computed for all positions on its axes."""
        if position in self._failing or not all(a in found or a in self.known for a in arguments):
            return False
        return math.prod(self.space.sizes[axis] for axis in members(self._axes[position])) <= TABLE

    def _tabulate(self, wanted: Sequence[int]) -> None:
        """Compute what depends on few axes for all positions on these; list what is left."""
        found: dict[int, Any] = {}
        for position in wanted:
            node = self.tape.nodes[position]
            arguments = [self.same[one] for one in node.arguments]
            if node.function is None:
                (axis,) = members(self._axes[position])
                values = self.space.axes[axis].columns[node.name]
                shape = [1] * len(self.space.sizes)
                shape[axis] = -1
                found[position] = values.reshape(shape)
            elif self._small(position, arguments, found):
                given = [self.known[one] if one in self.known else found[one] for one in arguments]
                self._compute(position, node, given, found)
        for position in (one for one in wanted if one not in found):
            node = self.tape.nodes[position]
            taken = tuple(self.same[one] for one in node.arguments)
            self.calls.append(Operation(position, self._axes[position], node.function, taken))
        read = {one for call in self.calls for one in call.arguments}
        for position in read.union(self.outputs) & found.keys():
            self.tables[position] = self._table(self._axes[position], found[position])

    def _table(self, axes: int, values: Any) -> Table:
        places = members(axes)
        sizes = [self.space.sizes[axis] for axis in places]
        every = enumerate(self.space.sizes)
        shape = [size if axis in places else 1 for axis, size in every]
        strides = [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]
        flat = np.ascontiguousarray(np.broadcast_to(values, shape)).reshape(-1)
        return Table(axes, tuple(zip(places, strides, strict=True)), flat)


def members(axes: int) -> tuple[int, ...]:
    """Return the axes of a set, of which each is a bit."""
    return tuple(axis for axis in range(axes.bit_length()) if axes >> axis & 1)
