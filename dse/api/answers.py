"""Questions on a study: the design, its reasons, changes, certainty, simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Annotated

from dse.answers.answer import Answer, SweepAnswer, recommend, recommend_swept
from dse.answers.source import known_fronts
from dse.api.arguments import Count, Seed, assigned, public
from dse.api.runs import DesignChoices, Source, known, study_of
from dse.api.studies import Overrides, override_pairs
from dse.errors import ArgumentError, UnitError
from dse.files.document import Assignments
from dse.model.preference import Preference
from dse.model.space import Index
from dse.parametric.flips import flips_section, without_flips
from dse.parametric.ranges import ranges_section
from dse.reports.sections import Reporter, Section
from dse.runs.design_names import read_design
from dse.runs.runner import KnownFront, KnownFronts, Options
from dse.sampling.report import UncertaintyReport, uncertainty_of
from dse.search import Progress
from dse.search.settings import Budget, budget_of
from dse.simulation.report import Simulation, simulated, simulation_section
from dse.study import study as studies
from dse.study.demand import ARRIVAL_CV2, ARRIVALS
from dse.study.goals import share_of_best
from dse.study.overrides import Sweep, override, sweep_of
from dse.study.study import Study

Uncertainties = Annotated[Assignments, assigned("{'area': '10 %'} or 'area=10 %'", "PATH=PERCENT")]

NEAR_S = 10.0
"""CPU time of an answer for nearby changes, if no limit is given."""

SWEEP_FLIPS = (
    "A sweep has an answer for each value: dse map has the values of changes, and --set of "
    "the swept field asks about one of them."
)


@public
def answer(
    source: Source,
    *,
    rate: str | None = None,
    prefer: str | None = None,
    tolerance: str | None = None,
    overrides: Overrides | None = None,
    all: bool = True,
    flips: bool | None = None,
    within: str | None = None,
    time: str | None = None,
    callback: Callable[[str], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Answer | SweepAnswer:
    """Answer the question of a study: the design, its reasons, and the costs of other choices.

    >>> print(dse.answer("studies/des_100gbps.yaml").pick.quantities["power_w"])

    Parameters
    ----------
    source
        Study file, or the folder of a run.  Any study as in `load`, or a `Result`.
    rate
        Demanded rate: "100 Gbps" (default: the study's).
    prefer
        Quantity to minimise: power, area, knee, an expression (see `dse list objectives`).  By
        default the study's, else power if it is an objective, otherwise the first objective.
    tolerance : PERCENT
        Designs this near the best count as equal, and other objectives decide: "1 %".  They do in
        the order in which the study names them.  By default the tolerance is the study's, if it has
        one.
    overrides
        As in `load`.
    all
        Show everything, not only one screen.  A caller has it by default, as ``--json``
        does, for `others` and ``text(all=True)``.  The command prints one screen by default.
        Without it `others` are the designs of one axis: the device, or the first with names.
    flips
        Show every flip point, or none (default: the nearest).  The nearest are shown if the front
        is proven.
    within : PERCENT
        Show the values of each choice with a design so near the best: "5 %".  Near by the objective
        that is preferred, and not for a sweep.
    time : TIME
        Most CPU time: "10 min" (default: search.effort).  The proof of the front takes half of it
        at most.  By default the search for changes takes 10 s at most, and as long as the proof
        with ``flips=True``.  Unfinished parts are named.
    callback
        Called with each part of the text as soon as it is known: the design first, before any
        further search.
    progress
        Called with the number of checked assumptions and of all.

    Returns
    -------
    Answer or SweepAnswer
        Its repr is the text of one screen that ``dse answer`` prints, ``text(all=True)`` the text
        of ``dse answer --all``.  A notebook shows it as tables.

    Raises
    ------
    dse.errors.DseError
        The request is invalid, or `InfeasibleError`: no design fits.
    """
    budget = budget_of(time)  # nonsense is refused before anything is searched
    share = None if within is None else _share_within(within)
    half = budget.seconds / 2 if time else None
    options = Options(effort_s=half)
    given = override_pairs(overrides)
    fronts = known_fronts(known(source), rate=rate, overrides=given, options=options, budget=budget)
    first = fronts.points[0]
    preference = first.study.preferring(prefer, tolerance)
    write = callback or (lambda text: None)
    if fronts.sweep is not None:
        swept = _swept(fronts, fronts.sweep, preference, share, flips=bool(flips))
        write(swept.text(all=all))
        return swept
    reporter = Reporter(first.study.question, write, all=all)
    part = replace(budget, seconds=budget.seconds / (1 if flips is False else 2))
    found = recommend(first, preference, fronts.options, reporter.report, all=all, budget=part)
    budget = (budget if time else Budget()).within(first.study.settings)
    later = chain(_simulated(first, preference), _ranges(first, preference, share, budget))
    if flips is not False:
        if time is None and not flips:
            budget = Budget(seconds=min(budget.seconds, NEAR_S), byte=budget.byte)
        later = chain(later, _changing(first, preference, budget, bool(flips), progress))
    for section in later:
        reporter.report([section])
        found = found.with_section(section)
    reporter.report(found.sections[-1:])
    return found


def _simulated(first: KnownFront, preference: Preference) -> Iterator[Section]:
    if ARRIVAL_CV2 not in first.study.problem.available:
        return
    chosen = preference.first(first.study.problem, first.front)
    if section := simulation_section(first.study, chosen):
        yield section


def _share_within(written: str | float) -> float:
    try:
        return share_of_best(written)
    except UnitError as error:
        rule = f"within {written!r}: a share of the best value is needed, from 0 to 100 %"
        raise UnitError(rule, error.remedy) from error


def _swept(
    fronts: KnownFronts,
    sweep: Sweep,
    preference: Preference,
    share: float | None,
    *,
    flips: bool,
) -> SweepAnswer:
    if share is not None:
        raise sweep.refused("within asks about one answer")
    found = recommend_swept(fronts.points, sweep, preference)
    if not flips:
        return found
    return found.with_section(without_flips(SWEEP_FLIPS))


def _changing(
    solved: KnownFront,
    preference: Preference,
    budget: Budget,
    full: bool,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Section]:
    """Yield the changes of an answer, without `full` only nearby ones."""

    def step(_: str, number: int, total: int) -> None:
        if progress is not None:
            progress(number, total)

    study, front, exact = solved.study, solved.front, bool(solved.found["exact"])
    found = flips_section(
        study, front, preference, exact=exact, full=full, budget=budget, progress=step
    )
    if found is not None:
        yield found


def _ranges(
    solved: KnownFront, preference: Preference, share: float | None, budget: Budget
) -> Iterator[Section]:
    if share is None:
        return
    exact = bool(solved.found["exact"])
    yield ranges_section(solved.study, solved.front, preference, share, exact=exact, budget=budget)


@public
def uncertainty(
    source: Source,
    *,
    of: Uncertainties = (),
    sobol: bool = False,
    width: str | None = None,
    samples: Count = 1024,
    seed: Seed = 0,
    prefer: str | None = None,
    overrides: Overrides | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> UncertaintyReport:
    """Return the certainty of the recommended design, given uncertain numbers of its study.

    >>> print(dse.uncertainty("studies/des_100gbps.yaml", of="area=10 %").found.pick.answer)

    Parameters
    ----------
    source, prefer, overrides
        As in `answer`.
    of
        Relative standard uncertainty: "area=10 %".  In addition to the study's, and not for Sobol
        indices.
    sobol
        Rank assumptions by Sobol indices: the effect of each on the objectives of the design.
        Needs the extra ``uncertainty``.
    width : PERCENT
        Range of each assumption to either side, for Sobol indices (default: 10 %).
    samples
        Number of Monte Carlo samples, or of base samples of Sobol indices, a power of two.
    seed
        Seed of the samples.
    progress
        Called with the number of searched samples and the most that may be.

    Raises
    ------
    dse.errors.DseError
        The request is invalid, or `InfeasibleError`: no design fits.
    """
    if sobol and of:
        raise ArgumentError("of: only without --sobol; leave it out")
    if width is not None and not sobol:
        raise ArgumentError("width: only with --sobol; leave it out")
    return uncertainty_of(
        known(source),
        overrides=override_pairs(overrides),
        prefer=prefer,
        of=of,
        width=(width or "10 %") if sobol else None,
        samples=samples,
        seed=seed,
        progress=progress,
    )


@public
def simulate(
    source: Source,
    design: DesignChoices | None = None,
    *,
    offloads: Count | None = None,
    seed: Seed = 0,
    prefer: str | None = None,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Simulate offloads through one design, and compare the model with them.

    >>> dse.simulate("studies/crypto_interface_100gbps.yaml", overrides="workload.arrivals=poisson")

    Parameters
    ----------
    source, prefer, overrides
        As in `answer`.
    design
        Choices of the design (default: the recommended one).  As in `explain`.
    offloads
        Number of offloads (default: until waits are known to 5 %).  The default is from 20 000 to
        500 000.
    seed
        Seed of the arrivals and sizes.
    progress
        Called with the number of offloads so far, and of all.

    Returns
    -------
    Simulation
        Its repr is the text that ``dse simulate`` prints.

    Raises
    ------
    dse.errors.DseError
        The request is invalid, or `InfeasibleError`: no design fits.
    """
    if design is None:
        prepared, index = _recommended(source, prefer, overrides)
    else:
        found = study_of(source, overrides)
        _, chosen, index = read_design(design, found, sweep_of(found))
        prepared = _with_arrivals(chosen)
    return simulated(prepared, index, offloads=offloads, seed=seed, progress=progress)


def _recommended(
    source: Source,
    prefer: str | None,
    overrides: Overrides | None,
) -> tuple[Study, Index]:
    fronts = known_fronts(known(source), overrides=override_pairs(overrides))
    if fronts.sweep is not None:
        raise fronts.sweep.refused("one design is simulated")
    first = fronts.points[0]
    preference = first.study.preferring(prefer)
    chosen = preference.order(first.study.problem, first.front)[:1]
    return _with_arrivals(first.study), first.front[chosen]


def _with_arrivals(prepared: Study) -> Study:
    """Return the study with the arrivals that it omits, so that the model includes waits."""
    problem = prepared.problem
    if ARRIVAL_CV2 in problem.available or "interface_in_flight" not in problem.available:
        return prepared
    return studies.prepare(override(prepared.document, [(ARRIVALS, "steady")]))
