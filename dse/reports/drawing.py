"""Common parts of all plots: settings, colours, saving, and readable ticks."""

from __future__ import annotations

import csv
import io
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import patheffects, style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.path import Path as Outline
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter
from matplotlib.transforms import Bbox, ScaledTranslation

from dse.contract.papers import SHADES
from dse.errors import OutputError
from dse.files.json import json_text
from dse.files.whole_folders import new_folder
from dse.reports.front_view import Values, elided, power_text

STYLE = {
    "svg.hashsalt": "dse",  # ids inside the file depend on the picture only
    "svg.fonttype": "none",  # text can be searched, copied and edited
    "text.parse_math": False,  # a design called 'a$b$' is no formula
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}

# Okabe and Ito's colours (https://jfly.uni-koeln.de/color/), which colour-blind readers can
# distinguish, ordered so that neighbours also differ in lightness.  The marker repeats the group.
PALETTE = (
    ("#0072B2", "o"),
    ("#E69F00", "s"),
    ("#000000", "^"),
    ("#56B4E9", "D"),
    ("#D55E00", "v"),
    ("#F0E442", "P"),
    ("#009E73", "X"),
    ("#CC79A7", "<"),
)
FILLS = tuple(colour for colour, _ in PALETTE if colour != "#000000")
"""Colours of filled areas, such as bars."""

DPI = 200
CLOUD_DPI = 100
"""Resolution of the clouds of points within a drawing of lines."""

LINE_COLOUR = "0.45"

HINTS = {"minimise": "\n← lower is better", "maximise": "\nhigher is better →"}
"""End of the label of an axis."""

HALO = [patheffects.withStroke(linewidth=2.5, foreground="white")]
"""Effect that keeps a label readable on top of lines."""


POINTS_PER_INCH = 72
"""Resolution of a plot in a notebook, in points per inch."""

Band = tuple[float, float, str]
"""Beginning, end and name of a band."""

