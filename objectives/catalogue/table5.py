"""The devices of LogCA's Table 5, as printed, in cycles of the host.

Altaf and Wood, "LogCA: A High-Level Performance Model for Hardware Accelerators", ISCA 2017.
"""

from __future__ import annotations

from types import MappingProxyType

from dse.objectives.catalogue import read_catalogue
from dse.objectives.logca.model import LogCA


def logca(device: str, benchmark: str) -> LogCA:
    """Return a row of Table 5 (exponents: Table 4), in cycles of the host and bytes.

    Raises
    ------
    ValueError
        The table has no such row: its keys are those of `rows`.
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
"""The printed cells by device and benchmark; among them ``host_ghz``, the host's clock."""
