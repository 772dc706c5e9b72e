"""Functions, published interfaces, host kernels and platforms, from the tables beside this file.

Each table starts with its source; each row names its own source and what it assumes.  An empty
cell is a figure that the source does not give: None, never zero.

Every row is an attribute of this module, called by its kind and name: ``interface_apu``.

May import `dse.contract`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType

from dse.contract import Function, Interface, Kernel, Platform
from dse.contract.published import read_published

_GIGA, _MEGA, _NANO, _PICO = 1e9, 1e6, 1e-9, 1e-12
_SQUARE_MICROMETRE = 1e-12


def read_catalogue(table: str) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table beside this file, as text by column."""
    return read_published(files("dse.objectives.catalogue") / table).rows


def _number(row: Mapping[str, str], column: str, unit: float = 1.0) -> float | None:
    text = row[column]
    return float(text) * unit if text else None


def _given(row: Mapping[str, str], column: str, unit: float = 1.0) -> float:
    value = _number(row, column, unit)
    if value is None:
        raise ValueError(f"catalogue row {row['name']!r}: {column} is empty; write a number")
    return value


UNPUBLISHED = ("idle_power", "transfer_energy", "attachment_area")
"""Fields of the attachment itself, which no source of any interface gives."""


def _interface(row: Mapping[str, str]) -> Interface:
    return Interface(
        name=row["name"],
        host=row["host"],
        attachment=row["attachment"],
        host_clock_hz=_given(row, "host_clock_ghz", _GIGA),
        overhead_cycles=_given(row, "overhead_cycles"),
        # A latency is either fixed or per byte; the other is no figure at all, hence adds nothing.
        latency_cycles=_number(row, "latency_cycles") or 0.0,
        latency_cycles_per_byte=_number(row, "latency_cycles_per_byte") or 0.0,
        link_byte_per_cycle=_number(row, "link_byte_per_cycle"),
        wait=row["wait"],
        max_in_flight=_number(row, "max_in_flight"),
        host_cores=_number(row, "host_cores"),
        host_power_w=_number(row, "host_power_w"),
        buffer_area_m2_per_bit=_number(row, "buffer_um2_per_bit", _SQUARE_MICROMETRE) or 0.0,
        buffer_leakage_w_per_bit=_number(row, "buffer_pw_per_bit", _PICO) or 0.0,
        source=row["source"],
        note=row["note"],
        assumptions=tuple(row["assumptions"].split()),
        unspecified=UNPUBLISHED,
    )


def _attachment(name: str, rows: Sequence[Mapping[str, str]]) -> Interface:
    """Return the interface of some lines of attachments.csv, each field with its own source."""
    texts = {entry.name for entry in fields(Interface) if entry.type == "str"}
    values = {row["field"]: row["value"] for row in rows}
    unspecified = tuple(values.pop("not_published").split())
    figures = {field: float(text) for field, text in values.items() if field not in texts}
    words: dict[str, str] = {field: text for field, text in values.items() if field in texts}
    known = {row["field"]: row for row in rows if row["grade"]}
    references = dict.fromkeys(filter(None, (row["reference"] for row in rows)))
    return Interface(
        name=name,
        **words,  # type: ignore[arg-type]
        **figures,  # type: ignore[arg-type]
        source="; ".join(_REFERENCES[key]["short"] for key in references),
        sources={field: _source_of(row) for field, row in known.items()},
        assumptions=tuple(field for field, row in known.items() if row["grade"] == "assumed"),
        unspecified=unspecified,
    )


def _source_of(row: Mapping[str, str]) -> str:
    """Return the grade of a figure, where it comes from and under which conditions."""
    reference = _REFERENCES[row["reference"]]["text"] if row["reference"] else ""
    return ": ".join(filter(None, (row["grade"], reference, row["conditions"])))


def _kernel(row: Mapping[str, str]) -> Kernel:
    index = _number(row, "index_ns_per_byte", _NANO)
    if index is None:
        index = _given(row, "index_cycles_per_byte") / _given(row, "host_clock_ghz", _GIGA)
    assumption = f"; assumes: {row['assumption']}" if row["assumption"] else ""
    return Kernel(
        name=row["name"],
        provides=tuple(row["provides"].split()),
        index_s_per_byte=index,
        offset_s=_number(row, "offset_ns", _NANO) or 0.0,
        exponent=_given(row, "exponent"),
        host=row["host"],
        source=row["source"] + assumption,
    )


def _function(row: Mapping[str, str]) -> Function:
    return Function(
        name=row["name"],
        summary=row["summary"],
        kind_of=row["kind_of"],
        key_bit=tuple(map(int, row["key_bit"].split())),
        block_bit=int(row["block_bit"] or 0),
        standard=row["standard"],
    )


def _platform(row: Mapping[str, str]) -> Platform:
    return Platform(
        name=row["name"],
        processor=row["processor"],
        constant_power_w=_given(row, "pi1_w"),
        usable_power_w=_number(row, "delta_pi_w"),
        memory_byte_per_s=_number(row, "sustained_mem_gbs", _GIGA),
        memory_j_per_byte=_given(row, "eps_mem_pj_per_b", _PICO),
        single_op_per_s=_number(row, "sustained_single_gflops", _GIGA),
        single_j_per_op=_number(row, "eps_single_pj", _PICO),
        double_op_per_s=_number(row, "sustained_double_gflops", _GIGA),
        double_j_per_op=_number(row, "eps_double_pj", _PICO),
        source=f"{row['source']}; sustained rates",
    )


_REFERENCES = {row["reference"]: row for row in read_catalogue("references.csv")}

_attachment_rows = groupby(read_catalogue("attachments.csv"), itemgetter("interface"))
interfaces: tuple[Interface, ...] = (
    *map(_interface, read_catalogue("interfaces.csv")),
    *(_attachment(name, tuple(rows)) for name, rows in _attachment_rows),
)
kernels: tuple[Kernel, ...] = tuple(map(_kernel, read_catalogue("kernels.csv")))
functions: tuple[Function, ...] = tuple(map(_function, read_catalogue("functions.csv")))

_platform_rows = {row["name"]: row for row in read_catalogue("platforms.csv")}
platforms: tuple[Platform, ...] = tuple(map(_platform, _platform_rows.values()))

globals().update({f"interface_{record.name}": record for record in interfaces})
globals().update({f"function_{record.name}": record for record in functions})
globals().update({f"kernel_{record.name}": record for record in kernels})
globals().update({f"platform_{record.name}": record for record in platforms})

idle_power_w: Mapping[str, float] = MappingProxyType(
    {name: _given(row, "idle_w") for name, row in _platform_rows.items()}
)
"""Measured power of each platform without load; fitted constant power may be below it."""


def vendor_peak(platform_name: str) -> Platform:
    """Return the platform at the rates its vendor claims (columns 3 to 5), not the sustained ones.

    Raises
    ------
    ValueError
        No platform has this name.
    """
    if platform_name not in _platform_rows:
        known = ", ".join(_platform_rows)
        raise ValueError(f"no platform is called {platform_name!r}; known: {known}")
    row = _platform_rows[platform_name]
    return replace(
        _platform(row),
        memory_byte_per_s=_number(row, "peak_mem_gbs", _GIGA),
        single_op_per_s=_number(row, "peak_single_gflops", _GIGA),
        double_op_per_s=_number(row, "peak_double_gflops", _GIGA),
        source=f"{row['source']}; vendor's peak rates",
    )
