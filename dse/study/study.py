"""Reading of a study: from a YAML file to a problem and its search."""

from __future__ import annotations

import copy
import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from dse import contract
from dse.algebra import units
from dse.algebra.expression import parse_expression as parse_expression
from dse.contract.evaluators import Measurement, RecordedEvaluator
from dse.errors import StudyError, UnitError, nearest
from dse.files import document, memory
from dse.files.document import Assignments, Document, assignments, is_record
from dse.files.inputs import Input
from dse.model.evaluation import KNEE
from dse.model.fleet import offered
from dse.model.graph import wire
from dse.model.measured import Design
from dse.model.mixed import Mixed
from dse.model.preference import Preference, prefer
from dse.model.problem import Problem
from dse.model.space import Space, constant, designs_text
from dse.plugins import registry
from dse.search.settings import SearchSettings
from dse.study import demand, goals, schema
from dse.study.field_kinds import Mix, axes_labels
from dse.study.measuring import measuring
from dse.study.overrides import (
    OVERRIDE_EXAMPLE,
    at_value,
    check_shape,
    override,
    sweep_of,
    validate,
)
from dse.study.reader import MISSING, Path, Reader, lookup, validate_as
from dse.study.records import record_of
from dse.study.scenario import RecordSureness, Scenario
from dse.study.schema import StudyFile
from dse.study.stages import Built, build, check_presence, check_whole, prefix, whole_accelerator


def _parts(written: schema.StudyFile, scenario: Scenario, reader: Reader) -> Sequence[Built]:
    """Return the stages, or raise all errors found so far."""
    whole = check_whole(written, scenario, reader)
    built = [whole_accelerator()] if whole else build(written, scenario, reader)
    check_presence(written, reader, whole=whole)
    goals.check_search_section(written, reader)
    _raise_any(reader)
    goals.check_cap(offered(stage.designs for stage, _ in built), scenario, reader)
    return built


def _raise_any(reader: Reader) -> None:
    """Raise the errors found so far, if any, with errors of words that are checked later."""
    if reader.faults:
        _check_words(reader)
    reader.raise_any()


def _constants(
    written: schema.StudyFile, scenario: Scenario, built: Sequence[Built], reader: Reader
) -> dict[str, contract.Column]:
    """Return the constants of a scenario, with constants of stages and sizes of offloads."""
    constants = {name: constant(value) for name, value in scenario.constants.items()}
    meet = scenario.highest("workload_rate_bit_per_s") is not None and any(
        stage.common for stage, _ in built
    )
    demand.check_mix(scenario, meet=meet, reader=reader)
    demand.check_arrivals(written, scenario, meet=meet, reader=reader)
    if scenario.mix is not None:
        constants.setdefault("workload_size_cv2", constant(scenario.parts[0].cv2))
        reader.notes.append(scenario.mix.note)
    _raise_any(reader)
    return constants


