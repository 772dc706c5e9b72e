"""Speedup of a whole program whose kernel is offloaded, by how its host waits.

Sriraman and Dhanotia, "Accelerometer: Understanding Acceleration Opportunities for Data Center
Overheads at Hyperscale", ASPLOS 2020: LogCA extended from one offload to the host time of a
whole program.  Times are in any one unit; every function is elementwise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dse.contract import WAIT_MODES, Column


def sync_speedup(
    *,
    kernel_share: ArrayLike,
    acceleration: ArrayLike,
    offloads: ArrayLike,
    window_s: ArrayLike,
    overhead_s: ArrayLike,
    latency_s: ArrayLike = 0.0,
    queueing_s: ArrayLike = 0.0,
) -> Column:
    """Return the speedup when the host waits for the whole of each offload.

    ``1 / ((1 - share) + share / acceleration + offloads / window (set-up + transfer + queue))``

    Parameters
    ----------
    kernel_share
        Share of the program's host time that is the kernel's, 0 to 1.
    acceleration
        Peak speedup of the kernel; infinity is allowed.
    offloads
        Number of offloads in the window.
    window_s
        Host time of the program without the accelerator.
    overhead_s, latency_s, queueing_s
        Of one offload: set-up, transfer, and waiting until the accelerator is free.

    Raises
    ------
    ValueError
        A share outside 0 to 1, an acceleration or window that is not above zero, a negative
        number of offloads or time.
    """
    factor = _number("acceleration", acceleration, above_zero=True)
    share, cost = _share_and_cost(
        kernel_share, offloads, window_s, overhead_s, latency_s, queueing_s
    )
    return _inverse(1 - share + share / factor + cost)


def sync_os_speedup(
    *,
    kernel_share: ArrayLike,
    offloads: ArrayLike,
    window_s: ArrayLike,
    overhead_s: ArrayLike,
    switch_s: ArrayLike,
    latency_s: ArrayLike = 0.0,
    queueing_s: ArrayLike = 0.0,
) -> Column:
    """Return the speedup when the host runs another thread during each offload.

    ``1 / ((1 - share) + offloads / window (set-up + transfer + queue + 2 switch))``: the
    accelerator's time is hidden, two thread switches of `switch_s` are not.  The other
    parameters and errors are those of `sync_speedup`.
    """
    switching = 2 * _number("switch_s", switch_s)
    share, cost = _share_and_cost(
        kernel_share, offloads, window_s, overhead_s, latency_s, queueing_s, switching
    )
    return _inverse(1 - share + cost)


def async_speedup(
    *,
    kernel_share: ArrayLike,
    offloads: ArrayLike,
    window_s: ArrayLike,
    overhead_s: ArrayLike,
    latency_s: ArrayLike = 0.0,
    queueing_s: ArrayLike = 0.0,
) -> Column:
    """Return the speedup when the same thread goes on at once after each offload.

    ``1 / ((1 - share) + offloads / window (set-up + transfer + queue))``: the accelerator's
    time is hidden.  Parameters and errors are those of `sync_speedup`.
    """
    share, cost = _share_and_cost(
        kernel_share, offloads, window_s, overhead_s, latency_s, queueing_s
    )
    return _inverse(1 - share + cost)


def program_speedup(
    *,
    wait: ArrayLike,
    kernel_share: ArrayLike,
    acceleration: ArrayLike,
    offloads: ArrayLike,
    window_s: ArrayLike,
    overhead_s: ArrayLike,
    latency_s: ArrayLike = 0.0,
    queueing_s: ArrayLike = 0.0,
    switch_s: ArrayLike = 0.0,
) -> Column:
    """Return the speedup for the mode of waiting that each design has.

    Parameters
    ----------
    wait
        Position in `dse.contract.WAIT_MODES`.
    kernel_share, acceleration, offloads, window_s, overhead_s, latency_s, queueing_s
        See `sync_speedup`.
    switch_s
        See `sync_os_speedup`.
    """
    codes = np.asarray(wait)
    if not np.isin(codes, range(len(WAIT_MODES))).all():
        names = ", ".join(f"{code} {name}" for code, name in enumerate(WAIT_MODES))
        raise ValueError(f"wait is {wait!r}; it must be one of {names}")
    factor = _number("acceleration", acceleration, above_zero=True)
    switching = np.where(codes == WAIT_MODES.index("sync_os"), 2.0, 0.0) * _number(
        "switch_s", switch_s
    )
    share, cost = _share_and_cost(
        kernel_share, offloads, window_s, overhead_s, latency_s, queueing_s, switching
    )
    waited = np.where(codes == WAIT_MODES.index("sync"), share / factor, 0.0)
    return _inverse(1 - share + waited + cost)


def _share_and_cost(
    kernel_share: ArrayLike,
    offloads: ArrayLike,
    window_s: ArrayLike,
    overhead_s: ArrayLike,
    latency_s: ArrayLike,
    queueing_s: ArrayLike,
    switching: Column | float = 0.0,
) -> tuple[Column, Column]:
    """Return the kernel's share, and the host time that offloads cost as a share."""
    share = _number("kernel_share", kernel_share)
    if (share > 1).any():
        raise ValueError(f"kernel_share is {share.max()}; it must be between 0 and 1")
    each = (
        _number("overhead_s", overhead_s)
        + _number("latency_s", latency_s)
        + _number("queueing_s", queueing_s)
        + switching
    )
    window = _number("window_s", window_s, above_zero=True)
    return share, _number("offloads", offloads) / window * each


def _inverse(remaining: Column) -> Column:
    """Return 1 / remaining; infinity when no host time remains."""
    with np.errstate(divide="ignore"):
        result: Column = np.divide(1.0, remaining)
    return result


def _number(name: str, value: ArrayLike, *, above_zero: bool = False) -> Column:
    """Return the value as float64, or raise a ValueError that shows where it is out of range."""
    values = np.asarray(value, dtype=np.float64)
    good = values > 0 if above_zero else values >= 0
    if not good.all():
        rule = "above zero" if above_zero else "zero or more"
        raise ValueError(f"{name} is {values[~good].flat[0]}; it must be {rule}")
    return values
