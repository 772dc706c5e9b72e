"""Figures of the LogCA paper, drawn again from its model and the devices of its Table 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.contract.papers import Figure, Laboratory, Mark, Panel, Region, Series
from dse.objectives.catalogue import table5
from dse.objectives.logca.model import LogCA
from dse.objectives.logca.paper.optimisation import SPARC
from dse.objectives.logca.regions import PARAMETERS, power_of_two_cutoffs

DEVICES = {
    "discrete_gpu": "discrete GPU",
    "apu": "APU",
    "ultrasparc_t2": "UltraSPARC T2",
    "sparc_t3": "SPARC T3",
    "sparc_t4_engine": "SPARC T4 engine",
    "sparc_t4_instruction": "SPARC T4 instructions",
    "sandy_bridge": "Sandy Bridge (AES-NI)",
}
"""Devices of Table 5 from the loosest coupling to the tightest, with their titles."""

KERNELS = {
    "radix_sort": "radix sort",
    "gemm": "matrix multiplication",
    "fft": "FFT",
    "binary_search": "binary search",
}

AES_ON_T2 = table5.logca("ultrasparc_t2", "aes")

PAPER = "Altaf and Wood, LogCA, ISCA 2017"
UNMEASURED = "Model curves only: the measured points are not in the text of the paper."
PRINTED_GPU = (
    "The discrete GPU's latency is drawn as Table 5 prints it, 3000 cycles per byte, with which "
    "AES, radix sort and binary search never break even there, unlike in the paper."
)


SIZES = np.geomspace(2.0**4, 2.0**25, 169)
"""Granularities of the figures, in bytes: 16 B to 32 MiB (section 4), 8 per doubling."""

BREAK_EVEN, HALF = "$g_1$", "$g_{A/2}$"

Curve = NDArray[np.float64]


def curve(label: str, y: Curve, *, floor: float, dashed: bool = False) -> Series:
    """Return a curve over `SIZES` without what lies below `floor`."""
    kept = y >= floor
    return Series(label=label, x=SIZES[kept], y=y[kept], style="dashed" if dashed else "line")


def level(label: str, y: float) -> Series:
    """Return a horizontal line across all granularities."""
    return Series(label=label, x=SIZES[[0, -1]], y=(y, y), style="dashed")


def panel(title: str, series: Sequence[Series], marks: Sequence[Mark] = ()) -> Panel:
    """Return axes of speedup against granularity."""
    return Panel(
        title=title,
        x_label="granularity [B]",
        y_label="speedup [times]",
        series=tuple(series),
        marks=tuple(marks),
        x_scale="log2",
        y_scale="log",
    )


def milestones(device: LogCA, suffix: str = "") -> tuple[Mark, ...]:
    """Return marks at g_1 and g_A/2, where they exist and are drawn."""
    places = ((BREAK_EVEN, device.break_even()), (HALF, device.half_acceleration()))
    return tuple(
        Mark(label=label + suffix, x=float(place))
        for label, place in places
        if SIZES[0] <= place <= SIZES[-1]
    )


def bounds_panel(device: LogCA, *, floor: float) -> tuple[Series, ...]:
    """Return the acceleration and, with latency per byte, the computational intensity (eq 9)."""
    limits = [level("acceleration A", device.acceleration)]
    if device.latency_per_byte:
        intensity = device.intensity_bound(SIZES)
        limits.append(curve("intensity C/L · gᵝ⁻¹", intensity, floor=floor, dashed=True))
    return tuple(limits)


def device_panel(title: str, device: LogCA) -> Panel:
    """Return one device's speedup with its bounds, g_1 and g_A/2."""
    speedup = device.speedup(SIZES)
    floor = 1e-4 * float(speedup.max())
    series = (curve("speedup", speedup, floor=max(floor, 0.01)), *bounds_panel(device, floor=floor))
    return panel(title, series, milestones(device))


SHADES = ("oC", "oCA", "A", "LoC", "LoCA", "CA", "LCA", "LC")
"""Regions that share a colour in all figures."""


