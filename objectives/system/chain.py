"""Reducing one column per stage to one column of the whole chain."""

from __future__ import annotations

import numpy as np

from dse.contract import Column

Stages = tuple[Column, ...]
"""One column per stage, in the order of the chain."""


def total(columns: Stages) -> Column:
    """Return the sum over the stages, always added in the same order."""
    result = columns[0]
    for column in columns[1:]:
        result = result + column
    return result


def least(columns: Stages) -> Column:
    """Return the smallest value of any stage."""
    result = columns[0]
    for column in columns[1:]:
        result = np.minimum(result, column)
    return result


def largest(columns: Stages) -> Column:
    """Return the largest value of any stage."""
    result = columns[0]
    for column in columns[1:]:
        result = np.maximum(result, column)
    return result
