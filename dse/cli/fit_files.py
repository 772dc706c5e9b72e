"""What the commands of ``dse fit`` do: read data, fit, write a record, say how well it fits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dse.algebra import units
from dse.cli.commands import print_json, settings
from dse.fitting import fit_core, fit_core_record, fit_law, fit_platform
from dse.reports import report
from dse.study import core_law, records

COUNTED = "a path that counts from the folder of the study"


def target(data: Path, out: Path | None) -> tuple[Path, str]:
    """Return where a record goes and what it is called: by default after its data."""
    path = out or records.FOLDER / f"{data.stem}.yaml"
    name = re.sub(r"\W+", "_", path.stem, flags=re.ASCII).strip("_")
    return path, name if name[:1].isalpha() else f"record_{name}".rstrip("_")


def core(
    table: Path,
    out: Path | None,
    over: Sequence[str],
    forms: Sequence[str],
    pairs: Sequence[str],
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Fit the laws of a core, write its record, print the laws."""
    path, name = target(table, out)
    given = fit_core.forms_of(forms)
    found = fit_core.from_table(table, name, over, settings(pairs), given)
    sections, origin = fit_core_record.record(found)
    records.write(path, sections, origin, force=force)
    if as_json:
        print_json({"record": str(path), **_core_facts(found)})
        return
    parameters = " and ".join(
        f"{name} from {values.min():g} to {values.max():g}"
        for name, values in found.parameters.items()
    )
    print(f"{len(found.designs)} designs of {table}, {parameters}\n")
    headers = ("quantity", "law", "rms error", "leave-one-out", "worst design")
    print(report.catalogue(list(_core_rows(found)), headers))
    print(f"\n{fit_law.LEVEL * 100:.0f} % intervals of the coefficients, and the next best form")
    print(report.catalogue(list(_core_support(found)), ("quantity", "intervals", "next best")))
    for text in found.assumed:
        print(f"note: assumed for every design: {text}")
    print(f"\nwritten to {path}: use it as `core: {path}`, {COUNTED}")


def _core_rows(found: fit_core.CoreFit) -> Iterator[Sequence[str]]:
    for name, fitted in fit_core_record.rows(found):
        quantity = fit_core_record.quantity_of(name)
        column = core_law.QUANTITIES[quantity]
        data = fitted.law(found.parameters) - fitted.residuals
        worst = int(np.argmax(np.abs(fitted.residuals)))
        share = fitted.residuals[worst] / data[worst] if data[worst] else 0.0
        errors = [units.show(error, column) for error in (fitted.rms, fitted.leave_one_out)]
        exact = abs(share) < 1e-9
        far = "exact" if exact else f"{share:+.1%} at {found.designs[worst]}"
        yield name.replace("_", " "), core_law.text(quantity, fitted.law), *errors, far


def _core_support(found: fit_core.CoreFit) -> Iterator[Sequence[str]]:
    for name, fitted in fit_core_record.rows(found):
        if fitted.law.form == "constant":
            continue
        quantity = fit_core_record.quantity_of(name)
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
            best = f"{core_law.text(quantity, law)}, leave-one-out {units.show(error, column)}"
        yield name.replace("_", " "), shown, best


def _core_facts(found: fit_core.CoreFit) -> dict[str, Any]:
    laws = {}
    for name, fitted in fit_core_record.rows(found):
        suffix = units.suffix(core_law.QUANTITIES[fit_core_record.quantity_of(name)])
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


def platform(data: Path, out: Path | None, precision: str, *, force: bool, as_json: bool) -> None:
    """Fit a platform, write its record, print it and how well it fits."""
    path, name = target(data, out)
    done = fit_platform.from_table(data, name, precision)
    sections, origin = fit_platform.record(done)
    records.write(path, sections, origin, force=force)
    if as_json:
        errors = {f"{name}_relative_error": values for name, values in done.found.errors.items()}
        fitted = {key: value for key, value in asdict(done.found.platform).items() if value != ""}
        print_json({"record": str(path), **fitted, **errors, "notes": done.found.notes})
        return
    print(f"{len(done.runs)} runs of {data}: {done.fit.method}\n")
    fields = asdict(done.found.platform).items()
    shown = [(key, units.show(value, key)) for key, value in fields if isinstance(value, float)]
    print(report.catalogue(shown, ("platform", "value")))
    print()
    for name, said in origin["residuals"].items():
        print(f"{name}: half of the runs within {said['median_of_size']}, worst {said['largest']}")
    for text in done.found.notes:
        print(f"note: {text}")
    print(f"\nwritten to {path}: use it as `budget.platform: {path}`, {COUNTED}")
