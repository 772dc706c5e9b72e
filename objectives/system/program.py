"""What offloading a kernel does for the whole program around it.

Sriraman & Dhanotia, "Accelerometer: Understanding Acceleration Opportunities for Data Center
Overheads at Hyperscale", ASPLOS 2020: LogCA extended from one offload to the host time of a whole
program.  In a second of the host without accelerators the kernel takes the share alpha, in n calls;
each of them becomes an offload.
"""

from __future__ import annotations

import numpy as np

from dse.contract import WAIT_MODES, Column, objective


@objective(
    source="Sriraman & Dhanotia, ASPLOS 2020",
    report=True,
    rises_with=("workload_program_share", "interface_host_clock_hz"),
    falls_with=(
        "workload_program_offloads_hz",
        "offload_latency_s",
        "transfer_s",
        "wait_s",
        "interface_switch_cycles",
        "interface_switch_s",
    ),
    undeclared={"settled_while": "steady arrivals do not wait, so that a core that waits is held"},
)
def program_speedup(
    *,
    workload_program_share: Column,
    workload_program_offloads_hz: Column,
    offload_latency_s: Column,
    transfer_s: Column,
    interface_wait: Column,
    wait_s: Column | float = 0.0,
    interface_switch_cycles: Column | float = 0.0,
    interface_switch_s: Column | float = 0.0,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """How many times faster the whole program is whose kernel is offloaded.

    ``1 / (1 - alpha + n (h + W))``, a number, for shares up to 1.  h is T1 for a host that waits
    (sync), T_oh and two thread switches for one that runs another thread (sync_os), T_oh for one
    that goes on (async): unlike `host_cores` it holds the transfer, as the paper has it.  W is 0
    where the study does not say how offloads arrive.

    With ``C1 = alpha / (n A)`` the first is the paper's ``alpha / A + n (o + L + Q)``; here C1 is
    the fleet's own time, and what of the transfer it hides is not counted twice.

    References
    ----------
    Sriraman & Dhanotia, ASPLOS 2020, the speedups of Sync, Sync-OS and Async; as in the authors'
    published program, whose o1 is both switches of an offload.
    """
    switch = 2.0 * (interface_switch_cycles / interface_host_clock_hz + interface_switch_s)
    switched = np.equal(interface_wait, WAIT_MODES.index("sync_os"))
    held = np.where(
        np.equal(interface_wait, WAIT_MODES.index("sync")),
        offload_latency_s,
        transfer_s + np.where(switched, switch, 0.0),
    )
    rest = np.maximum(1.0 - workload_program_share, 0.0)
    return 1.0 / (rest + workload_program_offloads_hz * (held + wait_s))
