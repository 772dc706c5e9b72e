"""Boolean expressions of liberty, as truth tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dse.errors import ExpressionError, nearest, shortened

_TOKEN = re.compile(r"\s*(?:([A-Za-z_][\w\[\].]*|[01])|([!'&*|+^()])|(\S))")
_NAME = re.compile(r"[A-Za-z_][\w\[\].]*")
MOST_PINS = 16
"""So many pins at most: the table has 2**n entries."""
MOST_DEEP = 100
"""Brackets and ``!`` within each other."""

_JOINING = ((("+", "|"), np.logical_or), (("*", "&"), np.logical_and), (("^",), np.logical_xor))
"""Signs between two values, those that bind tightest last."""


class FunctionError(ExpressionError):
    """A Boolean expression of liberty that cannot be read."""


def truth_table(function: str, pins: Sequence[str]) -> NDArray[np.bool_]:
    """Return the values of a function of liberty, shape (2**n,).

    Entry k is the value where pin i has bit i of k.  Signs, binding tightest first: ``!`` before
    and ``'`` after; ``^``; ``*``, ``&`` or a blank; ``+`` or ``|`` (Liberty
    User Guide, "function").

    Raises
    ------
    FunctionError
        The expression has an unknown name or sign, or more than `MOST_PINS` pins are given.

    Examples
    --------
    >>> truth_table("!(A B)", ["A", "B"]).astype(int).tolist()
    [1, 1, 1, 0]
    """
    if len(pins) > MOST_PINS:
        rule = f"a function of {len(pins)} pins has more than 2**{MOST_PINS} entries"
        raise FunctionError(f"{function!r}: {rule}", "use cells with fewer pins")
    return _Reader(function, pins).read()


def names_in(function: str) -> list[str]:
    """Return the names in a function, sorted, each once.

    Examples
    --------
    >>> names_in("!(B A1) + B'")
    ['A1', 'B']
    """
    return sorted(set(_NAME.findall(function)))


class _Reader:
    """A recursive descent over the tokens of one expression."""

    def __init__(self, function: str, pins: Sequence[str]) -> None:
        self.function = function
        entries = np.arange(2 ** len(pins))
        self.columns = {pin: (entries >> i) & 1 == 1 for i, pin in enumerate(pins)}
        self.columns |= {"0": np.zeros(len(entries), bool), "1": np.ones(len(entries), bool)}
        self.tokens = [found.group().strip() for found in _TOKEN.finditer(function)]
        self.next = 0
        self.deep = 0

    def read(self) -> NDArray[np.bool_]:
        value = self._joined()
        if self.next < len(self.tokens):
            raise self._fault(f"{self.tokens[self.next]!r} does not belong here")
        return value

    def _fault(
        self, rule: str, remedy: str = "write names with ! ' ^ * & + | ( )"
    ) -> FunctionError:
        return FunctionError(f"{self.function!r}: {rule}", remedy)

    def _peek(self) -> str:
        return self.tokens[self.next] if self.next < len(self.tokens) else ""

    def _joined(self, level: int = 0) -> NDArray[np.bool_]:
        """Return what signs of a level join; what stands side by side is a product."""
        if level == len(_JOINING):
            return self._single()
        signs, join = _JOINING[level]
        value = self._joined(level + 1)
        while self._peek() in signs or ("*" in signs and self._peek() not in ("", "+", "|", ")")):
            self.next += self._peek() in signs
            value = join(value, self._joined(level + 1))
        return value

    def _single(self) -> NDArray[np.bool_]:
        self.deep += 1
        if self.deep > MOST_DEEP:
            rule = f"brackets and ! are more than {MOST_DEEP} deep"
            raise FunctionError(f"{shortened(self.function)!r}: {rule}", "simplify it")
        value = self._within(self._peek())
        self.deep -= 1
        return value

    def _within(self, sign: str) -> NDArray[np.bool_]:
        self.next += 1
        if sign == "!":
            return ~self._single()
        if sign == "(":
            value = self._joined()
            if self._peek() != ")":
                raise self._fault("a bracket is not closed")
            self.next += 1
        elif sign in self.columns:
            value = self.columns[sign]
        elif not sign:
            raise self._fault("it ends too early")
        else:
            known = [name for name in self.columns if name not in "01"]
            raise self._fault(f"{sign!r} is no pin", nearest(sign, known))
        while self._peek() == "'":
            self.next += 1
            value = ~value
        return value
