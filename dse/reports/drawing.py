"""What all pictures share: settings, colours, and how they are saved."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from matplotlib import patheffects, style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

SETTINGS = {
    "svg.hashsalt": "dse",  # ids inside the file depend on the picture only
    "text.parse_math": False,  # a design called 'a$b$' is no formula
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}

# Okabe and Ito's colours (https://jfly.uni-koeln.de/color/), which colour-blind readers tell
# apart, ordered so that neighbours also differ in lightness; the marker repeats the group.
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
"""Colours of what fills an area, such as bars."""

SHADES = (
    *("#DCE9F4", "#FBEFD5", "#E9E9E9", "#DDF0E9"),
    *("#F5E4EE", "#FFFDE0", "#FBE3D6", "#E3E0F3"),
)
"""Light fills of ranges, which carry their names."""

DPI = 200
CLOUD_DPI = 100
"""Resolution of the clouds of points within a drawing of lines."""

HALO = [patheffects.withStroke(linewidth=2.5, foreground="white")]
"""Keeps a label readable on top of lines."""


POINTS = 72
"""Resolution in which a notebook shows a picture, in points per inch."""


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with `SETTINGS`, whatever the user's are."""
    with style.context(["default", SETTINGS]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # it is drawn as a box
        yield


def save_figure(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Write ``STEM.png`` and ``STEM.svg``; equal figures give equal bytes.

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


class Picture(Figure):
    """A figure that a notebook shows, also where pyplot was never imported."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture, twice as fine as it is shown, and the size in which it is."""
        stream = io.BytesIO()
        FigureCanvasAgg(self).print_figure(stream, dpi=2 * POINTS, format="png")
        width, height = self.get_size_inches() * POINTS
        return stream.getvalue(), {"width": round(width), "height": round(height)}
