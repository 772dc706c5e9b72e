"""Answers that a page holds, so that its numbers move without the program."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import process_time
from typing import Any

from dse.api.moving import Moving
from dse.errors import ArgumentError, DseError
from dse.files.document import Document
from dse.files.json import json_text
from dse.page.sliders import FIRST, HALVINGS, Slider, coarse_first, ticks_of
from dse.study.overrides import sweep_of

MOST_ANSWERS = 1_000
MOST_MOVING = 3
LIVING_TIME = "300 s"
"""CPU time for all answers of a page, where nobody says how much they may take."""

ONE_TIME = "10 s"
"""CPU time for one of them."""


ENDS = ("holds", "at")
"""Of a flip point: the last value with the answer of today, and the first with another."""


def living_facts(
    document: Document,
    *,
    prefer: str | None,
    tolerance: str | None,
    seconds: float,
    byte: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return the numbers that move and the proven answers on their grid, as many as there is room.

    Raises
    ------
    ArgumentError
        When nothing of the study moves, or its own answer cannot be proven.
    """
    end = process_time() + seconds
    if document.measures or sweep_of(document) is not None:
        rule = "designs that a program measures, or a sweep, have no answers that a page can hold"
        raise ArgumentError(f"living: {rule}; leave it out")
    moving = Moving(document, time=ONE_TIME)
    flips = {path: _near(slider, moving.flips(path)) for path, slider in moving.sliders.items()}
    chosen = _most_telling([*moving.sliders.values()], flips)
    if not chosen:
        raise ArgumentError("living: the study has no number that moves; leave it out")
    halvings = HALVINGS[len(chosen)]
    ticks = [
        ticks_of(slider, [side[key] for side in flips[slider.path] for key in ENDS], halvings)
        for slider in chosen
    ]
    points = coarse_first(ticks)[:MOST_ANSWERS]
    answers: list[dict[str, Any]] = []
    for done, point in enumerate(points):
        if done and (process_time() > end or byte <= 0):
            break
        moved = {
            one.slider.path: one.values[place]
            for one, place in zip(ticks, point, strict=True)
            if one.values[place] != one.slider.value
        }
        try:
            found = moving.stored(moved, prefer, tolerance)
        except DseError:  # no time, or no study with these numbers: the page says it is not there
            found = None
        if found is None and not done:
            raise ArgumentError("living: the answer of the study is not proven; leave it out")
        if found is not None:
            answers.append({"point": point} | found)
            byte -= len(json_text(answers[-1]))
        if progress is not None:
            progress(done + 1, len(points))
    whole = math.prod(len(one.values) for one in ticks)
    sliders = [one.to_dict() | {"flips": flips[one.slider.path]} for one in ticks]
    return {"sliders": sliders, "answers": answers, "points": whole}


def _near(slider: Slider, sides: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return flip points in few digits, each still on its side of the change."""
    return [
        side | {key: slider.rounded(side[key], away=key == "at") for key in ENDS} for side in sides
    ]


def _most_telling(sliders: list[Slider], flips: dict[str, list[dict[str, Any]]]) -> list[Slider]:
    """Return the rate, and what changes the answer: bounds first, then the nearest to change it."""

    def distance(slider: Slider) -> tuple[bool, bool, float]:
        ratios = [abs(math.log(side["at"] / slider.value)) for side in flips[slider.path]]
        return slider.path != FIRST[0], not slider.first, min(ratios, default=math.inf)

    telling = [one for one in sliders if one.path == FIRST[0] or flips[one.path]]
    return sorted(telling, key=distance)[:MOST_MOVING]
