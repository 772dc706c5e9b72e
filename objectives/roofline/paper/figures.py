"""Figures of the energy-roofline paper, drawn again from its model and its Table I."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from dse.contract import Column
from dse.contract.papers import Figure, Laboratory, Panel, Series
from dse.objectives.catalogue import platforms
from dse.objectives.roofline.model import REGIMES, EnergyRoofline

INTENSITIES = 2.0 ** np.linspace(-3, 9, 97)
"""Operational intensities of the figures, in flop per byte, 8 per doubling."""

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
_panel = partial(Panel, x_label="intensity [flop/B]", x_scale="log2")
_curve = partial(Series, x=INTENSITIES)
PAPER = "Choi, Dukhan, Liu and Vuduc, IPDPS 2014"
UNMEASURED = (
    "Model curves in single precision from Table I; the measured points are not in the text of "
    "the paper."
)

Quantity = Callable[[EnergyRoofline, Column], Column]
"""A method that takes intensities."""


def rooflines() -> dict[str, EnergyRoofline]:
    """Return the platforms by title, the most energy-efficient first, as figures 5 to 7 do."""
    found = {TITLES[one.name]: EnergyRoofline.of(one) for one in platforms}
    return dict(sorted(found.items(), key=lambda item: -float(item[1].peak_efficiency)))


def _figure_1(_: Laboratory) -> tuple[Panel, ...]:
    """One desktop GPU, one mobile GPU, and as many mobile GPUs as draw its power."""
    known = rooflines()
    titan, arndale = known["GTX Titan"], known["Arndale GPU"]
    compared = {
        "GTX Titan": titan,
        f"{BOARDS} Arndale GPUs": arndale.times(BOARDS),
        "Arndale GPU": arndale,
    }
    quantities: tuple[tuple[str, Quantity], ...] = (
        ("performance", EnergyRoofline.performance),
        ("energy efficiency", EnergyRoofline.efficiency),
        ("power", EnergyRoofline.power),
    )
    return tuple(
        _panel(
            title=title,
            y_label="over largest of GTX Titan [times]",
            series=tuple(
                _curve(label=label, y=of(one, INTENSITIES) / of(titan, INTENSITIES).max())
                for label, one in compared.items()
            ),
            y_scale="log2",
        )
        for title, of in quantities
    )


def _figure_5(_: Laboratory) -> tuple[Panel, ...]:
    """Power of each platform over intensity, in segments of one regime each."""
    return tuple(
        _panel(title=title, y_label="power / (π₁ + Δπ) [times]", series=_segments(roofline))
        for title, roofline in rooflines().items()
    )


def _segments(roofline: EnergyRoofline) -> tuple[Series, ...]:
    """Return power over the most it may be, one series per regime that occurs."""
    ends = (roofline.lower_balance, roofline.upper_balance)
    inside = [float(end) for end in ends if INTENSITIES[0] < end < INTENSITIES[-1]]
    edges = sorted({float(INTENSITIES[0]), *inside, float(INTENSITIES[-1])})
    series = []
    for low, high in pairwise(edges):
        between = [one for one in INTENSITIES if low < one < high]
        x = np.concatenate([[low], between, [high]])
        regime = REGIMES[int(roofline.regime(np.sqrt(low * high)))]
        share = roofline.power(x) / (roofline.constant_power + roofline.power_cap)
        series.append(Series(label=f"bound by {regime}", x=x, y=share))
    return tuple(series)


def _figure_7(_: Laboratory) -> tuple[Panel, ...]:
    """Performance and energy efficiency of each platform as the cap falls."""
    return (
        *_capped(": performance", EnergyRoofline.performance),
        *_capped(": efficiency", EnergyRoofline.efficiency),
    )


def _capped(suffix: str, of: Quantity) -> tuple[Panel, ...]:
    """Return a panel per platform with a curve per cap and points where the regime changes."""
    return tuple(
        _panel(
            title=title + suffix,
            y_label="over largest [times]",
            series=_caps(roofline, of),
            y_scale="log2",
        )
        for title, roofline in rooflines().items()
    )


def _caps(roofline: EnergyRoofline, of: Quantity) -> tuple[Series, ...]:
    largest = of(roofline, INTENSITIES).max()
    capped = {divisor: roofline.capped(divisor) for divisor in DIVISORS}
    curves = [
        _curve(
            label="full cap Δπ" if divisor == 1 else f"Δπ/{divisor}",
            y=of(one, INTENSITIES) / largest,
        )
        for divisor, one in capped.items()
    ]
    ends = {
        "B⁻: memory-bound on the left": [float(one.lower_balance) for one in capped.values()],
        "B⁺: compute-bound on the right": [float(one.upper_balance) for one in capped.values()],
    }
    changes = []
    for label, places in ends.items():
        points = [
            (place, float(np.interp(np.log(place), np.log(INTENSITIES), curve.y)))
            for place, curve in zip(places, curves, strict=True)
            if INTENSITIES[0] < place < INTENSITIES[-1]
        ]
        if points:
            x, y = zip(*points, strict=True)
            changes.append(Series(label=label, x=x, y=y, style="points"))
    return (*curves, *changes)


figures: tuple[Figure, ...] = (
    Figure(
        name="roofline-1",
        source=f"{PAPER}, figure 1",
        caption=f"A desktop GPU compared with a mobile one and with {BOARDS} of them, which draw "
        "about its peak power: side by side they are up to 1.6 times as fast at low intensity and "
        f"less than half as fast at high intensity. {UNMEASURED}",
        draw=_figure_1,
    ),
    Figure(
        name="roofline-5",
        source=f"{PAPER}, figure 5",
        caption="Power over intensity, as a share of constant power and cap together, in up to "
        "three segments: bound by memory, by the power cap, by compute. Platforms in falling order "
        f"of peak energy efficiency. {UNMEASURED}",
        draw=_figure_5,
    ),
    Figure(
        name="roofline-6",
        source=f"{PAPER}, figure 6",
        caption="Power when the usable power Δπ is divided by 2, 4 and 8: constant power remains, "
        "so that it falls by less. Between B⁻ and B⁺ the cap binds; a curve without B⁻ is nowhere "
        "in the picture bound by memory, one without B⁺ nowhere by compute. A hypothesis of the "
        "paper, not measured there either.",
        draw=lambda _: _capped("", EnergyRoofline.power),
    ),
    Figure(
        name="roofline-7",
        source=f"{PAPER}, figure 7",
        caption="Performance (first two rows; figure 7a) and energy efficiency (last two; figure "
        "7b) when the usable power Δπ is divided by 2, 4 and 8, over the largest with the full "
        "cap. Between B⁻ and B⁺ the cap binds. A hypothesis of the paper, not measured there "
        "either.",
        draw=_figure_7,
    ),
)
