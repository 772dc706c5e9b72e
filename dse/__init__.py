"""Design-space exploration of hardware accelerator cores.

>>> import dse
>>> dse.run("studies/settop_116mbps.yaml").front  # a pandas DataFrame
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dse.answers.answers import Answer, SweepAnswer
    from dse.runs.result import Result

__all__ = ["answer", "run"]


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
    from dse.runs import runner
    from dse.runs.result import Result
    from dse.study.study import read

    pairs = [(name, str(value)) for name, value in (overrides or {}).items()]
    document = read(study, pairs)
    options = runner.Options(method=method, seed=seed, budget=budget)
    result = Result(runner.run(document, options), pairs)
    if out is not None:
        result.save(out)
    return result


def answer(
    study: str | Path,
    *,
    rate: str | None = None,
    prefer: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    flips: bool | None = None,
    samples: int | None = None,
    uncertainty: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Answer | SweepAnswer:
    """Answer the question of a study: which design, why, and what any other choice would cost.

    >>> print(dse.answer("studies/des_100gbps.yaml").pick.quantities["power_w"])

    Parameters
    ----------
    study
        Path of a study file, or the folder of a finished run.
    rate
        The demanded rate, with its unit: ``"100 Gbps"``.
    prefer
        ``power``, ``area``, ``knee``, an objective, or an expression to minimise; power when
        it is an objective, otherwise the first objective.
    overrides
        Fields to replace: ``{"interface.device": "sandy_bridge"}``.
    flips
        What would change the answer: None for what is near if the front is proven, True for
        all of it, False for nothing.
    samples, seed
        Draw what is uncertain so often, and tell how sure the answer is.
    uncertainty
        Relative standard uncertainties besides those of the study: ``{"area": "10 %"}``.

    Returns
    -------
    Answer or SweepAnswer
        Its repr is the text that ``dse answer`` prints; a notebook shows it as tables.

    Raises
    ------
    dse.errors.DseError
        When what was asked makes no sense; `InfeasibleError` when no design fits.
    """
    from dse.answers import answers
    from dse.uncertainty import sampling

    pairs = [(name, str(value)) for name, value in (overrides or {}).items()]
    shares = [f"{path}={value}" for path, value in (uncertainty or {}).items()]
    sampled = sampling.asked(samples, shares, seed)
    return answers.answer(
        study, rate=rate, preferred=prefer, overrides=pairs, flips=flips, sampled=sampled
    )
