"""Cores that others have published, each with its source, its node and its kind of evidence.

Two tables: one report's synthesis of 88 lightweight ciphers, and single cores from repositories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial

import numpy as np

from dse.contract import Core, CoreMetrics, Model
from dse.contract.published import PublishedTable, read_published, si_columns
from dse.cores._table import TABLES, metrics

_Row = Mapping[str, str]

_MESSAGE_BIT = 1536 * 8.0
_BIT_PER_BYTE = 8.0
_FIGURES = (
    *("area_um2", "area_ge", "area_lc", "clock_mhz", "payload_bit", "cycles_per_task"),
    *("bandwidth_gbit_per_s", "tasks_in_flight"),
)
_ASSUMED = ("latency_cycles", "read_byte", "written_byte")
_UNSTATED = (
    "one message at a time, moved once each way, is an assumption; power is omitted, as it is not "
    "comparable between the targets"
)

CIPHERS = {
    "drygascon": "DryGASCON",
    "elephant": "Elephant, 1 or 5 permutations",
    "photon_beetle": "PHOTON-Beetle",
    "pyjamask": "Pyjamask",
    "romulus": "Romulus, 1 to 8 rounds a cycle",
    "subterranean": "Subterranean",
    "tinyjambu": "TinyJAMBU, 1 to 32 steps a cycle",
    "xoodyak": "Xoodyak, 1 to 12 rounds a cycle",
}
"""Ciphers of the table of 65 nm, by the function that they are."""

_PRINTED = {"photon_beetle": "beetle"}


@cache
def _table(file: str) -> PublishedTable:
    return read_published(TABLES / file)


def lightweight_core(name: str) -> Core:
    """Return the core of a cipher: a design for each row, alike ones under all their targets."""
    table, cipher = _table("aead_65nm.csv"), name.removesuffix("_65nm")
    start = _PRINTED.get(cipher, cipher) + "-"
    rows = [row for row in table.rows if row["design"].startswith(start)]
    least = _least_periods(rows)
    alike: dict[tuple[str, ...], list[_Row]] = {}
    for row in rows:
        alike.setdefault(tuple(text for key, text in row.items() if key != "corner"), []).append(
            row
        )
    designs = {_name(same, start): same[0] for same in alike.values()}
    kept = {design: row for design, row in designs.items() if row["throughput_mbps_1536"]}
    return Core(
        name=name,
        summary=f"{CIPHERS[cipher]}, authenticated encryption of messages of 1536 B",
        provides=(cipher,),
        node="65 nm",
        evidence="synthesis",
        label=CIPHERS[cipher].partition(",")[0],
        omitted={design: "no rate is printed" for design in designs if design not in kept},
        models={
            "table": Model(
                function=partial(_message_rates, [*kept.values()], least),
                designs=tuple(kept),
                source=f"{table.source}; {_UNSTATED}",
                assumed=_ASSUMED,
            )
        },
    )


def _name(same: Sequence[_Row], start: str) -> str:
    targets = [row["corner"].lower() for row in same]
    return "_".join([same[0]["design"].removeprefix(start).replace("-", "_"), *targets])


def _least_periods(rows: Sequence[_Row]) -> dict[str, float]:
    """Return the least period of each design over its targets, in ns."""
    found: dict[str, float] = {}
    for row in rows:
        found[row["design"]] = min(float(row["period_ns"]), found.get(row["design"], np.inf))
    return found


def _message_rates(rows: Sequence[_Row], least_ns: Mapping[str, float]) -> CoreMetrics:
    """Return columns of shape (n,): cycles of a message are its bits over printed rate and clock.

    The printed rate is the rate at the least period of the design, on every row.
    """
    cycles = np.array(
        [
            _MESSAGE_BIT / (float(row["throughput_mbps_1536"]) * 1e-3 * least_ns[row["design"]])
            for row in rows
        ]
    )
    printed = si_columns(rows, ("area_um2", "GE"))
    return metrics(
        area_m2=printed["area_m2"],
        area_ge=printed["GE"],
        clock_hz=1e9 / np.array([float(row["period_ns"]) for row in rows]),
        payload_bit=_MESSAGE_BIT,
        cycles_per_task=cycles,
        latency_cycles=cycles,
        tasks_in_flight=1.0,
        read_byte=_MESSAGE_BIT / _BIT_PER_BYTE,
        written_byte=_MESSAGE_BIT / _BIT_PER_BYTE,
        extrapolated=0.0,
    )


def single_core(name: str) -> Core:
    """Return a core of published.csv.  Its first row has the contents of empty cells."""
    rows = [row for row in _table("published.csv").rows if row["core"] == name]
    first = rows[0]
    parallel = any(row["tasks_in_flight"] for row in rows)
    assumed = _ASSUMED[1:] if parallel else _ASSUMED
    return Core(
        name=name,
        summary=first["summary"],
        provides=tuple(first["provides"].split()),
        node=first["node"],
        evidence=first["evidence"],
        models={
            "table": Model(
                function=partial(_printed_rates, rows),
                designs=tuple(row["design"] for row in rows),
                source="; ".join(dict.fromkeys(row["source"] for row in rows)),
                assumed=assumed,
            )
        },
    )


def _printed_rates(rows: Sequence[_Row]) -> CoreMetrics:
    """Return columns of shape (n,), NaN for an area that no row gives."""
    printed = si_columns(rows, _FIGURES)
    payload, cycles = printed["payload_bit"], printed["cycles_per_task"]
    by_rate = printed["clock_hz"] * payload / printed["bandwidth_bit_per_s"]
    cycles = np.where(np.isnan(cycles), by_rate, cycles)
    slots = np.nan_to_num(printed["tasks_in_flight"], nan=1.0)
    return metrics(
        **{name: printed[name] for name in ("area_m2", "area_ge", "area_lc", "clock_hz")},
        payload_bit=payload,
        cycles_per_task=cycles,
        latency_cycles=cycles * slots,
        tasks_in_flight=slots,
        read_byte=payload / _BIT_PER_BYTE,
        written_byte=payload / _BIT_PER_BYTE,
        extrapolated=0.0,
    )
