"""The closed grammar of expressions: allowed syntax trees, with names and units resolved."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dse.algebra import units
from dse.errors import ExpressionError, UnitError, nearest

DEPTH_LIMIT = 60
"""Nesting of an expression.  A sum of n terms is n deep."""

EXPONENT_LIMIT = 8
"""Largest literal exponent."""

_LARGEST = float(np.finfo(np.float64).max)
"""Largest literal number."""

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "log2": np.log2,
    "max": np.maximum,
    "min": np.minimum,
    "sqrt": np.sqrt,
}
"""Functions by name.  ``min`` and ``max`` take two or more arguments, the others one."""

OPERATIONS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
}
"""Operators by their syntax node."""

_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_SAME_UNIT = ("abs", "ceil", "floor", "max", "min")

_ALLOWED = (
    "use names, numbers, quantities such as 30 mW, + - * / **, comparisons, and, or, "
    + ", ".join(sorted(FUNCTIONS))
)

_NUMBER = "a number without unit"
_UNKNOWN = "an unknown unit"


Labels = Mapping[str, Sequence[str]]
"""Quantities that are texts, and the texts by the numbers that encode them."""


class LabelCode(float):
    """The number that encodes a text in a comparison, without meaning between two codes."""


Sided = tuple[ast.expr, str]
"""One side of an operation and its unit suffix."""


class ExpressionReader:
    """Check of a syntax tree against the grammar, which resolves names and quantities."""

    def __init__(self, source: str, names: Collection[str], labels: Labels) -> None:
        """Read a tree parsed from `source`.  `used` collects the needed ones of `names`."""
        self.source = source
        self.labels = labels
        self.known = frozenset(names)
        self.used: set[str] = set()

    def condition(self, node: ast.expr, depth: int) -> ast.expr:
        """Return a checked comparison, or a combination of comparisons."""
        _limit(depth)
        if isinstance(node, ast.BoolOp):
            node.values = [self.condition(value, depth + 1) for value in node.values]
            return node
        if not isinstance(node, ast.Compare):
            raise ExpressionError(
                f"{self._shown(node)} is not a comparison", "'and' and 'or' join comparisons"
            )
        for operator in node.ops:
            if not isinstance(operator, _COMPARISONS):
                raise self._refused(node)
        texts = self._compared_texts(node)
        sides = texts or self._sides([node.left, *node.comparators], depth + 1)
        for left, right in pairwise(sides):
            self._common_unit(left, right, node)
        node.left, *node.comparators = (side for side, _ in sides)
        return node

    def _compared_texts(self, node: ast.Compare) -> list[Sided]:
        """Return the sides of a comparison with a text, or no sides if they are numbers."""
        sides = [node.left, *node.comparators]
        name = next((s for s in sides if isinstance(s, ast.Name) and s.id in self.labels), None)
        if name is None:
            return []
        other = sides[1 - sides.index(name)]
        operators = [type(operator) for operator in node.ops]
        if operators not in ([ast.Eq], [ast.NotEq]) or not isinstance(other, ast.Constant):
            rule = f"{name.id} is a text: {self._shown(node)} does not compare it with one"
            example = self.labels[name.id][0]
            raise ExpressionError(rule, f"write for instance {name.id} == {example!r}")
        known = {text: LabelCode(code) for code, text in enumerate(self.labels[name.id])}
        if str(other.value) not in known:
            rule = f"no design has the {name.id} {other.value!r}"
            raise ExpressionError(rule, nearest(str(other.value), known))
        other.value = known[str(other.value)]
        self.used.add(name.id)
        return [(side, "") for side in sides]

    def _sides(self, sides: list[ast.expr], depth: int) -> list[tuple[ast.expr, str]]:
        """Check the sides of a comparison.  A value next to a name is read in the name's unit."""
        read: list[tuple[ast.expr, str]] = []
        for position, side in enumerate(sides):
            beside = sides[max(0, position - 1) : position + 2]
            name = next(filter(None, map(_named, beside)), "")
            if name and isinstance(side, ast.Constant) and isinstance(side.value, str):
                resolved = self._resolve(name)
                side.value = _converted(units.parse, side.value, resolved)
                read.append((side, units.suffix(resolved)))
            else:
                read.append(self.arithmetic(side, depth))
        return read

    def arithmetic(self, node: ast.expr, depth: int) -> tuple[ast.expr, str]:
        """Return a checked arithmetic node and its unit suffix."""
        _limit(depth)
        if isinstance(node, ast.Constant):
            return self._literal(node)
        if name := _named(node):
            name = self._resolve(name)
            self.used.add(name)
            return ast.copy_location(ast.Name(name), node), units.suffix(name)
        if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATIONS:
            node.operand, unit = self.arithmetic(node.operand, depth + 1)
            return node, unit
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
            return self._binary(node, depth)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        raise self._refused(node)

    def _literal(self, node: ast.Constant) -> tuple[ast.expr, str]:
        if isinstance(node.value, str):
            node.value, unit = _converted(units.parse_any, node.value)
            return node, str(unit)
        if not isinstance(node.value, int | float) or isinstance(node.value, bool):
            raise self._refused(node)
        if not abs(node.value) <= _LARGEST:
            raise ExpressionError("a number is too large", "use numbers below 1e308")
        node.value = float(node.value)
        return node, _NUMBER

    def _binary(self, node: ast.BinOp, depth: int) -> tuple[ast.expr, str]:
        first = node.left, left = self.arithmetic(node.left, depth + 1)
        second = node.right, right = self.arithmetic(node.right, depth + 1)
        if isinstance(node.op, ast.Pow):
            exponent = _literal_exponent(node.right)
            if exponent is None or exponent > EXPONENT_LIMIT:
                raise ExpressionError(
                    f"the exponent of {self._shown(node)} is not a small number",
                    f"use a number from -{EXPONENT_LIMIT} to {EXPONENT_LIMIT}",
                )
            return node, _NUMBER if left == _NUMBER else _UNKNOWN
        if isinstance(node.op, ast.Add | ast.Sub):
            return node, self._common_unit(first, second, node)
        if right in (_NUMBER, ""):
            return node, right if left == _NUMBER else left
        return node, right if left in (_NUMBER, "") and isinstance(node.op, ast.Mult) else _UNKNOWN

    def _call(self, node: ast.Call, depth: int) -> tuple[ast.expr, str]:
        if not isinstance(node.func, ast.Name):
            raise self._refused(node)
        name = node.func.id
        if name not in FUNCTIONS:
            raise ExpressionError(f"there is no function {name!r}", nearest(name, FUNCTIONS))
        several = name in ("min", "max")
        if node.keywords or (len(node.args) < 2 if several else len(node.args) != 1):
            raise ExpressionError(
                f"{self._shown(node)} has the wrong arguments",
                f"{name} takes {'two or more values' if several else 'one value'}",
            )
        arguments = [self.arithmetic(argument, depth + 1) for argument in node.args]
        node.args = [argument for argument, _ in arguments]
        first = arguments[0]
        for other in arguments[1:]:
            first = first[0], self._common_unit(first, other, node)
        unit = first[1]
        return node, unit if name in _SAME_UNIT or unit == _NUMBER else _UNKNOWN

    def _resolve(self, name: str) -> str:
        """Return the quantity called `name`, with its unit suffix."""
        if name in self.known:
            return name
        stems = {known: units.stem(known) for known in self.known}
        matches = sorted(known for known, stem in stems.items() if stem == name)
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise ExpressionError(
                f"{name!r} may be any of {', '.join(matches)}", "write the name with its unit"
            )
        if name in self.labels:
            example = f"{name} == {self.labels[name][0]!r}"
            raise ExpressionError(f"{name} is a text, not a number", f"compare it: {example}")
        called = Counter(stems.values())
        names = {stem if called[stem] == 1 else known for known, stem in stems.items()}
        raise ExpressionError(
            f"there is no quantity {name!r}", nearest(name, names | set(self.labels))
        )

    def _common_unit(self, one: Sided, other: Sided, node: ast.expr) -> str:
        """Return the unit of two values that are added or compared.  0 has any unit."""
        (_, left), (_, right) = one, other
        if left == right:
            return left
        if _NUMBER in (left, right):
            bare, unit = (one[0], right) if left == _NUMBER else (other[0], left)
            zero = isinstance(bare, ast.Constant) and bare.value == 0
            if unit not in ("", _UNKNOWN) and not zero:
                raise ExpressionError(
                    f"{self._shown(node)} sets {self._shown(bare)}, which has no unit, with a "
                    f"value in {units.label(f'_{unit}')}",
                    f"write it with its unit, such as {units.example(f'_{unit}')!r}",
                )
            return unit
        if _UNKNOWN in (left, right):
            return _UNKNOWN
        shown = " and ".join(units.label(f"_{unit}") or "plain numbers" for unit in (left, right))
        raise ExpressionError(
            f"{self._shown(node)} mixes {shown}", "add and compare only quantities of one unit"
        )

    def _refused(self, node: ast.expr) -> ExpressionError:
        return ExpressionError(f"{self._shown(node)} is not allowed in an expression", _ALLOWED)

    def _shown(self, node: ast.expr) -> str:
        return short(ast.get_source_segment(self.source, node) or self.source)


def _named(node: ast.expr) -> str:
    """Return the name of a node: ``area``, ``des.area`` of one stage, or an empty text."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=stage), attr=name):
            return f"{stage}.{name}"
    return ""


def _limit(depth: int) -> None:
    if depth > DEPTH_LIMIT:
        raise ExpressionError(
            f"an expression is nested more than {DEPTH_LIMIT} deep", "use several constraints"
        )


def _converted(convert: Callable[..., Any], *arguments: str) -> Any:
    """Convert a quantity, and raise a wrong unit as an error of the expression."""
    try:
        return convert(*arguments)
    except UnitError as error:
        raise ExpressionError(error.rule, error.remedy) from None


def _literal_exponent(node: ast.expr) -> float | None:
    """Return the size of a checked number, perhaps signed, or None for any other node."""
    if isinstance(node, ast.UnaryOp):
        return _literal_exponent(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        return abs(node.value)
    return None


def short(text: str) -> str:
    """Return a text in quotes, with its end cut off if it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
