"""What a mutant is, and all mutants of a source file: one changed place each.

Text is left alone: docstrings, other strings, and what a `raise` says. So are annotations, which
never run.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

OTHER: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.LShift: (ast.RShift,),
    ast.Break: (ast.Continue,),
    ast.Continue: (ast.Break,),
}
"""Operators and statements, and what stands in their place."""

PAIRS = (
    ("minimum", "maximum"),
    ("min", "max"),
    ("argmin", "argmax"),
    ("any", "all"),
    ("floor", "ceil"),
    ("isnan", "isfinite"),
    ("less", "less_equal"),
    ("greater", "greater_equal"),
    ("low", "high"),
)
RENAMED = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
"""In numerical code, functions and attributes are operators too."""

EITHER = {"minimum", "maximum", "min", "max"}
"""Functions whose result may also be just one of two arguments."""

GUARDS = {("zip", "strict"), ("dataclass", "frozen")}
"""Arguments, by function, that only guard against slips of ours."""


@dataclass(frozen=True)
class Mutant:
    """One place of a module, and what stands there instead.

    Attributes
    ----------
    path
        The source file, relative to the repository.
    line
        Where it is.
    label
        File, function and change: stays the same while other lines come and go.
    apply
        Breaks the tree that the mutant was made from.
    """

    path: str
    line: int
    label: str
    apply: Callable[[], ast.Module]


def mutants(root: Path, path: str) -> list[Mutant]:
    """Return all mutants of a source file, in the order of their places."""
    tree = ast.parse((root / path).read_text(encoding="utf-8"))
    found, seen = [], Counter[str]()
    for owner, parent, field, position, node in _places(tree, ""):
        for other in _others(node):
            label = f"{path} {owner or 'module'}: {_change(parent, field, position, node, other)}"
            seen[label] += 1
            number = f" ({seen[label]})" if seen[label] > 1 else ""
            line = getattr(node, "lineno", getattr(parent, "lineno", 0))
            apply = _applied(tree, parent, field, position, other)
            found.append(Mutant(path, line, label + number, apply))
    return found


Place = tuple[str, ast.AST, str, int | None, ast.AST]


def _places(parent: ast.AST, owner: str) -> Iterator[Place]:
    """Yield every place that may be mutated: its function, parent node, field, position, node."""
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "exc") or field.startswith("type_"):
            continue
        for position, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or _is_left_alone(parent, node):
                continue
            named = isinstance(node, ast.FunctionDef | ast.ClassDef)
            inside = f"{owner}.{node.name}".lstrip(".") if named else owner
            yield inside, parent, field, position, node
            yield from _places(node, inside)


def _is_left_alone(parent: ast.AST, node: ast.AST) -> bool:
    """Tell text, and what other mutants of the same place do already."""
    match parent, node:
        case _, ast.JoinedStr():
            return True
        case ast.Call(func=ast.Name(id=function)), ast.keyword(arg=name):
            return (function, name) in GUARDS
    return False


def _others(node: ast.AST) -> list[ast.AST]:
    """Return what may stand in the place of a node."""
    if type(node) in OTHER:
        return [other() for other in OTHER[type(node)]]
    match node:
        case ast.Constant(value=bool(value)):
            return [ast.Constant(not value)]
        case ast.Constant(value=int() | float() as value):
            return [ast.Constant(_other_number(value))]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Attribute(value=ast.Name(id="np" | "math"), attr="inf"):
            return [ast.Constant(0.0)]
        case ast.Call():
            return _other_calls(node)
        case ast.If() | ast.IfExp() | ast.While() if not _is_negated_elsewhere(node.test):
            return [_with(node, test=ast.UnaryOp(ast.Not(), node.test))]
        case ast.comprehension(ifs=[test]):
            negated = [_with(node, ifs=[ast.UnaryOp(ast.Not(), test)])]
            return [*(() if _is_negated_elsewhere(test) else negated), _with(node, ifs=[])]
        case ast.Attribute(attr=name) if name in RENAMED:
            return [_with(node, attr=RENAMED[name])]
        case ast.Name(id=name) if name in RENAMED and isinstance(node.ctx, ast.Load):
            return [_with(node, id=RENAMED[name])]
        case ast.AugAssign() | ast.Expr(value=ast.Call()):
            return [ast.Pass()]
    return []


def _is_negated_elsewhere(test: ast.expr) -> bool:
    """Tell conditions whose operator has a mutant that negates them."""
    return isinstance(test, ast.Compare) or (
        isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    )


def _other_number(value: float) -> float:
    if value == 1 and isinstance(value, int):
        return 0
    return value + 1 if abs(value) >= 1 or not value else 2 * value


def _other_calls(call: ast.Call) -> list[ast.AST]:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if len(call.args) == 2 and name in EITHER:
        return [*call.args]
    if len(call.args) == 3 and name == "where":
        first, yes, no = call.args
        return [_with(call, args=[first, no, yes])]
    return []


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _applied(
    tree: ast.Module, parent: ast.AST, field: str, position: int | None, other: ast.AST
) -> Callable[[], ast.Module]:
    def apply() -> ast.Module:
        if position is None:
            setattr(parent, field, other)
        else:
            getattr(parent, field)[position] = other
        return ast.fix_missing_locations(tree)

    return apply


LONGEST = 72
"""Characters of a change that is shown with what surrounds it."""


def _change(
    parent: ast.AST, field: str, position: int | None, node: ast.AST, other: ast.AST
) -> str:
    """Return a change as text, with the expression around it if that is short."""
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return f"`{_text(node.test)}` → `not`"
    if isinstance(node, ast.comprehension):
        said = "not" if getattr(other, "ifs", None) else "True"
        return f"`if {_text(node.ifs[0])}` → `{said}`"
    if not isinstance(parent, ast.expr | ast.keyword | ast.Assign | ast.Return | ast.AugAssign):
        return f"`{_text(node)}` → `{_text(other)}`"
    value = getattr(parent, field)
    changed = other if position is None else [*value[:position], other, *value[position + 1 :]]
    before, after = _text(parent), _text(_with(parent, **{field: changed}))
    if max(len(before), len(after)) > LONGEST and isinstance(node, ast.expr | ast.stmt):
        return f"`{_text(node)}` → `{_text(other)}`"
    return f"`{before}` → `{after}`"


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
