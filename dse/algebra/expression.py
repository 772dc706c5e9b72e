"""Constraint and arithmetic expressions of a study: a closed grammar, evaluated in columns.

Allowed are numbers, names of quantities, quantities with a unit, ``+ - * /``, ``**`` with a
small literal exponent, comparisons (also chained), ``and``, ``or`` and the functions in
`FUNCTIONS`.  A name is a quantity with its unit suffix (``power_w``), or without it if
only one quantity fits (``power``).  A side of a comparison may be a value with its unit
(``power <= 30 mW``).  Inside arithmetic such a value is quoted (``power + '5 mW'``).  A bare
number is SI.  Texts are compared with ``==`` and ``!=`` (``tool == 'a'``).  Everything else is an
error, so that an expression from any source is safe to read.
"""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any

import numpy as np

from dse.algebra.expression_grammar import (
    DEPTH_LIMIT,
    FUNCTIONS,
    OPERATIONS,
    ExpressionReader,
    Labels,
    short,
)
from dse.contract.columns import Column
from dse.errors import ExpressionError, nearest

TOLERANCE = 1e-12
"""Relative tolerance: losses are rounded to it, and constraints are met within it."""

VIOLATED = float(np.finfo(np.float64).eps)
"""Violation of an inequality whose sides are equal but must not be."""


def met_when_equal(violation: Any, equal: Any, *, strict: bool = False) -> Any:
    """Return a violation that is 0 if both sides are equal, or `VIOLATED` if they must not be."""
    return np.where(equal, VIOLATED if strict else 0.0, violation)


def settled(violation: Any, *, strict: bool = False) -> Any:
    """Return a violation relative to its bound, within the tolerance."""
    return met_when_equal(violation, np.abs(violation) <= TOLERANCE, strict=strict)


LENGTH_LIMIT = 1000
"""Characters of an expression."""

_LEAST = float(np.finfo(np.float64).tiny)
"""Least denominator of a relative violation."""

_STRICT = (ast.Lt, ast.Gt, ast.NotEq)

