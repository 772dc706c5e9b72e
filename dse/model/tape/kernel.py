"""A laid out tape as machine code: eight designs at once, every value in a register.

The code is written with llvmlite as LLVM's intermediate representation.  Each operation is that of
IEEE 754, none is contracted or reordered, so results are those of numpy bit by bit; where numpy
or the C library round otherwise (powers, exponentials, logarithms), there is no kernel.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from dse.model.tape.compiled import CALLED, UncompiledError
from dse.model.tape.layout import Call, Layout
from dse.model.tape.record import floats

LANES = 8
"""Designs at once: a register of AVX-512, two of AVX2."""

NAME = "kernel"

BIT, BYTE, SHORT, LONG = (ir.IntType(bits) for bits in (1, 8, 32, 64))
NUMBER = ir.DoubleType()
BITS, BYTES, PLACES, NUMBERS = (ir.VectorType(one, LANES) for one in (BIT, BYTE, SHORT, NUMBER))

POINTED = (SHORT, LONG, NUMBER, BYTE, BYTE, NUMBER, BYTE)
PARAMETERS = (LONG, LONG, *(one.as_pointer() for one in POINTED))
"""How many corners and pivots there are; corners (axes, padded), how many steps are taken from
them on each axis, pivots (p, m); whether designs are feasible (inside, padded), and candidates,
their losses (m, inside, padded), and whether a number of any may be none."""


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
        self._values = {node: _constant(value) for node, value in self._layout.known.items()}
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
        lanes = ir.Constant(ir.VectorType(LONG, LANES), list(range(LANES)))
        left = self._splat(b.sub(self._count, lane), lanes.type)
        self._real = b.icmp_signed("<", lanes, left)
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
                self._values[call.node] = self._operation(call)

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
        feasible = b.and_(self._bool(self._values[same[tape.feasible]]), self._real)
        wrong = b.and_(self._bool(self._values[same[tape.undefined]]), self._real)
        for loss in losses:
            wrong = b.or_(wrong, b.and_(feasible, b.not_(_finite(b, loss))))
        some = b.or_(b.load(self._suspect), b.zext(self._any(wrong), BYTE))
        b.store(some, self._suspect)
        candidate = self._undominated(feasible, losses)
        for rows, flags in ((self._feasible, feasible), (self._candidates, candidate)):
            place = b.bitcast(b.gep(rows, [row]), BYTES.as_pointer())
            b.store(b.zext(flags, BYTES), place, align=1)
        with b.if_then(self._any(candidate)):
            for goal, loss in enumerate(losses):
                at = b.add(b.mul(self._total, _long(goal)), row)
                place = b.bitcast(b.gep(self._losses, [at]), NUMBERS.as_pointer())
                b.store(loss, place, align=8)

    def _undominated(self, feasible: Any, losses: Sequence[Any]) -> Any:
        """Return which designs no pivot dominates (nowhere better, somewhere worse).

        Pivots are taken in order for as long as a design is left.
        """
        b, goals = self._b, len(losses)
        before = b.block
        head, after = (self._function.append_basic_block() for _ in range(2))
        some = b.icmp_signed(">", self._pivot_count, _long(0))
        b.cbranch(b.and_(some, self._any(feasible)), head, after)
        b.position_at_end(head)
        index, left = b.phi(LONG), b.phi(BITS)
        worse = better = _splatted(BITS, 0)
        for goal, loss in enumerate(losses):
            at = b.add(b.mul(index, _long(goals)), _long(goal))
            pivot = self._splat(self._load(self._pivots, at), NUMBERS)
            worse = b.or_(worse, b.fcmp_ordered(">", loss, pivot))
            better = b.or_(better, b.fcmp_ordered("<", loss, pivot))
        still = b.and_(left, b.or_(better, b.not_(worse)))
        more = b.add(index, _long(1))
        for phi, first, later in ((index, _long(0), more), (left, feasible, still)):
            phi.add_incoming(first, before)
            phi.add_incoming(later, head)
        again = b.and_(b.icmp_signed("<", more, self._pivot_count), self._any(still))
        b.cbranch(again, head, after)
        b.position_at_end(after)
        result = b.phi(BITS)
        result.add_incoming(feasible, before)
        result.add_incoming(still, head)
        return result

    def _operation(self, call: Call) -> Any:
        """Return what a function of numpy makes of values."""
        b, node = self._b, self._layout.tape.nodes[call.node]
        function, given = call.function, [self._values[one] for one in call.arguments]
        if node.opaque:
            raise UncompiledError(node.name)
        if function is operator.pow:
            function, given = self._power(call), given[:1]
        if function is np.where:
            condition, *branches = given
            if node.dtype == np.float64:
                branches = [self._number(one) for one in branches]
            elif node.dtype != np.bool_:
                raise UncompiledError(f"numbers of the type {node.dtype}")
            return b.select(self._bool(condition), *branches)
        if function in LOGICAL:
            return LOGICAL[function](b, *(self._bool(one) for one in given))
        if function in BITWISE and node.dtype == np.bool_ and all(o.type == BITS for o in given):
            return LOGICAL[BITWISE[function]](b, *given)
        numbers = [self._number(one) for one in given]
        if function in COMPARED:
            return COMPARED[function](b, *numbers)
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

    def _power(self, call: Call) -> Any:
        """Return the function that arrays take for a power with this exponent."""
        exponent = self._layout.tape.nodes[call.arguments[1]].value
        if type(exponent) in (int, float) and exponent in POWERS:
            return POWERS[exponent]
        raise UncompiledError("numpy.power")

    def _number(self, value: Any) -> Any:
        return self._b.uitofp(value, NUMBERS) if value.type == BITS else value

    def _bool(self, value: Any) -> Any:
        if value.type == BITS:
            return value
        return self._b.fcmp_unordered("!=", value, _numbers(0.0))

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


def _constant(value: Any) -> Any:
    number = np.ravel(value)[0]
    return _splatted(BITS, int(number)) if number.dtype == np.bool_ else _numbers(float(number))


def _numbers(value: float) -> Any:
    return _splatted(NUMBERS, value)


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
    return b.fcmp_ordered("==", b.fsub(one, one), _numbers(0.0))


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

POWERS: Mapping[float, Any] = {0.5: np.sqrt, 1: np.positive, 2: np.square}

INTRINSIC: Mapping[Any, str] = {
    np.absolute: "llvm.fabs",
    np.sqrt: "llvm.sqrt",
    np.floor: "llvm.floor",
    np.ceil: "llvm.ceil",
    np.trunc: "llvm.trunc",
    np.rint: "llvm.rint",
}


def compiled(text: str) -> tuple[Any, Any]:
    """Return a kernel's machine code, which has to be kept, and the function itself."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine, CALLED(engine.get_function_address(NAME))
