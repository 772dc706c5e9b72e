"""A fitted platform as text and as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dse.algebra import units
from dse.fitting.fit_platform import PlatformFit, fit_residuals
from dse.reports.text import table_text


def platform_text(done: PlatformFit) -> str:
    """Return the platform's constants, and how well it fits."""
    fields = asdict(done.found.platform).items()
    shown = [(key, units.show(value, key)) for key, value in fields if isinstance(value, float)]
    lines = [
        f"{len(done.runs)} runs of {done.file}: {done.fit.method}\n",
        table_text(shown, ("platform", "value")),
        "",
    ]
    for name, said in fit_residuals(done).items():
        half, worst = said["median_of_size"], said["largest"]
        lines.append(f"{name}: half of the runs within {half}, worst {worst}")
    return "\n".join([*lines, *(f"note: {text}" for text in done.found.notes)])


def platform_facts(done: PlatformFit) -> dict[str, Any]:
    """Return the platform and its errors as plain data, in SI."""
    errors = {f"{name}_relative_error": values for name, values in done.found.errors.items()}
    fitted = {key: value for key, value in asdict(done.found.platform).items() if value != ""}
    return {**fitted, **errors, "notes": done.found.notes}