PLAIN = ("#F3F3F3", "#DEDEDE")
"""Fills in turn if there are more names than `SHADES`."""


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with `STYLE`, whatever the user's are."""
    with style.context(["default", STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # it is drawn as a box
        yield


def save_figure(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Write ``STEM.png`` and ``STEM.svg``, with equal bytes for equal figures.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    png, svg = (stem.with_name(f"{stem.name}.{ending}") for ending in ("png", "svg"))
    fast = {"compress_level": 3}
    figure.savefig(png, dpi=DPI, metadata={"Software": None}, pil_kwargs=fast)
    figure.savefig(svg, dpi=CLOUD_DPI, metadata={"Date": None, "Creator": None})
    return png, svg


def svg_bytes(figure: Figure) -> bytes:
    """Return a figure as SVG, with equal bytes for equal figures."""
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", dpi=CLOUD_DPI, metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def save_drawn(
    facts: Mapping[str, Any],
    out: Path,
    stem: str,
    draw: Callable[[], Figure] | None,
    rows: Iterable[Iterable[object]] | None = None,
) -> None:
    """Write ``STEM.json``, rows as ``STEM.csv`` and the plot into a folder, all or nothing."""
    kinds = ("csv", "json", "png", "svg")[rows is None : 2 if draw is None else 4]
    with new_folder(out, tuple(f"{stem}.{kind}" for kind in kinds)) as folder:
        if rows is not None:
            with (folder / f"{stem}.csv").open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream).writerows(rows)
        (folder / f"{stem}.json").write_text(json_text(facts) + "\n", encoding="utf-8")
        if draw is not None:
            with drawing():
                save_figure(draw(), folder / stem)


def draw_into(folder: Path, draw: Callable[[Path], Iterable[Path]]) -> tuple[Path, ...]:
    """Call `draw` on a temporary folder, and move its plots into another one.

    Raises
    ------
    OutputError
        The folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with drawing(), tempfile.TemporaryDirectory(dir=folder) as fresh:
            return tuple(path.replace(folder / path.name) for path in draw(Path(fresh)))
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror}") from error


class Picture(Figure):
    """A figure with a layout, which a notebook shows even if pyplot was never imported."""

    def __init__(self, **about: Any) -> None:
        """Begin with an empty figure.  `about` are arguments of `Figure`."""
        super().__init__(layout="constrained", **about)
        FigureCanvasAgg(self)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the plot at twice the shown resolution, and its shown size."""
        stream = io.BytesIO()
        self.canvas.print_figure(stream, dpi=2 * POINTS_PER_INCH, format="png")
        width, height = self.get_size_inches() * POINTS_PER_INCH
        return stream.getvalue(), {"width": round(width), "height": round(height)}


def panels_in(figure: Figure, count: int, across: int) -> list[Axes]:
    """Return so many panels of one size, row by row, `across` in a row."""
    down = -(-count // across)
    figure.set_size_inches(4.4 * across, 3.9 * down)
    cells = list(figure.subplots(down, across, squeeze=False).ravel())
    for unused in cells[count:]:
        unused.remove()
    return cells[:count]


def draw_line(axes: Axes, points: Values, label: str) -> None:
    """Draw a line through points (k, 2), behind the marks."""
    axes.plot(*points.T, color=LINE_COLOUR, linewidth=1, zorder=2, label=label)


# Places of a label, in points from its marker: close by, then further off with a line.
DIRECTIONS = ((0.8, 0.8), (0.8, -0.8), (-0.8, 0.8), (-0.8, -0.8), (0, 1), (0, -1), (1, 0), (-1, 0))
DISTANCES = (8.0, 22.0, 36.0, 50.0)

_LABEL: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9, "zorder": 6}
_LABEL |= {"path_effects": HALO}
"""Look of a label."""


def place_labels(axes: Axes, points: Values, names: dict[int, str]) -> None:
    """Put each label at the first place without an overlap with marks, or omit it.

    All labels that fit close by are placed before any further off, which has a line that
    runs through no other marker.
    """
    placed, missing = _Labels(axes, points), list(names)
    for far in DISTANCES:
        offsets = [(x * far, y * far) for x, y in DIRECTIONS]
        missing = [
            row
            for row in missing
            if not any(placed.write(row, names[row], *offset) for offset in offsets)
        ]


class _Labels:
    """Labels of points (n, 2) of a panel, which cover no mark, no line and no other label."""

    def __init__(self, axes: Axes, points: Values) -> None:
        self._axes, self._points, self._point_size = axes, points, _points(axes, 1.0)
        self._pixels = axes.transData.transform(points)
        self._window = axes.get_window_extent()
        self._taken = [self._around(row, 5) for row in range(len(points))]
        self._labels: list[Bbox] = []
        drawn = [line for line in axes.lines if line.get_linestyle() != "None"]
        self._lines = [Outline(axes.transData.transform(line.get_xydata())) for line in drawn]

    def write(self, row: int, name: str, dx: float, dy: float) -> bool:
        """Write a label at an offset in points, unless it covers something there."""
        point = (float(self._points[row, 0]), float(self._points[row, 1]))
        across = "center" if dx == 0 else "left" if dx > 0 else "right"
        along = "center" if dy == 0 else "bottom" if dy > 0 else "top"
        note = self._axes.annotate(name, point, (dx, dy), ha=across, va=along, **_LABEL)
        box = Bbox(note.get_window_extent()).padded(1)
        pixel, reach = self._pixels[row], max(abs(dx), abs(dy))
        leader = Outline([pixel, pixel + np.multiply((dx, dy), self._point_size)])
        if self._covers(box) or self._crosses(leader, row, reach):
            note.remove()
            return False
        self._labels.append(box)
        if reach > DISTANCES[0]:
            self._lines.append(leader)
            arrow = {"arrowstyle": "-", "linewidth": 0.5}
            self._axes.annotate("", point, (dx, dy), arrowprops=arrow, **_LABEL)
        return True

    def _around(self, row: np.intp | int, size: float) -> Bbox:
        """Return the square of so many points to each side of a mark."""
        pixel, by = self._pixels[row], size * self._point_size
        return Bbox([pixel - by, pixel + by])

    def _covers(self, box: Bbox) -> bool:
        """Return whether a label would leave the panel, or cover a mark, a line or a label."""
        return (
            not all(self._window.contains(*corner) for corner in (box.min, box.max))
            or any(box.overlaps(other) for other in (*self._taken, *self._labels))
            or any(line.intersects_bbox(box, filled=False) for line in self._lines)
        )

    def _crosses(self, leader: Outline, row: int, reach: float) -> bool:
        """Return whether the line to a label would run through a label or another mark."""
        gaps = np.abs(self._pixels - self._pixels[row]).max(axis=1) / self._point_size
        near = np.flatnonzero((gaps > 3) & (gaps <= reach + 3))
        others = (*self._labels, *(self._around(other, 3) for other in near))
        return any(leader.intersects_bbox(other, filled=False) for other in others)


MOST_DECADES = 7
LABEL_GAP = 4.0
"""Least room between the labels of two ticks, in points."""
JUTTING = 1.0
"""Largest overhang of a label over the right end of its axis, in points."""


def number_ticks(axis: Any) -> None:
    """Label an axis with plain numbers."""
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.7g}"))


