"""What a page is drawn from, as plain data: fronts, clouds, preference, flips."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.thresholds import thresholds_of
from dse.model.evaluation import KNEE
from dse.model.preference import Preference
from dse.page.columns import column_facts, packed, single, unit_facts
from dse.page.page_run import PageRun, merged
from dse.reports import front_view
from dse.reports.front_text import RULE, representative_rows
from dse.reports.front_view import FrontView
from dse.reports.text import in_words, plural
from dse.runs.manifest import GROWTH
from dse.study.scenario import field_path

MOST_LINES = 2_000
"""Designs drawn as lines across parallel axes: more can neither be seen nor drawn in time."""

MOST_CELLS = 100_000
"""Other columns of the front are shown for one design as long as they have no more cells."""

MOST_GROUPS = 8
"""Colours of designs, and designs of which a page says how many are within noise of them."""

OWN = "own"
"""The study's preference, where it is neither an objective nor the knee."""


def contents(
    shown: Sequence[PageRun],
    preferences: Sequence[Preference],
    cloud: int,
    flips: Sequence[Mapping[str, Any]],
    roofs: Sequence[Mapping[str, Any]],
    assigned: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what the page of some runs is drawn from; the front in the order of front.csv.

    At most `cloud` feasible designs are drawn.  `flips` are what would change the answers, in SI,
    `roofs` what limits the recommended designs, as `roofs_of_answers` has it, and `assigned` all
    designs as ``dse evaluate --design`` takes them, each as far as it is wanted.
    """
    view = merged(shown, cloud)
    runs = np.repeat(np.arange(len(shown)), [run.view.size for run in shown])
    data: dict[str, Any] = {
        "title": view.title,
        "runs": [run.name for run in shown],
        "columns": {name: column_facts(view, name) for name in view.front},
        "objectives": [name for name, _ in view.objectives],
        "choices": list(view.axes),
        "category": view.category,
        "sweep": view.sweep,
        "front": {name: packed(values) for name, values in view.front.items()},
        "run": runs.tolist(),
        "design": packed(
            np.array([name for run in shown for name in run.view.names], dtype=object)
        ),
        "described": packed(np.array(list(view.names), dtype=object)),
        "kind": packed(np.array([name for run in shown for name in run.kinds], dtype=object)),
        "group": packed(_groups(shown)),
        "assigned": list(assigned),
        "bounds": _bounds(shown[0]),
        "lines": representative_rows(view, MOST_LINES).tolist() if view.size else [],
        "preference": _preference(preferences[0]),
        "same_rule": len({preference.text for preference in preferences}) == 1,
        "cloud": {
            "size": front_view.row_count(view.cloud),
            "columns": {name: single(_places(view, name)) for name in view.cloud},
        },
        "details": _details(shown, {*view.front}),
        "flips": list(flips),
        "roofs": list(roofs),
        "growth": [
            {"run": run.name, "growth": run.run.manifest[GROWTH]}
            for run in shown
            if GROWTH in run.run.manifest
        ],
    }
    if data["preference"]["by"] not in (KNEE, *data["objectives"]):
        data["merit"] = _merit(shown, preferences)
    return data


def remarks(shown: Sequence[PageRun], preferences: Sequence[Preference], cloud: int) -> list[str]:
    """Return what the pictures of a page do not show, and what stands for it, in words."""
    view = merged(shown, cloud)
    said = [_cloud_words(run, cloud // len(shown)) for run in shown]
    if len({preference.text for preference in preferences}) > 1:
        first = preferences[0].design
        said.append(f"The runs prefer differently; what moves by hand begins with {first}.")
    for run in shown:
        groups = [(row, others) for row, others in run.view.folded.items() if others]
        parts = [f"{row + 1} and {plural(others, 'other')}" for row, others in groups]
        parts[MOST_GROUPS:] = [f"{len(parts) - MOST_GROUPS} more"] * (len(parts) > MOST_GROUPS)
        if parts:
            said.append(
                f"{run.name}: within noise of each other in every objective, by row of front.csv: "
                f"{'; '.join(parts)}."
            )
    if view.size > MOST_LINES:
        said.append(f"Of {view.size:,} designs {MOST_LINES:,} are lines across the axes: {RULE}.")
    same = [view.words(name) for name, _ in view.objectives if front_view.is_same(view, name)]
    if same:
        said.append(f"The same for every design, and so not drawn: {', '.join(same)}.")
    beyond = [n for n, _ in view.objectives if column_facts(view, n)["axis"]["beyond"]]
    if beyond:
        words = ", ".join(view.words(name) for name in beyond)
        said.append(f"Some feasible designs are outside the plotted range of {words}.")
    return said


def _cloud_words(run: PageRun, most: int) -> str:
    """Say which feasible designs of a run are drawn in grey."""
    stored = front_view.row_count(run.view.cloud)
    drawn = min(stored, most)
    known = run.run.manifest.get("feasible_in_space")
    text = f"{plural(drawn, 'feasible design')} in grey"
    if known is None:
        return f"{run.name}: {text}, a sample of those evaluated; their number was not counted."
    if drawn == known:
        return f"{run.name}: all {text}."
    return f"{run.name}: {text}, drawn at random from {known:,}."


def _preference(preference: Preference) -> dict[str, Any]:
    by = KNEE if preference.expression is None else OWN
    if preference.quantity is not None:
        by = preference.quantity
    return {"by": by, "tolerance": preference.tolerance, "words": preference.best}


def _merit(shown: Sequence[PageRun], preferences: Sequence[Preference]) -> list[float]:
    """Return what each run prefers least, for its designs."""
    return [
        float(value)
        for run, preference in zip(shown, preferences, strict=True)
        for study, index in run.points
        for value in preference.merit(study.problem, index)
    ]


def _groups(shown: Sequence[PageRun]) -> NDArray[Any]:
    """Return what colours each design: its run, or what it is coloured by in the pictures."""
    if len(shown) > 1:
        return np.repeat([run.name for run in shown], [run.view.size for run in shown])
    view = shown[0].view
    labels = np.full(view.size, "front", dtype=object)
    if view.size:
        for label, rows in front_view.groups(view, MOST_GROUPS, _marked(view)).items():
            labels[rows] = label
    return labels


def _marked(view: FrontView) -> NDArray[np.str_] | None:
    """Return what the marks of a sweep tell besides its shades; None where they tell all."""
    if view.sweep is None or not view.names:
        return None
    from dse.reports import sweep_plots  # matplotlib, only now

    return sweep_plots.shading(view, front_view.axis_scale(view, view.sweep, view.cloud)).rest


def _bounds(run: PageRun) -> list[dict[str, Any]]:
    """Return the bounds that the constraints of a study set to its objectives, in SI."""
    goals = {name for name, _ in run.view.objectives}
    return [
        {"objective": bound.name, "value": bound.value, "rule": constraint.text}
        for constraint in run.study.problem.constraints
        for bound in thresholds_of(constraint)
        if bound.name in goals and constraint.names == {bound.name}
    ]


def _places(view: FrontView, name: str) -> NDArray[np.float64]:
    """Return where the cloud stands on the axis of a column: in its unit, or at its kind."""
    values = view.cloud[name]
    if values.dtype.kind in "fiub":
        return np.asarray(values / column_facts(view, name)["axis"]["factor"])
    labels = packed(view.front[name])["labels"]
    found = np.searchsorted(labels, values.astype(str))
    return np.where(np.isin(values.astype(str), labels), found, np.nan)


def _details(shown: Sequence[PageRun], already: set[str]) -> dict[str, Any]:
    """Return the other columns that vary, where they are few enough to be shown per design."""
    if len(shown) > 1:
        return {}
    front = shown[0].view.front
    others = {name: values for name, values in front.items() if name not in already}
    varying = {name: values for name, values in others.items() if len(set(values.tolist())) > 1}
    if shown[0].view.size * len(varying) > MOST_CELLS:
        return {}
    return {
        name: {"facts": _detail(name, values), "values": packed(values)}
        for name, values in varying.items()
    }


def _detail(name: str, values: np.ndarray) -> dict[str, Any]:
    """Return how the values of a column that is in no picture are written."""
    if values.dtype.kind not in "fiub":
        return {"words": in_words(name)}
    words = name if values.dtype.kind == "i" else in_words(name)
    return {"words": words} | unit_facts(name)


def roofs_of_answers(names: Iterable[str], found: Iterable[Iterable[Any]]) -> list[dict[str, Any]]:
    """Return the roofs that the sections of answers have, by the names of their runs."""
    return [
        {"run": name} | _roofs_drawn(roofs)
        for name, sections in zip(names, found, strict=True)
        for section in sections
        if section.key == "roofs"
        for roofs in section.facts or ()
    ]


def _roofs_drawn(roofs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of roofs with words and units, and axes where they bend."""
    name = roofs["quantity"]
    found = dict(roofs) | {"words": in_words(name), "unit": unit_facts(name)}
    if not roofs["places"]:
        return found
    return found | {
        "across": _roof_axis(roofs["column"], min(roofs["places"]), max(roofs["places"])),
        "along": _roof_axis(name, *roofs["span"]),
    }


def _roof_axis(name: str, low: float, high: float) -> dict[str, Any]:
    """Return a logarithmic axis from `low` to `high`, which are in SI."""
    factor, unit = units.scale([math.sqrt(low * high)], name)
    words = in_words(field_path(name))
    facts = {"words": words, "label": f"{words} [{unit}]", "unit": unit_facts(name)}
    return facts | {"factor": factor, "low": low / factor, "high": high / factor, "log": True}
