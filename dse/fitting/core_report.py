"""The laws fitted to a core as a record, as tables and as plain data, with what supports them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.files.inputs import Input
from dse.fitting.law import LEVEL, Fitted
from dse.reports.text import Printable, listed, percent, signed, table_text, unit_suffix
from dse.study import records
from dse.study.cores import core_law, models

METHOD = "least squares over the logarithms of law over table, the form by leave-one-out error"
CONFIDENCE = (
    f"{LEVEL * 100:.0f} %, Student's t with n - p degrees of freedom for errors that are "
    "independent and relative, of one size; linearised for affine and square laws"
)
MOST_POINTS = 100
"""A record lists the residuals of a table of up to so many designs."""

TOTAL = "total_power"


@dataclass(frozen=True, repr=False, kw_only=True)
class CoreFit(Printable):
    """The laws of a core; as text what `dse fit core` prints of them.

    Attributes
    ----------
    name
        Of the core.
    table
        The file that was read.
    designs
        Names of its designs.
    parameters
        Their values by parameter, shape (n,).
    laws
        By quantity, in SI; what is not there follows from the others.
    total_power
        Dynamic and leakage power together, which no record needs; None when nothing leaks.
    assumed
        What the table does not say and was taken for granted.
    """

    name: str
    table: Input
    designs: tuple[str, ...]
    parameters: Mapping[str, Column]
    laws: Mapping[str, Fitted]
    total_power: Fitted | None
    assumed: tuple[str, ...]

    def text(self) -> str:
        """Return the laws, how far they are off, and the next best forms."""
        parameters = listed(
            [f"{name} from {v.min():g} to {v.max():g}" for name, v in self.parameters.items()]
        )
        headers = ("quantity", "law", "rms error", "leave-one-out", "worst design")
        support = ("quantity", "intervals", "next best")
        return "\n".join(
            [
                f"{len(self.designs)} designs of {self.table.written}, {parameters}\n",
                table_text(list(_law_rows(self)), headers),
                f"\n{LEVEL * 100:.0f} % intervals of the coefficients, and the next best form",
                table_text(list(_support_rows(self)), support),
                *(f"note: assumed for every design: {text}" for text in self.assumed),
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the laws and what supports them as plain data, in SI."""
        laws = {}
        for name, quantity, fitted in _fitted(self):
            laws[name + unit_suffix(core_law.QUANTITIES[quantity])] = {
                "form": fitted.law.form,
                "over": list(fitted.law.over),
                "coefficients": list(fitted.law.coefficients),
                "intervals": [list(pair) for pair in fitted.intervals],
                "rms": fitted.rms,
                "leave_one_out": fitted.leave_one_out,
                "residuals": fitted.residuals.tolist(),
                "chance_of_a_constant": fitted.chance,
                "others": [
                    {"form": law.form, "over": list(law.over), "leave_one_out": error}
                    | {"coefficients": list(law.coefficients)}
                    for law, error in fitted.others
                ],
            }
        return {
            "designs": list(self.designs),
            "parameters": {name: values.tolist() for name, values in self.parameters.items()},
            "assumed": list(self.assumed),
            "laws": laws,
        }


def core_record(found: CoreFit) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the sections and the provenance of the record of a fit."""
    core = {
        "name": found.name,
        "summary": f"law over {listed(list(found.parameters))}, fitted to "
        f"{len(found.designs)} designs of {Path(found.table.written).name}",
        "parameters": {
            name: dict(zip(("low", "high"), _range(values), strict=True))
            | {"integer": _are_whole(values)}
            for name, values in found.parameters.items()
        },
        "laws": {name: _law(name, fitted) for name, fitted in found.laws.items()},
    }
    shares = {
        name: fitted.spread(found.parameters)
        for name, fitted in found.laws.items()
        if name in models.STATED
    }
    core["uncertainty"] = {name: percent(share) for name, share in shares.items() if share > 1e-9}
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
        name: _support(quantity, fitted) for name, quantity, fitted in _fitted(found)
    }
    return {"core": core}, origin


def _are_whole(values: Column) -> bool:
    return bool((values == np.round(values)).all())


def _range(values: Column) -> list[float]:
    ends = [float(values.min()), float(values.max())]
    return [int(end) for end in ends] if _are_whole(values) else ends


def _fitted(found: CoreFit) -> Iterator[tuple[str, str, Fitted]]:
    """Yield everything fitted, total power at the end, and the quantity whose unit it has."""
    yield from ((name, name, fitted) for name, fitted in found.laws.items())
    if found.total_power is not None:
        yield TOTAL, "dynamic_power", found.total_power


def _law(quantity: str, fitted: Fitted) -> Any:
    law = fitted.law
    names = core_law.unit_names(quantity, law.form, len(law.coefficients))
    values = [units.written(*pair) for pair in zip(law.coefficients, names, strict=True)]
    if law.form == "constant":
        return values[0]
    return {"form": law.form, "over": list(law.over), "coefficients": values}


def _support(quantity: str, fitted: Fitted) -> dict[str, Any]:
    """Return what supports a law: its errors, intervals, residuals, and the other forms."""
    column = core_law.QUANTITIES[quantity]
    names = core_law.unit_names(quantity, fitted.law.form, len(fitted.law.coefficients))
    if fitted.law.form == "constant" and not fitted.residuals.any():
        return {"law": core_law.law_text(quantity, fitted.law), "rms": percent(0.0)}
    said: dict[str, Any] = {
        "law": core_law.law_text(quantity, fitted.law),
        "rms": percent(fitted.rms),
        "leave_one_out": percent(fitted.leave_one_out),
        "intervals": [
            [units.written(low, unit), units.written(high, unit)]
            for (low, high), unit in zip(fitted.intervals, names, strict=True)
        ],
    }
    if len(fitted.residuals) <= MOST_POINTS:
        said["law_minus_table"] = [units.show(float(value), column) for value in fitted.residuals]
    said["others"] = [
        f"{core_law.law_text(quantity, law)} (leave-one-out {percent(error)})"
        for law, error in fitted.others
    ]
    if fitted.is_doubtful:
        said["chance_of_a_constant"] = percent(fitted.chance)
    return said


def _law_rows(found: CoreFit) -> Iterator[Sequence[str]]:
    for name, quantity, fitted in _fitted(found):
        data = fitted.law(found.parameters) - fitted.residuals
        worst = int(np.argmax(np.abs(fitted.errors)))
        share = fitted.residuals[worst] / data[worst] if data[worst] else 0.0
        errors = [percent(error) for error in (fitted.rms, fitted.leave_one_out)]
        far = f"{signed(share)} at {found.designs[worst]}"
        far = "exact" if abs(share) < 1e-9 else far
        yield name.replace("_", " "), core_law.law_text(quantity, fitted.law), *errors, far


def _support_rows(found: CoreFit) -> Iterator[Sequence[str]]:
    for name, quantity, fitted in _fitted(found):
        if fitted.law.form == "constant" and not fitted.is_doubtful:
            continue
        count = len(fitted.law.coefficients)
        names = core_law.unit_names(quantity, fitted.law.form, count)
        shown = "; ".join(
            f"{units.show(low, unit)} to {units.show(high, unit)}"
            for (low, high), unit in zip(fitted.intervals, names, strict=True)
        )
        best = "none"
        if fitted.others:
            law, error = fitted.others[0]
            best = f"{core_law.law_text(quantity, law)}, leave-one-out {percent(error)}"
        if fitted.is_doubtful:
            best += f"; not sure: a constant has such data in {percent(fitted.chance)}"
        yield name.replace("_", " "), shown, best
