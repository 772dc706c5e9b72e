"""Simulating one design of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dse.api.arguments import (
    Count,
    Seed,
    known,
    override_pairs,
    public,
    study_of,
)

if TYPE_CHECKING:
    from dse.api.arguments import Assignments, Overrides, StudySource
    from dse.model.space import Index
    from dse.runs.result import Result
    from dse.search import Progress
    from dse.simulation.report import Simulation
    from dse.study.study import Study


@public
def simulate(
    source: StudySource | Result,
    design: Assignments | None = None,
    *,
    offloads: Count | None = None,
    events: Count | None = None,
    seed: Seed = 0,
    prefer: str | None = None,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Simulate offloads through one design as discrete events, beside what the model says.

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
    events
        Most events (default: 50 million).
    seed
        Seed of the arrivals and sizes.
    progress
        Called with the number of offloads that have ended, and that arrive.

    Returns
    -------
    Simulation
        Its repr is the text that ``dse simulate`` prints.  An interrupt ends the simulation, and
        what has ended until then is returned.

    Raises
    ------
    dse.errors.DseError
        When the request makes no sense; `InfeasibleError` when no design fits.
    """
    from dse.runs.design_names import read_design
    from dse.simulation.report import simulated
    from dse.study.overrides import sweep_of

    if design is None:
        prepared, index = _recommended(source, prefer, overrides)
    else:
        found = study_of(source, overrides)
        _, chosen, index = read_design(design, found, sweep_of(found))
        prepared = _with_arrivals(chosen)
    return simulated(
        prepared, index, offloads=offloads, events=events, seed=seed, progress=progress
    )


def _recommended(
    source: StudySource | Result,
    prefer: str | None,
    overrides: Overrides | None,
) -> tuple[Study, Index]:
    from dse.answers.source import known_fronts

    fronts = known_fronts(known(source), overrides=override_pairs(overrides))
    if fronts.sweep is not None:
        raise fronts.sweep.refused("one design is simulated")
    first = fronts.points[0]
    preference = first.study.preferring(prefer)
    chosen = preference.order(first.study.problem, first.front)[:1]
    return _with_arrivals(first.study), first.front[chosen]


def _with_arrivals(prepared: Study) -> Study:
    """Return the study with the arrivals that it omits, so that the model tells of waits."""
    from dse.study import study as studies
    from dse.study.demand import ARRIVAL_CV2, ARRIVALS
    from dse.study.overrides import override

    problem = prepared.problem
    if ARRIVAL_CV2 in problem.available or "interface_in_flight" not in problem.available:
        return prepared
    return studies.prepare(override(prepared.document, [(ARRIVALS, "steady")]))
