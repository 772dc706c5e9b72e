"""Loads and waits worked out one design at a time; decay rates are found by bisection."""

from __future__ import annotations

import math
from typing import Any

from dse.contract import WAIT_MODES

inf = math.inf


def waits(of: dict[str, Any], found: dict[str, float]) -> dict[str, float]:
    """Return the stations of a design, how busy they are, and what offloads wait for them."""
    g, cv2 = of["workload_granularity_byte"], found["offload_arrival_cv2"]
    per_s = found["throughput_bit_per_s"] / (8 * g)
    mode, cores = WAIT_MODES[int(of["interface_wait"])], found["free_host_cores"]
    places = of["interface_in_flight"]
    places = min(places, cores) if mode == "sync" else places
    core = found["overhead_s"]
    if mode == "sync_os":
        clock = of["interface_host_clock_hz"]
        core += 2 * (of["interface_switch_cycles"] / clock + of["interface_switch_s"])
    streams = found["serial_tasks"]
    slow = min(found["link_limit_bit_per_s"], found["memory_limit_bit_per_s"])
    fleet = 8 * g * streams / found["stream_rate_bit_per_s"]
    stations = {  # busy for so long, by so many servers
        "fleet": (fleet, streams),
        "link": (8 * g / slow, 1.0),
        "slot": (found["offload_latency_s"], places),
        "host": (0.0 if mode == "sync" else core, cores),
    }
    loads = {
        name: per_s * busy / servers if servers else inf if busy else 0.0
        for name, (busy, servers) in stations.items()
    }
    each = {
        name: station_wait(per_s, busy, servers, cv2) for name, (busy, servers) in stations.items()
    }
    before = per_s * max(each["fleet"], each["link"])
    alone = per_s * found["offload_latency_s"]
    wait, load = max(each.values()), max(loads.values())
    return {
        "arrival_rate_hz": per_s,
        "slots": places,
        "busiest_load": load,
        **{f"{name}_load": value for name, value in loads.items()},
        **{f"{name}_wait_s": value for name, value in each.items()},
        "wait_s": wait,
        "taken_slots": taken(alone, before, places, max(loads["fleet"], loads["link"])),
        "offload_latency_mean_s": found["offload_latency_s"] + wait,
        "offload_latency_p99_s": found["offload_latency_s"] + beyond(wait, load, per_s, cv2),
    }


def taken(alone: float, before: float, places: float, load: float) -> float:
    """Return how many of the slots are taken: no more than there are, unless alone already."""
    if not before or places <= 1 or alone >= places:
        return alone
    room = (places - alone) * min(load, 1.0) ** ((places + 1) / (places - 1))
    return alone + (room if before == inf else -before * math.expm1(-room / before))


def station_wait(per_s: float, busy: float, servers: float, cv2: float) -> float:
    """Return the mean wait at one station of which the service does not vary."""
    rho = (per_s * busy / servers if servers else inf) if busy else 0.0
    if not cv2 or not rho:
        return 0.0
    if rho >= 1:
        return inf
    bursts = max(1.0, (1 + cv2) / 2)
    exponent = math.sqrt(2 * (max(1.0, servers / bursts) + 1)) - 1
    if cv2 <= 1:
        less = math.exp(-2 / 3 * (1 - rho) / rho * (1 - cv2) ** 2 / cv2)
    else:
        less = math.exp(-(1 - rho) * (cv2 - 1) / cv2)
    wait = busy / servers * rho**exponent / (1 - rho) * cv2 / 2 * less
    return wait if wait > 1e-12 * busy else 0.0


def beyond(wait: float, load: float, per_s: float, cv2: float) -> float:
    """Return the wait that one in a hundred exceeds."""
    if wait in (0.0, inf):
        return wait
    eta = per_s * decay(load, cv2)
    return math.log(100 * eta * wait) / eta if 100 * eta * wait > math.e else 100 * wait / math.e


def decay(load: float, cv2: float) -> float:
    """Return the decay rate of waits per mean gap, by bisection of its logarithm."""

    def log_transform(x: float) -> float:
        if cv2 < 1:
            return -math.log1p(x * cv2) / cv2
        share = (1 + math.sqrt((cv2 - 1) / (cv2 + 1))) / 2
        phases = (part / (1 + x / (2 * part)) for part in (share, 1 - share))
        return math.log(sum(phases))

    low, high = math.log(1e-9), math.log(1e9)
    for _ in range(200):
        middle = (low + high) / 2
        x = math.exp(middle)
        low, high = (middle, high) if log_transform(x) + load * x < 0 else (low, middle)
    return math.exp(low)
