"""The record of a core's laws, and what supports each of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.fitting import fit_law
from dse.fitting.fit_core import CoreFit
from dse.fitting.fit_law import Fitted
from dse.study import core_law, records

METHOD = "least squares, the form by leave-one-out error"
CONFIDENCE = (
    f"{fit_law.LEVEL * 100:.0f} %, Student's t with n - p degrees of freedom for errors that are "
    "independent and alike; linearised for power and exponential laws"
)
MOST_POINTS = 100
"""A record lists the residuals of a table of up to so many designs."""

TOTAL = "total_power"


def core_record(found: CoreFit) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the sections and the provenance of the record of a fit."""
    core = {
        "name": found.name,
        "summary": f"law over {' and '.join(found.parameters)}, fitted to "
        f"{len(found.designs)} designs of {Path(found.table.written).name}",
        "parameters": {
            name: dict(zip(("low", "high"), _range(values), strict=True))
            | {"integer": _are_whole(values)}
            for name, values in found.parameters.items()
        },
        "laws": {name: _law(name, fitted) for name, fitted in found.laws.items()},
    }
    origin: dict[str, Any] = records.provenance(
        found.table.content, Path(found.table.written).name, METHOD
    )
    origin["range"] = {name: _range(values) for name, values in found.parameters.items()}
    origin["confidence"] = CONFIDENCE
    if found.assumed:
        origin["assumed"] = list(found.assumed)
    if len(found.designs) <= MOST_POINTS:
        origin["designs"] = list(found.designs)
    origin["residuals"] = {
        name: _support(name, fitted) for name, fitted in fitted_quantities(found)
    }
    return {"core": core}, origin


def _are_whole(values: Column) -> bool:
    return bool((values == np.round(values)).all())


def _range(values: Column) -> list[float]:
    ends = [float(values.min()), float(values.max())]
    return [int(end) for end in ends] if _are_whole(values) else ends


def fitted_quantities(found: CoreFit) -> Iterable[tuple[str, Fitted]]:
    """Yield every fitted quantity, total power at the end; `quantity_name` tells its unit."""
    yield from found.laws.items()
    if found.total_power is not None:
        yield TOTAL, found.total_power


def quantity_of(name: str) -> str:
    """Return the quantity whose unit a fitted one has."""
    return "dynamic_power" if name == TOTAL else name


def _law(quantity: str, fitted: Fitted) -> Any:
    law = fitted.law
    names = core_law.unit_names(quantity, law.form, len(law.coefficients))
    values = [units.written(*pair) for pair in zip(law.coefficients, names, strict=True)]
    if law.form == "constant":
        return values[0]
    return {"form": law.form, "over": list(law.over), "coefficients": values}


def _support(name: str, fitted: Fitted) -> dict[str, Any]:
    """Return what supports a law: its errors, intervals, residuals, and the other forms."""
    quantity = quantity_of(name)
    column = core_law.QUANTITIES[quantity]
    names = core_law.unit_names(quantity, fitted.law.form, len(fitted.law.coefficients))
    if fitted.law.form == "constant" and not fitted.residuals.any():
        return {"law": core_law.law_text(quantity, fitted.law), "rms": units.show(0.0, column)}
    said: dict[str, Any] = {
        "law": core_law.law_text(quantity, fitted.law),
        "rms": units.show(fitted.rms, column),
        "leave_one_out": units.show(fitted.leave_one_out, column),
        "intervals": [
            [units.written(low, unit), units.written(high, unit)]
            for (low, high), unit in zip(fitted.intervals, names, strict=True)
        ],
    }
    if len(fitted.residuals) <= MOST_POINTS:
        said["law_minus_table"] = [units.show(float(value), column) for value in fitted.residuals]
    said["others"] = [
        f"{core_law.law_text(quantity, law)} (leave-one-out {units.show(error, column)})"
        for law, error in fitted.others
    ]
    return said
