"""What a page is drawn from, as plain data: front, cloud, preference, flips."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.thresholds import thresholds_of
from dse.model.evaluation import KNEE
from dse.model.preference import Preference
from dse.page.columns import column_facts, packed, single, unit_facts
from dse.page.page_run import PageRun, drawn
from dse.reports import front_view
from dse.reports.front_text import RULE, representative_rows
from dse.reports.front_view import FrontView
from dse.reports.sections import Section
from dse.reports.text import in_words, plural
from dse.runs.design_names import exact_name
from dse.runs.manifest import GROWTH
from dse.study.scenario import field_path

MOST_LINES = 2_000
"""Designs drawn as lines across parallel axes: more can neither be seen nor drawn in time."""

MOST_CELLS = 100_000
"""Other columns of the front are shown for one design as long as they have no more cells."""

MOST_GROUPS = 8
"""Colours of designs."""

MOST_ASSIGNED = 20_000
"""A front of more designs has none as assignments, which would be most of its page."""

FLIPS, ROOFS = "flips", "roofs"
"""Keys of the sections of an answer that say what would change it, and what limits it."""

OWN = "own"
"""The study's preference, where it is neither an objective nor the knee."""


def contents(
    run: PageRun, preference: Preference, cloud: int, answered: Sequence[Section]
) -> dict[str, Any]:
    """Return what the page of a run is drawn from; the front in the order of front.csv.

    At most `cloud` feasible designs are drawn.  What would change the answer, in SI, and what
    limits the recommended design is in the sections of the answer, as far as it is wanted.
    """
    view = drawn(run, cloud)
    data: dict[str, Any] = {
        "title": view.title,
        "run": run.name,
        "columns": {name: column_facts(view, name) for name in view.front},
        "objectives": [name for name, _ in view.objectives],
        "choices": list(view.axes),
        "category": view.category,
        "sweep": view.sweep,
        "front": {name: packed(values) for name, values in view.front.items()},
        "design": packed(np.array(run.view.names, dtype=object)),
        "described": packed(np.array(view.names, dtype=object)),
        "kind": packed(np.array(run.kinds, dtype=object)),
        "group": packed(_groups(run)),
        "assigned": _assigned(run),
        "bounds": _bounds(run),
        "lines": representative_rows(view, MOST_LINES).tolist() if view.size else [],
        "preference": _preference(preference),
        "cloud": {
            "size": front_view.row_count(view.cloud),
            "columns": {name: single(_places(view, name)) for name in view.cloud},
        },
        "details": _details(run, {*view.front}),
        "flips": _flips(answered),
        "roofs": _roofs(answered),
        "growth": run.run.manifest.get(GROWTH),
    }
    if data["preference"]["by"] not in (KNEE, *data["objectives"]):
        data["merit"] = _merit(run, preference)
    return data


def remarks(run: PageRun, cloud: int) -> list[str]:
    """Return what the pictures of a page do not show, and what stands for it, in words."""
    view = drawn(run, cloud)
    said = [_cloud_words(run, cloud)]
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
    shown = min(stored, most)
    known = run.run.manifest.get("feasible_in_space")
    text = f"{plural(shown, 'feasible design')} in grey"
    if known is None:
        return f"{run.name}: {text}, a sample of those evaluated; their number was not counted."
    if shown == known:
        return f"{run.name}: all {text}."
    return f"{run.name}: {text}, drawn at random from {known:,}."


def _preference(preference: Preference) -> dict[str, Any]:
    by = KNEE if preference.expression is None else OWN
    if preference.quantity is not None:
        by = preference.quantity
    return {"by": by, "tolerance": preference.tolerance, "words": preference.best}


def _merit(run: PageRun, preference: Preference) -> list[float]:
    """Return what is preferred least, for each design."""
    return [
        float(value)
        for study, index in run.points
        for value in preference.merit(study.problem, index)
    ]


def _assigned(run: PageRun) -> list[str]:
    """Return each design as ``dse evaluate --design`` takes it, of a front that is not too long."""
    if run.view.size > MOST_ASSIGNED:
        return []
    return [exact_name(study.problem, point) for study, index in run.points for point in index]


def _groups(run: PageRun) -> NDArray[Any]:
    """Return what each design is coloured by in the pictures."""
    view = run.view
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


def _details(run: PageRun, already: set[str]) -> dict[str, Any]:
    """Return the other columns that vary, where they are few enough to be shown per design."""
    front = run.view.front
    others = {name: values for name, values in front.items() if name not in already}
    varying = {name: values for name, values in others.items() if len(set(values.tolist())) > 1}
    if run.view.size * len(varying) > MOST_CELLS:
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


def _flips(answered: Sequence[Section]) -> Any:
    """Return what would change the answer, as far as it was looked for."""
    found = next((section.facts for section in answered if section.key == FLIPS), None)
    return found if "assumptions" in (found or ()) else None


def _roofs(answered: Sequence[Section]) -> list[dict[str, Any]]:
    """Return the roofs over the recommended design."""
    return [
        _roofs_drawn(roofs)
        for section in answered
        if section.key == ROOFS
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
