"""Models of cores as designs: each combination of their parameters, or the rows of a table."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dse import contract
from dse.errors import FOREIGN, ContractError
from dse.model.designs import Designs, check_metrics
from dse.study import uncertain
from dse.study.faults import Faults, Path

FEW = 8
"""Stages whose designs are remembered: the values of a sweep share them."""


def designs_of_model(
    core: contract.Core,
    model: contract.Model,
    values: Mapping[str, list[float]],
    uncertainty: Mapping[str, Any],
    path: Path,
    faults: Faults,
) -> Designs:
    """Return the designs of a model at values of its parameters, as sure as the study says.

    Raises
    ------
    ContractError
        The model fails, or its figures are no figures.
    """
    try:
        names, metrics = _evaluate_model(model, *((name, *of) for name, of in values.items()))
    except FOREIGN as error:  # whatever a foreign function raises
        key = next(name for name, one in core.models.items() if one is model)
        raise ContractError(
            f"model {key!r} of core {core.name!r} fails: {type(error).__name__}: {error}"
        ) from error
    check_metrics(core.name, names, metrics)
    shares = uncertain.of_core(model, uncertainty, len(names), path, faults)
    return Designs(names, metrics, shares)


@lru_cache(maxsize=FEW)
def _evaluate_model(
    model: contract.Model, *parameters: tuple[Any, ...]
) -> tuple[tuple[str, ...], contract.CoreMetrics]:
    """Return the designs of every combination of parameters, each its name and then its values.

    A law gives one design per combination, a table all its rows for each.
    """
    values = {name: list(entry) for name, *entry in parameters}
    grid = list(itertools.product(*values.values()))
    shown = [
        {name: f"{value:.12g}" for name, value in zip(values, row, strict=True)} for row in grid
    ]
    if not model.designs:
        columns = {name: np.array([row[k] for row in grid]) for k, name in enumerate(values)}
        names = tuple(model.design_name.format(**row) for row in shown)
        return _distinct(names, shown, values), model.function(**columns)
    parts = [
        model.function(**{name: np.array([value]) for name, value in zip(values, row, strict=True)})
        for row in grid
    ]
    names = tuple(design for _ in grid for design in model.designs)
    rows = [row for row in shown for _ in model.designs]
    return _distinct(names, rows, values), _concatenated(parts)


def _concatenated(parts: Sequence[contract.CoreMetrics]) -> contract.CoreMetrics:
    fields = contract.CoreMetrics.__dataclass_fields__
    return contract.CoreMetrics(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    )


def _distinct(
    names: tuple[str, ...], rows: list[dict[str, str]], values: dict[str, list[float]]
) -> tuple[str, ...]:
    """Append to design names the options that vary besides the parameters they show."""
    if len(set(names)) == len(names):
        return names
    varying = [name for name, entry in values.items() if len(entry) > 1]
    return tuple(
        "_".join([name, *(f"{option}{row[option]}" for option in varying)])
        for name, row in zip(names, rows, strict=True)
    )
