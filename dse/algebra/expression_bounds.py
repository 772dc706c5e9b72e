"""Expressions on intervals: the least violation that a set of designs may have."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from dse.algebra.expression import Expression
from dse.algebra.expression_reader import FUNCTIONS, OPERATIONS
from dse.contract import Column

Interval = tuple[Column, Column]

_RISING = ("ceil", "floor", "log2", "max", "min", "sqrt")


def least_violation(
    expression: Expression, low: Mapping[str, Any], high: Mapping[str, Any]
) -> Column:
    """Return a lower bound of what a constraint is missed by, positive only if it is missed.

    Parameters
    ----------
    low, high
        The ends of the interval of every quantity in the expression.
    """
    return _missed(expression.tree, {name: (low[name], high[name]) for name in expression.names})


def wanted(expression: Expression) -> list[tuple[str, bool, bool]]:
    """Return the names in a constraint, and whether lower and higher values help to meet it."""
    found: list[tuple[str, bool, bool]] = []
    for node in ast.walk(expression.tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for operator, left, right in zip(node.ops, sides[:-1], sides[1:], strict=True):
                less = isinstance(operator, ast.Lt | ast.LtE)
                more = isinstance(operator, ast.Gt | ast.GtE)
                either = not (less or more)
                found += _sides(left, low=less or either, high=more or either)
                found += _sides(right, low=more or either, high=less or either)
    return [entry for entry in found if entry[0] in expression.names]


def _sides(node: ast.expr, *, low: bool, high: bool) -> list[tuple[str, bool, bool]]:
    """Return what `wanted` does for one side of a comparison that should be low or high."""
    match node:
        case ast.Name(id=name):
            return [(name, low, high)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _sides(left, low=low, high=high) + _sides(right, low=low, high=high)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _sides(left, low=low, high=high) + _sides(right, low=high, high=low)
    inner = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    return [(name, True, True) for name in inner]


def _missed(node: ast.expr, given: Mapping[str, Interval]) -> Column:
    match node:
        case ast.BoolOp(op=operator, values=parts):
            combine = np.maximum if isinstance(operator, ast.And) else np.minimum
            return reduce(combine, [_missed(part, given) for part in parts])
        case ast.Compare(left=left, ops=operators, comparators=others):
            sides = [_interval(side, given) for side in (left, *others)]
            return reduce(np.maximum, map(_compared, operators, sides[:-1], sides[1:]))
    raise TypeError(f"unchecked node {type(node).__name__}")


def _compared(operator: ast.cmpop, left: Interval, right: Interval) -> Column:
    """Return by how much a comparison is missed at least, relative to its larger side."""
    over, under = left[0] - right[1], right[0] - left[1]
    if isinstance(operator, ast.Lt | ast.LtE):
        missed = over
    elif isinstance(operator, ast.Gt | ast.GtE):
        missed = under
    elif isinstance(operator, ast.Eq):
        missed = np.maximum(over, under)
    else:
        missed = np.full(1, -np.inf)
    ends = [np.abs(end) for end in (*left, *right)]
    scale = reduce(np.maximum, [np.where(np.isfinite(end), end, 0.0) for end in ends])
    relative = missed / np.where(scale > 0, scale, 1.0)
    return np.where(np.isnan(relative), -np.inf, relative)


def _interval(node: ast.expr, given: Mapping[str, Interval]) -> Interval:
    match node:
        case ast.Constant(value=float(number)):
            return np.full(1, number), np.full(1, number)
        case ast.Name(id=name):
            return given[name]
        case ast.UnaryOp(op=operator, operand=operand):
            low, high = _interval(operand, given)
            return (-high, -low) if isinstance(operator, ast.USub) else (low, high)
        case ast.BinOp(left=left, op=operator, right=right):
            return _sound(_binary(operator, _interval(left, given), _interval(right, given)))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            lows, highs = zip(*(_interval(part, given) for part in arguments), strict=True)
            if name in _RISING:
                return _sound((_called(name, lows), _called(name, highs)))
            inside = (lows[0] <= 0) & (highs[0] >= 0)
            sizes = np.abs(lows[0]), np.abs(highs[0])
            return _sound((np.where(inside, 0.0, np.minimum(*sizes)), np.maximum(*sizes)))
    raise TypeError(f"unchecked node {type(node).__name__}")


def _called(name: str, arguments: tuple[Column, ...]) -> Column:
    """Return a function of one value, or of several taken one after the other."""
    function = FUNCTIONS[name]
    return function(arguments[0]) if len(arguments) == 1 else reduce(function, arguments)


def _binary(operator: ast.operator, left: Interval, right: Interval) -> Interval:
    operation = OPERATIONS[type(operator)]
    if isinstance(operator, ast.Add):
        return left[0] + right[0], left[1] + right[1]
    if isinstance(operator, ast.Sub):
        return left[0] - right[1], left[1] - right[0]
    low, high = _corners([operation(one, other) for one in left for other in right])
    unsafe: Any = False
    if isinstance(operator, ast.Div):
        unsafe = (right[0] <= 0) & (right[1] >= 0)
    elif isinstance(operator, ast.Pow):
        unsafe = left[0] < 0
    return np.where(unsafe, -np.inf, low), np.where(unsafe, np.inf, high)


def _corners(values: list[Column]) -> Interval:
    """Return the least and largest value; an undefined corner makes both unknown."""
    return reduce(np.minimum, values), reduce(np.maximum, values)


def _sound(interval: Interval) -> Interval:
    """Return an interval whose undefined ends are infinite."""
    low, high = interval
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
