"""Kernels on the devices of Table 5: granularities, speedups, their bounds, and implications.

Sections 1, 2 and 5.1 to 5.4, equation 13, Table 4, figures 7 to 9.  Granularities are in bytes.
Functions of `printed` read cells within their rounding.  ``discrete_gpu_per_offload`` is
the discrete GPU with its latency read per offload instead of per byte as in section 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from dse.contract import Column
from dse.contract.claim_table import ClaimFunctions
from dse.contract.papers import DOES_NOT_EXIST, PrintedNumbers, on_all
from dse.objectives.catalogue import read_catalogue
from dse.objectives.logca.paper.implications import implications
from dse.objectives.logca.paper.model import LogCA


def logca(device: str, benchmark: str) -> LogCA:
    """Return a row of Table 5 (exponents: Table 4), in cycles of the host and bytes.

    Raises
    ------
    ValueError
        The table has no such row.  Its keys are the keys of `rows`.
    """
    try:
        row = rows[device, benchmark]
    except KeyError:
        known = ", ".join(" ".join(key) for key in rows)
        raise ValueError(f"Table 5 has no row {device} {benchmark}; known: {known}") from None
    return LogCA(
        latency=float(row["latency_cycles"]),
        latency_per_byte=row["latency_kind"] == "per_byte",
        overhead=float(row["overhead_cycles"]),
        index=float(row["index_cycles_per_byte"]),
        acceleration=float(row["acceleration"]),
        exponent=float(row["beta"]),
    )


rows = MappingProxyType(
    {(row["device"], row["benchmark"]): row for row in read_catalogue("logca_table5.csv")}
)
"""The printed cells by device and benchmark, among them ``host_ghz``, the host's clock."""


functions = ClaimFunctions()

SAMPLES = 2.0 ** np.arange(4, 26)
"""16 B to 32 MB, the range of the measurements."""

_DEVICES = tuple(dict.fromkeys(device for device, _ in rows))
_PER_OFFLOAD = "_per_offload"
_EXACT = 1e-9
_CELLS = {
    "latency": "latency_cycles",
    "overhead": "overhead_cycles",
    "index": "index_cycles_per_byte",
    "acceleration": "acceleration",
    "exponent": "beta",
}
"""Columns of Table 5, and of Table 4, behind the fields of the model."""
_GRANULARITIES: Mapping[str, Callable[[LogCA], Column]] = {
    "break_even": LogCA.break_even,
    "half_acceleration": LogCA.half_acceleration,
}
"""g_1 and g_A/2."""


def _cell(printed: PrintedNumbers, device: str, benchmark: str, column: str) -> float:
    cells = [row[column] for row in rows.values()]
    return printed.read(f"{device} {benchmark} {column}", rows[device, benchmark][column], cells)


def device_with(
    printed: PrintedNumbers, device: str, benchmark: str, exponent: float | None = None
) -> LogCA:
    """Return a row of Table 5 as read within its rounding, with another exponent if given."""
    name = device.removesuffix(_PER_OFFLOAD)
    cells: dict[str, Any] = {
        field: _cell(printed, name, benchmark, column) for field, column in _CELLS.items()
    }
    found = replace(logca(name, benchmark), **cells)
    if name != device:
        found = replace(found, latency_per_byte=False)
    return found if exponent is None else replace(found, exponent=exponent)


@functions
def granularity(
    printed: PrintedNumbers, which: str, device: str, benchmark: str, exponent: float | None = None
) -> float | str:
    """Return one of `_GRANULARITIES`, or that it does not exist."""
    return _size(float(_GRANULARITIES[which](device_with(printed, device, benchmark, exponent))))


def _size(granularity: float) -> float | str:
    return DOES_NOT_EXIST if math.isnan(granularity) else granularity


@functions
def granularity_exists(
    printed: PrintedNumbers, which: str, device: str, benchmark: str, exponent: float | None = None
) -> bool:
    """Return whether a device has such a granularity."""
    return granularity(printed, which, device, benchmark, exponent) != DOES_NOT_EXIST


@functions
def half_acceleration_up_to(
    printed: PrintedNumbers, device: str, benchmark: str, largest: float
) -> float | str:
    """Return g_A/2 if it is no larger than some granularity, else that it does not exist."""
    return _size(float(device_with(printed, device, benchmark).half_acceleration(largest=largest)))


@functions
def granularities_exist(printed: PrintedNumbers, which: str, benchmark: str, *devices: str) -> str:
    """Return the devices, of some, with such a granularity."""
    return on_all({name: granularity_exists(printed, which, name, benchmark) for name in devices})


def _even(printed: PrintedNumbers, device: str) -> float:
    """Return g_1 of AES, infinity when it does not exist."""
    found = granularity(printed, "break_even", device, "aes")
    return math.inf if isinstance(found, str) else found


@functions
def aes_breaks_even_before(printed: PrintedNumbers, device: str, *earlier: str) -> bool:
    """Return whether some devices all break even earlier than another one."""
    return max(_even(printed, name) for name in earlier) < _even(printed, device)


@functions
def aes_breaks_even_like(printed: PrintedNumbers, device: str, other: str) -> bool:
    """Return whether two devices break even, neither at ten times the granularity of the other."""
    low, high = sorted((_even(printed, device), _even(printed, other)))
    return high < min(math.inf, 10 * low)


@functions
def aes_breaks_even_in_upper_half(printed: PrintedNumbers, device: str) -> bool:
    """Return whether a device breaks even in the upper half of the range, on its log scale."""
    smallest, largest = float(SAMPLES[0]), float(SAMPLES[-1])
    return math.sqrt(smallest * largest) < _even(printed, device) <= largest


