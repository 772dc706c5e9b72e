"""What `dse sensitivity` says: a table for each objective, and the same as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dse.algebra import units
from dse.answers import questions
from dse.answers.words import TINY, named, percent
from dse.cli.commands import print_json, settings
from dse.errors import UnitError
from dse.model.preference import prefer
from dse.model.tables import described
from dse.reports.sections import Readable, Section
from dse.study import assumptions, uncertain
from dse.uncertainty import sensitivity
from dse.uncertainty.sensitivity import Effect, Sensitivity

SMALL = 0.005
"""Effects below this share of an objective's variance, or of the largest effect, get no row."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Told(Readable):
    """The sensitivity of a study's recommended design; as text what `dse sensitivity` prints."""

    design: str
    found: Sensitivity


def tell(
    source: str | Path,
    *,
    method: str = sensitivity.METHODS[0],
    width: float = 0.1,
    samples: int | None = None,
    seed: int = 0,
    preferred: str | None = None,
    overrides: Sequence[tuple[str, str]] = (),
) -> Told:
    """Return the sensitivity of the recommended design of a study, or of a finished run.

    Parameters
    ----------
    source, overrides
        See `questions.solve`.
    method, width, samples, seed
        See `sensitivity.find`.
    preferred
        Which design is recommended; see `preference.prefer`.
    """
    question = questions.solve(Path(source), overrides=overrides)
    if question.sweep is not None:
        rule = f"the study sweeps {question.sweep.path}, and a sensitivity is of one design"
        remedy = f"set one value: --set {question.sweep.path}={question.sweep.written[0]!r}"
        raise UnitError(rule, remedy)
    study, front = question.points[0].study, question.points[0].front
    preference = prefer(study.problem, preferred)
    point = front[preference.order(study.problem, front)[:1]]
    found = sensitivity.find(
        study.problem,
        point,
        assumptions.of(study),
        method=method,
        width=width,
        samples=samples,
        seed=seed,
    )
    design = described(study.problem, point)[0]
    line = (
        f"{design}, with each assumption within {percent(width)} of today's value: "
        f"{found.evaluated:,} evaluations ({method}, seed {seed}). Counts stay as they are; "
        f"{found.still} other assumptions change no objective of this design."
    )
    head = {key: value for key, value in asdict(found).items() if key not in ("effects", "ranges")}
    parts = [Section("sensitivity", "", (line,), facts={"design": design} | head)]
    parts += [_objective(name, found) for name in found.effects]
    parts.append(Section("notes", facts=[]))
    return Told(
        question=study.question,
        preference=preference.text,
        sections=tuple(parts),
        design=design,
        found=found,
    )


def _objective(name: str, found: Sensitivity) -> Section:
    effects = found.effects[name]
    low, high = (units.show(end, name) for end in found.ranges[name])
    title = f"{named(name).capitalize()}, {low} to {high}"
    facts = {
        "least": found.ranges[name][0],
        "most": found.ranges[name][1],
        "effects": [asdict(effect) for effect in effects],
    }
    largest = max(effect.size for effect in effects)
    shown = [effect for effect in effects if effect.size > SMALL * largest]
    if not shown:
        return Section(
            name, f"{named(name).capitalize()}, {low}", ("Nothing moves it.",), facts=facts
        )
    headers: tuple[str, ...] = ("assumption", "today", "range", "alone", "with interactions")
    if shown[0].mean is not None:
        headers = (*headers[:3], "mean change", "spread")
    rows = tuple(_row(effect, name) for effect in shown)
    return Section(name, title, (), headers, rows, facts=facts)


def _row(effect: Effect, objective: str) -> tuple[str, ...]:
    ends = [units.show(end, effect.quantity) for end in (effect.low, effect.high)]
    start = (effect.name, units.show(effect.value, effect.quantity), " to ".join(ends))
    if effect.total is not None and effect.first is not None:
        return (*start, percent(effect.first), f"{percent(effect.total)}")
    mean, spread = effect.mean or 0.0, effect.spread or 0.0
    shown = [mean, spread if spread > TINY * mean else 0.0]
    return (*start, *(units.show(size, objective) for size in shown))


def command(
    source: Path,
    method: str,
    width: str,
    samples: int | None,
    seed: int,
    preferred: str | None,
    pairs: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Print which assumptions move the objectives of the recommended design."""
    try:
        share = uncertain.share(width)
    except UnitError as error:
        raise UnitError(f"--range {width!r}: {error.rule}", "write for instance '10 %'") from error
    found = tell(
        source,
        method=method,
        width=share,
        samples=samples,
        seed=seed,
        preferred=preferred,
        overrides=settings(pairs),
    )
    if as_json:
        print_json(found.plain())
    else:
        print(found)
