"""Ranges of an axis, shaded and named on the spot: no legend, and no colours to match."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from dse.contract.papers import SHADES
from dse.reports.drawing import HALO
from dse.reports.front_view import elided

Band = tuple[float, float, str]
"""Where it begins and ends, and its name."""

PLAIN = ("#F3F3F3", "#DEDEDE")
"""Fills in turn where there are more names than `SHADES`."""


def shade(axes: Axes, bands: Sequence[Band], names: Sequence[str]) -> None:
    """Shade bands, with a line where one follows another.

    `names` are those of all panels; a band of another name stays white.
    """
    for number, (low, high, name) in enumerate(bands):
        if name in names:
            few = len(names) <= len(SHADES)
            colour = SHADES[names.index(name)] if few else PLAIN[number % 2]
            axes.axvspan(low, high, color=colour, linewidth=0, zorder=0.5)
    for start, _, _ in bands[1:]:
        axes.axvline(start, color="0.55", linewidth=0.6, zorder=0.6)


def name_bands(axes: Axes, bands: Sequence[Band]) -> int:
    """Write the names above the axes, upright where they are too long; return how many do not fit.

    Ask for it when the layout stands: it measures.
    """
    blend = axes.get_xaxis_transform()
    window = axes.get_window_extent()
    taken: list[Bbox] = []
    unnamed = 0
    for low, high, name in bands:
        ends = [max(low, axes.get_xlim()[0]), min(high, axes.get_xlim()[1])]
        pixels = axes.transData.transform([(end, axes.get_ylim()[0]) for end in ends])[:, 0]
        middle = axes.transData.inverted().transform((pixels.mean(), window.y0))[0]
        for turn, least in ((0, 0.94), (90, 0.9)):
            text = axes.text(
                middle, 0.985, elided(name), transform=blend, ha="center", va="top", fontsize=9
            )
            text.set(rotation=turn, path_effects=HALO, zorder=5, clip_on=True)
            box = text.get_window_extent()
            if (
                over := box.height / (0.97 * window.height)
            ) > 1:  # it would be cut at its beginning
                text.set_text(elided(name, int(len(text.get_text()) / over) - 1))
                box = text.get_window_extent()
            room = least * (pixels[1] - pixels[0])
            if box.width <= room and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()
        else:
            unnamed += 1
    return unnamed


def without_repeats(spans: Sequence[Band]) -> list[Band]:
    """Return bands with neighbours of one name made one."""
    found: list[Band] = []
    for low, high, name in spans:
        if found and found[-1][2] == name and found[-1][1] >= low:
            found[-1] = (found[-1][0], high, name)
        else:
            found.append((low, high, name))
    return found
