"""Records of a catalogue as columns, named ``<section>_<field>``."""

from __future__ import annotations

import math
from collections.abc import Collection

from dse import contract
from dse.study import schema
from dse.study.fields import Unit

NEUTRAL = {
    "interface_link_byte_per_cycle": math.inf,
    "interface_link_byte_per_s": math.inf,
    "interface_max_in_flight": math.inf,
    "interface_host_clock_hz": math.inf,
    "interface_max_payload_byte": math.inf,
    "interface_max_read_request_byte": math.inf,
    "interface_completion_byte": math.inf,
    "interface_descriptors": 1.0,
    "interface_batch": 1.0,
    "interface_segment_byte": 1448.0,
    "interface_overhead_share": 1.0,
    "interface_acceleration": math.inf,
}
"""Columns that leave something unlimited when a record does not give them; others: 0."""


def neutral(unit: Unit) -> dict[str, float]:
    """Return the columns of a field, each with the value that leaves it without effect."""
    return {column: NEUTRAL.get(column, 0.0) for column in unit.columns}


BUFFERS = {
    "buffer_area": ("interface_buffer_area_m2_per_bit", 0.285e-12),
    "buffer_leakage": ("interface_buffer_leakage_w_per_bit", 20e-12),
}
"""What buffers are taken to be that an interface leaves out: 32 nm SRAM, a cell of 0.171 um2 at
60 % array efficiency, as those of the catalogue."""

CHOSEN = ("wait", "transfer", "pcie")
"""Fields of an interface that are choices, not numbers."""


def interface_columns(record: contract.Interface) -> dict[str, float]:
    """Return the columns that an interface sets; unlimited or 0 where it gives nothing.

    Buffers are those of `BUFFERS` where it leaves them out.
    """
    columns = {
        f"interface_{name}": schema.code(f"interface_{name}", getattr(record, name) or "none")
        for name in CHOSEN
    }
    for name in contract.Interface.__dataclass_fields__:
        value = getattr(record, name)
        column = f"interface_{name}"
        if isinstance(value, int | float):
            columns[column] = float(value)
        elif value is None:
            columns[column] = NEUTRAL.get(column, 0.0)
    if record.host_cores is None:
        columns["interface_host_cores"] = math.inf
    return columns | {
        BUFFERS[name][0]: BUFFERS[name][1] for name in BUFFERS if name in record.left_out
    }


LEFT_OUT = {
    "overhead": "no overhead",
    "latency": "no latency",
    "link": "an unlimited link",
    "in_flight": "one offload in flight",
    "max_in_flight": "any number of offloads in flight",
    "host_cores": "any number of host cores",
    "buffer_area": "buffers of 0.285 um2/bit",
    "buffer_leakage": "buffers that leak 20 pW/bit",
    "idle_power": "an attachment without idle power",
    "transfer_energy": "transfers without energy",
    "attachment_area": "an attachment without area",
}
"""What stands for a field that an interface leaves out."""

_INSTEAD = {
    "overhead": ("overhead_plus_latency",),
    "latency": ("overhead_plus_latency", "round_trip"),
    "link": ("pcie",),
}
"""Fields that tell as much as another one."""


def left_out(written: Collection[str]) -> tuple[str, ...]:
    """Return the fields of `LEFT_OUT` that those in `written` leave out."""
    return tuple(
        name for name in LEFT_OUT if not {name, *_INSTEAD.get(name, ())}.intersection(written)
    )


def platform_columns(record: contract.Platform) -> dict[str, float]:
    """Return the columns that a platform sets; NaN for figures that its source does not give."""
    usable = math.inf if record.usable_power_w is None else record.usable_power_w
    columns = {"budget_power_cap_w": record.constant_power_w + usable}
    for name in contract.Platform.__dataclass_fields__:
        value = getattr(record, name)
        if name != "usable_power_w" and isinstance(value, int | float | None):
            columns[f"budget_{name}"] = math.nan if value is None else float(value)
    return columns


def kernel_columns(record: contract.Kernel) -> dict[str, float]:
    """Return the columns that a kernel sets."""
    return {
        "kernel_index_s_per_byte": record.index_s_per_byte,
        "kernel_exponent": record.exponent,
        "kernel_offset_s": record.offset_s,
    }
