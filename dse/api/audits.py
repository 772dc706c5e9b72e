"""Checks of finished runs, and comparisons of them."""

from __future__ import annotations

from pathlib import Path

from dse.api.arguments import Count, public
from dse.api.runs import DesignChoices, Source, folder_of, known
from dse.api.studies import Overrides, override_pairs
from dse.audit.diff import RunComparison, compare_runs
from dse.audit.explain import Explanation, explain_design
from dse.audit.verdict import Verification
from dse.audit.verify import verify_run
from dse.runs.result import Result
from dse.search import Progress


@public
def verify(
    run: str | Path | Result,
    *,
    trials: Count = 1_000_000,
    progress: Progress | None = None,
) -> Verification:
    """Check a finished run again, independently of its search, and try to beat its front.

    >>> assert dse.verify("runs/settop").holds

    Parameters
    ----------
    run
        Folder of a run, as `dse run` wrote it.  Or a `Result` that was saved.
    trials
        Number of random designs to compare with the front.  The values of a sweep share them.
    progress
        Called with the number of random designs tried and the number planned.

    Raises
    ------
    dse.errors.OutputError
        It is not the folder of a run.
    dse.errors.StudyError
        The study in its manifest has errors.
    """
    return verify_run(folder_of(run), trials=trials, progress=progress)


@public
def explain(
    source: Source,
    design: DesignChoices | None = None,
    *,
    overrides: Overrides | None = None,
) -> Explanation:
    """Explain why a design is on the front, or why it is not, with every term of its model.

    >>> dse.explain("studies/des_100gbps.yaml", "1 u8 + 2 u16")

    Parameters
    ----------
    source
        Study file, or the folder of a run.  Any source as in `answer`.  A study is searched.
        Measurements are only in runs.
    design
        Choices that the study leaves open, as printed: "1 u8 + 2 u16, apu, in flight 8".  Or as
        fields, "des.u8=1 des.u16=2", or a dict of these.  Once one design of a stage has a count,
        designs that are not named have 0.  "the host alone" is one as well.
    overrides
        As in `load`.  With any the front is searched again.

    Raises
    ------
    dse.errors.DseError
        It is neither a study nor a run, or its study has no such design.
    """
    return explain_design(known(source), design, override_pairs(overrides))


@public
def diff(first: str | Path | Result, second: str | Path | Result) -> RunComparison:
    """Compare two runs: changed inputs, and designs gained, lost and moved.

    >>> dse.diff("runs/settop", "runs/at_73")

    Parameters
    ----------
    first, second
        Folder of a run, as `dse run` wrote it.  Or a `Result` that was saved.

    Raises
    ------
    dse.errors.DseError
        One is not the folder of a run, or they ask for different things.
    """
    return compare_runs(folder_of(first), folder_of(second))
