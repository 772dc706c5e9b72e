"""Areas of one node at another, by a published table.

Stillmaker and Baas, Scaling equations for the accurate prediction of CMOS device performance from
180 nm to 7 nm, Integration 58 (2017) 74-81: an area at a node is that at another over the entry of
the row of the new node and the column of the old one.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import numpy as np

from dse.contract.published import read_published
from dse.errors import UnitError

_NODE = re.compile(r"(\d+) nm")


@cache
def _entries() -> dict[tuple[int, int], float]:
    """Return the table by old node and new node, in nm."""
    table = read_published(files("dse.study") / "technology_area.csv")
    return {
        (int(name.removeprefix("from_")), int(row["to_nm"])): float(cell)
        for row in table.rows
        for name, cell in row.items()
        if name != "to_nm"
    }


def scaled_area(old: str, new: str) -> tuple[float, float]:
    """Return by what an area is multiplied, and the relative spread of that.

    The spread is the standard deviation of the ways through one node in between: entries have two
    digits.  How far designs scale otherwise than the cells behind the table is not published.

    Raises
    ------
    UnitError
        A node is none of the table.
    """
    known = sorted({node for node, _ in _entries()})
    found = []
    for name in (old, new):
        match = _NODE.fullmatch(name)
        if match is None or int(match[1]) not in known:
            listed = ", ".join(f"{node} nm" for node in known)
            raise UnitError(f"areas of {name or 'no node'} are not scaled", f"known are {listed}")
        found.append(int(match[1]))
    start, end = found
    if start == end:
        return 1.0, 0.0
    direct = _entries()[start, end]
    low, high = sorted(found)
    ways = [
        _entries()[start, node] * _entries()[node, end] / direct
        for node in known
        if low < node < high
    ]
    return 1.0 / direct, float(np.std([1.0, *ways]))
