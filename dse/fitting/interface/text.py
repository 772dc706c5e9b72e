"""A fitted interface as tables and sentences, and as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dse.algebra import units
from dse.fitting.interface.fit import SIGNIFICANCE
from dse.fitting.interface.policy import break_even_text, policy
from dse.fitting.interface.report import CLOSE, Curve, InterfaceReport
from dse.reports.text import Printable, interval, paragraph, percent, table_text

METHOD = "LogCA by least squares of log time, 95 % intervals"
PER_BYTE = "per_byte_s_per_byte"


@dataclass(frozen=True, repr=False, kw_only=True, eq=False)
class InterfaceFitReport(Printable, InterfaceReport):
    """A fitted interface and kernel; as text what `dse fit interface` prints of them.

    Attributes
    ----------
    files
        What was written.
    """

    files: tuple[Path, ...] = ()

    def text(self) -> str:
        """Return a fit as text."""
        sizes = self.timings.size
        where = ", ".join(name for name, _ in self.timings.files)
        head = (
            f"{where}: {len(sizes)} sizes from {units.show(sizes[0], 'size_byte')} "
            f"to {units.show(sizes[-1], 'size_byte')}"
        )
        facts = [f"{name}: {value}" for name, value in self.timings.facts.items()]
        headers = ("parameter", "value", "95 % interval", "what it is")
        curve = ("curve", "noise", "largest residual", "held-out size", "worst", "adequacy")
        parts = [
            "\n".join([head, *facts]),
            table_text(_parameters(self), headers),
            table_text(_curves(self), curve),
            "\n".join(paragraph(line, "  ") for line in sentences(self)),
        ]
        return "\n\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of a fit for JSON, in SI; what is infinite or unknown is None."""
        checks, pays, sizes = self.checks, self.pays, self.timings.size
        curves = {
            "host": checks.host,
            "offload": checks.offload,
            "host_without_offset": checks.pure,
        }
        facts = {
            "sizes": len(sizes),
            "smallest_byte": float(sizes[0]),
            "largest_byte": float(sizes[-1]),
            "method": METHOD,
            "parameters": {
                name: estimate._asdict() for name, estimate in self.fit.estimates.items()
            },
            "exponent_is_one_p": self.fit.linear_p,
            "curves": {name: vars(curve) for name, curve in curves.items()},
            "pure_fits": checks.pure_fits,
            "break_even": {
                "crossings_byte": [crossing._asdict() for crossing in pays.crossings],
                "pays_byte": [list(ends) for ends in pays.pays],
                "pays_in_data_byte": [list(ends) for ends in pays.of_data],
            },
        }
        finite: dict[str, Any] = _finite(facts)
        return finite | {
            "policy": policy(self),
            "notes": list(sentences(self)),
            "facts": dict(self.timings.facts),
        }


def _parameters(found: InterfaceReport) -> Iterator[tuple[str, str, str, str]]:
    """Yield symbol, value, interval and meaning of each parameter."""
    values, linear = found.fit.estimates, found.fit.linear
    slope = "time per byte of an offload, computing included" if linear else "latency per byte"
    share = "peak acceleration" + (", if all time per byte is computing" if linear else "")
    bent = "" if linear else ", in s/B^beta"
    for symbol, name, meaning in (
        ("C", "index_s_per_byte", f"time per byte on the host{bent}"),
        ("beta", "exponent", "exponent of the granularity"),
        ("host offset", "host_offset_s", "fixed time of a call on the host"),
        ("o + L", "fixed_s", "fixed time of an offload: overhead and latency together"),
        ("L + C/A" if linear else "L per byte", "per_byte_s_per_byte", slope),
        ("A", "peak_acceleration", share),
    ):
        value, low, high = values[name]
        if found.pure and name == "host_offset_s":
            yield symbol, "0 ns", "not fitted", meaning
            continue
        yield symbol, units.show(value, name), interval(low, high, name), meaning


