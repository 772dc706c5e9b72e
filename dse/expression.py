"""Constraint and arithmetic expressions of a study: a closed grammar, evaluated in columns.

Allowed are numbers, names of quantities, quantities with a unit, ``+ - * /``, ``**`` with a
small literal exponent, comparisons (also chained), ``and``, ``or`` and the functions in
`FUNCTIONS`.  A name is a quantity with its unit suffix (``power_w``), or without it where
only one quantity fits (``power``).  A side of a comparison may be a value with its unit
(``power <= 30 mW``); inside arithmetic such a value is quoted (``power + '5 mW'``).  A bare
number is SI.  Everything else is refused, so that an expression from anywhere is safe to read.
"""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import units
from dse.contract import Column
from dse.errors import ExpressionError, UnitError, nearest

LENGTH_LIMIT = 1000
"""Characters of an expression."""

DEPTH_LIMIT = 60
"""Nesting of an expression; a sum of n terms is n deep."""

EXPONENT_LIMIT = 8
"""Largest literal exponent."""

LARGEST = float(np.finfo(np.float64).max)
"""Largest literal number."""

MISSED = float(np.finfo(np.float64).eps)
"""Violation of a strict comparison at equality: the bound is missed by a rounding."""

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "log2": np.log2,
    "max": np.maximum,
    "min": np.minimum,
    "sqrt": np.sqrt,
}
"""Functions by name; ``min`` and ``max`` take two or more arguments, the others one."""

_OPERATIONS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
}
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_STRICT = (ast.Lt, ast.Gt, ast.NotEq)
_SAME_UNIT = ("abs", "ceil", "floor", "max", "min")

_ALLOWED = (
    "use names, numbers, quantities such as 30 mW, + - * / **, comparisons, and, or, "
    + ", ".join(sorted(FUNCTIONS))
)

