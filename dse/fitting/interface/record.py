"""The record file of a fitted interface and kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dse.algebra import units
from dse.errors import OutputError
from dse.fitting.interface.policy import break_even_text, policy
from dse.fitting.interface.report import InterfaceReport
from dse.fitting.interface.text import METHOD, adequacy
from dse.reports.words import interval, percent
from dse.study import records, uncertain

PerByte = Literal["latency", "computing"]
"""What an offload's time per byte is taken for where the data cannot tell."""


def sections(found: InterfaceReport, name: str, per_byte: PerByte) -> dict[str, dict[str, Any]]:
    """Return the sections `interface` and `kernel`, both called `name`.

    With exponent 1, `per_byte` decides: ``latency`` keeps the whole time per byte in the interface,
    where it bounds every accelerator behind it; ``computing`` leaves none.
    """
    values = {key: value for key, (value, _, _) in found.fit.estimates.items()}
    latency = values["per_byte_s_per_byte"]
    if found.fit.linear and per_byte == "computing":
        latency = 0.0
    source = f"fitted to {', '.join(file for file, _ in found.timings.files)}"
    machine = found.timings.facts.get("machine", "")
    interface: dict[str, Any] = {
        "name": name,
        "overhead": _written(values["fixed_s"], "fixed_s"),
        "latency": _written(latency, "per_byte_s_per_byte"),
        "source": source,
        "note": _note(found, per_byte),
    }
    kernel: dict[str, Any] = {
        "name": name,
        "index": _written(values["index_s_per_byte"], "index_s_per_byte"),
        "exponent": float(f"{values['exponent']:.6g}"),
        "offset": _written(values["host_offset_s"], "host_offset_s"),
        "source": source,
    }
    if machine:
        interface["host"] = kernel["host"] = machine
    fitted = {"overhead": "fixed_s", "latency": "per_byte_s_per_byte"}
    if latency == 0.0 < found.fit.estimates["per_byte_s_per_byte"].value:
        interface["assumptions"] = ["latency"]
        del fitted["latency"]
    interface |= _sureness(found, fitted)
    fitted = {"index": "index_s_per_byte", "exponent": "exponent", "offset": "host_offset_s"}
    if found.is_linear_unasked:
        kernel["assumptions"] = ["exponent"]
        del fitted["exponent"]
    if found.pure:
        del fitted["offset"]
    kernel |= _sureness(found, fitted)
    return {"interface": interface, "kernel": kernel}


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
            f"{percent(curve.worst)}, at sizes left out {percent(curve.left_out)}"
            for name, curve in curves.items()
        },
        "estimates": shown,
        "adequacy": adequacy(found),
        "break_even": break_even_text(found),
        "policy": policy(found),
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


def _sureness(found: InterfaceReport, fitted: Mapping[str, str]) -> dict[str, Any]:
    """Return which fields are fitted, and how sure they are; an exponent kept at 1 is not drawn."""
    shares = {}
    for field, name in fitted.items():
        estimate = found.fit.estimates[name]
        if estimate.value > 0 and not (name == "exponent" and found.fit.linear):
            shares[field] = percent(uncertain.share_of_interval(*estimate))
    return {"fitted": list(fitted), "uncertainty": shares}


def _written(value: float, name: str) -> str | float:
    return units.written(float(f"{value:.6g}"), name)


def save_interface(
    found: InterfaceReport, out: Path, per_byte: PerByte, *, force: bool
) -> list[Path]:
    """Write the record and, beside it, the picture; return their paths.

    Raises
    ------
    OutputError
        When they cannot be written, or the record is there already and `force` is not given.
    """
    from dse.fitting.interface import plots  # matplotlib, only now

    out, name = records.path_and_name(out, out)
    records.write_record(out, sections(found, name, per_byte), fit_provenance(found), force=force)
    try:
        pictures = plots.draw_fit(found, f"{name}: host and offload", out.with_suffix(""))
    except OSError as error:
        raise OutputError(f"{out.with_suffix('.png')} cannot be written: {error}") from error
    return [out, *pictures]
