"""Columns of designs as a page gets them: words, units, axis and values."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.base_units import BINARY
from dse.reports.front_view import FrontView, axis_scale

POWERS = range(-30, 31)
"""Powers of ten that are tried to find from where on which prefix is used."""


def column_facts(view: FrontView, name: str) -> dict[str, Any]:
    """Return what a page has to know of a column to draw it and to write its values.

    ``axis`` is as pictures have it: `factor` is what values in SI are divided by, `low` and `high`
    are divided already.
    """
    scale = axis_scale(view, name, view.cloud)
    number = not scale.ticks
    varies = len(np.unique(_plain(view.front[name]))) > 1
    if number and name in view.cloud and len(view.cloud[name]):
        every = np.concatenate([view.cloud[name], view.front[name]])
        varies = varies or np.fmin.reduce(every) < np.fmax.reduce(every)
    facts: dict[str, Any] = {
        "words": view.words(name),
        "number": number,
        "varies": bool(varies),
        "sense": dict(view.objectives).get(name),
        **(unit_facts(name) if number else {}),
    }
    if number:
        label = " ".join(scale.label.split())
        beyond = bool(len(scale.cloud) and not scale.inside.all())
        drawn = {name: getattr(scale, name) for name in ("low", "high", "log", "factor")}
        facts["axis"] = {"label": label} | drawn | {"beyond": beyond}
    return facts


def unit_facts(name: str) -> dict[str, Any]:
    """Return how a number of a column is written: with which unit, by its size."""
    zero = units.scale([0.0], name)[1]
    return {"steps": unit_steps(name), "binary": binary_steps(name), "zero": zero}


def unit_steps(name: str) -> list[tuple[float, float, str]]:
    """Return from which size on a quantity is written in which unit: least, factor, label."""
    steps: list[tuple[float, float, str]] = []
    for power in POWERS:
        factor, label = units.scale([float(f"1e{power}")], name)
        if not steps or steps[-1][2] != label:
            steps.append((float(f"1e{power}") if steps else 0.0, factor, label))
    return steps


def binary_steps(name: str) -> list[tuple[float, str]]:
    """Return the binary units of a quantity: factor and label; most have none."""
    found = [units.scale([1024.0**power], name) for power in (1, 2, 3, 4)]
    return [(factor, label) for factor, label in found if label[:2] in BINARY]


def packed(values: NDArray[Any]) -> Any:
    """Return a column as plain data: numbers as they are, texts as codes of `labels`."""
    plain = _plain(values)
    if plain.dtype.kind in "fi":
        return plain.tolist()
    labels, codes = np.unique(plain, return_inverse=True)
    return {"labels": labels.tolist(), "codes": codes.tolist()}


def single(values: NDArray[np.float64]) -> str:
    """Return numbers in single precision, little-endian, in base 64."""
    return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode("ascii")


def _plain(values: Iterable[Any]) -> NDArray[Any]:
    """Return numbers as numbers, all else as texts."""
    found = np.asarray(values)
    return found.astype(float) if found.dtype.kind in "fiub" else found.astype(str)
