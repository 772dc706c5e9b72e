"""Figures of the LogCA paper, drawn again from its model and the devices of its Table 5."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dse.contract.papers import SHADES, Laboratory, PaperFigures, note, panels, shade_range
from dse.objectives.logca.paper.claims import SPARC
from dse.objectives.logca.paper.devices import logca, rows
from dse.objectives.logca.paper.model import LogCA
from dse.objectives.logca.paper.regions import PARAMETERS, power_of_two_cutoffs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

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

AES_ON_T2 = logca("ultrasparc_t2", "aes")

NO_POINTS = "Model curves only: the measured points are not in the text of the paper."
PRINTED_GPU = (
    "The discrete GPU's latency is drawn as Table 5 prints it, 3000 cycles per byte, with which "
    "AES, radix sort and binary search never break even there, unlike in the paper."
)
_EVEN, _HALF = "g<sub>1</sub>", "g<sub>A/2</sub>"
_REGIONS = (
    "A letter names a parameter whose tenfold improvement gives 20 % more speedup or better: "
    "latency L, overhead o, computational index C, acceleration A. Regions are cut at powers of "
    "two, as in the paper."
)
drawn = PaperFigures("logca", "Altaf and Wood, LogCA, ISCA 2017")

_SIZES = np.geomspace(2.0**4, 2.0**25, 169)
"""Granularities of the plots, in bytes: 16 B to 32 MiB (section 4), 8 per doubling."""

SHADED = ("oC", "oCA", "A", "LoC", "LoCA", "CA", "LCA", "LC")
"""Regions, each with one of `SHADES` in all plots."""

_LEAST = 0.01
"""Lower end of curves."""


def _panels(sheet: Sheet, titles: Iterable[str]) -> list[Axes]:
    return panels(sheet, titles, "granularity [B]", "speedup [times]", x=2, y=10)


def _curve(
    axes: Axes, label: str, y: NDArray[np.float64], *, floor: float = _LEAST, look: str = "-"
) -> None:
    """Draw a curve over `_SIZES` without its part below `floor`."""
    axes.plot(_SIZES[y >= floor], y[y >= floor], look, label=label)


def _level(axes: Axes, label: str, y: float) -> None:
    """Draw a horizontal line across all granularities."""
    axes.plot(_SIZES[[0, -1]], (y, y), "--", label=label)


def _milestones(axes: Axes, device: LogCA, suffix: str = "") -> None:
    """Mark g_1 and g_A/2, if they exist and are in range."""
    for label, place in (("$g_1$", device.break_even()), ("$g_{A/2}$", device.half_acceleration())):
        if _SIZES[0] <= place <= _SIZES[-1]:
            axes.axvline(float(place), color="0.3", linewidth=1)
            bottom = axes.get_xaxis_transform()
            note(axes, label + suffix, float(place), 0.0, xycoords=bottom, parse_math=True)


def _bounds(axes: Axes, device: LogCA, floor: float) -> None:
    """Draw the acceleration and, with latency per byte, the computational intensity (eq 9)."""
    _level(axes, "acceleration A", device.acceleration)
    if device.latency_per_byte:
        bound = device.intensity_bound(_SIZES)
        _curve(axes, "intensity C/L · gᵝ⁻¹", bound, floor=floor, look="--")


def _device(axes: Axes, device: LogCA) -> None:
    """Draw one device's speedup with its bounds, g_1 and g_A/2."""
    speedup = device.speedup(_SIZES)
    floor = 1e-4 * float(speedup.max())
    _curve(axes, "speedup", speedup, floor=max(floor, _LEAST))
    _bounds(axes, device, floor)
    _milestones(axes, device)


def _regions(axes: Axes, device: LogCA) -> None:
    """Draw one device's speedup over its optimisation regions, cut at powers of two."""
    _device(axes, device)
    found = power_of_two_cutoffs(device)
    ends = {end for intervals in found.values() for interval in intervals for end in interval}
    inside = sorted(end for end in ends if _SIZES[0] < end < _SIZES[-1])
    for low, high in pairwise((float(_SIZES[0]), *inside, float(_SIZES[-1]))):
        label = "".join(
            letter
            for name, letter in PARAMETERS.items()
            if any(first <= np.sqrt(low * high) < last for first, last in found[name])
        )
        if label:
            shade_range(axes, low, high, label, SHADES[SHADED.index(label)])


@drawn(
    3,
    f"Speedup rises with granularity towards the acceleration A; it is 1 at {_EVEN} and A/2 at "
    f"{_HALF}. The paper sketches the curve without numbers; these are AES on the UltraSPARC T2 "
    "(Table 5).",
)
def _speedup(sheet: Sheet, _: Laboratory) -> None:
    (axes,) = _panels(sheet, ["AES on UltraSPARC T2"])
    _curve(axes, "speedup", AES_ON_T2.speedup(_SIZES))
    _level(axes, "acceleration A", AES_ON_T2.acceleration)
    _level(axes, "A/2", AES_ON_T2.acceleration / 2)
    _level(axes, "break-even", 1.0)
    _milestones(axes, AES_ON_T2)


