"""What operations of numpy are in machine code, with the same result bit by bit, NaN and zeros too.

Types, constants and instructions of LLVM, for vectors of eight designs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from dse.model.tape.traced import Node, UncompiledError, floats

LANES = 8
"""Designs at once: a register of AVX-512, two of AVX2."""

BIT, BYTE, SHORT, LONG = (ir.IntType(bits) for bits in (1, 8, 32, 64))
NUMBER = ir.DoubleType()
BITS, BYTES, PLACES, NUMBERS = (ir.VectorType(one, LANES) for one in (BIT, BYTE, SHORT, NUMBER))


def loop(b: ir.IRBuilder, count: Any, step: int, body: Callable[[Any], None]) -> None:
    """Write a loop over 0, step, ... below a count."""
    before = b.block
    head, after = (b.function.append_basic_block() for _ in range(2))
    b.cbranch(b.icmp_signed(">", count, LONG(0)), head, after)
    b.position_at_end(head)
    index = b.phi(LONG)
    index.add_incoming(LONG(0), before)
    body(index)
    more = b.add(index, LONG(step))
    index.add_incoming(more, b.block)
    b.cbranch(b.icmp_signed("<", more, count), head, after)
    b.position_at_end(after)


def operation(b: ir.IRBuilder, function: Any, given: Sequence[Any], node: Node) -> Any:
    """Write down what a function of numpy makes of values.

    Raises
    ------
    UncompiledError
        When no instruction rounds as the function does.
    """
    if node.opaque:
        raise UncompiledError(node.name)
    if function is np.where:
        condition, *branches = given
        if node.dtype == np.float64:
            branches = [as_number(b, one) for one in branches]
        elif node.dtype != np.bool_:
            raise UncompiledError(f"numbers of the type {node.dtype}")
        return b.select(as_bool(b, condition), *branches)
    if function in LOGICAL:
        return LOGICAL[function](b, *(as_bool(b, one) for one in given))
    if function in BITWISE and node.dtype == np.bool_ and all(o.type == BITS for o in given):
        return LOGICAL[BITWISE[function]](b, *given)
    numbers = [as_number(b, one) for one in given]
    if function in COMPARED:
        return COMPARED[function](b, *numbers)
    if node.dtype != np.float64:
        raise UncompiledError(f"numbers of the type {node.dtype}")
    if function in ARITHMETIC:
        return ARITHMETIC[function](b, *numbers)
    if function in INTRINSIC:
        return b.call(_intrinsic(b.module, f"{INTRINSIC[function]}.v{LANES}f64"), numbers)
    raise UncompiledError(f"numpy.{getattr(function, '__name__', function)}")


def power(exponent: Node) -> Any:
    """Return the function that arrays take for a power with this exponent."""
    if type(exponent.value) in (int, float) and exponent.value in POWERS:
        return POWERS[exponent.value]
    raise UncompiledError("numpy.power")


def as_number(b: ir.IRBuilder, value: Any) -> Any:
    """Return a value as numbers."""
    return b.uitofp(value, NUMBERS) if value.type == BITS else value


def as_bool(b: ir.IRBuilder, value: Any) -> Any:
    """Return whether a value is not 0; NaN is not."""
    return value if value.type == BITS else b.fcmp_unordered("!=", value, _numbers(0.0))


def _intrinsic(module: ir.Module, name: str) -> Any:
    """Return an instruction that LLVM knows as a function."""
    if name not in module.globals:
        ir.Function(module, ir.FunctionType(NUMBERS, [NUMBERS]), name)
    return module.globals[name]


def known_value(value: Any) -> Any:
    """Return a known value in each lane."""
    number = np.ravel(value)[0]
    return splatted(BITS, int(number)) if number.dtype == np.bool_ else _numbers(float(number))


def _numbers(value: float) -> Any:
    return splatted(NUMBERS, value)


def splatted(kind: Any, value: Any) -> Any:
    """Return a constant in each lane."""
    return ir.Constant(kind, [value] * LANES)


def _least(b: Any, one: Any, other: Any) -> Any:
    """Return what ``numpy.minimum`` does: the first where it is NaN, the second of equals."""
    chosen = b.select(b.fcmp_ordered("<", one, other), one, other)
    return b.select(b.fcmp_unordered("uno", one, one), one, chosen)


def _most(b: Any, one: Any, other: Any) -> Any:
    """Return what ``numpy.maximum`` does."""
    chosen = b.select(b.fcmp_ordered(">", one, other), one, other)
    return b.select(b.fcmp_unordered("uno", one, one), one, chosen)


def are_finite(b: Any, one: Any) -> Any:
    """Return which numbers are finite."""
    return b.fcmp_ordered("==", b.fsub(one, one), _numbers(0.0))


def _infinite(b: Any, one: Any) -> Any:
    return b.and_(b.not_(are_finite(b, one)), b.fcmp_ordered("ord", one, one))


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
    np.isfinite: are_finite,
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
