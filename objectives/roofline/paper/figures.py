"""Figures of the energy-roofline paper, drawn again from its model and its Table I."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dse.contract import Column
from dse.contract.papers import Laboratory, PaperFigures, panels
from dse.objectives.catalogue import platform_called
from dse.objectives.roofline.model import REGIMES, EnergyRoofline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

INTENSITIES = 2.0 ** np.linspace(-3, 9, 97)
"""Operational intensities of the plots, in flop per byte, 8 per doubling."""

DIVISORS = (1, 2, 4, 8)
BOARDS = 47
"""Arndale GPU boards that draw the power of one GTX Titan (section I)."""

TITLES = {
    "desktop_cpu": "desktop CPU",
    "nuc_cpu": "NUC CPU",
    "nuc_gpu": "NUC GPU",
    "apu_cpu": "APU CPU",
    "apu_gpu": "APU GPU",
    "gtx_580": "GTX 580",
    "gtx_680": "GTX 680",
    "gtx_titan": "GTX Titan",
    "xeon_phi": "Xeon Phi",
    "pandaboard": "PandaBoard ES",
    "arndale_cpu": "Arndale CPU",
    "arndale_gpu": "Arndale GPU",
}
INTENSITY = "intensity [flop/B]"
UNMEASURED = (
    "Model curves in single precision from Table I; the measured points are not in the text of "
    "the paper."
)
drawn = PaperFigures("roofline", "Choi, Dukhan, Liu and Vuduc, IPDPS 2014")

Quantity = Callable[[EnergyRoofline, Column], Column]
"""A method that takes intensities."""


def rooflines() -> dict[str, EnergyRoofline]:
    """Return the platforms by title, the most energy-efficient first, as in figures 5 to 7."""
    found = {title: EnergyRoofline.of(platform_called(name)) for name, title in TITLES.items()}
    return dict(sorted(found.items(), key=lambda item: -float(item[1].peak_efficiency)))


@drawn(
    1,
    f"A desktop GPU compared with a mobile one and with {BOARDS} of them, which draw "
    "about its peak power: side by side they are up to 1.6 times as fast at low intensity and "
    f"less than half as fast at high intensity. {UNMEASURED}",
)
def _gpus(sheet: Sheet, _: Laboratory) -> None:
    known = rooflines()
    titan, arndale = known["GTX Titan"], known["Arndale GPU"]
    many = {f"{BOARDS} Arndale GPUs": arndale.times(BOARDS)}
    compared = {"GTX Titan": titan} | many | {"Arndale GPU": arndale}
    quantities: Mapping[str, Quantity] = {
        "performance": EnergyRoofline.performance,
        "energy efficiency": EnergyRoofline.efficiency,
        "power": EnergyRoofline.power,
    }
    cells = panels(sheet, quantities, INTENSITY, "over largest of GTX Titan [times]", x=2, y=2)
    for axes, of in zip(cells, quantities.values(), strict=True):
        for label, one in compared.items():
            share = of(one, INTENSITIES) / of(titan, INTENSITIES).max()
            axes.plot(INTENSITIES, share, label=label)


@drawn(
    5,
    "Power over intensity, as a share of constant power and cap together, in up to "
    "three segments: bound by memory, by the power cap, by compute. Platforms in falling order "
    f"of peak energy efficiency. {UNMEASURED}",
)
def _regimes(sheet: Sheet, _: Laboratory) -> None:
    known = rooflines()
    cells = panels(sheet, known, INTENSITY, "power / (π₁ + Δπ) [times]", x=2)
    for axes, roofline in zip(cells, known.values(), strict=True):
        ends = (roofline.lower_balance, roofline.upper_balance)
        inside = [float(end) for end in ends if INTENSITIES[0] < end < INTENSITIES[-1]]
        edges = sorted({float(INTENSITIES[0]), *inside, float(INTENSITIES[-1])})
        for low, high in pairwise(edges):
            between = [one for one in INTENSITIES if low < one < high]
            x = np.concatenate([[low], between, [high]])
            regime = REGIMES[int(roofline.regime(np.sqrt(low * high)))]
            share = roofline.power(x) / (roofline.constant_power + roofline.power_cap)
            axes.plot(x, share, label=f"bound by {regime}")


@drawn(
    6,
    "Power when the usable power Δπ is divided by 2, 4 and 8: constant power remains, "
    "so that it falls by less. Between B⁻ and B⁺ the cap binds; a curve without B⁻ is nowhere "
    "in the picture bound by memory, one without B⁺ nowhere by compute. A hypothesis of the "
    "paper, not measured there either.",
)
def _power(sheet: Sheet, _: Laboratory) -> None:
    _capped(sheet, {"": EnergyRoofline.power})


@drawn(
    7,
    "Performance (first two rows; figure 7a) and energy efficiency (last two; figure "
    "7b) when the usable power Δπ is divided by 2, 4 and 8, over the largest with the full "
    "cap. Between B⁻ and B⁺ the cap binds. A hypothesis of the paper, not measured there "
    "either.",
)
def _rates(sheet: Sheet, _: Laboratory) -> None:
    rates = {": performance": EnergyRoofline.performance, ": efficiency": EnergyRoofline.efficiency}
    _capped(sheet, rates)


def _capped(sheet: Sheet, quantities: Mapping[str, Quantity]) -> None:
    """Draw panels by suffix of their titles, one per platform."""
    known = rooflines()
    shown = {
        title + suffix: (one, of)
        for suffix, of in quantities.items()
        for title, one in known.items()
    }
    cells = panels(sheet, shown, INTENSITY, "over largest [times]", x=2, y=2)
    for axes, (roofline, of) in zip(cells, shown.values(), strict=True):
        _caps(axes, roofline, of)


def _caps(axes: Axes, roofline: EnergyRoofline, of: Quantity) -> None:
    """Draw a curve per cap, and points at changes of the regime."""
    capped = [(divisor, roofline.capped(divisor)) for divisor in DIVISORS]
    largest = of(roofline, INTENSITIES).max()
    curves = [of(one, INTENSITIES) / largest for _, one in capped]
    for (divisor, _), curve in zip(capped, curves, strict=True):
        axes.plot(INTENSITIES, curve, label=f"Δπ/{divisor}" if divisor > 1 else "full cap Δπ")
    ends = {
        "B⁻: memory-bound on the left": [float(one.lower_balance) for _, one in capped],
        "B⁺: compute-bound on the right": [float(one.upper_balance) for _, one in capped],
    }
    for label, places in ends.items():
        points = [
            (place, np.interp(np.log(place), np.log(INTENSITIES), curve))
            for place, curve in zip(places, curves, strict=True)
            if INTENSITIES[0] < place < INTENSITIES[-1]
        ]
        if points:
            axes.plot(*zip(*points, strict=True), "o", label=label)


figures = tuple(drawn)