@functions
def intensity(printed: PrintedNumbers, device: str, benchmark: str) -> float:
    """Return C / L of Table 5 as printed, both in cycles per byte."""
    columns = ("index_cycles_per_byte", "latency_cycles")
    index, latency = (_cell(printed, device, benchmark, column) for column in columns)
    return index / latency


@functions
def what_bounds(printed: PrintedNumbers, device: str, benchmark: str) -> str:
    """Return the bound of large offloads."""
    return str(device_with(printed, device, benchmark).bound())


@functions
def compute_bound_on(printed: PrintedNumbers, benchmark: str, *devices: str) -> str:
    """Return the devices, of some, with a compute-bound kernel."""
    return on_all({name: what_bounds(printed, name, benchmark)[0] == "c" for name in devices})


@functions
def latency_kind(device: str) -> str:
    """Return how ISCA 2017 has the latency of a device, in its words."""
    (kind,) = {row["latency_kind"] for (name, _), row in rows.items() if name == device}
    return "granularity independent" if kind == "fixed" else "granularity dependent"


@functions
def device_speedup(
    printed: PrintedNumbers, device: str, benchmark: str, granularity: float
) -> float:
    """Return the speedup of offloads of some bytes."""
    return float(device_with(printed, device, benchmark).speedup(granularity))


@functions
def reaches_share(
    printed: PrintedNumbers, device: str, benchmark: str, granularity: float, share: float
) -> bool:
    """Return whether offloads of some bytes reach a share of the acceleration."""
    wanted = share * _cell(printed, device, benchmark, "acceleration")
    return device_speedup(printed, device, benchmark, granularity) >= wanted


def _most(printed: PrintedNumbers, device: str, benchmark: str) -> float:
    """Return the most speedup from 16 B to 32 MB."""
    return float(np.max(device_with(printed, device, benchmark).speedup(SAMPLES)))


@functions
def gemm_speeds_up_more(printed: PrintedNumbers, device: str, *others: str) -> bool:
    """Return whether matrix multiplication reaches more speedup than other kernels."""
    most = max(_most(printed, device, other) for other in others)
    return _most(printed, device, "gemm") > most


@functions
def faster_but_later_than(printed: PrintedNumbers, device: str, other: str) -> bool:
    """Return whether AES speeds up more than on another device, and breaks even later."""
    faster = _most(printed, device, "aes") > _most(printed, other, "aes")
    return faster and _even(printed, device) > _even(printed, other)


@functions
def device_with_most_acceleration() -> str:
    """Return the device with the highest acceleration."""
    return max(rows, key=lambda key: float(rows[key]["acceleration"]))[0]


@functions
def least_aes_speedup_is_of(printed: PrintedNumbers, device: str) -> bool:
    """Return whether AES speeds up least on a device."""
    others = [name for name in _DEVICES if name != device.removesuffix(_PER_OFFLOAD)]
    return _most(printed, device, "aes") < min(_most(printed, name, "aes") for name in others)


@functions
def half_acceleration_is_later(
    printed: PrintedNumbers, benchmark: str, device: str, other: str, exponent: float | None = None
) -> bool:
    """Return whether g_A/2 exists on two devices, and is higher on the first."""
    first, second = (
        device_with(printed, name, benchmark, exponent).half_acceleration()
        for name in (device, other)
    )
    return bool(first > second)


@functions
def search_falls_again(printed: PrintedNumbers, device: str) -> bool:
    """Return whether binary search has less speedup at 32 MB than somewhere below."""
    last = device_speedup(printed, device, "binary_search", float(SAMPLES[-1]))
    return last < _most(printed, device, "binary_search")


@functions
def ideal_reaches_acceleration_at_half() -> str:
    """Compare g_A/2, if it exists, with g for speedup A and infinite acceleration."""
    found = {}
    for device, benchmark in rows:
        model = logca(device, benchmark)
        half = float(model.half_acceleration())
        ideal = replace(model, acceleration=np.inf)
        if not np.isnan(half):
            roots = ideal.granularities(float(rows[device, benchmark]["acceleration"]))
            found[f"{device} {benchmark}"] = bool(np.isclose(roots[0], half, rtol=_EXACT))
    return on_all(found)


@functions
def implication(number: float, latency: str) -> str:
    """Return on how many devices of Table 5 with such a latency an implication holds."""
    found = {
        f"{device} {benchmark}": implications(logca(device, benchmark))[int(number) - 1]
        for device, benchmark in rows
        if rows[device, benchmark]["latency_kind"] == latency
    }
    return on_all({name: holds for name, holds in found.items() if holds is not None})


@functions
def break_even_is_independent(least_acceleration: float, share: float) -> bool:
    """Return whether acceleration moves g_1 by a share at most, if it is no less than a limit.

    Against an infinite acceleration, on the devices of Table 5 with a fixed latency.
    """
    return all(
        bool(implications(logca(device, benchmark), tolerance=share)[0])
        for (device, benchmark), row in rows.items()
        if row["latency_kind"] == "fixed" and float(row["acceleration"]) >= least_acceleration
    )


@functions
def log_exponent() -> float:
    """Return the exponent nearest to a logarithm, by least squares over 16 B to 32 MB."""
    slope, _ = np.polyfit(np.log(SAMPLES), np.log(np.log2(SAMPLES)), 1)
    return float(slope)


@functions
def quotient(numerator: float, denominator: float) -> float:
    """Return a quotient."""
    return numerator / denominator
