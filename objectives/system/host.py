"""Costs of offloads for their host: busy cores, power, the attachment, buffers in flight.

In the equations, R is the throughput, g the granularity in bytes, k the offloads in flight, o the
overhead and T1 the time of an offload.  The ways of waiting are Accelerometer's: LogCA
extended from one offload to the host time of a whole program.  In a second of the host without
accelerators the kernel takes the share alpha, in n calls.  Each of them becomes an offload.

Sriraman & Dhanotia, "Accelerometer: Understanding Acceleration Opportunities for Data Center
Overheads at Hyperscale", ASPLOS 2020.
"""

from __future__ import annotations

import numpy as np

from dse.contract import WAIT_MODES, Column, Falling, Rising, objective
from dse.objectives.system.offload_terms import BIT_PER_BYTE


@objective(source="Sriraman & Dhanotia, ASPLOS 2020")
def offload_cores(
    *,
    throughput_bit_per_s: Rising[Column],
    workload_granularity_byte: Falling[Column],
    overhead_s: Rising[Column],
    offload_latency_s: Rising[Column],
    interface_wait: Column,
    taken_slots: Rising[Column | float] = 0.0,
    interface_switch_cycles: Rising[Column | float] = 0.0,
    interface_switch_s: Rising[Column | float] = 0.0,
    interface_host_clock_hz: Falling[Column | float] = np.inf,
    interface_in_flight: Rising[Column | float] = np.inf,
) -> Column:
    """Host cores that offloads keep busy: offloads per second times the core's time for each.

    ``R / (8 g) b``, a number.  b is T1 for a core that waits (sync), o and two thread switches for
    one that runs another thread (sync_os), and o for one that goes on (async).  As R is at most
    ``k 8 g / T1``, that is at most k if threads are not switched.  A core that waits is a slot:
    if offloads wait for each other, the busy cores are the taken slots.

    References
    ----------
    Sriraman & Dhanotia, "Accelerometer", ASPLOS 2020.
    """
    switch = 2.0 * (interface_switch_cycles / interface_host_clock_hz + interface_switch_s)
    switched = np.equal(interface_wait, WAIT_MODES.index("sync_os"))
    waits = np.equal(interface_wait, WAIT_MODES.index("sync"))
    goes_on = overhead_s + np.where(switched, switch, 0.0)
    busy = np.where(waits, offload_latency_s, goes_on)
    offloads_per_s = throughput_bit_per_s / (BIT_PER_BYTE * workload_granularity_byte)
    # an empty fleet takes forever over no offloads
    cores = np.where(np.greater(offloads_per_s, 0), offloads_per_s * busy, 0.0)
    cores = np.maximum(cores, np.where(waits, taken_slots, 0.0))
    return np.minimum(cores, np.where(switched, np.inf, interface_in_flight))


@objective(source="offloads, and sizes that stay", report=True, simulated="cores")
def host_cores(
    *, offload_cores: Rising[Column], staying_cores: Rising[Column | float] = 0.0
) -> Column:
    """Host cores kept busy, by offloads and by the sizes that stay on the host.

    ``offload cores + staying cores``, a number.
    """
    return offload_cores + staying_cores


@objective(source="vendor values for power and cores")
def host_power_w(
    *,
    host_cores: Rising[Column],
    interface_host_power_w: Rising[Column],
    interface_host_cores: Falling[Column],
) -> Column:
    """Power of the busy host cores, each an equal share of the host's power.

    ``host_cores P_host / N_host``, in W.
    """
    return host_cores * (interface_host_power_w / interface_host_cores)


@objective(source="power of the attachment")
def attachment_power_w(
    *,
    interface_idle_power_w: Rising[Column],
    interface_transfer_j_per_byte: Rising[Column],
    throughput_bit_per_s: Rising[Column],
) -> Column:
    """Power of the accelerators' attachment to the host, outside their power cap.

    ``P_idle + R / 8 e``, in W, with e for a byte of payload in and its result out.
    """
    return interface_idle_power_w + throughput_bit_per_s / BIT_PER_BYTE * (
        interface_transfer_j_per_byte
    )


@objective(source="2 k g bytes", over_sizes="largest")
def buffer_bit(
    *, interface_in_flight: Rising[Column], workload_granularity_byte: Rising[Column]
) -> Column:
    """Buffers for input and output of every offload in flight: 2 k g bytes.

    ``2 * 8 k g``, in bit, of a mix of sizes the largest, which any slot may have to hold.
    """
    return 2.0 * BIT_PER_BYTE * interface_in_flight * workload_granularity_byte


@objective(source="bits times cell area")
def buffer_area_m2(
    *, buffer_bit: Rising[Column], interface_buffer_area_m2_per_bit: Rising[Column]
) -> Column:
    """Area of the buffers.

    ``A_buffer = bits * area per bit``, in m2.
    """
    return buffer_bit * interface_buffer_area_m2_per_bit


@objective(source="bits times leakage")
def buffer_leakage_power_w(
    *, buffer_bit: Rising[Column], interface_buffer_leakage_w_per_bit: Rising[Column]
) -> Column:
    """Leakage of the buffers.

    ``P_buffer = bits * leakage per bit``, in W.
    """
    return buffer_bit * interface_buffer_leakage_w_per_bit


@objective(source="Sriraman & Dhanotia, ASPLOS 2020", report=True)
def program_speedup(
    *,
    workload_program_share: Rising[Column],
    workload_program_offloads_hz: Falling[Column],
    offload_latency_s: Falling[Column],
    transfer_s: Falling[Column],
    interface_wait: Column,
    wait_s: Falling[Column | float] = 0.0,
    interface_switch_cycles: Falling[Column | float] = 0.0,
    interface_switch_s: Falling[Column | float] = 0.0,
    interface_host_clock_hz: Rising[Column | float] = np.inf,
) -> Column:
    """Ratio of the speeds of the whole program with and without its kernel offloaded.

    ``1 / (1 - alpha + n (h + W))``, a number, for shares up to 1.  h is T1 for a host that waits
    (sync), T_oh and two thread switches for one that runs another thread (sync_os), T_oh for one
    that goes on (async): unlike `host_cores` it includes the transfer, as in the paper.  W is 0
    if the study does not define the arrivals of offloads.

    With ``C1 = alpha / (n A)`` the first is the paper's ``alpha / A + n (o + L + Q)``.  Here C1 is
    the fleet's time, and the part of the transfer that it hides is not counted twice.

    References
    ----------
    Sriraman & Dhanotia, ASPLOS 2020, the speedups of Sync, Sync-OS and Async.  As in the authors'
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
