"""Functions, published interfaces, host kernels and platforms, from the tables beside this file.

Each table starts with its source.  Each row names its own source and its assumptions.  An empty
cell is a value that the source does not give: None, never zero.

May import `dse.contract`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from importlib.resources import files

from dse.contract import Function, Interface, Kernel, Platform
from dse.contract.published import read_published

_GIGA, _MEGA, _NANO, _PICO = 1e9, 1e6, 1e-9, 1e-12
_SQUARE_MICROMETRE = 1e-12


@cache
def read_catalogue(table: str) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table beside this file, as text by column."""
    return read_published(files("dse.objectives.catalogue") / table).rows


def _row(table: str, name: str, column: str = "name") -> Mapping[str, str]:
    return next(row for row in read_catalogue(table) if row[column] == name)


def _number(row: Mapping[str, str], column: str, unit: float = 1.0) -> float | None:
    text = row[column]
    return float(text) * unit if text else None


def _given(row: Mapping[str, str], column: str, unit: float = 1.0) -> float:
    value = _number(row, column, unit)
    if value is None:
        raise ValueError(f"catalogue row {row['name']!r}: {column} is empty; write a number")
    return value


UNPUBLISHED = ("buffer_energy", "idle_power", "transfer_energy", "attachment_area")
"""Fields of buffers and attachment that no source of any interface gives."""


def interface_called(name: str) -> Interface:
    """Return an interface of interfaces.csv."""
    row = _row("interfaces.csv", name)
    return Interface(
        name=name,
        label=row["label"],
        host=row["host"],
        attachment=row["attachment"],
        host_clock_hz=_given(row, "host_clock_ghz", _GIGA),
        overhead_cycles=_given(row, "overhead_cycles"),
        # A latency is either fixed or per byte.  The other has no value, hence adds nothing.
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


def attachment_called(name: str) -> Interface:
    """Return the interface of some lines of attachments.csv, each field with its own source."""
    rows = [row for row in read_catalogue("attachments.csv") if row["interface"] == name]
    texts = {entry.name for entry in fields(Interface) if entry.type == "str"}
    values = {row["field"]: row["value"] for row in rows}
    unspecified = tuple(values.pop("not_published").split())
    given = {key: text if key in texts else float(text) for key, text in values.items()}
    known = {row["field"]: row for row in rows if row["grade"]}
    references = dict.fromkeys(filter(None, (row["reference"] for row in rows)))
    return Interface(
        name=name,
        **given,  # type: ignore[arg-type]
        source="; ".join(_reference(key)["short"] for key in references),
        sources={field: _source_of(row) for field, row in known.items()},
        assumptions=tuple(field for field, row in known.items() if row["grade"] == "assumed"),
        unspecified=unspecified,
    )


def _source_of(row: Mapping[str, str]) -> str:
    """Return the grade of a value, its source and its conditions."""
    reference = _reference(row["reference"])["text"] if row["reference"] else ""
    return ": ".join(filter(None, (row["grade"], reference, row["conditions"])))


def _reference(key: str) -> Mapping[str, str]:
    return _row("references.csv", key, "reference")


def kernel_called(name: str) -> Kernel:
    """Return a kernel of kernels.csv."""
    row = _row("kernels.csv", name)
    index = _number(row, "index_ns_per_byte", _NANO)
    if index is None:
        index = _given(row, "index_cycles_per_byte") / _given(row, "host_clock_ghz", _GIGA)
    assumption = f"; assumes: {row['assumption']}" if row["assumption"] else ""
    return Kernel(
        name=name,
        provides=tuple(row["provides"].split()),
        index_s_per_byte=index,
        offset_s=_number(row, "offset_ns", _NANO) or 0.0,
        exponent=_given(row, "exponent"),
        host=row["host"],
        source=row["source"] + assumption,
    )


def function_called(name: str) -> Function:
    """Return a function of functions.csv."""
    row = _row("functions.csv", name)
    return Function(
        name=name,
        summary=row["summary"],
        kind_of=row["kind_of"],
        key_bit=tuple(map(int, row["key_bit"].split())),
        block_bit=int(row["block_bit"] or 0),
        standard=row["standard"],
    )


def platform_called(name: str) -> Platform:
    """Return a platform of platforms.csv at its sustained rates."""
    row = _row("platforms.csv", name)
    return Platform(
        name=name,
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


def vendor_peak(platform_name: str) -> Platform:
    """Return the platform at the rates its vendor claims (columns 3 to 5), not the sustained ones.

    Raises
    ------
    ValueError
        No platform has this name.
    """
    known = [row["name"] for row in read_catalogue("platforms.csv")]
    if platform_name not in known:
        raise ValueError(f"no platform is called {platform_name!r}; known: {', '.join(known)}")
    row = _row("platforms.csv", platform_name)
    return replace(
        platform_called(platform_name),
        memory_byte_per_s=_number(row, "peak_mem_gbs", _GIGA),
        single_op_per_s=_number(row, "peak_single_gflops", _GIGA),
        double_op_per_s=_number(row, "peak_double_gflops", _GIGA),
        source=f"{row['source']}; vendor's peak rates",
    )
