"""Holding finished runs to what they say, and against each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dse.api.arguments import Constraints, Count, Seed, folder_of, public, texts
from dse.errors import ArgumentError, InfeasibleError

if TYPE_CHECKING:
    from dse.api.arguments import Assignments, TableSource
    from dse.audit.diff import RunComparison
    from dse.audit.explain import Explanation
    from dse.audit.infeasible_table import Infeasibility
    from dse.audit.verdict import Verification
    from dse.runs.result import Result
    from dse.search import Progress


@public
def verify(
    run: str | Path | Result,
    *,
    trials: Count = 1_000_000,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> Verification:
    """Check a finished run again, independently of its search, and try to beat its front.

    >>> assert dse.verify("runs/settop").holds

    Parameters
    ----------
    run
        Folder of a run, as `dse run` wrote it.  Or a `Result` that was saved.
    trials
        Number of random designs to hold against the front.  The values of a sweep share them.
    seed
        Seed of the random designs.
    progress
        Called with the number of random designs tried and the number planned.

    Raises
    ------
    dse.errors.OutputError
        When it is not the folder of a run.
    dse.errors.StudyError
        When the study in its manifest has faults.
    """
    from dse.audit import verify

    return verify.verify_run(folder_of(run), trials=trials, seed=seed, progress=progress)


@public
def explain(
    run: TableSource,
    design: Assignments | None = None,
    *,
    infeasible: bool = False,
    constraints: Constraints = (),
    study: str | None = None,
) -> Explanation | Infeasibility:
    """Say why a design is on the front of a run, or what it violates or is dominated by.

    >>> dse.explain("runs/settop", "1 u16")
    >>> dse.explain("designs.csv", infeasible=True, constraints=["power <= 30 mW"])

    Parameters
    ----------
    run
        Folder of a run, as `dse run` wrote it; with --infeasible a CSV, sqlite:///FILE of Optuna or
        a study.  Or a `Result` that was saved.
    design
        The design, as in `evaluate`.
    infeasible
        Explain which constraints no design of a table meets together, and the cheapest repair.
        Nothing is measured, and no table is changed.
    constraints
        Constraint on columns of the table: "power <= 30 mW".  Or several.
    study
        Name of a study in the storage of Optuna.  Its completed trials are the table.

    Raises
    ------
    dse.errors.DseError
        When it is not the folder of a run, or the design is none of its study.
    """
    if infeasible:
        if design is not None:
            raise ArgumentError("design: with infeasible no design is named; leave it out")
        return _explain_infeasible(str(run), texts(constraints), study)
    if constraints or study is not None:
        raise ArgumentError("constraints and study are of a table; add infeasible")
    if design is None:
        raise ArgumentError(
            "design: name one of front.csv, or add infeasible for why there is none"
        )
    from dse.audit.explain import explain_design

    return explain_design(folder_of(run), design)


def _explain_infeasible(source: str, constraints: list[str], name: str | None) -> Infeasibility:
    from dse.api import studies
    from dse.audit import infeasible_table
    from dse.runs.measurements import require_nothing_measured
    from dse.study.study import ready

    of_table = not source.lower().endswith((".yaml", ".yml"))
    if not of_table and (constraints or name is not None):
        raise ArgumentError("constraints and study are of a table; write them into the study")
    prepared = (
        ready(infeasible_table.study_of_table(source, constraints, name))
        if of_table
        else studies.load(source)
    )
    require_nothing_measured(prepared)
    try:
        counts = studies.run(prepared, plots=False).manifest
    except InfeasibleError as error:
        return infeasible_table.Infeasibility("infeasible", str(error), error.facts)
    count, designs = counts["feasible"], counts["evaluated"]
    words = f"{count:,} of {designs:,} evaluated designs meet all constraints"
    return infeasible_table.Infeasibility(
        "feasible", words, {"feasible": count, "designs": designs}
    )


@public
def diff(first: str | Path | Result, second: str | Path | Result) -> RunComparison:
    """Compare two runs: designs gained, lost and moved, and which change did it.

    >>> dse.diff("runs/settop", "runs/at_73")

    Parameters
    ----------
    first, second
        Folder of a run, as `dse run` wrote it.  Or a `Result` that was saved.

    Raises
    ------
    dse.errors.DseError
        When one is not the folder of a run, or they ask for different things.
    """
    from dse.audit.diff import compare_runs

    return compare_runs(folder_of(first), folder_of(second))