def log_ticks(axis: Any, low: float, high: float) -> None:
    """Label a logarithmic axis from `low` to `high`: all its ticks as numbers, or all as powers.

    With less than three decades 2 and 5 are labelled too.
    """
    exponents = whole_between(np.log10([low, high]))
    factors = (1.0,) if len(exponents) > 2 else (1.0, 2.0, 5.0)
    around = range(int(np.floor(np.log10(low))), int(np.floor(np.log10(high))) + 1)
    major = [factor * 10.0**power for power in around for factor in factors]
    major = [value for value in major if low <= value <= high]
    major = major[:: -(-len(exponents) // MOST_DECADES) or 1]
    few = len(exponents) <= 3  # with more decades minor ticks are a blur, and slow to draw
    minor = [factor * 10.0**power for power in around for factor in (2, 5)] if few else []
    plain = all(1e-3 <= value < 1e5 for value in major)
    axis.set_major_locator(FixedLocator(major))
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:g}" if plain else power_text(value))
    )
    axis.set_minor_locator(FixedLocator(minor))
    axis.set_minor_formatter(NullFormatter())


def whole_between(ends: Iterable[float]) -> list[int]:
    """Return the whole numbers between two ends."""
    low, high = ends
    return list(range(int(np.ceil(low)), int(np.floor(high)) + 1))


def settle(figure: Figure) -> None:
    """Fix the layout of a figure, and tidy its labels for this layout."""
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.08, h_pad=0.06)
    engine.execute(figure)
    figure.set_layout_engine("none")
    tidy(figure)


def tidy(figure: Figure) -> None:
    """Empty labels that touch the one before, and move labels that overhang the right end.

    Call it last, when the layout is fixed, because it measures.
    """
    for axes in figure.axes:
        for which in ("x", "y"):
            labels = shown_labels(axes, which)
            _thin(axes, which, labels)
            if which == "x":
                _pull_in(figure, axes, labels)


def shown_labels(axes: Axes, which: str) -> list[Any]:
    """Return the labels of the ticks within the limits of an axis, in order of place."""
    axis = getattr(axes, f"{which}axis")
    low, high = sorted(getattr(axes, f"get_{which}lim")())
    slack = 1e-9 * (high - low)
    axis.get_majorticklabels()  # brings its ticks up to date
    return [
        tick.label1
        for tick in axis.get_major_ticks()
        if tick.label1.get_visible()
        and tick.label1.get_text()
        and low - slack <= tick.get_loc() <= high + slack
    ]


def _thin(axes: Axes, which: str, labels: Sequence[Any]) -> None:
    side = 0 if which == "x" else 1
    gap = _points(axes, LABEL_GAP if which == "x" else 0.0)
    boxes = [(label.get_window_extent(), label) for label in labels]
    boxes.sort(key=lambda pair: pair[0].min[side])
    end = -np.inf
    hidden = []
    for box, label in boxes:
        if box.min[side] < end + gap:
            hidden.append(label.get_text())
        else:
            end = box.max[side]
    if hidden:
        axis = getattr(axes, f"{which}axis")
        kept = axis.get_major_formatter()
        axis.set_major_formatter(
            FuncFormatter(lambda v, p: "" if (text := kept(v, p)) in hidden else text)
        )


def _pull_in(figure: Figure, axes: Axes, labels: Sequence[Any]) -> None:
    window, most = axes.get_window_extent(), _points(axes, JUTTING)
    for label in labels:
        box = label.get_window_extent()
        by = window.x1 + most - box.x1
        if by < 0:
            move = ScaledTranslation(by / figure.dpi, 0, figure.dpi_scale_trans)
            label.set_transform(label.get_transform() + move)


def _points(axes: Axes, size: float) -> float:
    return size * axes.get_figure(root=True).dpi / 72  # type: ignore[union-attr]


def shade(axes: Axes, bands: Sequence[Band], names: Sequence[str]) -> None:
    """Shade bands, with a line between two that meet.

    `names` are the names of all panels.  A band of another name stays white.
    """
    for number, (low, high, name) in enumerate(bands):
        if name in names:
            few = len(names) <= len(SHADES)
            colour = SHADES[names.index(name)] if few else PLAIN[number % 2]
            axes.axvspan(low, high, color=colour, linewidth=0, zorder=0.5)
    for start, _, _ in bands[1:]:
        axes.axvline(start, color="0.55", linewidth=0.6, zorder=0.6)


def name_bands(axes: Axes, bands: Sequence[Band]) -> int:
    """Write the names above the axes, upright if too long, and return the number that do not fit.

    Call it when the layout is fixed, because it measures.
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
