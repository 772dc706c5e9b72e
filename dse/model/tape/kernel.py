"""A laid out tape as machine code: eight designs at once, every value in a register.

The code is written with llvmlite as LLVM's intermediate representation.  Each operation is that of
IEEE 754, none is contracted or reordered, so results are those of numpy bit by bit; where numpy
or the C library round otherwise (powers, exponentials, logarithms), there is no kernel.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dse.errors import DseError
from dse.model.tape.layout import Layout, members
from dse.model.tape.record import floats

try:  # only where a kernel is wanted is this module imported
    from llvmlite import ir
except ImportError as error:
    raise DseError(
        "compiled kernels need llvmlite, which is not installed; "
        'pip install "accel-dse[fast]", or set search.compiled to no'
    ) from error

LANES = 8
"""Designs at once: a register of AVX-512, two of AVX2."""

FEASIBLE, CANDIDATE = 1, 2
"""Flags of a design: it meets every constraint; and no pivot dominates it."""

NAME = "kernel"

BIT, BYTE, SHORT, LONG = (ir.IntType(bits) for bits in (1, 8, 32, 64))
NUMBER = ir.DoubleType()
BITS, BYTES, PLACES, NUMBERS = (ir.VectorType(one, LANES) for one in (BIT, BYTE, SHORT, NUMBER))

PARAMETERS = (LONG, *(one.as_pointer() for one in (SHORT, LONG, NUMBER)), LONG) + tuple(
    one.as_pointer() for one in (BYTE, NUMBER, BYTE)
)
"""Designs along the lanes, corners (axes, padded designs), steps of each axis, pivots (p, m) and
how many; flags (inside, padded), losses (m, inside, padded), and whether a number may be none."""


class UncompiledError(TypeError):
    """An operation that has no machine code with the same results."""


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
            self._corners,
            self._steps,
            self._pivots,
            self._pivot_count,
            self._flags,
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
        for node, value in self._layout.known.items():
            if value.dtype.kind in "fiub" if isinstance(value, np.ndarray) else True:
                self._values[node] = self._constant(value)
        padded = b.mul(b.sdiv(b.add(self._count, _long(LANES - 1)), _long(LANES)), _long(LANES))
        self._strides: dict[int, Any] = {}
        inside = padded
        self._step = {axis: self._load(self._steps, _long(axis)) for axis in self._order}
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
        for axis in self._order:
            at = b.add(b.mul(self._padded, _long(axis)), lane)
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
                node = self._layout.tape.nodes[call.node]
                if any(one not in self._values for one in call.arguments):
                    raise UncompiledError("numbers of another type")
                given = [self._values[one] for one in call.arguments]
                self._values[call.node] = self._operation(call.function, given, node)

    def _loop(self, count: Any, step: int, body: Callable[[Any], None]) -> None:
        """Write a loop over 0, step, ... below a count; values of the body end with it."""
        b = self._b
        values, places = dict(self._values), dict(self._places)
        before = b.block
        head, after = (self._function.append_basic_block() for _ in range(2))
        b.cbranch(b.icmp_signed(">", count, _long(0)), head, after)
        b.position_at_end(head)
        index = b.phi(LONG)
        index.add_incoming(_long(0), before)
        body(index)
        more = b.add(index, _long(step))
        index.add_incoming(more, b.block)
        b.cbranch(b.icmp_signed("<", more, count), head, after)
        b.position_at_end(after)
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
            part = b.mul(part, self._splat(ir.Constant(SHORT, stride), PLACES, vector))
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
        losses = [self._number(self._values[same[one]]) for one in tape.rounded]
        feasible = self._bool(self._values[same[tape.feasible]])
        wrong = self._bool(self._values[same[tape.undefined]])
        for loss in losses:
            finite = b.fcmp_ordered("==", b.fsub(loss, loss), self._numbers(0.0))
            wrong = b.or_(wrong, b.and_(feasible, b.not_(finite)))
        some = b.or_(b.load(self._suspect), b.zext(self._any(wrong), BYTE))
        b.store(some, self._suspect)
        candidate = b.and_(feasible, b.not_(self._dominated(losses)))
        flags = b.or_(b.zext(feasible, BYTES), b.shl(b.zext(candidate, BYTES), _splatted(BYTES, 1)))
        place = b.bitcast(b.gep(self._flags, [row]), BYTES.as_pointer())
        b.store(flags, place, align=1)
        with b.if_then(self._any(candidate)):
            for goal, loss in enumerate(losses):
                at = b.add(b.mul(self._total, _long(goal)), row)
                place = b.bitcast(b.gep(self._losses, [at]), NUMBERS.as_pointer())
                b.store(loss, place, align=8)

    def _dominated(self, losses: Sequence[Any]) -> Any:
        """Return which designs a pivot dominates: nowhere better, somewhere worse."""
        b, goals = self._b, len(losses)
        before = b.block
        head, after = (self._function.append_basic_block() for _ in range(2))
        none = _splatted(BITS, 0)
        b.cbranch(b.icmp_signed(">", self._pivot_count, _long(0)), head, after)
        b.position_at_end(head)
        index, found = b.phi(LONG), b.phi(BITS)
        worse, better = none, none
        for goal, loss in enumerate(losses):
            at = b.add(b.mul(index, _long(goals)), _long(goal))
            pivot = self._splat(self._load(self._pivots, at), NUMBERS)
            worse = b.or_(worse, b.fcmp_ordered(">", loss, pivot))
            better = b.or_(better, b.fcmp_ordered("<", loss, pivot))
        here = b.or_(found, b.and_(worse, b.not_(better)))
        more = b.add(index, _long(1))
        for phi, first, next_one in ((index, _long(0), more), (found, none, here)):
            phi.add_incoming(first, before)
            phi.add_incoming(next_one, head)
        b.cbranch(b.icmp_signed("<", more, self._pivot_count), head, after)
        b.position_at_end(after)
        result = b.phi(BITS)
        result.add_incoming(none, before)
        result.add_incoming(here, head)
        return result

    def _operation(self, function: Any, given: Sequence[Any], node: Any) -> Any:
        """Return what a function of numpy makes of values."""
        b = self._b
        if function is np.where:
            condition, *branches = given
            if node.dtype != np.bool_:
                branches = [self._number(one) for one in branches]
            return b.select(self._bool(condition), *branches)
        if function in LOGICAL:
            return LOGICAL[function](b, *(self._bool(one) for one in given))
        if function in BITWISE and node.dtype == np.bool_ and all(o.type == BITS for o in given):
            return LOGICAL[BITWISE[function]](b, *given)
        numbers = [self._number(one) for one in given]
        if function in COMPARED:
            return COMPARED[function](b, *numbers)
        if function is operator.pow:
            function = self._power(numbers[1])
            numbers = numbers[:1]
        if node.dtype != np.float64:
            raise UncompiledError(f"numbers of the type {node.dtype}")
        if function in ARITHMETIC:
            return ARITHMETIC[function](b, *numbers)
        if function in INTRINSIC:
            return b.call(self._intrinsic(f"{INTRINSIC[function]}.v{LANES}f64"), numbers)
        raise UncompiledError(f"numpy.{getattr(function, '__name__', function)}")

    def _intrinsic(self, name: str) -> Any:
        """Return an instruction that LLVM knows as a function."""
        if name not in self.module.globals:
            ir.Function(self.module, ir.FunctionType(NUMBERS, [NUMBERS]), name)
        return self.module.globals[name]

    def _power(self, exponent: Any) -> Any:
        """Return the function that arrays take for a power."""
        for value, function in ((2.0, np.square), (0.5, np.sqrt), (1.0, floats)):
            if str(exponent) == str(self._numbers(value)):
                return function
        raise UncompiledError("numpy.power")

    def _constant(self, value: Any) -> Any:
        number = np.ravel(value)[0]
        if isinstance(number, np.bool_):
            return _splatted(BITS, int(number))
        return self._numbers(float(number))

    def _numbers(self, value: float) -> Any:
        return _splatted(NUMBERS, value)

    def _number(self, value: Any) -> Any:
        return self._b.uitofp(value, NUMBERS) if value.type == BITS else value

    def _bool(self, value: Any) -> Any:
        if value.type == BITS:
            return value
        return self._b.fcmp_unordered("!=", value, self._numbers(0.0))

    def _any(self, bits: Any) -> Any:
        b = self._b
        return b.icmp_unsigned("!=", b.bitcast(bits, ir.IntType(LANES)), ir.IntType(LANES)(0))

    def _load(self, pointer: Any, at: Any) -> Any:
        return self._b.load(self._b.gep(pointer, [at]))

    def _splat(self, value: Any, kind: Any, wanted: bool = True) -> Any:
        """Return a value in each lane."""
        if not wanted:
            return value
        b = self._b
        one = b.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(SHORT, 0))
        zeros = ir.Constant(PLACES, [0] * LANES)
        return b.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)


def _long(value: int) -> Any:
    return ir.Constant(LONG, value)


def _splatted(kind: Any, value: Any) -> Any:
    return ir.Constant(kind, [value] * LANES)


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


def _least(b: Any, one: Any, other: Any) -> Any:
    """Return what ``numpy.minimum`` does: the first where it is NaN, the second of equals."""
    chosen = b.select(b.fcmp_ordered("<", one, other), one, other)
    return b.select(b.fcmp_unordered("uno", one, one), one, chosen)


def _most(b: Any, one: Any, other: Any) -> Any:
    """Return what ``numpy.maximum`` does."""
    chosen = b.select(b.fcmp_ordered(">", one, other), one, other)
    return b.select(b.fcmp_unordered("uno", one, one), one, chosen)


def _finite(b: Any, one: Any) -> Any:
    return b.fcmp_ordered("==", b.fsub(one, one), _splatted(NUMBERS, 0.0))


def _infinite(b: Any, one: Any) -> Any:
    return b.and_(b.not_(_finite(b, one)), b.fcmp_ordered("ord", one, one))


LOGICAL: Mapping[Any, Callable[..., Any]] = {
    np.logical_and: lambda b, one, other: b.and_(one, other),
    np.logical_or: lambda b, one, other: b.or_(one, other),
    np.logical_xor: lambda b, one, other: b.xor(one, other),
    np.logical_not: lambda b, one: b.not_(one),
}

BITWISE: Mapping[Any, Any] = {
    np.bitwise_and: np.logical_and,
    np.bitwise_or: np.logical_or,
    np.bitwise_xor: np.logical_xor,
    np.invert: np.logical_not,
    np.multiply: np.logical_and,
    np.add: np.logical_or,
}

COMPARED: Mapping[Any, Callable[..., Any]] = {
    np.less: lambda b, one, other: b.fcmp_ordered("<", one, other),
    np.less_equal: lambda b, one, other: b.fcmp_ordered("<=", one, other),
    np.greater: lambda b, one, other: b.fcmp_ordered(">", one, other),
    np.greater_equal: lambda b, one, other: b.fcmp_ordered(">=", one, other),
    np.equal: lambda b, one, other: b.fcmp_ordered("==", one, other),
    np.not_equal: lambda b, one, other: b.fcmp_unordered("!=", one, other),
    np.isnan: lambda b, one: b.fcmp_unordered("uno", one, one),
    np.isfinite: _finite,
    np.isinf: _infinite,
}

ARITHMETIC: Mapping[Any, Callable[..., Any]] = {
    np.add: lambda b, one, other: b.fadd(one, other),
    np.subtract: lambda b, one, other: b.fsub(one, other),
    np.multiply: lambda b, one, other: b.fmul(one, other),
    np.true_divide: lambda b, one, other: b.fdiv(one, other),
    np.negative: lambda b, one: b.fneg(one),
    np.positive: lambda b, one: one,
    np.square: lambda b, one: b.fmul(one, one),
    np.minimum: _least,
    np.maximum: _most,
    np.clip: lambda b, one, low, high: _least(b, _most(b, one, low), high),
    floats: lambda b, one: one,
}

INTRINSIC: Mapping[Any, str] = {
    np.absolute: "llvm.fabs",
    np.sqrt: "llvm.sqrt",
    np.floor: "llvm.floor",
    np.ceil: "llvm.ceil",
    np.trunc: "llvm.trunc",
    np.rint: "llvm.rint",
}


def depends_on(layout: Layout) -> tuple[int, ...]:
    """Return the axes that anything depends on."""
    axes = 0
    for table in layout.tables.values():
        axes |= table.axes
    return members(axes)
