"""Data of a page in plain form: front, cloud, preference, flips."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.base_units import BINARY
from dse.algebra.thresholds import thresholds_of
from dse.model.evaluation import KNEE
from dse.model.labels import COUNT_BEFORE_NAME, Labels, labelled_line
from dse.model.preference import Preference
from dse.model.space import ALONE, HOST, Index
from dse.reports import front_view
from dse.reports.designs import described, for_people, parts
from dse.reports.front_text import known_values
from dse.reports.front_view import ARROW, FrontView, Scale, axis_scale, kind_of, thinned
from dse.reports.sections import Section
from dse.reports.text import in_words, plural
from dse.runs import finished
from dse.runs.design_names import exact_name
from dse.runs.finished import Finished
from dse.runs.manifest import GROWTH
from dse.study.study import Study

MOST_CLOUD = 100_000
"""Most feasible designs around the front that are drawn."""

MOST_CELLS = 100_000
"""Other columns of the front are shown for one design as long as they have no more cells."""

MOST_COLOURS = 8
"""Colours of designs."""

MOST_SEEN = 256
"""Values of a choice that the cloud has."""

MOST_ASSIGNED = 20_000
"""Largest front with designs as assignments, which would else be most of its page."""

FLIPS, ROOFS = "flips", "roofs"
"""Keys of the sections of an answer with its changes, and with its limits."""

OWN = "own"
"""The study's preference, if it is neither an objective nor the knee."""

_POWERS = range(-30, 31)
"""Powers of ten that are tried to find the first number of each prefix."""


@dataclass(frozen=True)
class PageRun:
    """A run as a page shows it.

    Attributes
    ----------
    name
        Its name on the page.
    view
        Its front, and the feasible designs around it.
    run
        The run as it was written.
    points
        The study and its front, for every value of the sweep, or the one study.
    """

    name: str
    view: FrontView
    run: Finished
    points: tuple[tuple[Study, Index], ...]

    @property
    def study(self) -> Study:
        """Return the study, at the first value of a sweep."""
        return self.points[0][0]

    @property
    def recommended(self) -> Index:
        """Return the recommended design (1, d), or an empty index, (0, d), for a sweep."""
        index = self.points[0][1]
        found = self.view.recommended
        return index[:0] if found is None else index[found.row : found.row + 1]

    @property
    def designs(self) -> list[str]:
        """Return the choices of each design of the front, in a line."""
        return [
            name
            for study, index in self.points
            for name in described(study.problem, index, people=True)
        ]

    @property
    def kinds(self) -> list[str]:
        """Return the same without numbers of instances that follow from the rate."""
        return [
            for_people(study.problem, chosen)
            for study, index in self.points
            for chosen in parts(study.problem, index, counts=False)
        ]


def read_page_run(folder: Path) -> PageRun:
    """Return the run in a folder.

    Raises
    ------
    OutputError
        It is no run, or was changed after it was written.
    """
    run = finished.read_run(folder)
    points = run.points()
    view = run.view(points)
    return PageRun(folder.resolve().name, view, run, tuple(points))


def with_choices(view: FrontView) -> FrontView:
    """Return a front with all choices as axes: cores, their number, platform, device.

    In a chain each stage has its own cores and number.  A column with one value for all designs of
    the front and of the cloud is no choice.
    """
    columns = _fleets(view)
    names = [*view.names]
    also = [
        name
        for name, values in view.front.items()
        if name not in (*view.axes, view.category, view.sweep) and values.tolist() == names
    ]
    front = {**view.front, **columns}
    axes = (*columns, *also[: not columns], *view.axes)
    varying = tuple(name for name in axes if _differs(front[name], view.cloud.get(name)))
    return replace(view, front=front, axes=varying)


