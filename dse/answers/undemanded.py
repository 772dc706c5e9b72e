"""What else there is where a design is the answer only because nothing is demanded of it."""

from __future__ import annotations

from collections.abc import Mapping

from dse.algebra import units
from dse.answers.design import Pick, pick
from dse.model.evaluation import KNEE, Goal
from dse.model.preference import Preference, prefer
from dse.model.space import Index
from dse.reports.sections import Section
from dse.reports.words import in_words, listed
from dse.study.demand import RATE
from dse.study.study import Study


def undemanded_section(
    study: Study, front: Index, chosen: Pick, best: Mapping[Goal, Pick], preference: Preference
) -> Section | None:
    """Return the other ends of a front and its knee, where the answer is the end at which least is.

    None where a rate is demanded, a constraint bounds what is maximised, or more than one
    objective decides.
    """
    problem = study.problem
    most = [goal for goal in best if goal.maximise]
    bounded = {name for rule in problem.constraints for name in rule.expression.names}
    demanded = RATE in problem.available or any(goal.name in bounded for goal in most)
    end = preference.column(problem) is not None and not preference.maximise
    if demanded or not end or not most:
        return None
    others = {f"most {in_words(goal.name)}": best[goal] for goal in most}
    knee = prefer(problem, KNEE)
    preferred = [units.stem(goal.name) or goal.name for goal in most]
    if knee.design_on(problem, front) == knee.design:
        others["knee"] = pick(problem, knee.first(problem, front)[0])
        preferred.append(KNEE)
    others = {words: other for words, other in others.items() if other.line != chosen.line}
    if not others:
        return None
    names = [goal.name for goal in problem.goals]
    ask = [*(f"--prefer {name}" for name in preferred), *["--rate"] * bool(problem.stages)]
    return Section(
        "undemanded",
        "",
        (f"Nothing is demanded, so the {preference.best} alone decides; the front also has:",),
        ("", "design", *map(in_words, names)),
        tuple((words, other.line, *map(other.shown, names)) for words, other in others.items()),
        (f"Ask with {listed(ask, 'or')}.",),
        facts={words: other.to_dict() for words, other in others.items()},
    )
