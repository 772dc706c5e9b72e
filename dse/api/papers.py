"""What the papers print, beside what the models give."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dse.api.arguments import Count, Paths, public

if TYPE_CHECKING:
    from collections.abc import Callable

    from dse.reproduction.by_synthesis import Synthesis
    from dse.reproduction.reproduce import Reproduction


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
    from dse.reproduction.reproduce import check_papers

    return check_papers(papers)


@public
def reproduce_by_synthesis(
    *papers: str,
    library: Paths = (),
    cache: bool = True,
    jobs: Count = 1,
    progress: Callable[[int, int, str], None] | None = None,
) -> Synthesis:
    """Ask what papers find of their hardware of cores that were made of descriptions.

    >>> print(dse.reproduce_by_synthesis("cores", library="sky130.lib.gz"))

    Parameters
    ----------
    papers : PAPER...
        Papers to check (default: all).
    library : LIB
        Liberty file to which the cores are mapped now; several make one.  They have one process
        and one corner; without any the shipped tables of several libraries count.
    cache, jobs, progress
        As in `characterise`.

    Raises
    ------
    dse.errors.UnknownPluginError
        Naming a paper without such claims.
    dse.errors.StudyError, dse.errors.MissingLibraryError
        As `characterise`.
    """
    from dse.api.silicon import characterise
    from dse.reproduction.by_synthesis import check_by_synthesis, chosen_papers

    chosen = chosen_papers(papers)
    if not library:
        return check_by_synthesis(chosen)
    with TemporaryDirectory(prefix="dse-") as folder:
        tables = {}
        for paper in chosen:
            named = {}
            for name, made in paper.made.items():
                named[name] = Path(folder) / f"{paper.name}_{name}.csv"
                found = characterise(
                    made.generator,
                    library=library,
                    over=[f"{key}={values}" for key, values in made.over.items()],
                    targets="fastest",
                    tasks=made.tasks,
                    cache=cache,
                    jobs=jobs,
                    progress=progress,
                    out=named[name],
                )
            tables[paper.name] = {found.designs[0].facts["library"]: named}
        return check_by_synthesis(chosen, tables)
