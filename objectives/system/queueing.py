"""Waiting for a station in closed form: the mean wait, and how fast long waits get rare.

A station has k servers, each busy for a time S with every arrival; lambda arrivals per second keep
it busy for the share rho = lambda S / k, its load.  c_a2 and c_s2 are the squared coefficients of
variation of the gaps between arrivals and of the service: 0 for a clockwork, 1 for a Poisson
process.  Gaps of a c_a2 above 1 are hyperexponential with balanced means, below 1 gamma
distributed.  Two moments do not fix a wait: other laws of the same c_a2 wait otherwise, the more so
the lower the load.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from dse.contract import Column

LEAST_LOAD = 1e-6
"""Below it the decay rate stays what it is here: nobody waits."""

LEAST_WAIT = 1e-12
"""In services: less is rounding of the time that it adds to, and counts as no wait."""

Services = tuple[tuple[Column | float, float], ...]
"""Services of mean 1, each with its share of all."""

ALIKE: Services = ((1.0, 1.0),)

NEARLY_STEADY = 1e-3
"""The c_a2 that steady arrivals have where services vary."""

NEWTON_STEPS = 10
"""The most: enough for any c_a2, and sizes that differ a thousand times."""


def station_wait_s(
    *,
    load: Column,
    service_s: Column,
    servers: Column,
    arrival_cv2: Column,
    service_cv2: Column | float = 0.0,
    shape_cv2: Column | float | None = None,
) -> Column:
    """Return the mean wait for one of k servers, in s; infinite from a load of 1 on.

    ``W = rho^(sqrt(2 (k' + 1)) - 1) / (k (1 - rho)) S (c_a2 + c_s2) / 2 J`` with
    ``k' = max(1, k / max(1, (1 + c_a2) / 2))`` and J of `_kraemer_langenbach_belz`; 0 where nothing
    varies, and below `LEAST_WAIT`.  For one server and Poisson arrivals that is
    Pollaczek-Khinchine's, which is exact.  J takes `shape_cv2` in place of a c_s2 that falls where
    the service rises.

    The exponent is Sakasegawa's.  Counting fewer servers where arrivals come in bursts is ours:
    without it waits for 16 servers at a load of 0.8 and c_a2 = 4 come out 46 % too low, with it 16.

    References
    ----------
    Kingman, Proc. Cambridge Phil. Soc. 57, 1961: (c_a2 + c_s2) / 2.
    Kraemer & Langenbach-Belz, 8th International Teletraffic Congress, 1976: J.
    Sakasegawa, Ann. Inst. Statist. Math. 29, 1977: the exponent.
    Whitt, Production and Operations Management 2, 1993: such products for many servers.
    """
    varied = arrival_cv2 + service_cv2
    inside = (load > 0) & (load < 1) & (varied > 0)
    rho = np.where(inside, load, 0.5)
    counted = np.maximum(servers / np.maximum((1.0 + arrival_cv2) / 2.0, 1.0), 1.0)
    wait = rho ** (np.sqrt(2.0 * (counted + 1.0)) - 1.0) / (1.0 - rho)
    wait = wait * (service_s / servers) * (varied / 2.0)
    shape = service_cv2 if shape_cv2 is None else shape_cv2
    wait = wait * _kraemer_langenbach_belz(rho, arrival_cv2, shape)
    inside = inside & (wait > LEAST_WAIT * service_s)
    return np.where(inside, wait, np.where((load >= 1) & (varied > 0), np.inf, 0.0))


def _kraemer_langenbach_belz(
    rho: Column, arrival_cv2: Column, service_cv2: Column | float
) -> Column:
    """Return J, by which a wait is shorter than Kingman's bound.

    ``exp(-2 (1 - rho) (1 - c_a2)^2 / (3 rho (c_a2 + c_s2)))`` up to c_a2 = 1, then
    ``exp(-(1 - rho) (c_a2 - 1) / (c_a2 + 4 c_s2))``.
    """
    varied = np.maximum(arrival_cv2 + service_cv2, 1e-300)
    smooth = 2.0 * (1.0 - rho) * (1.0 - arrival_cv2) ** 2 / (3.0 * rho * varied)
    bursts = np.maximum(arrival_cv2, 1.0)
    bursty = (1.0 - rho) * (bursts - 1.0) / (bursts + 4.0 * service_cv2)
    factor: Column = np.exp(-np.where(arrival_cv2 <= 1, smooth, bursty))
    return factor


def decay_per_gap(*, load: Column, arrival_cv2: Column, sizes: Services = ALIKE) -> Column:
    """Return how fast long waits get rare: ``P(W > t)`` falls with exp(-x t / mean gap).

    The root x > 0 of ``E exp(-x A) E exp(x rho U) = 1`` for gaps A and services U of mean 1, each
    of `sizes` with its share; the number of servers drops out.  0 from a load of 1 on, infinite at
    a load of 0 or without variation; steady arrivals of services that vary count as nearly steady.
    The logarithm of the left side is convex, so Newton's steps from above fall to the root.

    References
    ----------
    Abate, Choudhury & Whitt, "Exponential approximations for tail probabilities in queues, I",
    Operations Research 43, 1995.
    """
    gaps = arrival_cv2 if len(sizes) == 1 else np.maximum(arrival_cv2, NEARLY_STEADY)
    inside = (load > 0) & (load < 1) & (gaps > 0)
    rho = np.where(inside, np.maximum(load, LEAST_LOAD), 0.5)
    smooth = np.where(inside, np.minimum(gaps, 1.0), 1.0)
    bursts = np.maximum(gaps, 1.0)
    # of the short gaps and of the long ones, which are 1 - share of all
    share = (1.0 + np.sqrt((bursts - 1.0) / (bursts + 1.0))) / 2.0
    rest = 1.0 / (2.0 * share * (bursts + 1.0))
    y = _above(rho, bursts, smooth, sizes)
    for _ in range(NEWTON_STEPS):
        short, long = y / (2.0 * share), y / (2.0 * rest)
        below = share * (short / (1.0 + short)) + rest * (long / (1.0 + long))
        slope = 0.5 / (1.0 + short) ** 2 + 0.5 / (1.0 + long) ** 2
        grown, grows = _grown(rho, y, smooth, sizes)
        step = (np.log1p(-below) + grown) / (grows - slope / (1.0 - below))
        last, y = y, np.minimum(np.maximum(y - step, 0.0), y)
        # what stays once stays for good, whatever is beside it; a trace has no numbers to compare
        if isinstance(y, np.ndarray) and np.array_equal(last, y):
            break
    return np.where(inside, y / smooth, np.where((load > 0) & (load >= 1), 0.0, np.inf))


def _above(rho: Column, bursts: Column, smooth: Column, sizes: Services) -> Column:
    """Return what is above the root, but near it.

    The least of ``1 / rho^2 - 1``, above that of Poisson arrivals and equal services; the root of
    ``1 + rho y + v (rho y)^2 / 2 = 1 / E exp(-y A)``, whose left side is below
    ``E exp(rho y U)`` with ``v = E U^2``, or 1 for gaps that vary less than Poisson's; and of
    1.5 times the limit of heavy traffic, where services vary more than gaps and it is above.
    """
    second = sum((share * size * size for size, share in sizes[1:]), sizes[0][1] * sizes[0][0] ** 2)
    squared = np.where(smooth < 1, 1.0, second) * rho**2 / 2.0
    by_y = bursts * rho + squared - (bursts + 1.0) / 2.0
    root = by_y + np.sqrt(by_y**2 + 4.0 * bursts * squared * (1.0 - rho))
    above = np.minimum(1.0 / rho**2 - 1.0, 2.0 * (1.0 - rho) / root)
    if len(sizes) == 1:
        return above
    near = 3.0 * (1.0 - rho) * smooth / (smooth + (second - 1.0) * rho**2)
    near = np.minimum(above, near)
    right = (smooth < 1) & (_grown(rho, near, smooth, sizes)[0] >= np.log1p(near))
    return np.where(right, near, above)


def _grown(rho: Column, y: Column, smooth: Column, sizes: Services) -> tuple[Column, Column]:
    """Return ``s ln E exp(y rho U / s)``, with s for `smooth`, and its derivative by y."""
    if len(sizes) == 1:
        return rho * y, rho
    powers = [y * (rho * size) / smooth for size, _ in sizes]
    top = reduce(np.maximum, powers)
    parts = [share * np.exp(power - top) for power, (_, share) in zip(powers, sizes, strict=True)]
    whole = sum(parts[1:], parts[0])
    slopes = [part * (rho * size) for part, (size, _) in zip(parts, sizes, strict=True)]
    return smooth * (top + np.log(whole)), sum(slopes[1:], slopes[0]) / whole


def percentile_wait_s(*, wait_s: Column, decay_hz: Column, beyond: Column | float) -> Column:
    """Return the wait that a share `beyond` of all arrivals exceeds, in s.

    From ``P(W > t) = eta W exp(-eta t)``: ``ln(eta W / beyond) / eta``, and where that grows with
    eta, which is where few wait at all, the most that it gives for any eta, ``W / (e beyond)``.
    So it never falls with the mean wait W, nor rises with the decay rate eta.

    References
    ----------
    Abate, Choudhury & Whitt, Operations Research 43, 1995; the limit for rare waits is ours.
    """
    rare = wait_s / (np.e * beyond)
    often = decay_hz * wait_s / beyond
    common = np.log(np.where(often > np.e, often, np.e)) / decay_hz
    return np.where(np.isinf(decay_hz), 0.0, np.where(often > np.e, common, rare))
