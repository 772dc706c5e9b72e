"""Kernels on the devices of Table 5: granularities, speedups, and what bounds them.

Sections 1 and 5.1 to 5.4, figures 7 to 9.  Granularities are in bytes.
"""

from __future__ import annotations

import math

import numpy as np

from dse.contract.claim_table import ClaimFunctions
from dse.contract.papers import DOES_NOT_EXIST
from dse.objectives.catalogue.table5 import logca, rows

functions = ClaimFunctions()

SAMPLES = 2.0 ** np.arange(4, 26)
"""16 B to 32 MB, the range in which the kernels were measured."""

_DEVICES = tuple(dict.fromkeys(device for device, _ in rows))


@functions
def device_break_even(device: str, benchmark: str) -> float | str:
    """Return g_1, or that it does not exist."""
    return _size(float(logca(device, benchmark).break_even()))


@functions
def device_half_acceleration(device: str, benchmark: str) -> float | str:
    """Return g_A/2, or that it does not exist."""
    return _size(float(logca(device, benchmark).half_acceleration()))


def _size(granularity: float) -> float | str:
    return DOES_NOT_EXIST if math.isnan(granularity) else granularity


@functions
def break_even_exists(device: str, benchmark: str) -> bool:
    """Return whether there is a g_1."""
    return device_break_even(device, benchmark) != DOES_NOT_EXIST


@functions
def half_acceleration_exists(device: str, benchmark: str) -> bool:
    """Return whether there is a g_A/2."""
    return device_half_acceleration(device, benchmark) != DOES_NOT_EXIST


def _even(device: str) -> float:
    """Return g_1 of AES, infinity when it does not exist."""
    found = device_break_even(device, "aes")
    return math.inf if isinstance(found, str) else found


@functions
def aes_breaks_even_before(device: str, *earlier: str) -> bool:
    """Return whether each of some devices breaks even earlier than one does."""
    return max(map(_even, earlier)) < _even(device)


@functions
def aes_breaks_even_like(device: str, other: str) -> bool:
    """Return whether one device breaks even, and another below ten times its granularity."""
    return _even(device) < math.inf and _even(other) < 10 * _even(device)


@functions
def aes_breaks_even_above_1_mb(device: str) -> bool:
    """Return whether a device breaks even, and only at very large granularities."""
    return 1e6 < _even(device) < math.inf


@functions
def intensity(device: str, benchmark: str) -> float:
    """Return C / L of Table 5 as printed, both in cycles per byte."""
    row = rows[device, benchmark]
    return float(row["index_cycles_per_byte"]) / float(row["latency_cycles"])


@functions
def what_bounds(device: str, benchmark: str) -> str:
    """Return what bounds large offloads."""
    return str(logca(device, benchmark).bound())


@functions
def device_speedup(device: str, benchmark: str, granularity: float) -> float:
    """Return the speedup of offloads of some bytes."""
    return float(logca(device, benchmark).speedup(granularity))


def _most(device: str, benchmark: str) -> float:
    """Return the most speedup from 16 B to 32 MB."""
    return float(np.max(logca(device, benchmark).speedup(SAMPLES)))


@functions
def gemm_speeds_up_more(device: str, other: str) -> bool:
    """Return whether matrix multiplication reaches more speedup than another kernel."""
    return _most(device, "gemm") > _most(device, other)


@functions
def faster_but_later_than(device: str, other: str) -> bool:
    """Return whether AES speeds up more than on another device, and breaks even later."""
    return _most(device, "aes") > _most(other, "aes") and _even(device) > _even(other)


@functions
def device_with_most_acceleration() -> str:
    """Return the device with the highest acceleration."""
    return max(rows, key=lambda key: float(rows[key]["acceleration"]))[0]


@functions
def device_with_least_aes_speedup() -> str:
    """Return the device whose most speedup of AES is least."""
    return min(_DEVICES, key=lambda device: _most(device, "aes"))


@functions
def half_acceleration_is_later(benchmark: str, device: str, other: str) -> bool:
    """Return whether g_A/2 exists on two devices, and is higher on the first."""
    first, second = (logca(name, benchmark).half_acceleration() for name in (device, other))
    return bool(first > second)


@functions
def search_falls_again(device: str) -> bool:
    """Return whether binary search has less speedup at 32 MB than somewhere below."""
    last = logca(device, "binary_search").speedup(SAMPLES[-1])
    return bool(last < _most(device, "binary_search"))