def _curves(found: InterfaceReport) -> Iterator[tuple[str, ...]]:
    """Yield curve, noise, largest residual, error at held-out sizes, and adequacy."""
    checks = found.checks
    named = {"host": checks.host, "offload": checks.offload}
    shown_pure = "host" if found.pure else "host without offset"
    named |= {} if found.pure else {shown_pure: checks.pure}
    for name, curve in named.items():
        of_pure = (checks.pure_p, checks.pure_fits)
        yield (
            name,
            percent(curve.noise),
            f"{percent(curve.worst)} at {units.show(curve.worst_byte, 'size_byte')}",
            percent(curve.held_out),
            percent(curve.held_out_worst),
            _adequacy(*(of_pure if name == shown_pure else (curve.p, curve.fits))),
        )


def _adequacy(p: float, fits: bool) -> str:
    if not fits:
        return f"does not fit ({_probability(p) if p < SIGNIFICANCE else 'too much noise'})"
    if p < SIGNIFICANCE:
        return f"fits (off by less than {percent(CLOSE)})"
    return "too few sizes to test" if math.isnan(p) else f"fits ({_probability(p)})"


def _probability(p: float) -> str:
    """Return how likely data are under a model, two digits."""
    return f"p = {p:.2g}" if p >= 1e-6 else "p below 1e-6"


def sentences(found: InterfaceReport) -> Iterator[str]:
    """Yield what to know: adequacy, break-even, policy, and what the data cannot tell apart."""
    yield adequacy(found)
    exponent = found.fit.estimates["exponent"]
    if found.is_linear_assumed:
        yield "beta = 1 is assumed: three sizes cannot determine it"
    elif found.fit.linear and not exponent.low <= 1 <= exponent.high:
        p = _probability(found.fit.linear_p)
        yield f"beta = 1 is kept: the data do not speak against it strongly enough ({p})"
    offload = found.checks.offload
    if not offload.fits:
        yield f"the model does not fit the offload: it is {_off(offload)}"
    yield break_even_text(found)
    yield f"policy: {policy(found)}"
    if found.pays.pays and not found.pays.pays[0][0] and found.pays.pays[-1][1] < math.inf:
        yield (
            "an accelerator that is faster for small sizes only is rare: look whether the columns "
            "host and offload are exchanged"
        )
    yield (
        "o and L cannot be separated from times of whole offloads; their sum is stored as "
        "overhead, which keeps the host busy"
    )
    peak, latency = found.fit.estimates["peak_acceleration"], found.fit.estimates[PER_BYTE]
    if found.fit.linear:
        least = units.show(peak.value, "peak_acceleration")
        yield (
            "latency per byte and C/A: with beta = 1 both grow with the size, and only their sum "
            f"shows; A lies between {least} (no latency per byte) "
            "and infinity (nothing but latency)"
        )
    elif latency.low == 0:
        yield (
            "latency per byte and C/A: the interval of the latency reaches zero; with beta so "
            "close to 1, or so much noise, these data hardly separate them"
        )
    yield from found.timings.notes


def adequacy(found: InterfaceReport) -> str:
    """Say whether LogCA as published fits the host, and whether a host offset repairs it."""
    checks, start = found.checks, "pure LogCA (no host offset)"
    if math.isnan(checks.pure_p) and checks.pure.fits:
        return f"{start} is {_off(checks.pure)}; these sizes are too few to test for an offset"
    if checks.pure_fits:
        return f"{start} fits the host: the data do not ask for an offset"
    pure = f"{_off(checks.pure)}, and by {percent(checks.pure.held_out)} at held-out sizes"
    start = f"{start} does not fit the host: it is {pure}"
    if found.pure:
        return f"{start}; fit without --pure"
    offset = units.show(found.fit.estimates["host_offset_s"].value, "offset_s")
    if checks.host.fits:
        return f"{start}; a host offset of {offset} repairs it"
    return f"{start}; a host offset of {offset} does not repair it: it is still {_off(checks.host)}"


def _off(curve: Curve) -> str:
    where = units.show(curve.worst_byte, "size_byte")
    return f"off by up to {percent(abs(curve.worst))}, at {where}"


def _finite(value: Any) -> Any:
    """Return plain data with None for what is infinite or unknown."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
