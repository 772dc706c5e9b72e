"""DES encryptor cores: the sixteen rounds of a block, unrolled into hardware.

One task is one block of 64 bit.  A core with `unroll` rounds in hardware starts a block every
16 / unroll cycles and works on `unroll` independent blocks at once.  ``u1_p2`` splits its single
round into two pipeline stages (section IV-A).
"""

from __future__ import annotations

from dse.contract import Column, CoreMetrics, Parameter
from dse.cores._table import (
    PublishedLaws,
    leakage_share,
    metrics,
    outside,
    printed_costs,
    published_core,
    read_table,
    split_power,
)

_ROUNDS = 16.0
_PAYLOAD_BIT = 64.0
_BLOCK = {"payload_bit": _PAYLOAD_BIT, "read_byte": 8.0, "written_byte": 8.0}

_DESIGNS, _PRINTED = read_table("des.csv")
_CYCLES_PER_TASK = _ROUNDS / _PRINTED["unroll"]
_UNROLLED = [row for row, stages in enumerate(_PRINTED["partition"]) if stages == 1]
"""The laws describe unrolling, hence not ``u1_p2``."""

_CLOCK_HZ = float(_PRINTED["bandwidth_bit_per_s"][0] * _CYCLES_PER_TASK[0] / _PAYLOAD_BIT)
"""645 MHz: design u1 carries 2.58 Gbit/s = 645 MHz / 16 cycles * 64 bit."""

_UNROLL = Parameter(
    name="unroll",
    description="Rounds in hardware; a power of two divides the sixteen rounds evenly",
    low=1,
    high=16,
    integer=True,
)


def des_table() -> CoreMetrics:
    """Return the designs of Table I at the clock that its bandwidth column implies.

    clock = bandwidth * cycles per task / payload: 2.58 Gbit/s * 16 / 64 bit = 645 MHz for u1,
    2.92 Gbit/s * 16 / 64 bit = 730 MHz for u1_p2.  The table prints 625 MHz for the u designs,
    which contradicts its own bandwidth and performance columns (40.3 Mtask/s * 16 = 645 MHz),
    and 730 MHz for u1_p2, which agrees.  So an instance carries exactly the printed bandwidth.

    Power is taken as printed, for that clock.  Latency is 16 cycles, 32 for u1_p2 (section
    IV-B).  Traffic is the block itself, read and written.

    Returns
    -------
    CoreMetrics
        Columns of shape (6,).
    """
    return metrics(
        **printed_costs(_PRINTED),
        **_BLOCK,
        clock_hz=_PRINTED["bandwidth_bit_per_s"] * _CYCLES_PER_TASK / _PAYLOAD_BIT,
        cycles_per_task=_CYCLES_PER_TASK,
        latency_cycles=_ROUNDS * _PRINTED["partition"],
        tasks_in_flight=_PRINTED["parallelism"],
        extrapolated=0.0,
    )


_LEAKAGE_SHARE = leakage_share(des_table(), _UNROLLED)


def des_law(*, unroll: Column) -> CoreMetrics:
    """Return unrolled designs by equations 2 to 4, in the units of Table I.

    area = 3500 n + 4600 um2 (2), power = 0.64 n + 0.09 mW (3; printed in W, but Table I has
    10.16 mW and the equation gives 10.33), n rounds per cycle and so n / 16 tasks per cycle
    (4).  The clock is the 645 MHz of `des_table`.

    Ours: leakage is its share of power in Table I, summed over the u designs (9.7 %).

    Parameters
    ----------
    unroll
        Rounds in hardware, n.

    Returns
    -------
    CoreMetrics
        Columns shaped like `unroll`.
    """
    return metrics(
        area_m2=(3500.0 * unroll + 4600.0) * 1e-12,
        **split_power((0.64 * unroll + 0.09) * 1e-3, _LEAKAGE_SHARE),
        **_BLOCK,
        clock_hz=_CLOCK_HZ,
        cycles_per_task=_ROUNDS / unroll,
        latency_cycles=_ROUNDS,
        tasks_in_flight=unroll,
        extrapolated=outside(_UNROLL, unroll),
    )


core = published_core(
    "des",
    "DES encryptor: 64-bit blocks, 1 to 16 of the 16 rounds in hardware",
    provides="des",
    designs=_DESIGNS,
    drawn=PublishedLaws(
        rows=_UNROLLED,
        fitted={"unroll": _PRINTED["unroll"][_UNROLLED]},
        parameters=(_UNROLL,),
        design_name="u{unroll}",
    ),
    table=(
        des_table,
        "Table I; clock from its bandwidth column (645 MHz for the u designs), which the "
        "printed 625 MHz contradicts",
    ),
    law=(
        des_law,
        "eqs 2 to 4; eq. 3 in mW, eq. 4 as rounds per cycle, 645 MHz; split of power into "
        "dynamic and leakage is this project's",
    ),
)