@drawn(
    4,
    "Limits of a kernel: (a) overhead, then acceleration, with latency per call; "
    "(b) overhead, then computational intensity C/L, with latency per byte. The paper gives "
    "no numbers: (a) is AES on the UltraSPARC T2, (b) the same but linear and with the APU's "
    "15 cycles per byte (Table 5).",
)
def _bound(sheet: Sheet, _: Laboratory) -> None:
    bound = replace(AES_ON_T2, latency=15.0, latency_per_byte=True, exponent=1.0)
    ideals = {
        AES_ON_T2: replace(AES_ON_T2, acceleration=np.inf),
        bound: replace(bound, acceleration=np.inf, latency=0.0),
    }
    cells = _panels(sheet, ("(a) compute-bound", "(b) latency-bound"))
    for axes, (device, ideal) in zip(cells, ideals.items(), strict=True):
        _curve(axes, "speedup", device.speedup(_SIZES))
        _bounds(axes, device, _LEAST)
        _curve(axes, "overhead C · gᵝ / (o + fixed L)", ideal.speedup(_SIZES), look="--")


@drawn(
    5,
    "Speedup of AES on the UltraSPARC T2 with one parameter improved tenfold: latency "
    "hardly matters, overhead and computational index matter for small offloads, acceleration "
    "for large ones.",
)
def _improved(sheet: Sheet, _: Laboratory) -> None:
    changes: dict[str, dict[str, Any]] = {
        "(a) latency L / 10": {"latency": AES_ON_T2.latency / 10},
        "(b) overhead o / 10": {"overhead": AES_ON_T2.overhead / 10},
        "(c) computational index C · 10": {"index": AES_ON_T2.index * 10},
        "(d) acceleration A · 10": {"acceleration": AES_ON_T2.acceleration * 10},
    }
    for axes, change in zip(_panels(sheet, changes), changes.values(), strict=True):
        _curve(axes, "base", AES_ON_T2.speedup(_SIZES))
        _curve(axes, "improved tenfold", replace(AES_ON_T2, **change).speedup(_SIZES))


@drawn(6, f"Optimisation regions of AES on the UltraSPARC T2. {_REGIONS}")
def _aes_regions(sheet: Sheet, _: Laboratory) -> None:
    (axes,) = _panels(sheet, ["AES on UltraSPARC T2"])
    _regions(axes, AES_ON_T2)


def _on_devices(sheet: Sheet, benchmark: str) -> None:
    """Draw a kernel on each device that Table 5 has it on."""
    shown = [name for name in DEVICES if (name, benchmark) in rows]
    cells = _panels(sheet, [DEVICES[name] for name in shown])
    for axes, name in zip(cells, shown, strict=True):
        _device(axes, logca(name, benchmark))


@drawn(
    7,
    f"Speedup of AES on each device of Table 5, with {_EVEN} and {_HALF}. {NO_POINTS} "
    f"The PCIe crypto card is missing, for Table 5 gives no parameters of it. {PRINTED_GPU} "
    f"By Table 5 the APU has a {_HALF}, which the paper does not mark. SPARC T4's instructions "
    "and Sandy Bridge break even below 16 B, outside the picture.",
)
def _aes(sheet: Sheet, _: Laboratory) -> None:
    _on_devices(sheet, "aes")


@drawn(
    8,
    f"Speedup of SHA-256 on the on-chip accelerators, with {_EVEN} and {_HALF}. {NO_POINTS}",
)
def _sha(sheet: Sheet, _: Laboratory) -> None:
    _on_devices(sheet, "sha")


@drawn(
    9,
    f"Kernels of sub-linear, linear and super-linear complexity on GPUs, with {_EVEN} "
    f"and {_HALF} if they exist. {NO_POINTS} {PRINTED_GPU} Curves end at 1/10 000 of their "
    "largest speedup.",
)
def _gpus(sheet: Sheet, _: Laboratory) -> None:
    titles = [
        f"({letter}) {title}, β = {logca('apu', kernel).exponent:g}"
        for letter, (kernel, title) in zip("abcd", KERNELS.items(), strict=True)
    ]
    for axes, kernel in zip(_panels(sheet, titles), KERNELS, strict=True):
        for name in ("discrete_gpu", "apu"):
            device = logca(name, kernel)
            speedup = device.speedup(_SIZES)
            _curve(axes, DEVICES[name], speedup, floor=1e-4 * float(speedup.max()))
            _milestones(axes, device, f" {DEVICES[name].rpartition(' ')[2]}")


def _regions_on(sheet: Sheet, benchmark: str, names: dict[str, str]) -> None:
    """Draw the optimisation regions of a kernel on some devices, by the letters of panels."""
    cells = _panels(sheet, [f"({letter}) {DEVICES[name]}" for letter, name in names.items()])
    for axes, name in zip(cells, names.values(), strict=True):
        _regions(axes, logca(name, benchmark))


@drawn(
    10,
    f"Optimisation regions of AES as the accelerator moves closer to the host: the "
    f"reach of overhead shrinks, the reach of acceleration grows. {_REGIONS} Panel (a), the PCIe "
    "crypto card, is missing, because Table 5 gives no parameters of it. By Table 5 latency "
    "matters on the SPARC T4 engine, where the paper shows three regions without it.",
)
def _sparc_regions(sheet: Sheet, _: Laboratory) -> None:
    _regions_on(sheet, "aes", dict(zip("bcde", SPARC, strict=True)))


@drawn(
    11,
    f"Optimisation regions of matrix multiplication on GPUs. {_REGIONS} Panel (c), "
    "the GPU with HSA, is missing, because Table 5 gives no parameters of it. The discrete "
    "GPU's latency is drawn as printed, 3000 cycles per byte. The cut-offs that the paper "
    "names (overhead to 32 KB, acceleration from 256 KB; on the APU acceleration from 64 KB) "
    "do not follow from Table 5.",
)
def _gpu_regions(sheet: Sheet, _: Laboratory) -> None:
    _regions_on(sheet, "gemm", {"a": "discrete_gpu", "b": "apu"})


figures = tuple(drawn)