_SPLIT = re.compile(r"""('[^']*'|"[^"]*"|<=|>=|==|!=|<|>|\band\b|\bor\b|[(),])""")
_QUANTITY = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*(?:[^\W\d_]|%)[^\s'\"]*")
_STRANGER = re.compile(r"[^\w\s.+*/<>=!(),-]", re.ASCII)


@dataclass(frozen=True)
class Expression:
    """A checked expression.

    Attributes
    ----------
    text
        The written text.
    names
        The quantities it needs, with their unit suffix.
    is_constraint
        True for a comparison (use `violation`), False for arithmetic (use `value`).
    tree
        Checked syntax tree: names resolved, quantities turned into SI numbers.
    """

    text: str
    names: frozenset[str]
    is_constraint: bool
    tree: ast.expr

    def violation(self, columns: Mapping[str, Column]) -> Column:
        """Return the miss of each design, which is <= 0 exactly if the constraint holds.

        A comparison is measured relative to its bound, which is the side that is a nonzero
        number, otherwise its right side: 1.0 means off by the whole bound.  ``and`` is the
        largest violation, ``or`` the smallest.  NaN on either side of a comparison is +inf.
        Sides that differ by no more than `TOLERANCE` are equal.

        Raises
        ------
        ExpressionError
            The expression compares nothing.
        """
        if not self.is_constraint:
            raise ExpressionError(
                f"{self.text!r} compares nothing", "a constraint needs <=, <, >=, > or =="
            )
        return self._broadcast(_violation, columns)

    def enclosed_violation(self, columns: Mapping[str, Any]) -> Any:
        """Return `violation` of columns that may be enclosures, without broadcasting them."""
        with np.errstate(all="ignore"):
            return _violation(self.tree, columns)

    def value(self, columns: Mapping[str, Column]) -> Column:
        """Return the value of an arithmetic expression for each design, in SI.

        Raises
        ------
        ExpressionError
            The expression is a comparison.
        """
        if self.is_constraint:
            raise ExpressionError(
                f"{self.text!r} is a comparison", "a quantity needs arithmetic only"
            )
        return self._broadcast(_value, columns)

    def _broadcast(
        self, evaluate: Callable[[ast.expr, Mapping[str, Column]], Any], columns: Mapping[str, Any]
    ) -> Column:
        needed = {name: np.asarray(columns[name], dtype=np.float64) for name in self.names}
        shape = np.broadcast_shapes(*(column.shape for column in needed.values()))
        with np.errstate(all="ignore"):
            return np.array(np.broadcast_to(evaluate(self.tree, needed), shape), dtype=np.float64)


def parse_expression(
    text: str,
    names: Collection[str],
    labels: Labels = MappingProxyType({}),
    *,
    constant: bool = False,
) -> Expression:
    """Return an expression: ``25 um2 <= area <= 1 mm2 and power < 30 mW``.

    Parameters
    ----------
    text, names
        The expression, and the known quantities with their unit suffix.
    labels
        Quantities that are texts.  These are compared with ``==`` and ``!=`` only.
    constant
        If True, it may have no quantity: ``16 / 2``.

    Raises
    ------
    ExpressionError
        The text is not an allowed expression, names an unknown quantity, or mixes units.
    """
    source = as_read(text)
    reader = ExpressionReader(source, names, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of odd literals that the reader checks.
        try:
            body = ast.parse(source, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ExpressionError(
                f"{short(text)} is not an expression",
                "write for instance 'power <= 30 mW'; inside arithmetic quote values with a unit",
            ) from None
    is_constraint = isinstance(body, ast.Compare | ast.BoolOp)
    tree = reader.condition(body, 0) if is_constraint else reader.arithmetic(body, 0)[0]
    if not reader.used and not constant:
        raise ExpressionError(f"{short(text)} names no quantity", nearest("", names))
    return Expression(text, frozenset(reader.used), is_constraint, tree)


def as_read(text: str) -> str:
    """Return the text of an expression to which the positions in its tree refer."""
    return _quote_quantities(_clean(text))


def _clean(text: str) -> str:
    """Return the text without line breaks, before the parser reads it.

    Raises
    ------
    ExpressionError
        The text is too long, too deep or not printable.
    """
    if len(text) > LENGTH_LIMIT:
        raise ExpressionError(
            f"an expression of {len(text)} characters is too long",
            f"use at most {LENGTH_LIMIT} characters, or several constraints",
        )
    source = " ".join(text.split())
    if not source.isprintable():
        raise ExpressionError(f"{short(text)} holds an unprintable character", "remove it")
    if source.count("(") > DEPTH_LIMIT:
        raise ExpressionError(
            f"{short(text)} has too many parentheses", f"use at most {DEPTH_LIMIT}"
        )
    return source


def _quote_quantities(source: str) -> str:
    """Put quotes around values with a unit that fill a whole side of a comparison."""
    parts = []
    for part in _SPLIT.split(source):
        bare = part.strip()
        if _QUANTITY.fullmatch(bare) and not is_float(bare):
            parts.append(f" {bare!r} ")
            continue
        stranger = None if part.startswith(("'", '"')) else _STRANGER.search(part)
        if stranger:
            name = unicodedata.name(stranger[0], "unnamed")
            raise ExpressionError(
                f"{stranger[0]!r} ({name}) is not allowed in {short(bare)}",
                "use ASCII letters, digits, ( ) , and the operators + - * / ** < <= > >= == !=",
            )
        parts.append(part)
    return "".join(parts).strip()


def is_float(text: str) -> bool:
    """Return whether a text reads as a floating-point number, including ``nan`` and ``inf``."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _value(node: ast.expr, columns: Mapping[str, Column]) -> Any:
    """Evaluate a checked arithmetic node."""
    match node:
        case ast.Constant(value=float(number)):
            return np.float64(number)
        case ast.Name(id=name):
            return columns[name]
        case ast.UnaryOp(op=operator, operand=operand):
            return OPERATIONS[type(operator)](_value(operand, columns))
        case ast.BinOp(left=left, op=operator, right=right):
            return OPERATIONS[type(operator)](_value(left, columns), _value(right, columns))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            values = [_value(argument, columns) for argument in arguments]
            return FUNCTIONS[name](*values) if len(values) == 1 else reduce(FUNCTIONS[name], values)
    raise TypeError(f"unchecked node {type(node).__name__}")


def _violation(node: ast.expr, columns: Mapping[str, Column]) -> Any:
    """Evaluate a checked comparison, or a combination of comparisons."""
    match node:
        case ast.BoolOp(op=operator, values=parts):
            combine = np.maximum if isinstance(operator, ast.And) else np.minimum
            return reduce(combine, [_violation(part, columns) for part in parts])
        case ast.Compare(left=left, ops=operators, comparators=others):
            sides = [_sized(side, columns) for side in (left, *others)]
            return reduce(np.maximum, map(_missed, operators, sides[:-1], sides[1:]))
    raise TypeError(f"unchecked node {type(node).__name__}")


def _sized(node: ast.expr, columns: Mapping[str, Column]) -> tuple[Any, Any]:
    """Return the value of a checked arithmetic node, and the size of its largest term."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operator, right=right):
            one, size = _sized(left, columns)
            other, other_size = _sized(right, columns)
            return OPERATIONS[type(operator)](one, other), np.maximum(size, other_size)
    value = _value(node, columns)
    return value, np.abs(value)


def _missed(operator: ast.cmpop, one: tuple[Any, Any], other: tuple[Any, Any]) -> Any:
    """Return the miss of one comparison, relative to its bound.

    Sides are equal within the tolerance of their largest term: a + b <= c holds if a + b exceeds
    c by a rounding error.
    """
    (left, left_size), (right, right_size) = one, other
    difference = left - right
    equal = np.abs(difference) <= TOLERANCE * np.maximum(left_size, right_size)
    if isinstance(operator, ast.Gt | ast.GtE):
        difference = -difference
    elif isinstance(operator, ast.Eq):
        difference = np.abs(difference)
    elif isinstance(operator, ast.NotEq):
        difference = -np.abs(difference)
    number_on_the_left = np.ndim(left) == 0 and np.ndim(right) > 0
    bound = np.abs(left if number_on_the_left else right)
    bounded = (bound > 0) & np.isfinite(bound)
    missed = difference / np.where(bounded, np.maximum(bound, _LEAST), 1.0)
    missed = met_when_equal(missed, equal, strict=isinstance(operator, _STRICT))
    return np.where(np.isnan(missed), np.inf, missed)