def _fleets(view: FrontView) -> dict[str, NDArray[Any]]:
    """Return cores and numbers of instances by stage, empty if designs are no fleets."""
    stages = [name.split(ARROW) for name in view.names if name != ALONE]
    if len({len(chain) for chain in stages}) != 1 or not COUNT_BEFORE_NAME.match(stages[0][0]):
        return {}
    alone = np.array([name == ALONE for name in view.names])
    columns: dict[str, NDArray[Any]] = {}
    codes = [name for name in view.codes if name != ALONE][:1]
    heads = codes[0].split(ARROW) if codes else stages[0]
    for head, fleets in zip(heads, zip(*stages, strict=True), strict=True):
        stage = head.split()[-1].partition(".")[0] if len(stages[0]) > 1 else ""
        cores = np.full(view.size, HOST, dtype=object)
        cores[~alone] = [kind_of(fleet).replace(f"{stage}.", "") for fleet in fleets]
        counts = np.full(view.size, np.nan)
        counts[~alone] = [sum(map(int, COUNT_BEFORE_NAME.findall(fleet))) for fleet in fleets]
        columns[f"{stage} core".strip()] = cores.astype(str)
        columns[f"{stage} instances".strip()] = counts
    return columns


def _differs(*columns: NDArray[Any] | None) -> bool:
    """Return whether the known values of columns, of all their designs together, differ."""
    known = [values[known_values(values)] for values in columns if values is not None]
    known = [values for values in known if len(values)]
    return any(bool((values != known[0][0]).any()) for values in known)


def colour_of(view: FrontView) -> str | None:
    """Return the column that colours a page: methods of a sweep, else devices, platforms, cores."""
    if view.sweep is not None and view.front[view.sweep].dtype.kind not in "fiub":
        return view.sweep
    for ending in ("device", "platform", "core"):
        for name in view.axes:
            if name.replace(".", " ").split()[-1] == ending:
                return name
    few = (name for name in view.axes if len(set(view.front[name].tolist())) <= MOST_COLOURS)
    return next(few, view.category)


def drawn(run: PageRun) -> FrontView:
    """Return the front of a run as its page draws it, and at most `MOST_CLOUD` of its cloud."""
    view = with_choices(run.view)
    goals = [name for name, _ in view.objectives]
    names = dict.fromkeys(name for name in (view.sweep, *view.axes, *goals, view.category) if name)
    cloud = thinned(view.cloud, MOST_CLOUD)
    return replace(
        view,
        front={name: view.front[name] for name in names},
        cloud={name: cloud[name] for name in names if name in cloud},
        names=run.designs,
    )


def column_facts(view: FrontView, name: str) -> dict[str, Any]:
    """Return the facts of a column that a page needs to draw it and to write its values.

    ``axis`` is as in plots: `factor` is the divisor of values in SI, by which `low` and `high`
    are divided already.
    """
    scale = axis_scale(view, name, view.cloud)
    number = not scale.ticks
    facts: dict[str, Any] = {
        "words": view.words(name),
        "number": number,
        "varies": _differs(view.front[name], view.cloud.get(name) if number else None),
        "differs": _differs(view.front[name]),
        "sense": dict(view.objectives).get(name),
        **(unit_facts(name) if number else {}),
    }
    if number:
        beyond = bool(len(scale.cloud) and not scale.inside.all())
        facts["axis"] = _axis(scale, facts["binary"]) | {"beyond": beyond}
    return facts


def _axis(scale: Scale, binary: Sequence[tuple[float, str]]) -> dict[str, Any]:
    """Return an axis as plain data, in the binary unit in which most of its values are whole."""
    facts: dict[str, Any] = {name: getattr(scale, name) for name in ("low", "high", "log")}
    label, factor = " ".join(scale.label.split()), scale.factor
    values = scale.front[np.isfinite(scale.front) & (scale.front > 0)] * factor
    usual = float(np.median(values)) if len(values) else 0.0
    for size, unit in reversed(binary):
        if size <= usual and (values % size == 0).mean() > 0.5:
            label = f"{label.partition(' [')[0]} [{unit}]"
            facts |= {end: facts[end] * factor / size for end in ("low", "high")}
            factor = size
            break
    return facts | {"label": label, "factor": factor}


def unit_facts(name: str) -> dict[str, Any]:
    """Return the format of a number of a column: its unit by its size."""
    zero = units.scale([0.0], name)[1]
    return {"steps": unit_steps(name), "binary": binary_steps(name), "zero": zero}


