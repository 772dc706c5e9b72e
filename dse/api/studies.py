"""Loading a study, whose forms and changes are arguments of most public functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from dse.api.arguments import Kind, assigned, public
from dse.errors import ArgumentError
from dse.files.document import Assignments, Document, assignments
from dse.search.open_problem import OpenProblem, opened
from dse.study import study as studies
from dse.study.overrides import OVERRIDE_EXAMPLE, override
from dse.study.study import Study

A_STUDY = "the path of a study, YAML text, a dict or a Study"
ASSIGNED_FIELDS = "{'workload.rate': '73 Gbps'} or 'workload.rate=73 Gbps'"

StudySource = Annotated[
    str | Path | Mapping[str, Any] | Study,
    Kind(
        A_STUDY,
        lambda value: isinstance(value, str | Path | Mapping | Study),
        Path,
        metavar="STUDY",
    ),
]
Overrides = Annotated[Assignments, assigned(ASSIGNED_FIELDS, "PATH=VALUE")]


def override_pairs(overrides: Overrides | None) -> list[tuple[str, str]]:
    """Return overrides as pairs of dotted path and YAML."""
    return [*assignments(overrides, OVERRIDE_EXAMPLE).items()]


def document_of(
    study: StudySource,
    overrides: Overrides | None = None,
    evaluate: Callable[..., Any] | None = None,
) -> Document:
    """Return the document of a study with fields replaced and `evaluate` for measuring its designs.

    Raises
    ------
    StudyError
        The study is not well-formed, or a field does not exist.
    """
    pairs = override_pairs(overrides)
    if isinstance(study, Study):
        found = override(study.document, pairs)
    else:
        found = studies.read_study(study, pairs)
    if evaluate is None:
        return found
    if not found.measures:
        raise ArgumentError(
            "evaluate: the study measures nothing; add for instance "
            "`evaluate: {outputs: {area: um2}}`"
        )
    return replace(found, evaluate=evaluate)


@public
def load(
    study: StudySource,
    *,
    overrides: Overrides | None = None,
    evaluate: Callable[..., Mapping[str, float | str]] | None = None,
) -> Study:
    """Read a study and check it.

    >>> study = dse.load("studies/settop_116mbps.yaml")
    >>> faster = study.with_(rate="1 Gbit/s")

    Parameters
    ----------
    study
        Study file (YAML).  In a program also its text (more than one line), or a dict.
    overrides
        Replace a field: "workload.rate=73 Gbps".  Or several: ``{"workload.rate": "73 Gbps"}``.
    evaluate
        Function that measures a design, for a study with an ``evaluate`` section without a command.
        Its keyword arguments are the axes (numbers in SI, choices as texts).  It returns a dict of
        the outputs (numbers in the units of the section, or texts with units).  `load` does not
        call it.

    Returns
    -------
    Study
        Ready to run.  A study with a sweep is at its first value.

    Raises
    ------
    dse.errors.StudyError
        The study has errors: all of them at once.
    """
    return studies.ready(document_of(study, overrides, evaluate))


@public
def problem(study: StudySource, *, overrides: Overrides | None = None) -> OpenProblem:
    """Return a study for an optimiser: rows of indices in, losses and violations out.

    >>> problem = dse.problem("studies/settop_116mbps.yaml")
    >>> problem.evaluate(np.zeros((1, len(problem.sizes)), dtype=np.int64)).loss

    Parameters
    ----------
    study, overrides
        As in `load`.

    Returns
    -------
    OpenProblem
        ``sizes`` has the number of values of each axis, and a design is a row of positions on them.
        Other rows raise `dse.errors.ArgumentError`.  Its `to_pymoo` is a problem of pymoo,
        its `optuna` an objective for Optuna.

    Raises
    ------
    dse.errors.StudyError
        The study has errors: all of them at once.
    """
    from dse.runs.measurements import require_nothing_measured  # few read a study for this

    prepared = load(study, overrides=overrides)
    require_nothing_measured(prepared)
    return opened(prepared.problem)
