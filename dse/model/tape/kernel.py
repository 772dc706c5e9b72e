"""A laid out tape as machine code: eight designs at once, every value in a register.

The code is written with llvmlite as LLVM's intermediate representation.  Each operation is that of
IEEE 754, none is contracted or reordered, so results are those of numpy bit by bit; where numpy
or the C library round otherwise (powers, exponentials, logarithms), there is no kernel.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from dse.model.tape.layout import Layout, Operation
from dse.model.tape.operations import (
    BIT,
    BITS,
    BYTE,
    BYTES,
    LANES,
    LONG,
    NUMBER,
    NUMBERS,
    PLACES,
    SHORT,
    are_finite,
    as_bool,
    as_number,
    known_value,
    loop,
    operation,
    power,
    splatted,
)
from dse.model.tape.traced import UncompiledError

NAME = "kernel"

POINTED = (SHORT, LONG, NUMBER, BYTE, BYTE, NUMBER, BYTE)
PARAMETERS = (LONG, LONG, *(one.as_pointer() for one in POINTED))
"""How many corners and pivots there are; corners (axes, padded), how many steps are taken from
them on each axis, pivots (p, m); whether designs are feasible (inside, padded), and candidates,
their losses (m, inside, padded), and whether a number of any may be none."""

CALLED = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 2, *[ctypes.c_void_p] * len(POINTED))


class Writer:
    """Writes the kernel of a layout.

    `varied` are the axes on which the designs of one register differ; they are the same for all
    lanes on the others.  Loops go through groups of designs, then through the steps of each axis;
    a value is computed in the outermost loop in which all that it depends on is known.
    """

    def __init__(self, layout: Layout, varied: int) -> None:
        """Begin with an empty function."""
        self._layout = layout
        self._varied = varied
        self._sizes = layout.space.sizes
        self.module = ir.Module(NAME)
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), PARAMETERS), NAME)
        self._function = function
        (
            self._count,
            self._pivot_count,
            self._corners,
            self._steps,
            self._pivots,
            self._feasible,
            self._candidates,
            self._losses,
            self._suspect,
        ) = function.args
        self._b = ir.IRBuilder(function.append_basic_block())
        self._values: dict[int, Any] = {}
        self._places: dict[int, Any] = {}
        self._order = _ordered(layout)
        self._tables = {
            node: self._table(node, values.values) for node, values in layout.tables.items()
        }

    def write(self) -> str:
        """Return the kernel as text of LLVM."""
        b = self._b
        self._values = {node: known_value(value) for node, value in self._layout.known.items()}
        padded = b.mul(b.sdiv(b.add(self._count, LONG(LANES - 1)), LONG(LANES)), LONG(LANES))
        self._strides: dict[int, Any] = {}
        inside = padded
        self._step = {axis: self._load(self._steps, LONG(axis)) for axis in self._order}
        for axis in reversed(range(len(self._sizes))):
            self._strides[axis] = inside
            inside = b.mul(inside, self._step[axis])
        self._total = inside
        self._padded = padded
        self._loop(padded, LANES, self._group)
        self._b.ret_void()
        return str(self.module)

    def _group(self, lane: Any) -> None:
        """Write what is done for each group of designs."""
        b = self._b
        lanes = ir.Constant(ir.VectorType(LONG, LANES), list(range(LANES)))
        left = self._splat(b.sub(self._count, lane), lanes.type)
        self._real = b.icmp_signed("<", lanes, left)
        for axis in self._order:
            at = b.add(b.mul(self._padded, LONG(axis)), lane)
            if self._varied >> axis & 1:
                place = b.bitcast(b.gep(self._corners, [at]), PLACES.as_pointer())
                self._places[axis] = b.load(place, align=4)
            else:
                self._places[axis] = self._load(self._corners, at)
        self._nest(0, 0, lane)

    def _nest(self, depth: int, bound: int, row: Any) -> None:
        """Write what is known once the axes `bound` are, then the loops through the others."""
        self._compute(bound)
        if depth == len(self._order):
            self._store(row)
            return
        axis = self._order[depth]
        corner = self._places[axis]

        def body(offset: Any) -> None:
            b = self._b
            short = b.trunc(offset, SHORT)
            vector = isinstance(corner.type, ir.VectorType)
            self._places[axis] = b.add(corner, self._splat(short, PLACES) if vector else short)
            own = b.add(row, b.mul(offset, self._strides[axis]))
            self._nest(depth + 1, bound | 1 << axis, own)

        self._loop(self._step[axis], 1, body)

    def _compute(self, bound: int) -> None:
        """Write down the values that depend on no axis but those bound, unless they are known."""
        for node, table in self._layout.tables.items():
            if node not in self._values and not table.axes & ~bound:
                self._values[node] = self._read(node)
        for call in self._layout.calls:
            if call.node not in self._values and not call.axes & ~bound:
                self._values[call.node] = self._operation(call)

    def _loop(self, count: Any, step: int, body: Callable[[Any], None]) -> None:
        """Write a loop; values of the body end with it."""
        values, places = dict(self._values), dict(self._places)
        loop(self._b, count, step, body)
        self._values, self._places = values, places

    def _table(self, node: int, values: Any) -> ir.GlobalVariable:
        """Return a table of the layout, which stays where it is in memory."""
        if values.dtype not in (np.float64, np.bool_):
            raise UncompiledError(f"a table of {values.dtype}")
        kind = NUMBER if values.dtype == np.float64 else BYTE
        return ir.Constant(LONG, values.ctypes.data).inttoptr(kind.as_pointer())

    def _read(self, node: int) -> Any:
        """Return what a table says of the designs."""
        b, table = self._b, self._layout.tables[node]
        varied = bool(table.axes & self._varied)
        place: Any = None
        for axis, stride in table.strides:
            part = self._places[axis]
            vector = isinstance(part.type, ir.VectorType)
            by = ir.Constant(SHORT, stride)
            part = b.mul(part, self._splat(by, PLACES) if vector else by)
            part = part if vector or not varied else self._splat(part, PLACES)
            place = part if place is None else b.add(place, part)
        if not varied:
            found = self._load(self._tables[node], b.sext(place, LONG))
            found = found if found.type == NUMBER else b.trunc(found, BIT)
            return self._splat(found, NUMBERS if found.type == NUMBER else BITS)
        lanes = [self._load(self._tables[node], self._lane(place, one)) for one in range(LANES)]
        kind = NUMBERS if lanes[0].type == NUMBER else BYTES
        found = ir.Constant(kind, ir.Undefined)
        for one, value in enumerate(lanes):
            found = b.insert_element(found, value, ir.Constant(SHORT, one))
        return found if kind is NUMBERS else b.trunc(found, BITS)

    def _lane(self, places: Any, lane: int) -> Any:
        b = self._b
        return b.sext(b.extract_element(places, ir.Constant(SHORT, lane)), LONG)

    def _store(self, row: Any) -> None:
        """Write flags and losses of designs down; say where a number may be none."""
        b, tape, same = self._b, self._layout.tape, self._layout.same
        losses = [as_number(b, self._values[same[one]]) for one in tape.rounded]
        feasible = b.and_(as_bool(b, self._values[same[tape.feasible]]), self._real)
        wrong = b.and_(as_bool(b, self._values[same[tape.undefined]]), self._real)
        for loss in losses:
            wrong = b.or_(wrong, b.and_(feasible, b.not_(are_finite(b, loss))))
        some = b.or_(b.load(self._suspect), b.zext(self._any(wrong), BYTE))
        b.store(some, self._suspect)
        candidate = self._undominated(feasible, losses)
        for rows, flags in ((self._feasible, feasible), (self._candidates, candidate)):
            place = b.bitcast(b.gep(rows, [row]), BYTES.as_pointer())
            b.store(b.zext(flags, BYTES), place, align=1)
        with b.if_then(self._any(candidate)):
            for goal, loss in enumerate(losses):
                at = b.add(b.mul(self._total, LONG(goal)), row)
                place = b.bitcast(b.gep(self._losses, [at]), NUMBERS.as_pointer())
                b.store(loss, place, align=8)

    def _undominated(self, feasible: Any, losses: Sequence[Any]) -> Any:
        """Return which designs no pivot dominates (nowhere better, somewhere worse).

        Pivots are taken in order for as long as a design is left.
        """
        b, goals = self._b, len(losses)
        before = b.block
        head, after = (self._function.append_basic_block() for _ in range(2))
        some = b.icmp_signed(">", self._pivot_count, LONG(0))
        b.cbranch(b.and_(some, self._any(feasible)), head, after)
        b.position_at_end(head)
        index, left = b.phi(LONG), b.phi(BITS)
        worse = better = splatted(BITS, 0)
        for goal, loss in enumerate(losses):
            at = b.add(b.mul(index, LONG(goals)), LONG(goal))
            pivot = self._splat(self._load(self._pivots, at), NUMBERS)
            worse = b.or_(worse, b.fcmp_ordered(">", loss, pivot))
            better = b.or_(better, b.fcmp_ordered("<", loss, pivot))
        still = b.and_(left, b.or_(better, b.not_(worse)))
        more = b.add(index, LONG(1))
        for phi, first, later in ((index, LONG(0), more), (left, feasible, still)):
            phi.add_incoming(first, before)
            phi.add_incoming(later, head)
        again = b.and_(b.icmp_signed("<", more, self._pivot_count), self._any(still))
        b.cbranch(again, head, after)
        b.position_at_end(after)
        result = b.phi(BITS)
        result.add_incoming(feasible, before)
        result.add_incoming(still, head)
        return result

    def _operation(self, call: Operation) -> Any:
        """Return what an operation that is left makes of the values known so far."""
        nodes = self._layout.tape.nodes
        given = [self._values[one] for one in call.arguments]
        if call.function is operator.pow:
            return operation(self._b, power(nodes[call.arguments[1]]), given[:1], nodes[call.node])
        return operation(self._b, call.function, given, nodes[call.node])

    def _any(self, bits: Any) -> Any:
        b = self._b
        return b.icmp_unsigned("!=", b.bitcast(bits, ir.IntType(LANES)), ir.IntType(LANES)(0))

    def _load(self, pointer: Any, at: Any) -> Any:
        return self._b.load(self._b.gep(pointer, [at]))

    def _splat(self, value: Any, kind: Any) -> Any:
        """Return a value in each lane."""
        b = self._b
        one = b.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(SHORT, 0))
        zeros = ir.Constant(PLACES, [0] * LANES)
        return b.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)


def _ordered(layout: Layout) -> tuple[int, ...]:
    """Return the axes, that on which most depends first: what depends on it is left outside."""
    left = list(range(len(layout.space.sizes)))
    depends = [call.axes for call in layout.calls] + [t.axes for t in layout.tables.values()]
    order: list[int] = []
    while left:
        least = min(reversed(left), key=lambda axis: sum(axes >> axis & 1 for axes in depends))
        left.remove(least)
        order.append(least)
        depends = [axes for axes in depends if not axes >> least & 1]
    return tuple(reversed(order))


def machine_code(text: str, name: str = NAME, called: Any = CALLED) -> tuple[Any, Any]:
    """Return the machine code of a module, which has to be kept, and the function of that name."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine, called(engine.get_function_address(name))