def optimisation_panel(title: str, device: LogCA) -> Panel:
    """Return one device's speedup over its optimisation regions, cut at powers of two."""
    found = power_of_two_cutoffs(device)
    ends = {end for intervals in found.values() for interval in intervals for end in interval}
    inside = sorted(end for end in ends if SIZES[0] < end < SIZES[-1])
    edges = (float(SIZES[0]), *inside, float(SIZES[-1]))
    shaded = []
    for low, high in pairwise(edges):
        middle = np.sqrt(low * high)
        label = "".join(
            letter
            for name, letter in PARAMETERS.items()
            if any(first <= middle < last for first, last in found[name])
        )
        shade = SHADES.index(label) if label in SHADES else None
        shaded.append(Region(label=label, low=low, high=high, shade=shade))
    plain = device_panel(title, device)
    return replace(plain, regions=tuple(shaded))


def _figure_3(_: Laboratory) -> tuple[Panel, ...]:
    """Speedup, g_1 and g<sub>A/2</sub> of one device."""
    series = (
        curve("speedup", AES_ON_T2.speedup(SIZES), floor=0.01),
        level("acceleration A", AES_ON_T2.acceleration),
        level("A/2", AES_ON_T2.acceleration / 2),
        level("break-even", 1.0),
    )
    return (panel("AES on UltraSPARC T2", series, milestones(AES_ON_T2)),)


def _figure_4(_: Laboratory) -> tuple[Panel, ...]:
    """Bounds of a compute-bound and of a latency-bound kernel."""
    latency = replace(AES_ON_T2, latency=15.0, latency_per_byte=True, exponent=1.0)
    panels = []
    for title, device in (("(a) compute-bound", AES_ON_T2), ("(b) latency-bound", latency)):
        base = replace(device, acceleration=np.inf)
        if device.latency_per_byte:
            base = replace(base, latency=0.0)
        ideal = base.speedup(SIZES)
        overhead = curve("overhead C · gᵝ / (o + fixed L)", ideal, floor=0.01, dashed=True)
        series = (
            curve("speedup", device.speedup(SIZES), floor=0.01),
            *bounds_panel(device, floor=0.01),
            overhead,
        )
        panels.append(panel(title, series))
    return tuple(panels)


def _figure_5(_: Laboratory) -> tuple[Panel, ...]:
    """Each parameter improved tenfold."""
    titles = (
        "(a) latency L / 10",
        "(b) overhead o / 10",
        "(c) computational index C · 10",
        "(d) acceleration A · 10",
    )
    panels = []
    for title, name in zip(titles, PARAMETERS, strict=True):
        change = 0.1 if name in ("latency", "overhead") else 10.0
        improved = replace(AES_ON_T2, **{name: getattr(AES_ON_T2, name) * change})
        series = (
            curve("base", AES_ON_T2.speedup(SIZES), floor=0.01),
            curve("improved tenfold", improved.speedup(SIZES), floor=0.01),
        )
        panels.append(panel(title, series))
    return tuple(panels)


def _on_devices(benchmark: str) -> tuple[Panel, ...]:
    """Return a kernel on each device that Table 5 has it on."""
    return tuple(
        device_panel(title, table5.logca(name, benchmark))
        for name, title in DEVICES.items()
        if (name, benchmark) in table5.rows
    )


def _figure_9(_: Laboratory) -> tuple[Panel, ...]:
    """Four kernels of other complexity on discrete and integrated GPU."""
    panels = []
    for letter, (kernel, title) in zip("abcd", KERNELS.items(), strict=True):
        series: list[Series] = []
        marks: list[Mark] = []
        for name in ("discrete_gpu", "apu"):
            device = table5.logca(name, kernel)
            speedup = device.speedup(SIZES)
            series.append(curve(DEVICES[name], speedup, floor=1e-4 * float(speedup.max())))
            marks += milestones(device, f" {DEVICES[name].rpartition(' ')[2]}")
        panels.append(panel(f"({letter}) {title}, β = {device.exponent:g}", series, marks))
    return tuple(panels)


def _regions(benchmark: str, names: Mapping[str, str]) -> tuple[Panel, ...]:
    """Return the optimisation regions of a kernel on some devices, by the letters of panels."""
    return tuple(
        optimisation_panel(f"({letter}) {DEVICES[name]}", table5.logca(name, benchmark))
        for letter, name in names.items()
    )


