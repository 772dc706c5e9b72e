"""Design-space exploration of hardware accelerator cores.

>>> import dse
>>> dse.run("studies/settop_116mbps.yaml").front  # a pandas DataFrame
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dse.result import Result

__all__ = ["run"]


def run(
    study: str | Path,
    *,
    out: str | Path | None = None,
    method: str | None = None,
    seed: int | None = None,
    budget: int | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Result:
    """Run a study and return its front, evaluations and manifest.

    Parameters
    ----------
    study
        Path of a study file.
    out
        Folder for the files of the run; nothing is written when it is None.
    method, seed, budget
        Replace those of the study's search section.
    overrides
        Fields to replace: ``{"workload.rate": "73 Gbps"}``.

    Returns
    -------
    Result
        With the data frames `front` and `evaluations` and the dictionary `manifest`.

    Raises
    ------
    dse.errors.StudyError
        When the study has faults: all of them at once.
    dse.errors.InfeasibleError
        When no design meets every constraint.
    """
    # imported here so that `import dse` and `dse --help` stay cheap
    from dse import runner
    from dse.result import Result
    from dse.study import read

    pairs = [(name, str(value)) for name, value in (overrides or {}).items()]
    document = read(study, pairs)
    options = runner.Options(method=method, seed=seed, budget=budget)
    result = Result(runner.run(document, options), pairs)
    if out is not None:
        result.save(out)
    return result