def unit_steps(name: str) -> list[tuple[float, float, str]]:
    """Return from which size on a quantity is written in which unit: least, factor, label."""
    steps: list[tuple[float, float, str]] = []
    for power in _POWERS:
        factor, label = units.scale([float(f"1e{power}")], name)
        if not steps or steps[-1][2] != label:
            steps.append((float(f"1e{power}") if steps else 0.0, factor, label))
    return steps


def binary_steps(name: str) -> list[tuple[float, str]]:
    """Return the binary units of a quantity: factor and label, usually an empty list."""
    found = [units.scale([1024.0**power], name) for power in (1, 2, 3, 4)]
    return [(factor, label) for factor, label in found if label[:2] in BINARY]


def packed(values: NDArray[Any], also: NDArray[Any] | None = None) -> Any:
    """Return a column as plain data: numbers as they are, texts as codes of `labels`.

    Labels include the texts of `also`.
    """
    plain = _plain(values)
    if plain.dtype.kind in "fi":
        return plain.tolist()
    every = plain if also is None else np.concatenate([plain, np.unique(_plain(also))])
    labels, codes = np.unique(every, return_inverse=True)
    return {"labels": labels.tolist(), "codes": codes[: len(plain)].tolist()}


def single(values: NDArray[np.float64]) -> str:
    """Return numbers in single precision, little-endian, in base 64."""
    return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode("ascii")


def _plain(values: Iterable[Any]) -> NDArray[Any]:
    """Return numbers as numbers, all else as texts."""
    found = np.asarray(values)
    return found.astype(float) if found.dtype.kind in "fiub" else found.astype(str)


