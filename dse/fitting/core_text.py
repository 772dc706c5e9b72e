"""The laws fitted to a core, as tables and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dse.algebra import units
from dse.fitting import fit_law
from dse.fitting.fit_core import CoreFit
from dse.fitting.fit_core_record import fitted_quantities, quantity_of
from dse.reports.text import table_text
from dse.study import core_law


def core_text(found: CoreFit) -> str:
    """Return the laws, how far they are off, and the next best forms."""
    parameters = " and ".join(
        f"{name} from {values.min():g} to {values.max():g}"
        for name, values in found.parameters.items()
    )
    headers = ("quantity", "law", "rms error", "leave-one-out", "worst design")
    support = ("quantity", "intervals", "next best")
    return "\n".join(
        [
            f"{len(found.designs)} designs of {found.table.written}, {parameters}\n",
            table_text(list(_laws(found)), headers),
            f"\n{fit_law.LEVEL * 100:.0f} % intervals of the coefficients, and the next best form",
            table_text(list(_support(found)), support),
            *(f"note: assumed for every design: {text}" for text in found.assumed),
        ]
    )


def _laws(found: CoreFit) -> Iterator[Sequence[str]]:
    for name, fitted in fitted_quantities(found):
        quantity = quantity_of(name)
        column = core_law.QUANTITIES[quantity]
        data = fitted.law(found.parameters) - fitted.residuals
        worst = int(np.argmax(np.abs(fitted.residuals)))
        share = fitted.residuals[worst] / data[worst] if data[worst] else 0.0
        errors = [units.show(error, column) for error in (fitted.rms, fitted.leave_one_out)]
        exact = abs(share) < 1e-9
        far = "exact" if exact else f"{share:+.1%} at {found.designs[worst]}"
        yield name.replace("_", " "), core_law.law_text(quantity, fitted.law), *errors, far


def _support(found: CoreFit) -> Iterator[Sequence[str]]:
    for name, fitted in fitted_quantities(found):
        if fitted.law.form == "constant":
            continue
        quantity = quantity_of(name)
        column = core_law.QUANTITIES[quantity]
        count = len(fitted.law.coefficients)
        names = core_law.unit_names(quantity, fitted.law.form, count)
        shown = "; ".join(
            f"{units.show(low, unit)} to {units.show(high, unit)}"
            for (low, high), unit in zip(fitted.intervals, names, strict=True)
        )
        best = "none"
        if fitted.others:
            law, error = fitted.others[0]
            best = f"{core_law.law_text(quantity, law)}, leave-one-out {units.show(error, column)}"
        yield name.replace("_", " "), shown, best


def core_facts(found: CoreFit) -> dict[str, Any]:
    """Return the laws and what supports them as plain data, in SI."""
    laws = {}
    for name, fitted in fitted_quantities(found):
        suffix = units.suffix(core_law.QUANTITIES[quantity_of(name)])
        laws["_".join(filter(None, (name, suffix)))] = {
            "form": fitted.law.form,
            "over": fitted.law.over,
            "coefficients": fitted.law.coefficients,
            "intervals": fitted.intervals,
            "rms": fitted.rms,
            "leave_one_out": fitted.leave_one_out,
            "residuals": fitted.residuals,
            "others": [
                {"form": law.form, "over": law.over, "coefficients": law.coefficients}
                | {"leave_one_out": error}
                for law, error in fitted.others
            ],
        }
    return {
        "designs": found.designs,
        "parameters": dict(found.parameters),
        "assumed": found.assumed,
        "laws": laws,
    }
