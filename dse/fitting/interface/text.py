"""A fitted interface as tables and sentences, and as plain data."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import Any

from dse.algebra import units
from dse.fitting.interface.adequacy import Curve
from dse.fitting.interface.report import InterfaceReport
from dse.reports.text import WIDTH, table_text
from dse.reports.words import listed, percent

METHOD = "LogCA by least squares of log time, 95 % intervals"


def interface_text(found: InterfaceReport) -> str:
    """Return a fit as text."""
    sizes = found.timings.size
    where = ", ".join(name for name, _ in found.timings.files)
    head = (
        f"{where}: {len(sizes)} sizes from {units.show(sizes[0], 'size_byte')} "
        f"to {units.show(sizes[-1], 'size_byte')}"
    )
    facts = [f"{name}: {value}" for name, value in found.timings.facts.items()]
    headers = ("parameter", "value", "95 % interval", "what it is")
    curve = ("curve", "noise", "largest residual", "size left out", "worst", "adequacy")
    parts = [
        "\n".join([head, *facts]),
        table_text(_parameters(found), headers),
        table_text(_curves(found), curve),
        "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in sentences(found)),
    ]
    return "\n\n".join(parts)


def _parameters(found: InterfaceReport) -> Iterator[tuple[str, str, str, str]]:
    """Yield symbol, value, interval and meaning of each parameter."""
    values = found.values
    slope = (
        "time per byte of an offload, computing included" if found.linear else "latency per byte"
    )
    share = "peak acceleration" + (", if all time per byte is computing" if found.linear else "")
    bent = "" if found.linear else ", in s/B^beta"
    for symbol, name, meaning in (
        ("C", "index_s_per_byte", f"time per byte on the host{bent}"),
        ("beta", "exponent", "exponent of the granularity"),
        ("host offset", "host_offset_s", "fixed time of a call on the host"),
        ("o + L", "fixed_s", "fixed time of an offload: overhead and latency together"),
        ("L + C/A" if found.linear else "L per byte", "per_byte_s_per_byte", slope),
        ("A", "peak_acceleration", share),
    ):
        value, low, high = values[name]
        if found.pure and name == "host_offset_s":
            yield symbol, "0 ns", "not fitted", meaning
            continue
        yield symbol, units.show(value, name), interval(low, high, name), meaning


def interval(low: float, high: float, name: str) -> str:
    """Return an interval as text."""
    if math.isnan(low) or math.isnan(high):
        return "none"
    if math.isinf(high):
        return f"{units.show(low, name)} or more" if low > 0 else "any"
    return f"{units.show(low, name)} to {units.show(high, name)}"


def _curves(found: InterfaceReport) -> Iterator[tuple[str, ...]]:
    """Yield curve, noise, largest residual, error at sizes left out, and adequacy."""
    checks = found.checks
    named = {"host": checks.host, "offload": checks.offload}
    if not found.pure:
        named["host without offset"] = checks.pure
    for name, curve in named.items():
        yield (
            name,
            percent(curve.noise),
            f"{percent(curve.worst)} at {units.show(curve.worst_byte, 'size_byte')}",
            percent(curve.left_out),
            percent(curve.left_out_worst),
            _adequacy(
                *(
                    (checks.pure_p, checks.pure_fits)
                    if curve is checks.pure
                    else (curve.p, curve.fits)
                )
            ),
        )


def _adequacy(p: float, fits: bool) -> str:
    if math.isnan(p):
        return "too few sizes to test"
    return f"{'fits' if fits else 'does not fit'} ({_probability(p)})"


def _probability(p: float) -> str:
    """Return how likely data are under a model, two digits."""
    return f"p = {p:.2g}" if p >= 1e-6 else "p below 1e-6"


def sentences(found: InterfaceReport) -> Iterator[str]:
    """Yield what to know: adequacy, break-even, policy, and what the data cannot tell apart."""
    yield adequacy(found)
    low, high = found.values["exponent"][1:]
    if found.linear and not low <= 1 <= high:
        p = _probability(float(found.fit.linear_p[0]))
        yield f"beta = 1 is kept: the data do not speak against it strongly enough ({p})"
    offload = found.checks.offload
    if not offload.fits:
        yield f"the model does not fit the offload: it is {_off(offload)}"
    yield break_even_text(found)
    yield f"policy: {policy(found)}"
    yield (
        "o and L: times of whole offloads hold only their sum; the record takes it as overhead, "
        "which keeps the host busy"
    )
    peak, latency = found.values["peak_acceleration"], found.values["per_byte_s_per_byte"]
    if found.linear:
        least = units.show(peak[0], "peak_acceleration")
        yield (
            "latency per byte and C/A: with beta = 1 both grow with the size, and only their sum "
            f"shows; A lies between {least} (no latency per byte) "
            "and infinity (nothing but latency)"
        )
    elif latency[1] == 0:
        yield (
            "latency per byte and C/A: the interval of the latency reaches zero; with beta so "
            "close to 1, or so much noise, these data hardly tell them apart"
        )
    yield from found.timings.notes


def adequacy(found: InterfaceReport) -> str:
    """Say whether LogCA as published fits the host, and whether a host offset repairs it."""
    checks = found.checks
    pure = f"{_off(checks.pure)}, and by {percent(checks.pure.left_out)} at sizes left out"
    if checks.pure_fits:
        return "pure LogCA (no host offset) fits the host: nothing speaks for an offset"
    start = f"pure LogCA (no host offset) does not fit the host: it is {pure}"
    if found.pure:
        return f"{start}; fit without --pure"
    offset = units.show(found.values["host_offset_s"][0], "offset_s")
    if checks.host.fits:
        return f"{start}; a host offset of {offset} repairs it"
    return f"{start}; a host offset of {offset} does not repair it: it is still {_off(checks.host)}"


def _off(curve: Curve) -> str:
    where = units.show(curve.worst_byte, "size_byte")
    return f"off by up to {percent(abs(curve.worst))}, at {where}"


def break_even_text(found: InterfaceReport) -> str:
    """Say where both times are equal: in the model with its interval, and in the data."""
    pays, sizes = found.pays, found.timings.size
    measured = {
        True: "the measured offload is never faster",
        False: f"interpolated in the data: {units.show(pays.of_data, 'granularity_byte')}",
    }[math.isnan(pays.of_data)]
    if pays.of_data == 0:
        measured = "the measured offload is faster at every size"
    if not pays.pays:
        return f"break-even: none, the model's offload is never faster; {measured}"
    start = pays.granularity
    if start == 0:
        text = "break-even: none, the model's offload is faster at every size"
    else:
        text = f"break-even: {units.show(start, 'granularity_byte')} "
        text += f"(95 % interval {interval(pays.low, pays.high, 'granularity_byte')})"
        if not sizes[0] <= start <= sizes[-1]:
            text += ", beyond the sizes measured"
    return f"{text}; {measured}"


def policy(found: InterfaceReport) -> str:
    """Say when to offload."""
    ranges = found.pays.pays
    if not ranges:
        return "never use the accelerator"
    if ranges == ((0.0, math.inf),):
        return "always use the accelerator"
    smallest = found.timings.size[0]
    if ranges[0][0] < smallest and ranges[0][1] == math.inf:
        least = units.show(math.ceil(ranges[0][0]), "size_byte")
        return f"use the accelerator at every size measured (by the model, from {least})"
    parts = []
    for start, stop in ranges:
        text = f"from {_round(start, up=True)}" if start > 0 else ""
        text += f" up to {_round(stop, up=False)}" if math.isfinite(stop) else ""
        parts.append(text.strip())
    high = found.pays.high
    text = f"use the accelerator {listed(parts)}"
    if math.isfinite(high) and high > ranges[0][0]:
        text += f" (surely from {_round(high, up=True)})"
    return text


def _round(size: float, *, up: bool) -> str:
    """Return a size with two digits, towards where the offload pays."""
    step = 10.0 ** (math.floor(math.log10(size)) - 1)
    whole = (math.ceil if up else math.floor)(size / step * (1 - 1e-12 if up else 1 + 1e-12))
    if step < 1:
        return units.show(float(math.ceil(size) if up else math.floor(size)), "size_byte")
    factor, unit = (1e3, "kB") if whole * step >= 1e3 else (1.0, "B")
    factor, unit = (1e6, "MB") if whole * step >= 1e6 else (factor, unit)
    return f"{whole * step / factor:.4g} {unit}"


def interface_facts(found: InterfaceReport) -> dict[str, Any]:
    """Return the numbers of a fit for JSON, in SI; what is infinite or unknown is None."""
    checks, pays, sizes = found.checks, found.pays, found.timings.size
    curves = {"host": checks.host, "offload": checks.offload, "host_without_offset": checks.pure}
    facts = {
        "sizes": len(sizes),
        "smallest_byte": float(sizes[0]),
        "largest_byte": float(sizes[-1]),
        "method": METHOD,
        "parameters": {
            name: dict(zip(("value", "low", "high"), ends, strict=True))
            for name, ends in found.values.items()
        },
        "exponent_is_one_p": float(found.fit.linear_p[0]),
        "curves": {name: vars(curve) for name, curve in curves.items()},
        "pure_fits": checks.pure_fits,
        "break_even": {
            "granularity_byte": pays.granularity,
            "low_byte": pays.low,
            "high_byte": pays.high,
            "of_data_byte": pays.of_data,
            "pays_byte": [list(ends) for ends in pays.pays],
        },
    }
    finite: dict[str, Any] = _finite(facts)
    return finite | {
        "policy": policy(found),
        "notes": list(sentences(found)),
        "facts": dict(found.timings.facts),
    }


def _finite(value: Any) -> Any:
    """Return plain data with None for what is infinite or unknown."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
