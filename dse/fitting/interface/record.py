"""The record file of a fitted interface and kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dse.algebra import units
from dse.errors import OutputError
from dse.fitting.interface.policy import break_even_text, doubt, measured_text, policy
from dse.fitting.interface.report import InterfaceReport
from dse.fitting.interface.text import METHOD, PER_BYTE, adequacy
from dse.reports.text import interval, percent
from dse.study import records
from dse.study.cores import models

PerByte = Literal["latency", "computing"]
"""What an offload's time per byte is taken for where the data cannot tell."""


def sections(found: InterfaceReport, name: str, per_byte: PerByte) -> dict[str, dict[str, Any]]:
    """Return the sections `interface` and `kernel`, both called `name`.

    With exponent 1, `per_byte` decides: ``latency`` keeps the whole time per byte in the interface,
    which then `includes` the device: a whole accelerator; ``computing`` leaves none.
    """
    interface = {"overhead": "fixed_s", "latency": PER_BYTE}
    none = ["latency"] * (found.fit.linear and per_byte == "computing")
    kernel = {"index": "index_s_per_byte", "exponent": "exponent", "offset": "host_offset_s"}
    taken = ["exponent"] * found.is_linear_assumed + ["offset"] * found.pure
    whole = {"includes": "device"} if found.fit.linear and per_byte == "latency" else {}
    note = {"note": _note(found, per_byte)}
    return {
        "interface": _section(found, name, interface, none) | whole | note,
        "kernel": _section(found, name, kernel, taken),
    }


def _section(
    found: InterfaceReport, name: str, figures: Mapping[str, str], assumed: list[str]
) -> dict[str, Any]:
    """Return a section: figures, which of them are fitted, and how sure those are.

    An exponent that is kept at 1 is not drawn, nor is what is zero.
    """
    section: dict[str, Any] = {"name": name}
    shares = {}
    for field, column in figures.items():
        estimate = found.fit.estimates[column]
        value = 0.0 if field == "latency" and field in assumed else estimate.value
        section[field] = units.written(float(f"{value:.6g}"), column)
        kept = field in assumed or (field == "exponent" and found.fit.linear)
        if value > 0 and not kept:
            shares[field] = percent(models.share_of_interval(*estimate))
    section["source"] = f"fitted to {', '.join(file for file, _ in found.timings.files)}"
    if "machine" in found.timings.facts:
        section["host"] = found.timings.facts["machine"]
    fitted = [field for field in figures if field not in assumed]
    return section | {"assumptions": assumed, "fitted": fitted, "uncertainty": shares}


def fit_provenance(found: InterfaceReport) -> dict[str, Any]:
    """Return where the record comes from: file, hash, date, method, range, residuals."""
    files = found.timings.files
    sizes = found.timings.size
    checks = found.checks
    values = found.fit.estimates
    shown = {
        name: f"{units.show(value, name)} ({interval(low, high, name)})"
        for name, (value, low, high) in values.items()
    }
    curves = {"host": checks.host, "offload": checks.offload}
    method = METHOD + (", no host offset" if found.pure else ", with a host offset")
    each = [records.provenance(data, name, method) for name, data in files]
    joined = {key: ", ".join(one[key] for one in each) for key in ("file", "sha256")}
    return {
        **each[0],
        **joined,
        "range": f"{units.show(sizes[0], 'size_byte')} to {units.show(sizes[-1], 'size_byte')}, "
        f"{len(sizes)} sizes",
        "residuals": {
            name: f"{percent(curve.noise)} (relative standard deviation), largest "
            f"{percent(curve.worst)}, at held-out sizes {percent(curve.held_out)}"
            for name, curve in curves.items()
        },
        "estimates": shown,
        "adequacy": adequacy(found),
        "break_even": break_even_text(found),
        "policy": policy(found),
        **({"refused": doubt(found), "measured": measured_text(found)} if doubt(found) else {}),
        **found.timings.facts,
    }


def _note(found: InterfaceReport, per_byte: PerByte) -> str:
    text = "overhead is o + L, which times of whole offloads cannot separate"
    if not found.fit.linear:
        acceleration = found.fit.estimates["peak_acceleration"][0]
        known = math.isfinite(acceleration)
        return f"{text}; A = {acceleration:.4g}" if known else f"{text}; A is unbounded"
    if per_byte == "latency":
        return f"{text}; latency is the whole time per byte, the device's computing included"
    least = units.show(found.fit.estimates["peak_acceleration"][0], "peak_acceleration")
    return f"{text}; the whole time per byte is taken as computing, A = {least}"


def save_interface(found: InterfaceReport, out: Path, per_byte: PerByte) -> list[Path]:
    """Write the record and, beside it, the picture; return their paths.

    Raises
    ------
    OutputError
        When they cannot be written, or the record is there already.
    """
    from dse.fitting.interface import plots  # matplotlib, only now

    out, name = records.path_and_name(out, out)
    records.write_record(out, sections(found, name, per_byte), fit_provenance(found))
    try:
        pictures = plots.draw_fit(found, f"{name}: host and offload", out.with_suffix(""))
    except OSError as error:
        raise OutputError(f"{out.with_suffix('.png')} cannot be written: {error}") from error
    return [out, *pictures]
