"""What the papers print, beside what the models give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dse.api.arguments import public

if TYPE_CHECKING:
    from dse.papers.reproduce import Reproduction


@public
def reproduce(*papers: str) -> Reproduction:
    """Check each number and statement of the papers against our models.

    >>> print(dse.reproduce("roofline"))

    Parameters
    ----------
    papers : PAPER...
        Papers to check (default: all).

    Raises
    ------
    dse.errors.UnknownPluginError
        Naming a paper without claims.
    """
    from dse.papers.reproduce import check_papers

    return check_papers(papers)
