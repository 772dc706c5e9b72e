"""Break-even and policy in words: what the model says where it fits, and what the data say."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from dse.algebra import units
from dse.fitting.interface.report import InterfaceReport, Ranges, pays_at, range_ends
from dse.reports.text import interval, listed, percent


def break_even_text(found: InterfaceReport) -> str:
    """Say where both times are equal in the model, with intervals, and who is faster in the data.

    A model that is rejected, or whose noise leaves all open, does not speak.
    """
    pays, sizes = found.pays, found.timings.size
    measured = f"the measured offload is faster {measured_text(found)}"
    if doubt(found):
        return f"break-even: measured: {measured_text(found)}"
    if not pays.crossings:
        where = "at every size" if pays.pays else "at no size"
        return f"break-even: none, the model's offload is faster {where}; {measured}"
    parts = []
    for crossing in pays.crossings:
        shown = interval(crossing.low, crossing.high, "granularity_byte")
        text = f"{units.show(crossing.value, 'granularity_byte')} (95 % interval {shown})"
        beyond = not sizes[0] <= crossing.value <= sizes[-1]
        parts.append(text + ", beyond the sizes measured" * beyond)
    return f"break-even: {listed(parts)}; {measured}"


def measured_text(found: InterfaceReport) -> str:
    """Say at which sizes the measured offload is faster."""
    ranges = found.pays.of_data
    said = _where(ranges, lambda size, _: units.show(size, "size_byte"))
    return said + ", interpolated" * any(range_ends(ranges))


def doubt(found: InterfaceReport) -> str:
    """Return why the model gives neither a break-even nor a policy, nothing if it does."""
    checks = found.checks
    bad = {"offload": checks.offload} if not checks.offload.fits else {}
    if not (checks.host.fits and (checks.pure_fits or not found.pure)):
        bad = {"host": checks.host} | bad
    if bad:
        noise = percent(max(curve.noise for curve in bad.values()))
        return f"the model does not fit the {listed(list(bad))} (noise {noise})"
    return "the noise leaves the break-even open" if found.pays.is_open else ""


def _where(found: Ranges, show: Callable[[float, bool], str]) -> str:
    """Return ranges of granularity in words; `show` receives which ends are starts."""
    if not found:
        return "at no size"
    if found == ((0.0, math.inf),):
        return "at every size"
    parts = []
    for start, stop in found:
        pair = [f"from {show(start, True)}"] if start > 0 else []
        pair += [f"up to {show(stop, False)}"] if stop < math.inf else []
        parts.append(" ".join(pair))
    return listed(parts)


def policy(found: InterfaceReport) -> str:
    """Say when to offload, rounded to the safe side; nothing that the data do not support."""
    unsure = doubt(found)
    if unsure:
        return f"none, because {unsure}"
    pays, smallest, largest = found.pays.pays, found.timings.size[0], found.timings.size[-1]
    if pays in ((), ((0.0, math.inf),)):
        text = f"{'always' if pays else 'never'} use the accelerator"
    elif pays[0][0] < smallest and pays[0][1] == math.inf:
        least = units.show(math.ceil(pays[0][0]), "size_byte")
        text = f"use the accelerator at every size measured (by the model, from {least})"
    elif pays[-1][1] < smallest or pays[0][0] > largest:
        text = "do not use the accelerator at any size measured"
    else:
        text = f"use the accelerator {_where(pays, _round)}{_surely(found)}"
    if "measured" not in text and (not pays or pays[-1][1] > largest):
        text += f", up to the {units.show(largest, 'size_byte')} measured"
    other = [units.show(size, "size_byte") for size in _disputed(found)]
    return f"{text}; measured otherwise at {listed(other)}" if other else text


def _surely(found: InterfaceReport) -> str:
    """Return the ends of the only range that pays even at the far ends of their intervals."""
    if len(found.pays.pays) > 1:
        return ""
    known = iter(found.pays.crossings)
    start, stop = found.pays.pays[0]
    sure = (next(known).high if start > 0 else start, next(known).low if stop < math.inf else stop)
    if not sure[0] < sure[1]:
        return " (the noise leaves open where surely)"
    return f" (surely {_where((sure,), _round)})" if sure != (start, stop) else ""


def _disputed(found: InterfaceReport) -> Iterator[float]:
    """Yield the sizes where data and model differ by who is faster, outside every interval."""
    pays, timings = found.pays, found.timings
    for size, host, offload in zip(timings.size, timings.host, timings.offload, strict=True):
        unsure = any(crossing.low <= size <= crossing.high for crossing in pays.crossings)
        if not unsure and host != offload and pays_at(pays.pays, size) != (offload < host):
            yield float(size)


def _round(size: float, start: bool) -> str:
    """Return a size with three digits, towards where the offload pays."""
    step = 10.0 ** (math.floor(math.log10(size)) - 2)
    whole = (math.ceil if start else math.floor)(size / step * (1 - 1e-12 if start else 1 + 1e-12))
    if step < 1:
        return units.show(float(math.ceil(size) if start else math.floor(size)), "size_byte")
    factor, unit = (1e3, "kB") if whole * step >= 1e3 else (1.0, "B")
    factor, unit = (1e6, "MB") if whole * step >= 1e6 else (factor, unit)
    return f"{whole * step / factor:.4g} {unit}"
