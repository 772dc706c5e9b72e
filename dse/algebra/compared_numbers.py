"""Numbers that constraints compare quantities with."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import replace

from dse.algebra.expression import Expression
from dse.algebra.expression_grammar import LabelCode


def compared(tree: ast.expr) -> Iterator[tuple[ast.Constant, float, str]]:
    """Yield each number that is one side of a comparison, with the quantity on the other side."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            named = next((side.id for side in sides if isinstance(side, ast.Name)), "")
            for side in sides:
                if not isinstance(side, ast.Constant) or isinstance(side.value, LabelCode):
                    continue
                if isinstance(side.value, int | float):
                    yield side, float(side.value), named


def with_number(constraint: Expression, order: int, number: float) -> Expression:
    """Return a constraint with another number at place `order` among its compared numbers."""
    tree = copy.deepcopy(constraint.tree)
    list(compared(tree))[order][0].value = number
    return replace(constraint, tree=tree)


def with_named_bounds(constraint: Expression, stem: str) -> tuple[Expression, dict[str, float]]:
    """Return a constraint that takes its numbers from columns, and the present numbers.

    The columns are called `stem` and the place of the number.
    """
    tree = copy.deepcopy(constraint.tree)
    found = {number: f"{stem}{order}" for order, (number, _, _) in enumerate(compared(tree))}
    values = {found[number]: value for number, value, _ in compared(tree)}

    class Naming(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.expr:
            return ast.Name(found[node]) if node in found else node

    names = constraint.names | values.keys()
    return replace(constraint, names=names, tree=Naming().visit(tree)), values