_SPLIT = re.compile(r"""('[^']*'|"[^"]*"|<=|>=|==|!=|<|>|\band\b|\bor\b|[(),])""")
_QUANTITY = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*(?:[^\W\d_]|%)[^\s'\"]*")
_STRANGER = re.compile(r"[^\w\s.+*/<>=!(),-]", re.ASCII)
_NUMBER = "a number without unit"
_UNKNOWN = "an unknown unit"


@dataclass(frozen=True)
class Expression:
    """A checked expression.

    Attributes
    ----------
    text
        As it was written.
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
        """Return by how much each design misses the constraint: <= 0 exactly where it holds.

        A comparison is measured relative to its bound, which is the side that is a nonzero
        number, otherwise its right side: 1.0 means off by the whole bound.  ``and`` is the
        largest violation, ``or`` the smallest; NaN on either side of a comparison is +inf.

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


def parse(text: str, names: Collection[str]) -> Expression:
    """Read an expression over the quantities `names`.

    Parameters
    ----------
    text
        For instance ``25 um2 <= area <= 1 mm2 and power < 30 mW``.
    names
        Known quantities, with their unit suffix.

    Raises
    ------
    ExpressionError
        The text is not an allowed expression, names an unknown quantity, or mixes units.
    """
    source = _quote_quantities(_clean(text))
    reader = _Reader(source, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python comments on odd literals; we judge them.
        try:
            body = ast.parse(source, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ExpressionError(
                f"{_short(text)} is not an expression",
                "write for instance 'power <= 30 mW'; inside arithmetic quote values with a unit",
            ) from None
    is_constraint = isinstance(body, ast.Compare | ast.BoolOp)
    tree = reader.condition(body, 0) if is_constraint else reader.arithmetic(body, 0)[0]
    if not reader.used:
        raise ExpressionError(f"{_short(text)} names no quantity", nearest("", names))
    return Expression(text, frozenset(reader.used), is_constraint, tree)


def _clean(text: str) -> str:
    """Refuse what is too long, too deep or not printable, before the parser sees it."""
    if len(text) > LENGTH_LIMIT:
        raise ExpressionError(
            f"an expression of {len(text)} characters is too long",
            f"use at most {LENGTH_LIMIT} characters, or several constraints",
        )
    source = " ".join(text.split())
    if not source.isprintable():
        raise ExpressionError(f"{_short(text)} holds an unprintable character", "remove it")
    if source.count("(") > DEPTH_LIMIT:
        raise ExpressionError(
            f"{_short(text)} has too many parentheses", f"use at most {DEPTH_LIMIT}"
        )
    return source


def _quote_quantities(source: str) -> str:
    """Put quotes around values with a unit that fill a whole side of a comparison."""
    parts = []
    for part in _SPLIT.split(source):
        bare = part.strip()
        if _QUANTITY.fullmatch(bare) and not _is_number(bare):
            parts.append(f" {bare!r} ")
            continue
        stranger = None if part.startswith(("'", '"')) else _STRANGER.search(part)
        if stranger:
            name = unicodedata.name(stranger[0], "unnamed")
            raise ExpressionError(
                f"{stranger[0]!r} ({name}) cannot stand in {_short(bare)}",
                "use ASCII letters, digits, ( ) , and the operators + - * / ** < <= > >= == !=",
            )
        parts.append(part)
    return "".join(parts).strip()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


class _Reader:
    """Checks a syntax tree against the grammar, resolving names and quantities on the way."""

    def __init__(self, source: str, names: Collection[str]) -> None:
        self.source = source
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
        sides = self._sides([node.left, *node.comparators], depth + 1)
        for (_, left), (_, right) in pairwise(sides):
            self._common_unit(left, right, node)
        node.left, *node.comparators = (side for side, _ in sides)
        return node

    def _sides(self, sides: list[ast.expr], depth: int) -> list[tuple[ast.expr, str]]:
        """Check the sides of a comparison; a value beside a name is read in the name's unit."""
        read: list[tuple[ast.expr, str]] = []
        for position, side in enumerate(sides):
            beside = sides[max(0, position - 1) : position + 2]
            name = next((other for other in beside if isinstance(other, ast.Name)), None)
            if name and isinstance(side, ast.Constant) and isinstance(side.value, str):
                resolved = self._resolve(name.id)
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
        if isinstance(node, ast.Name):
            node.id = self._resolve(node.id)
            self.used.add(node.id)
            return node, units.suffix(node.id)
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATIONS:
            node.operand, unit = self.arithmetic(node.operand, depth + 1)
            return node, unit
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
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
        if not abs(node.value) <= LARGEST:
            raise ExpressionError("a number is too large", "use numbers below 1e308")
        node.value = float(node.value)
        return node, _NUMBER

    def _binary(self, node: ast.BinOp, depth: int) -> tuple[ast.expr, str]:
        node.left, left = self.arithmetic(node.left, depth + 1)
        node.right, right = self.arithmetic(node.right, depth + 1)
        if isinstance(node.op, ast.Pow):
            exponent = _literal_exponent(node.right)
            if exponent is None or exponent > EXPONENT_LIMIT:
                raise ExpressionError(
                    f"the exponent of {self._shown(node)} is not a small number",
                    f"use a number from -{EXPONENT_LIMIT} to {EXPONENT_LIMIT}",
                )
            return node, _NUMBER if left == _NUMBER else _UNKNOWN
        if isinstance(node.op, ast.Add | ast.Sub):
            return node, self._common_unit(left, right, node)
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
        unit = arguments[0][1]
        for _, other in arguments[1:]:
            unit = self._common_unit(unit, other, node)
        return node, unit if name in _SAME_UNIT or unit == _NUMBER else _UNKNOWN

    def _resolve(self, name: str) -> str:
        """Return the quantity that `name` means, with its unit suffix."""
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
        raise ExpressionError(f"there is no quantity {name!r}", nearest(name, self.known))

    def _common_unit(self, left: str, right: str, node: ast.expr) -> str:
        """Return the unit of two values that are added or compared."""
        if left == right or right == _NUMBER:
            return left
        if left == _NUMBER:
            return right
        if _UNKNOWN in (left, right):
            return _UNKNOWN
        shown = " and ".join(units.label(unit) or "plain numbers" for unit in (left, right))
        raise ExpressionError(
            f"{self._shown(node)} mixes {shown}", "add and compare only quantities of one unit"
        )

    def _refused(self, node: ast.expr) -> ExpressionError:
        return ExpressionError(f"{self._shown(node)} is not allowed in an expression", _ALLOWED)

    def _shown(self, node: ast.expr) -> str:
        return _short(ast.get_source_segment(self.source, node) or self.source)


def _limit(depth: int) -> None:
    if depth > DEPTH_LIMIT:
        raise ExpressionError(
            f"an expression is nested more than {DEPTH_LIMIT} deep", "use several constraints"
        )


def _converted(convert: Callable[..., Any], *arguments: str) -> Any:
    """Convert a quantity, telling a wrong unit as an error of the expression."""
    try:
        return convert(*arguments)
    except UnitError as error:
        raise ExpressionError(error.rule, error.remedy) from None


def _literal_exponent(node: ast.expr) -> float | None:
    """Return the size of a checked number, perhaps signed; None for anything else."""
    if isinstance(node, ast.UnaryOp):
        return _literal_exponent(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        return abs(node.value)
    return None


def _value(node: ast.expr, columns: Mapping[str, Column]) -> Any:
    """Evaluate a checked arithmetic node."""
    match node:
        case ast.Constant(value=float(number)):
            return np.float64(number)
        case ast.Name(id=name):
            return columns[name]
        case ast.UnaryOp(op=operator, operand=operand):
            return _OPERATIONS[type(operator)](_value(operand, columns))
        case ast.BinOp(left=left, op=operator, right=right):
            return _OPERATIONS[type(operator)](_value(left, columns), _value(right, columns))
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
            sides = [_value(side, columns) for side in (left, *others)]
            return reduce(np.maximum, map(_missed, operators, sides[:-1], sides[1:]))
    raise TypeError(f"unchecked node {type(node).__name__}")


def _missed(operator: ast.cmpop, left: Any, right: Any) -> NDArray[np.float64]:
    """Return by how much one comparison is missed, relative to its bound."""
    difference = left - right
    if isinstance(operator, ast.Gt | ast.GtE):
        difference = -difference
    elif isinstance(operator, ast.Eq):
        difference = np.abs(difference)
    elif isinstance(operator, ast.NotEq):
        difference = -np.abs(difference)
    number_on_the_left = np.ndim(left) == 0 and np.ndim(right) > 0 and left != 0
    bound = np.abs(left if number_on_the_left else right)
    missed = difference / np.where((bound > 0) & np.isfinite(bound), bound, 1.0)
    if isinstance(operator, _STRICT):
        missed = np.where(missed == 0, MISSED, missed)
    return np.where(np.isnan(missed), np.inf, missed)
