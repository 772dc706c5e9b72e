"""The picture of an infeasible study."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dse.runs import infeasible_plot

RULES = {"every stage has at least one instance": -1.0, "the throughput reaches workload.rate": 0.4}


@pytest.mark.parametrize("by", [1e-4, 0.05, 9.9, 25.5, 3e6, math.inf])
def test_all_that_is_said_of_bars_is_inside(
    by: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn: list[Figure] = []

    def keep(figure: Figure, path: Path) -> None:
        figure.savefig(path.with_suffix(".png"))
        drawn.append(figure)

    monkeypatch.setattr(infeasible_plot, "save_figure", keep)
    facts = {"violations": RULES | {"power <= 1 mW": by}}
    infeasible_plot.save_infeasible("Which?", facts, tmp_path / "out")
    (figure,) = drawn
    assert isinstance(figure.canvas, FigureCanvasAgg)
    renderer = figure.canvas.get_renderer()
    (axes,) = figure.axes
    for text in axes.texts:
        box = text.get_window_extent(renderer)
        assert figure.bbox.x0 < box.x0 < box.x1 < figure.bbox.x1, text.get_text()
