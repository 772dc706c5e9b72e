"""What the papers print, beside what the models give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dse.api.arguments import public

if TYPE_CHECKING:
    from dse.reproduction.reproduce import Reproduction


@public
def reproduce(*papers: str, jobs: int = 1) -> Reproduction:
    """Check each number and statement of the papers against our models.

    >>> print(dse.reproduce("roofline"))

    Parameters
    ----------
    papers
        Keys of papers; all of them when none is given.
    jobs
        Most processes, as in `run`.

    Raises
    ------
    dse.errors.UnknownPluginError
        Naming a paper without claims.
    """
    from dse.reproduction.reproduce import check_papers

    return check_papers(papers, jobs=jobs)