_EVEN, _HALF = "g<sub>1</sub>", "g<sub>A/2</sub>"
_REGIONS = (
    "A letter names a parameter whose tenfold improvement gives 20 % more speedup or better: "
    "latency L, overhead o, computational index C, acceleration A. Regions are cut at powers of "
    "two, as in the paper."
)

figures: tuple[Figure, ...] = (
    Figure(
        name="logca-3",
        source=f"{PAPER}, figure 3",
        caption="Speedup rises with granularity towards the acceleration A; it is 1 at "
        f"{_EVEN} and A/2 at {_HALF}. The paper sketches the curve without numbers; these are "
        "AES on the UltraSPARC T2 (Table 5).",
        draw=_figure_3,
    ),
    Figure(
        name="logca-4",
        source=f"{PAPER}, figure 4",
        caption="What bounds a kernel: (a) overhead, then acceleration, with latency per call; "
        "(b) overhead, then computational intensity C/L, with latency per byte. The paper gives "
        "no numbers: (a) is AES on the UltraSPARC T2, (b) the same but linear and with the APU's "
        "15 cycles per byte (Table 5).",
        draw=_figure_4,
    ),
    Figure(
        name="logca-5",
        source=f"{PAPER}, figure 5",
        caption="Speedup of AES on the UltraSPARC T2 with one parameter improved tenfold: latency "
        "hardly matters, overhead and computational index matter for small offloads, acceleration "
        "for large ones.",
        draw=_figure_5,
    ),
    Figure(
        name="logca-6",
        source=f"{PAPER}, figure 6",
        caption=f"Optimisation regions of AES on the UltraSPARC T2. {_REGIONS}",
        draw=lambda _: (optimisation_panel("AES on UltraSPARC T2", AES_ON_T2),),
    ),
    Figure(
        name="logca-7",
        source=f"{PAPER}, figure 7",
        caption=f"Speedup of AES on each device of Table 5, with {_EVEN} and {_HALF}. {UNMEASURED} "
        f"The PCIe crypto card is missing, for Table 5 gives no parameters of it. {PRINTED_GPU} "
        f"By Table 5 the APU has a {_HALF}, which the paper does not mark. SPARC T4's instructions "
        "and Sandy Bridge break even below 16 B, outside the picture.",
        draw=lambda _: _on_devices("aes"),
    ),
    Figure(
        name="logca-8",
        source=f"{PAPER}, figure 8",
        caption=f"Speedup of SHA-256 on the on-chip accelerators, with {_EVEN} and {_HALF}. "
        f"{UNMEASURED}",
        draw=lambda _: _on_devices("sha"),
    ),
    Figure(
        name="logca-9",
        source=f"{PAPER}, figure 9",
        caption=f"Kernels of sub-linear, linear and super-linear complexity on GPUs, with {_EVEN} "
        f"and {_HALF} where they exist. {UNMEASURED} {PRINTED_GPU} Curves end at 1/10 000 of their "
        "largest speedup.",
        draw=_figure_9,
    ),
    Figure(
        name="logca-10",
        source=f"{PAPER}, figure 10",
        caption=f"Optimisation regions of AES as the accelerator moves closer to the host: the "
        f"reach of overhead shrinks, that of acceleration grows. {_REGIONS} Panel (a), the PCIe "
        "crypto card, is missing, because Table 5 gives no parameters of it. By Table 5 latency "
        "matters on the SPARC T4 engine, where the paper shows three regions without it.",
        draw=lambda _: _regions("aes", dict(zip("bcde", SPARC, strict=True))),
    ),
    Figure(
        name="logca-11",
        source=f"{PAPER}, figure 11",
        caption=f"Optimisation regions of matrix multiplication on GPUs. {_REGIONS} Panel (c), "
        "the GPU with HSA, is missing, because Table 5 gives no parameters of it. The discrete "
        "GPU's latency is drawn as printed, 3000 cycles per byte. The cut-offs that the paper "
        "names (overhead to 32 KB, acceleration from 256 KB; on the APU acceleration from 64 KB) "
        "do not follow from Table 5.",
        draw=lambda _: _regions("gemm", {"a": "discrete_gpu", "b": "apu"}),
    ),
)
