"""Effects of varying sizes on rates, services and waits, without effect on equal sizes.

In the equations, g is the mean size in bytes, g_i a size and p_i its share of all offloads,
z_i = (g_i / g - 1) / c, c the coefficient of variation of sizes, k the offloads in flight, R the
throughput, T1 the mean time of an offload by itself, X_S the least limit of fleet, link and memory
and X_k the limit of k offloads in flight.
"""

from __future__ import annotations

from functools import reduce
from typing import cast

import numpy as np

from dse.contract import Column, Falling, Rising, SizeColumn, objective
from dse.objectives.system.fleet import CARRIERS, Stages, least
from dse.objectives.system.offload_terms import BIT_PER_BYTE

LEAST_LOAD = 1e-6
"""Least load of the decay rate, which is constant below it: no offload waits."""

LEAST_WAIT = 1e-12
"""Least wait in services.  Less is rounding of the time that it adds to, and counts as no wait."""

Services = tuple[tuple[Column | float, Column | float], ...]
"""Services of mean 1, each with its share of all."""

ALIKE: Services = ((1.0, 1.0),)

NEARLY_STEADY = 1e-3
"""The c_a2 of steady arrivals if services vary."""

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
    """Return the mean wait for one of k servers, in s, infinite from a load of 1 on.

    ``W = rho^(sqrt(2 (k' + 1)) - 1) / (k (1 - rho)) S (c_a2 + c_s2) / 2 J`` with ``k' = max(1, k /
    max(1, (1 + c_a2) / 2))`` and J of `_kraemer_langenbach_belz`.  It is 0 without variation, and
    below `LEAST_WAIT`.  For one server and Poisson arrivals that is Pollaczek-Khinchine's
    exact formula.  J takes `shape_cv2` in place of a c_s2 that falls when the service rises.

    The exponent is Sakasegawa's.  Counting fewer servers for arrivals in bursts is ours:
    without it waits for 16 servers at a load of 0.8 and c_a2 = 4 are 46 % too low, with it 16 %.

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
    """Return J, the ratio of a wait to Kingman's bound.

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
    """Return the decay rate of long waits: ``P(W > t)`` falls with exp(-x t / mean gap).

    The root x > 0 of ``E exp(-x A) E exp(x rho U) = 1`` for gaps A and services U of mean 1, each
    of `sizes` with its share.  The number of servers drops out.  The root is 0 from a load of 1 on,
    infinite at a load of 0 or without variation.  Steady arrivals of services that vary count as
    nearly steady.
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
    # of the short gaps and of the long ones, with the share 1 - share
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
        # a fixed point stays fixed whatever is beside it.  A trace has no numbers to compare
        if isinstance(y, np.ndarray) and np.array_equal(last, y):
            break
    return np.where(inside, y / smooth, np.where((load > 0) & (load >= 1), 0.0, np.inf))


def _above(rho: Column, bursts: Column, smooth: Column, sizes: Services) -> Column:
    """Return a value above the root, but near it.

    The least of ``1 / rho^2 - 1``, above the root for Poisson arrivals and equal services, the root
    of ``1 + rho y + v (rho y)^2 / 2 = 1 / E exp(-y A)``, whose left side is below
    ``E exp(rho y U)`` with ``v = E U^2``, or 1 for gaps that vary less than Poisson's, and
    1.5 times the limit of heavy traffic, if services vary more than gaps and it is above.
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

    From ``P(W > t) = eta W exp(-eta t)``: ``ln(eta W / beyond) / eta``.  If few wait at all, that
    grows with eta, and its largest value for any eta, ``W / (e beyond)``, is taken.
    So it never falls with the mean wait W, nor rises with the decay rate eta.

    References
    ----------
    Abate, Choudhury & Whitt, Operations Research 43, 1995.  The limit for rare waits is ours.
    """
    rare = wait_s / (np.e * beyond)
    often = decay_hz * wait_s / beyond
    common = np.log(np.where(often > np.e, often, np.e)) / decay_hz
    return np.where(np.isinf(decay_hz), 0.0, np.where(often > np.e, common, rare))


WAITING_ROOM = 0.75
"""Largest share of the other slots whose offloads are before one that waits."""


def standardised(sizes: SizeColumn) -> Services:
    """Return z_i, of mean 0 and variance 1, with their shares, 0 if all sizes are equal."""
    if not isinstance(sizes, tuple) or len(sizes) == 1:
        return ((0.0, 1.0),)
    mean = sum(size * share for size, share in sizes)
    spread = np.sqrt(sum(share * (size / mean - 1.0) ** 2 for size, share in sizes))
    return tuple(((size / mean - 1.0) / spread, share) for size, share in sizes)


@objective(source="fitted to simulations", at_most=CARRIERS)
def mixed_limit_bit_per_s(
    *,
    stream_limit_bit_per_s: Rising[Column],
    offload_limit_bit_per_s: Rising[Column],
    interface_in_flight: Column,
    workload_size_cv2: Falling[Column],
    link_limit_bit_per_s: Rising[Column | float] = np.inf,
    memory_limit_bit_per_s: Rising[Column | float] = np.inf,
) -> Column:
    """Payload rate of offloads of several sizes, below each of two limits that are about equal.

    ``(X_S^-p + X_k^-p)^(-1/p)``, in bit/s, of the least of fleet, link and memory, X_S, and of the
    offloads in flight, X_k, with ``p = ln 2 / -ln(1 - min(0.5, 0.73 c / sqrt(k + 10)))`` and the
    coefficient of variation c of sizes.  The lesser of the two for k = 1.  At ``X_S = X_k`` it is
    within 4 % of simulations for simple IMIX and k of 4 to 256.  The formula is ours.
    """
    others = np.minimum(link_limit_bit_per_s, memory_limit_bit_per_s)
    station = np.minimum(stream_limit_bit_per_s, others)
    low = np.minimum(station, offload_limit_bit_per_s)
    high = np.maximum(station, offload_limit_bit_per_s)
    lost = 0.73 * np.sqrt(workload_size_cv2) / np.sqrt(interface_in_flight + 10.0)
    lost = np.where(np.greater(interface_in_flight, 1), np.minimum(lost, 0.5), 0.0)
    power = np.log(2.0) / -np.log1p(-lost)
    soft = low * (1.0 + (low / high) ** power) ** (-1.0 / power)
    return np.where(np.greater(lost, 0) & np.greater(low, 0), soft, low)


@objective(source="fitted to simulations")
def starved_share(
    *,
    throughput_bit_per_s: Rising[Column],
    mixed_limit_bit_per_s: Falling[Column],
    stream_limit_bit_per_s: Rising[Column],
    offload_limit_bit_per_s: Rising[Column],
    link_limit_bit_per_s: Rising[Column | float] = np.inf,
    memory_limit_bit_per_s: Rising[Column | float] = np.inf,
) -> Column:
    """Share of time for which slots and stations, of a mix of sizes, keep each other waiting.

    ``R / mixed limit - R / min(X_S, X_k)``, a share, at the top clock.
    """
    limits = stream_limit_bit_per_s, link_limit_bit_per_s, memory_limit_bit_per_s
    low = least(cast(Stages, (*limits, offload_limit_bit_per_s)))
    lost = throughput_bit_per_s / mixed_limit_bit_per_s - throughput_bit_per_s / low
    return np.where(np.greater(throughput_bit_per_s, 0), np.maximum(lost, 0.0), 0.0)


@objective(source="standard deviation")
def size_spread_s(
    *,
    latency_s_per_byte: Rising[Column],
    storing_s_per_byte: Rising[Column],
    passing_s_per_byte: Rising[Column],
    stream_rate_bit_per_s: Falling[Column],
    workload_granularity_byte: Rising[Column],
    workload_size_cv2: Rising[Column],
) -> Column:
    """Standard deviation of the time of an offload by itself, as sizes vary.

    ``c (L_byte + s + max(8 / r, p)) g``, in s: the part of T1 in proportion to the size.
    """
    streamed = np.maximum(BIT_PER_BYTE / stream_rate_bit_per_s, passing_s_per_byte)
    per_byte = latency_s_per_byte + storing_s_per_byte + streamed
    spread = np.sqrt(workload_size_cv2) * per_byte * workload_granularity_byte
    return np.where(np.greater(workload_size_cv2, 0), spread, 0.0)


@objective(source="standard deviation")
def host_spread_s(
    *,
    workload_granularity_byte: Rising[Column],
    workload_size_cv2: Rising[Column],
    kernel_index_s_per_byte: Rising[Column],
    kernel_exponent: Column,
) -> Column:
    """Standard deviation of the time on a host core, as sizes vary.

    ``c beta C g ** beta``, in s, with the coefficient of variation c of sizes, for the tangent
    at the mean size, or T0 if beta is 1.
    """
    grown = np.asarray(workload_granularity_byte) ** kernel_exponent
    return np.sqrt(workload_size_cv2) * kernel_exponent * kernel_index_s_per_byte * grown


@objective(source="the slower of link and PCI Express")
def link_cv2(
    *,
    link_limit_bit_per_s: Column,
    workload_size_cv2: Rising[Column | float] = 0.0,
    pcie_cv2: Rising[Column | float] = 0.0,
    pcie_payload_bit_per_s: Column | float = np.inf,
    reread_cv2: Rising[Column | float] = 0.0,
) -> Column:
    """Squared coefficient of variation of the time for which an offload keeps the link busy.

    The sizes' variation, a number, or the packets' if PCI Express is the limit, and the variation
    of bytes that are read again.
    """
    packets = np.isfinite(pcie_payload_bit_per_s)
    packets = packets & np.less_equal(pcie_payload_bit_per_s, link_limit_bit_per_s)
    return np.where(packets, pcie_cv2, workload_size_cv2) + reread_cv2


@objective(source="as `station_wait_s`, for offloads that slots admit")
def size_wait_s(
    *,
    fleet_load: Rising[Column],
    link_load: Rising[Column],
    slots: Rising[Column],
    workload_granularity_byte: Rising[Column],
    stream_rate_bit_per_s: Falling[Column],
    link_limit_bit_per_s: Falling[Column],
    workload_size_cv2: Rising[Column],
    offload_arrival_cv2: Rising[Column],
    memory_limit_bit_per_s: Falling[Column | float] = np.inf,
    link_cv2: Rising[Column | float] = 0.0,
) -> Column:
    """Mean wait under way due to a mix of sizes, however offloads enter: it keeps a slot.

    ``W_S a / (W_S + a)``, in s, with ``a = 3/4 (m - 1) S`` and the longer of both waits, for the
    fleet and for the link, W_S, with ``c_a2 = min(c_a2, c_s2)``: if slots are scarce an offload
    enters when another leaves, so that gaps vary no more than services do.  Offloads of one size
    then follow each other evenly and do not wait.  S is the longer of both services, and 3/4 is
    fitted to simulations.

    References
    ----------
    As `station_wait_s`.
    """
    bits = BIT_PER_BYTE * workload_granularity_byte
    slower = np.minimum(link_limit_bit_per_s, memory_limit_bit_per_s)
    entering = np.minimum(offload_arrival_cv2, workload_size_cv2)
    waits = []
    stations = (
        (fleet_load, stream_rate_bit_per_s, workload_size_cv2),
        (link_load, slower, link_cv2),
    )
    for load, rate, service_cv2 in stations:
        wait = station_wait_s(
            load=load,
            service_s=bits / rate,
            servers=np.ones(1),
            arrival_cv2=entering,
            service_cv2=service_cv2,
        )
        waits.append(wait)
    longest = np.maximum(*waits)
    room = WAITING_ROOM * (slots - 1.0) * (bits / np.minimum(stream_rate_bit_per_s, slower))
    between = 1.0 / (1.0 / longest + 1.0 / room)
    return np.where((longest > 0) & (room > 0), between, 0.0)


def _reads(reread_ratio: Column, reread_cv2: Column | float) -> Services:
    """Return bytes read of a record over their mean: once, or as much again as has both moments."""
    again = reread_ratio / (1.0 + reread_ratio)
    square = again**2 + reread_cv2
    share = np.where(square > 0, again**2 / square, 0.0)
    more = np.where(square > 0, square / again, 0.0)
    return (1.0 - again, 1.0 - share), (1.0 - again + more, share)


@objective(source="Abate, Choudhury & Whitt 1995", over_sizes="together")
def wait_decay_hz(
    *,
    arrival_rate_hz: Rising[Column],
    fleet_load: Falling[Column],
    link_load: Falling[Column],
    slot_load: Falling[Column],
    host_load: Falling[Column],
    offload_arrival_cv2: Falling[Column],
    workload_granularity_byte: SizeColumn,
    overhead_s: Rising[Column],
    fixed_latency_s: Rising[Column],
    workload_size_cv2: Falling[Column | float] = 0.0,
    link_cv2: Falling[Column | float] = 0.0,
    size_spread_s: Falling[Column | float] = 0.0,
    reread_ratio: Column | None = None,
    reread_cv2: Column | float = 0.0,
) -> Column:
    """Decay rate of long waits: ``P(W > t)`` falls with ``exp(-eta t)``.

    ``eta = lambda min(x)`` over the stations, in Hz, with x of `decay_per_gap` for services
    ``1 + a z_i``: a is c for the fleet, the link's own, ``s / (o + L + s / c)`` for slots with the
    spread s of T1, and 0 for host cores.  For one size x is the busiest station's.  Records that
    the link reads again are read once, or more often with the mean and variance of all.  The time
    to fill pipelines is no part of a slot's, which makes waits rather too long.
    ----------
    As `decay_per_gap`.
    """
    sizes = standardised(workload_granularity_byte)
    if len(sizes) == 1:
        busiest = reduce(np.maximum, (fleet_load, link_load, slot_load, host_load))
        found = decay_per_gap(load=busiest, arrival_cv2=offload_arrival_cv2)
    else:
        of_sizes = np.sqrt(workload_size_cv2)
        alone = overhead_s + fixed_latency_s + size_spread_s / of_sizes
        of_slots = np.where(np.greater(alone, 0), size_spread_s / alone, 0.0)
        found = decay_per_gap(load=host_load, arrival_cv2=offload_arrival_cv2)
        stations: list[tuple[Column, Column]] = [
            (fleet_load, of_sizes),
            (link_load, np.sqrt(link_cv2)),
            (slot_load, of_slots),
        ]
        if all(isinstance(column, np.ndarray) for pair in stations for column in pair):
            parts = np.broadcast_arrays(*(column for pair in stations for column in pair))
            stations = [(np.stack(parts[::2]), np.stack(parts[1::2]))]  # a trace cannot
        for load, spread in stations:
            services = tuple((1.0 + spread * size, share) for size, share in sizes)
            each = decay_per_gap(load=load, arrival_cv2=offload_arrival_cv2, sizes=services)
            found = np.minimum(found, each.min(axis=0) if np.ndim(each) > np.ndim(found) else each)
    if reread_ratio is not None:
        spread = np.sqrt(np.maximum(link_cv2 - reread_cv2, 0.0))
        read = [
            ((1.0 + spread * size) * bytes_read, share * part)
            for size, share in sizes
            for bytes_read, part in _reads(reread_ratio, reread_cv2)
        ]
        link = decay_per_gap(load=link_load, arrival_cv2=offload_arrival_cv2, sizes=tuple(read))
        found = np.minimum(found, link)
    return arrival_rate_hz * found