@dataclass(frozen=True, repr=False)
class Study:
    """A study that is ready to run.

    Attributes
    ----------
    document
        The file as read, with the overrides of the command line.
    question
        Its question, in plain words.
    problem, settings
        The problem, and the settings of its search.
    stated
        The preference that it states, if any.
    notes
        Assumptions behind the numbers.
    measuring
        Section on measurements, if designs are measured.
    unchecked
        Notes on rules that cannot be used, and so are not checked, and on rejected
        fits.
    refused
        Notes on rejected fits, and the measured offloads that are faster.
    growing
        Stages whose counts go up to the number that carries the rate without others.
    inputs
        Tables that the study names, by the name as written.
    sureness
        Uncertainty of the values of records.
    mix
        Sizes of offloads and their shares, if there are several.
    """

    document: Document
    question: str
    problem: Problem
    settings: SearchSettings
    stated: Preference | None
    notes: tuple[str, ...]
    inputs: Mapping[str, Input] = field(default_factory=dict)
    sureness: RecordSureness = field(default_factory=RecordSureness)
    mix: Mix | None = None
    measuring: schema.EvaluateSection | None = None
    unchecked: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    growing: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """Return the question and the summary."""
        return "\n".join(filter(None, [self.question, self.summary()]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the study as written, with its files and measurements.  Loading reads it again."""
        return ready, (whole_document(self.document, [self]),)

    def summary(self) -> str:
        """Return the size of the space, the objectives and the assumptions."""
        problem = self.problem
        names = [(goal.sense, (units.stem(goal.name) or goal.name)) for goal in problem.goals]
        wanted = ", ".join(f"{sense} {name.replace('_', ' ')}" for sense, name in names)
        axes = ", ".join(f"{axis.name} {axis.size}" for axis in problem.space.axes if axis.size > 1)
        lines = [f"{designs_text(problem.sizes)}; {wanted}", *[f"axes: {axes}"] * bool(axes)]
        sweep, each = sweep_of(self.document), ""
        if sweep is not None:
            each = f" at each value of {sweep.path}"
            lines.append(
                f"{sweep.path} takes {len(sweep.values)} values, and the study runs for each"
            )
        if self.problem.measured is not None:
            wing = measuring()
            lines += wing.lines(self.problem, self.settings, each)
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    @property
    def preference(self) -> Preference:
        """Return the preference among designs, made on request, since it needs all models."""
        return self.stated or prefer(self.problem)

    def preferring(self, written: str | None = None, tolerance: str | None = None) -> Preference:
        """Return the preference with the given parts in place of the study's own.

        Parameters
        ----------
        written
            ``power``, ``area``, ``knee``, an objective, or an expression to minimise.
        tolerance
            Share of the best within which the other objectives decide: ``1 %``.

        Raises
        ------
        UnitError
            Either makes no sense in this study.
        """
        return goals.replaced_preference(self.preference, self.problem, written, tolerance)

    def with_(self, overrides: Assignments | None = None, *, rate: str | None = None) -> Study:
        """Return the study with fields replaced: ``study.with_({"des.clock": 1}, rate="73 Gbps")``.

        Raises
        ------
        StudyError
            A field does not exist, or the study has errors then.
        """
        given = assignments(overrides, OVERRIDE_EXAMPLE)
        if rate is not None:
            texts = [f"{path}={value}" for path, value in given.items()]
            given = assignments([*texts, f"workload.rate={rate}"], OVERRIDE_EXAMPLE)
        return ready(override(self.document, [*given.items()]))


def recorded_of(studies: Iterable[Study]) -> RecordedEvaluator | None:
    """Return the evaluator of studies that differ in the value of a sweep, if they are measured."""
    identity, seen = "", dict[str, tuple[Design, Measurement]]()
    for columns in filter(None, (study.problem.measured for study in studies)):
        identity = columns.setup.evaluator.identity
        seen |= columns.setup.seen
    return RecordedEvaluator(identity, [*seen.values()]) if identity else None


def whole_document(found: Document, studies: Sequence[Study]) -> Document:
    """Return a document that holds the files and measurements of its studies: it needs no file."""
    files = {name: one.content for study in studies for name, one in study.inputs.items()}
    return replace(
        found,
        contents={**found.contents, **files},
        inputs={},
        evaluate=None,
        caches=None,
        recorded=recorded_of(studies),
    )


def read_study(
    source: str | FilePath | Mapping[str, Any], overrides: Sequence[tuple[str, str]] = ()
) -> Document:
    """Return the document of a study with `overrides` (dotted path, value) applied.

    An override of a field that is an axis fixes the axis.

    Parameters
    ----------
    source
        The path of a file, YAML of more than one line, or equivalent plain data, in
        which data frames may replace tables.

    Raises
    ------
    StudyError
        The study is not well-formed or a path does not exist.  The error has all errors.
    """
    if isinstance(source, Mapping):
        found = memory.of_data(source)
    elif isinstance(source, str) and "\n" in source:
        found = document.parse_document(source, document.IN_MEMORY)
    else:
        found = document.read_document(source)
    found = override(found, overrides)
    try:
        check_shape(found)
    except StudyError as error:
        raise _every_fault(found, error) from None
    return found


def ready(found: Document) -> Study:
    """Return the study of a document, ready to run, at the first value of its sweep if any."""
    if (sweep := sweep_of(found)) is None:
        return prepare(found)
    return replace(prepare(at_value(found, sweep, 0)), document=found)


def prepare(found: Document) -> Study:
    """Return the study of a document, ready to run."""
    written, reader = validate(found), Reader(found)
    if written.designs is not None:
        if written.evaluate is None:
            return _over_designs(written, reader)
        written = measuring().pool_axes(written, reader)
    return _modelled(written, reader)


def _modelled(written: schema.StudyFile, reader: Reader) -> Study:
    """Return a study whose designs models describe."""
    scenario = demand.resolve(written, reader)
    demand.settle_policy(written, scenario, reader)
    built = _parts(written, scenario, reader)
    constants = _constants(written, scenario, built, reader)
    stages = tuple(stage for stage, _ in built)
    space = Space((*(axis for _, own in built for axis in own), *scenario.axes), constants)
    measured, outputs = None, dict[str, contract.Objective]()
    if written.evaluate is not None:
        measured, outputs = measuring().quantities(written, space, reader)
        reader.raise_any()
    inputs = {*outputs, *constants}.union(*(axis.columns for axis in space.axes))
    staged = goals.of_stages(stages)
    text = " ".join([*written.objectives, *written.constraints, written.prefer or ""])
    own = outputs | {name: one for name, one in staged.items() if units.stem(name) in text}
    catalogue: Any = registry.Catalogue(contract.Objective)
    known: Any = ChainMap(catalogue, own)  # of a quantity in both, the model defines it
    known = Mixed(known, scenario.parts) if scenario.mix else known
    graph = wire(known, {*inputs, *offered(stage.designs for stage in stages)})
    names, plain = {*registry.names(contract.Objective), *own}, {n for n in inputs if "." not in n}
    named = goals.Named(graph, names, plain, axes_labels(scenario.axes), staged)
    wanted = goals.goals_of(written, named, reader)
    constraints = goals.constraints_of(written, named.expression, reader)
    _raise_any(reader)
    requirements, unchecked = goals.applied_requirements(graph)
    reader.notes += [*unchecked, *reader.refused, *goals.without_figures(graph, scenario)]
    devices = {one.name: one.label for one in scenario.interfaces if one.label}
    problem = Problem(
        *(space, stages, graph, wanted, constraints, requirements),
        measured=measured,
        devices=devices,
    )
    return _ready(written, problem, scenario, reader, (*unchecked, *reader.refused))


def _over_designs(written: schema.StudyFile, reader: Reader) -> Study:
    """Return a study over designs that are evaluated already."""
    from dse.study import evaluated  # few studies are

    scenario = Scenario()
    goals.check_search_section(written, reader)
    space, graph = evaluated.space(written, scenario, reader)
    written = evaluated.with_quantities(written, graph.quantities)
    wanted = goals.goals_of(written, goals.Named(graph, graph.quantities, ()), reader)
    labels = {name: one.labels for name, one in graph.quantities.items() if one.labels}
    numbers = graph.quantities.keys() - labels.keys()
    constraints = goals.constraints_of(
        written, lambda text: parse_expression(text, numbers, labels), reader
    )
    reader.raise_any()
    problem = Problem(space, (), graph, wanted, constraints)
    return _ready(written, problem, scenario, reader)


def _ready(
    written: schema.StudyFile,
    problem: Problem,
    scenario: Scenario,
    reader: Reader,
    unchecked: tuple[str, ...] = (),
) -> Study:
    stated = goals.stated_preference(written, problem, reader)
    reader.raise_any()
    return Study(
        document=reader.document,
        question=written.question or reader.document.first_comment,
        problem=problem,
        settings=goals.settings_of(written, problem),
        stated=stated,
        notes=tuple(dict.fromkeys(reader.notes)),
        inputs=reader.inputs,
        sureness=scenario.sureness,
        mix=scenario.mix,
        measuring=written.evaluate,
        unchecked=unchecked,
        refused=reader.refused,
        growing=frozenset(
            prefix(stage, place)
            for place, stage in enumerate(written.stages)
            if stage.fleet == "mixed" and stage.takes_least
        ),
    )


_OF_A_STUDY = re.compile(r"\b(?:(?:workload|interface|kernel|budget)_|[A-Za-z_]\w*\.[A-Za-z_])")
"""Columns that some studies have and others lack."""

_NAMED = {tuple(path.split(".")): kind for path, (kind, _) in demand.RECORD_READERS.items()}
_NAMED[("search", "method")] = contract.Method

_TOGETHER = {(), *((name,) for name in ("workload", "interface", "budget", "axes", "evaluate"))}
"""Sections that are checked together if they have no error of shape."""


def _every_fault(document: Document, found: StudyError) -> StudyError:
    """Return the errors of shape, or of the sweep, `found` in a study with all other errors."""
    reader = Reader(document)
    validate_as(StudyFile, reader)
    reader.faults += (fault for fault in found.faults if fault not in reader.faults)
    for path, kind in _NAMED.items():
        name = lookup(reader.document.data, path)
        if isinstance(name, str) and not is_record(name):
            with reader.at(path):
                record_of(kind, name, reader)
    _check_readable(reader)
    _check_words(reader)
    return StudyError(reader.faults)


def _check_readable(reader: Reader) -> None:
    """Add the errors of axes, stages and the search, if they are readable."""
    data = reader.document.data
    together = not (data.get("sweep") or any(path[:1] in _TOGETHER for path in reader.paths))
    models = "evaluate" not in data
    readable = replace(reader.document, data=_readable(reader))
    rest = replace(reader, document=readable)  # which shares the errors
    try:
        written = StudyFile.model_validate(rest.document.data)
    except ValidationError:
        return
    with rest.at(()):
        check_shape(rest.document)
    if together:
        demand.resolve(written, rest)
    else:
        for axis, values in written.axes.items():
            demand.open_axis(axis, values, Scenario(), rest, own=not models)
    rate = {"workload_rate_bit_per_s": 1.0}  # a missing rate is no error of stages
    build(written, Scenario(constants=rate), rest)
    if models:
        goals.check_search_section(written, rest)


def _readable(reader: Reader) -> dict[str, Any]:
    """Return the data of a study without the parts that have errors."""
    data = copy.deepcopy(reader.document.data)
    removed: set[Path] = set()
    for path in reader.paths:
        if any(path[:length] in removed for length in range(len(path) + 1)):
            continue
        while path and (isinstance(path[-1], int) or lookup(data, path) is MISSING):
            path = path[:-1]  # the owner of a missing key, or the list, whose items keep places
        if path:
            removed.add(path)
            del lookup(data, path[:-1])[path[-1]]
    data["objectives"] = data.get("objectives") or {"area": "minimise"}
    return data


def _check_words(reader: Reader) -> None:
    """Add the errors of objectives, constraints, `prefer` and `tolerance` in any study.

    Evaluated designs and evaluators add quantities, which are checked only after they are read.
    """
    data = reader.document.data
    if data.get("tolerance") is not None:
        with reader.at(("tolerance",)):
            goals.share_of_best(data["tolerance"])
    if data.get("evaluate") is not None or data.get("designs") is not None:
        return
    known = set(registry.names(contract.Objective))
    stems = {units.stem(name): name for name in sorted(known)}
    objectives = data.get("objectives")
    for name in objectives if isinstance(objectives, dict) else ():
        where = ("objectives", name)
        if (
            name not in known | stems.keys()
            and where not in reader.paths
            and not _OF_A_STUDY.match(name)
        ):
            reader.fault(where, "this quantity is not known", nearest(name, stems), repr(name))
    constraints = data.get("constraints")
    for place, text in enumerate(constraints if isinstance(constraints, list) else ()):
        _check_text(("constraints", place), text, known, reader)
    if data.get("prefer") != KNEE:
        _check_text(("prefer",), data.get("prefer"), known, reader)


def _check_text(path: Path, text: Any, known: set[str], reader: Reader) -> None:
    """Add the error of an expression, if it has one in every study."""
    if not isinstance(text, str) or path in reader.paths or _OF_A_STUDY.search(text):
        return
    failures = []
    for names in _meanings(text, known):
        try:
            expression = parse_expression(text, names)
            if path[0] == "constraints":
                goals.must_compare(expression)
        except UnitError as error:
            failures.append(error)
        else:
            return
    with reader.at(path):
        raise failures[0]


def _meanings(text: str, known: set[str]) -> Iterator[set[str]]:
    """Yield the quantities that a text may name: an area is in m2, or else in another unit."""
    words = set(re.findall(r"\w+", text))
    called: dict[str, set[str]] = {}
    for name in known:
        called.setdefault(units.stem(name), set()).add(name)
    several = [names for stem, names in called.items() if stem in words and len(names) > 1]
    if not several:
        yield known
    for names in several:
        for name in sorted(names, reverse=True):
            yield known - names | {name}