def contents(
    run: PageRun,
    preference: Preference,
    answered: Sequence[Section],
    limits: Sequence[Mapping[str, Any]] = (),
    beside: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the data of the page of a run, with the front in the order of front.csv.

    The changes of the answer, in SI, and the limits of the recommended design are in the sections
    of the answer, as far as requested.  The `limits` of each design are from `of_each`.  Other
    facts, `beside`, are kept as they are.
    """
    view = drawn(run)
    data: dict[str, Any] = {
        "title": view.title,
        "run": run.name,
        "preference": _preference(preference),
    }
    data |= _columns(view) | _designs(run, view)
    data |= {"bounds": _bounds(run), "cloud": _cloud(run, view)}
    data |= {"flips": _flips(answered, run.study.problem.labels), "roofs": _roofs(answered)}
    data["limits"] = [
        {**one, "words": in_words(one["quantity"]), "unit": unit_facts(one["quantity"])}
        for one in limits
    ]
    data |= {"growth": run.run.manifest.get(GROWTH), **beside}
    if data["preference"]["by"] not in (KNEE, *data["objectives"]):
        data["merit"] = _merit(run, preference)
    return data


def _columns(view: FrontView) -> dict[str, Any]:
    """Return the columns that a page draws, and the place of each."""
    return {
        "columns": {name: column_facts(view, name) for name in view.front},
        "objectives": [name for name, _ in view.objectives],
        "choices": list(view.axes),
        "category": view.category,
        "colour": colour_of(view),
        "sweep": view.sweep,
    }


def _designs(run: PageRun, view: FrontView) -> dict[str, Any]:
    """Return the designs of the front: columns, names, and values that are in no picture."""
    return {
        "front": {name: packed(v, view.cloud.get(name)) for name, v in view.front.items()},
        "design": packed(np.array(run.view.names, dtype=object)),
        "described": packed(np.array(view.names, dtype=object)),
        "kind": packed(np.array(run.kinds, dtype=object)),
        "assigned": _assigned(run),
        "details": _details(run, {*view.front}),
    }


def _cloud(run: PageRun, view: FrontView) -> dict[str, Any]:
    """Return the feasible designs around the front."""
    return {
        "size": front_view.row_count(view.cloud),
        "feasible": run.run.manifest.get("feasible_in_space"),
        "columns": _cloud_columns(view),
    }


def hues(run: PageRun, columns: Sequence[str]) -> list[str]:
    """Return the texts of one column in the order of their colours: of the front, then of others.

    Several columns have no colours.
    """
    view, column = drawn(run), columns[0] if len(columns) == 1 else ""
    front = view.front.get(column, np.array([], dtype=str))
    return sorted(packed(front, view.cloud.get(column))["labels"], key=lambda one: one not in front)


def remarks(run: PageRun) -> list[str]:
    """Return in words the omissions of the plots of a page, and their replacements."""
    view = drawn(run)
    said = [_cloud_words(run)]
    same = [view.words(name) for name, _ in view.objectives if front_view.is_same(view, name)]
    if same:
        said.append(f"The same for every design, and so not drawn: {', '.join(same)}.")
    beyond = [n for n, _ in view.objectives if column_facts(view, n)["axis"]["beyond"]]
    if beyond:
        words = ", ".join(view.words(name) for name in beyond)
        said.append(f"Some feasible designs are outside the plotted range of {words}.")
    return said


def _cloud_words(run: PageRun) -> str:
    """Return in words the feasible designs of a run that are drawn in grey."""
    stored = front_view.row_count(run.view.cloud)
    shown = min(stored, MOST_CLOUD)
    known = run.run.manifest["feasible_in_space"]
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
    """Return the value that the preference minimises, for each design."""
    merits = [preference.merit(study.problem, index) for study, index in run.points]
    return [float(value) for value in np.concatenate(merits)]


def _assigned(run: PageRun) -> list[str]:
    """Return each design as ``dse explain --design`` takes it, of a front that is not too long."""
    if run.view.size > MOST_ASSIGNED:
        return []
    return [exact_name(study.problem, point) for study, index in run.points for point in index]


def _bounds(run: PageRun) -> list[dict[str, Any]]:
    """Return the bounds that the constraints of a study set to its objectives, in SI."""
    goals = {name for name, _ in run.view.objectives}
    return [
        {"objective": bound.name, "value": bound.value, "upper": bound.up, "rule": constraint.text}
        for constraint in run.study.problem.constraints
        for bound in thresholds_of(constraint)
        if bound.name in goals and constraint.names == {bound.name}
    ]


def _cloud_columns(view: FrontView) -> dict[str, Any]:
    """Return the places of the cloud: objectives and the swept column in single precision, others
    by the number of their value among at most `MOST_SEEN`.
    """
    goals = {view.sweep, *(name for name, _ in view.objectives)}
    found: dict[str, Any] = {
        name: single(_places(view, name)) for name in view.cloud if name in goals
    }
    for name in (name for name in view.cloud if name not in goals):
        places, codes = np.unique(_places(view, name), return_inverse=True)
        if len(places) <= MOST_SEEN:
            encoded = base64.b64encode(codes.astype(np.uint8).tobytes()).decode("ascii")
            found[name] = {"places": places.tolist(), "codes": encoded}
    return found


def _places(view: FrontView, name: str) -> NDArray[np.float64]:
    """Return the places of the cloud on the axis of a column: in its unit, or at its kind."""
    values = view.cloud[name]
    if values.dtype.kind in "fiub":
        return np.asarray(values / column_facts(view, name)["axis"]["factor"])
    labels = packed(view.front[name], values)["labels"]
    return np.searchsorted(labels, values.astype(str)).astype(float)


def _details(run: PageRun, already: set[str]) -> dict[str, Any]:
    """Return the other columns that vary, if they are few enough to be shown per design."""
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
    """Return the format of the values of a column that is in no plot."""
    if values.dtype.kind not in "fiub":
        return {"words": in_words(name)}
    words = name if values.dtype.kind == "i" else in_words(name)
    return {"words": words} | unit_facts(name)


def _flips(answered: Sequence[Section], labels: Labels) -> Any:
    """Return the changes of the answer, as far as they were searched, for people."""
    found = next((section.facts for section in answered if section.key == FLIPS), None) or {}
    if "assumptions" not in found:
        return None
    moving = [
        entry | {side: _for_people(entry[side], labels) for side in ("below", "above")}
        for entry in found["assumptions"]
    ]
    return found | {"assumptions": moving}


def _for_people(side: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
    differs = side["differs"]
    return {**side, "differs": differs and labelled_line(differs, labels)}


def _roofs(answered: Sequence[Section]) -> list[str]:
    """Return in words the changes that lift the lowest roof over the recommended design."""
    found = (section.facts or () for section in answered if section.key == ROOFS)
    return [roofs["text"] for facts in found for roofs in facts]
