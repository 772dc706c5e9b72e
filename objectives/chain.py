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


def carried(
    capacity: Stages,
    tasks_in_flight: Stages,
    chained: Column | float,
    streams: Column | float,
) -> Stages:
    """Return the payload rate that each stage carries at its top clock.

    In a chained mode (CBC, for instance) a stream has one task in flight, so `streams` of them
    fill only as many of a stage's slots for independent tasks: the stage carries
    streams * payload / latency, which is capacity * streams / slots.
    """
    return tuple(
        np.where(
            np.asarray(chained) > 0, rate * np.minimum(streams / np.maximum(slots, 1.0), 1.0), rate
        )
        for rate, slots in zip(capacity, tasks_in_flight, strict=True)
    )
