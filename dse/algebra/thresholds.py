"""Bounds in a constraint: the limited quantities, and the constraint with another value."""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dse.algebra import units
from dse.algebra.expression import Expression, as_read
from dse.algebra.expression_grammar import LabelCode
from dse.errors import UnitError

_DIGITS = 5
"""Significant digits of a shown value: rounding moves it by less than 0.01 %."""

_NEAR = 1e-6
"""Relative distance within which a shorter number is tried in place of a value."""

_UP = (ast.Lt, ast.LtE)
_DOWN = (ast.Gt, ast.GtE)
_STRICT = (ast.Lt, ast.Gt)


@dataclass(frozen=True)
class ConstraintThreshold:
    """One number in a comparison of a constraint.

    Attributes
    ----------
    quantity
        The quantity compared with it.
    rest
        The constraint with this comparison taken as met.
    name
        Name that carries the unit of the number, or empty if it has no unit.
    value
        The number in SI.
    up, down
        True if a larger, or a smaller, number is looser.  Both are True for an equality.
    strict
        True if the quantity must be beyond the number, not at it.
    source, span
        The constraint's text as it is read, and the positions of the number in it.
    quoted
        True if the constraint itself holds quotes.  Otherwise reading it put them there.
    """

    quantity: Expression
    rest: Expression
    name: str
    value: float
    up: bool
    down: bool
    strict: bool
    source: str
    span: tuple[int, int]
    quoted: bool

    def text(self, number: str) -> str:
        """Return the constraint with `number` written in place of the bound."""
        start, end = self.span
        text = f"{self.source[:start]}{number}{self.source[end:]}"
        return text if self.quoted else text.replace("'", "")


def thresholds_of(expression: Expression) -> tuple[ConstraintThreshold, ...]:
    """Return the bounds of a constraint: comparisons with a number on one side."""
    source = as_read(expression.text)
    tree = copy.deepcopy(expression.tree)
    return tuple(_bounds(expression, tree, source))


def _bounds(expression: Expression, tree: ast.expr, source: str) -> Iterator[ConstraintThreshold]:
    for node in [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]:
        sides = [node.left, *node.comparators]
        for position, operator in enumerate(node.ops):
            left, right = sides[position : position + 2]
            if _is_bound(left, operator, right):
                number, other = (left, right) if _is_number(left) else (right, left)
                up, down = _open_ends(operator, flipped=number is left)
                yield ConstraintThreshold(
                    quantity=replace(
                        expression, is_constraint=False, tree=other, names=_names(other)
                    ),
                    rest=replace(expression, tree=_met(tree, node, position)),
                    name=other.id if isinstance(other, ast.Name) else _unit_of(source, number),
                    value=float(Expression("", frozenset(), False, number).value({})),
                    up=up,
                    down=down,
                    strict=isinstance(operator, _STRICT),
                    source=source,
                    span=(number.col_offset, number.end_col_offset or number.col_offset),
                    quoted="'" in expression.text or '"' in expression.text,
                )


def _is_bound(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool:
    """Return whether a comparison has a number on one side, and is none of texts."""
    if _is_number(left) == _is_number(right) or isinstance(operator, ast.NotEq):
        return False
    return not (_is_text(left) or _is_text(right))


def _open_ends(operator: ast.cmpop, *, flipped: bool) -> tuple[bool, bool]:
    """Return whether a larger number is looser, and whether a smaller one is."""
    if isinstance(operator, ast.Eq):
        return True, True
    up, down = isinstance(operator, _UP), isinstance(operator, _DOWN)
    return (down, up) if flipped else (up, down)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, LabelCode)


def _is_number(node: ast.expr) -> bool:
    return not _names(node)


def _names(node: ast.expr) -> frozenset[str]:
    """Return the quantities of a node.  A function's name is not one."""
    functions = {id(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return frozenset(part.id for part in names if id(part) not in functions)


def _unit_of(source: str, number: ast.expr) -> str:
    """Return a name that carries the unit in which a number is written, or empty without one."""
    written = (ast.get_source_segment(source, number) or "").strip("'\"")
    try:
        _, suffix = units.parse_any(written)
    except UnitError:
        return ""
    return f"threshold_{suffix}" if suffix else ""


def _met(tree: ast.expr, compare: ast.Compare, position: int) -> ast.expr:
    """Return the tree with one comparison of a chain replaced by one that always holds."""
    sides = [compare.left, *compare.comparators]
    kept: list[ast.expr] = [
        ast.Compare(sides[place], [operator], [sides[place + 1]])
        for place, operator in enumerate(compare.ops)
        if place != position
    ]
    always = ast.Compare(ast.Constant(-1.0), [ast.LtE()], [ast.Constant(1.0)])
    return _replaced(tree, compare, ast.BoolOp(ast.And(), [always, *kept]))


def _replaced(tree: ast.expr, old: ast.expr, new: ast.expr) -> ast.expr:
    if tree is old:
        return new
    if isinstance(tree, ast.BoolOp):
        return ast.BoolOp(tree.op, [_replaced(part, old, new) for part in tree.values])
    return tree


def candidates(
    value: float, name: str, *, up: bool, beyond: bool = False, whole: bool = False
) -> list[str]:
    """Return texts to try for a value, the nicest first.  The last is `written`.

    A value found by bisection may miss a number with few digits by a rounding error.
    """
    safe = written_bound(value, name, up=up, beyond=beyond, whole=whole)
    other = written_bound(value, name, up=not up, whole=whole)
    missed = abs(units.parse(other, name) - value)
    return [other, safe] if other != safe and missed <= _NEAR * abs(value) else [safe]


def written_bound(
    value: float, name: str, *, up: bool, beyond: bool = False, whole: bool = False
) -> str:
    """Return a value in SI with the unit of `name` in few digits, never on the wrong side of it.

    It is rounded `up` or down.  With `beyond`, it must differ from the value.  With `whole`, it is
    a whole number.
    """
    if whole:
        return _join(f"{math.ceil(value) if up else math.floor(value)}", units.label(name))
    factor, unit = units.scale([value], name)
    size = abs(value / factor)
    exponent = math.floor(math.log10(size)) if size else 0
    decimals = max(0, _DIGITS - 1 - exponent)
    step = 10.0**-decimals if up else -(10.0**-decimals)
    if size and not 1e-4 <= size < 1e9:  # no unit suits: a power of ten
        nudged = value / factor + (1 if up else -1) * size * 10.0**-_DIGITS
        return _join(f"{nudged:.{_DIGITS}e}", unit)
    number = round(value / factor, decimals)
    text = _join(f"{number:.{decimals}f}", unit)
    while not _reaches(units.parse(text, name), value, up=up, beyond=beyond):
        number += step
        text = _join(f"{number:.{decimals}f}", unit)
    return text


def _reaches(value: float, wanted: float, *, up: bool, beyond: bool) -> bool:
    if value == wanted:
        return not beyond
    return value > wanted if up else value < wanted


def _join(number: str, unit: str) -> str:
    shown = number.rstrip("0").rstrip(".") if "." in number and "e" not in number else number
    return f"{'0' if shown == '-0' else shown} {unit}".rstrip()
