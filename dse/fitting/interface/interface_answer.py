"""What a fit of host and offload times says, in numbers with intervals and in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dse.algebra import units
from dse.errors import DseError
from dse.fitting.interface import interface_fit
from dse.fitting.interface.adequacy import Checks, Curve, check_adequacy
from dse.fitting.interface.break_even import BreakEven, break_even
from dse.fitting.interface.interface_fit import InterfaceFit
from dse.fitting.interface.timings import Timings

METHOD = "LogCA by least squares of log time, 95 % intervals"


@dataclass(frozen=True, kw_only=True, eq=False)
class InterfaceReport:
    """Timings, the fit, what speaks for and against it, and from where on an offload pays."""

    timings: Timings
    fit: InterfaceFit
    checks: Checks
    pays: BreakEven
    pure: bool

    @property
    def linear(self) -> bool:
        """Whether the exponent is 1 because the data do not reject it."""
        return bool(self.fit.linear[0])

    @property
    def values(self) -> dict[str, tuple[float, float, float]]:
        """Value, low and high end by name with unit suffix."""
        return {
            name: (float(found.value[0]), float(found.low[0]), float(found.high[0]))
            for name, found in self.fit.estimates.items()
        }


def report_on(timings: Timings, *, pure: bool = False) -> InterfaceReport:
    """Fit, check and find where an offload pays.

    Raises
    ------
    DseError
        When the host does not take longer for more data: no computation to fit.
    """
    data = (timings.size, timings.host, timings.offload)
    if timings.host[0, -1] <= timings.host[0, 0]:
        raise DseError(
            f"the host takes {units.show(timings.host[0, 0], 'host_s')} for the smallest and "
            f"{units.show(timings.host[0, -1], 'host_s')} for the largest size; "
            "a kernel takes longer for more data; look at the columns and their units"
        )
    fit = interface_fit.fit_times(*data, pure=pure)
    if not all(fit.estimates[name].value[0] > 0 for name in ("index_s_per_byte", "exponent")):
        raise DseError(
            "the host's time does not grow with the size as a power does; measure larger sizes"
        )
    return InterfaceReport(
        timings=timings,
        fit=fit,
        checks=check_adequacy(*data, fit),
        pays=break_even(fit, *data),
        pure=pure,
    )


def parameters(found: InterfaceReport) -> Iterator[tuple[str, str, str, str]]:
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


def curves(found: InterfaceReport) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Yield curve, noise, largest residual, error at sizes left out, and adequacy."""
    checks = found.checks
    named = {"host": checks.host, "offload": checks.offload}
    if not found.pure:
        named["host without offset"] = checks.pure
    for name, curve in named.items():
        yield (
            name,
            two_digits(curve.noise),
            f"{two_digits(curve.worst)} at {units.show(curve.worst_byte, 'size_byte')}",
            two_digits(curve.left_out),
            two_digits(curve.left_out_worst),
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
    return f"{'fits' if fits else 'does not fit'} ({probability(p)})"


def two_digits(share: float) -> str:
    """Return a share in per cent, two digits."""
    return f"{float(f'{100 * share:.2g}'):g} %"


def probability(p: float) -> str:
    """Return how likely data are under a model, two digits."""
    return f"p = {p:.2g}" if p >= 1e-6 else "p below 1e-6"


def sentences(found: InterfaceReport) -> Iterator[str]:
    """Yield what to know: adequacy, break-even, policy, and what the data cannot tell apart."""
    yield adequacy(found)
    low, high = found.values["exponent"][1:]
    if found.linear and not low <= 1 <= high:
        p = probability(float(found.fit.linear_p[0]))
        yield f"beta = 1 is kept: the data do not speak against it strongly enough ({p})"
    offload = found.checks.offload
    if not offload.fits:
        yield (f"the model does not fit the offload: it {_misses(offload)}")
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
    pure = f"{_misses(checks.pure)}, and by {two_digits(checks.pure.left_out)} at sizes left out"
    if checks.pure_fits:
        return "pure LogCA (no host offset) fits the host: nothing speaks for an offset"
    start = f"pure LogCA (no host offset) does not fit the host: it {pure}"
    if found.pure:
        return f"{start}; fit without --pure"
    offset = units.show(found.values["host_offset_s"][0], "offset_s")
    if checks.host.fits:
        return f"{start}; a host offset of {offset} repairs it"
    return f"{start}; a host offset of {offset} does not repair it: it still {_misses(checks.host)}"


def _misses(curve: Curve) -> str:
    where = units.show(curve.worst_byte, "size_byte")
    return f"misses by up to {two_digits(abs(curve.worst))}, at {where}"


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
    text = f"use the accelerator {' and '.join(parts)}"
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
    """Return the same numbers for JSON, in SI; what is infinite or unknown is None."""

    def number(value: float) -> float | None:
        return float(value) if math.isfinite(value) else None

    checks, pays = found.checks, found.pays
    curves_of = {"host": checks.host, "offload": checks.offload, "host_without_offset": checks.pure}
    return {
        "sizes": len(found.timings.size),
        "smallest_byte": float(found.timings.size[0]),
        "largest_byte": float(found.timings.size[-1]),
        "method": METHOD,
        "parameters": {
            name: {"value": number(value), "low": number(low), "high": number(high)}
            for name, (value, low, high) in found.values.items()
        },
        "exponent_is_one_p": float(found.fit.linear_p[0]),
        "curves": {
            name: {
                "noise": number(curve.noise),
                "worst": number(curve.worst),
                "worst_byte": curve.worst_byte,
                "left_out": number(curve.left_out),
                "left_out_worst": number(curve.left_out_worst),
                "p": number(curve.p),
            }
            for name, curve in curves_of.items()
        },
        "pure_fits": checks.pure_fits,
        "break_even": {
            "granularity_byte": number(pays.granularity),
            "low_byte": number(pays.low),
            "high_byte": number(pays.high),
            "of_data_byte": number(pays.of_data),
            "pays_byte": [[number(low), number(high)] for low, high in pays.pays],
        },
        "policy": policy(found),
        "notes": list(sentences(found)),
        "facts": dict(found.timings.facts),
    }
