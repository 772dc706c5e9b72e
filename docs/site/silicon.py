"""The page with the tables of our silicon, read from what is shipped when the site is built."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dse.contract import Core
from dse.cores._table import TABLES
from dse.cores.characterised import FAMILIES, LIBRARIES
from dse.plugins import registry

HEAD = """# Tables of our silicon

Area in um2, dynamic energy of a bit in pJ with glitches and without, clock in MHz, rate in Gbit/s.
[Results](../silicon.md) explains them. Remarks in `cores/tables` have the command of each table.

## Errors of lines over the rounds

The largest error of a straight line over the number n of rounds or bits, in per cent, for
sky130 · ihp130 · asap7, and the libraries with a law.
"""
OTHER_FORMS = {"fft", "jacobi"}
"""Families whose laws are over stages and over the square of cells."""
LAWS = ("core", "area", "period", "energy of a cycle over n", "over n²", "law")
COLUMNS = ("design", "area", "energy", "settled", "clock", "rate")


def page() -> str:
    """Return a section for each family and library that is shipped."""
    tables = (line for family in FAMILIES for line in _section(family))
    return "\n".join([HEAD, *_laws(), *tables])


def _laws() -> Iterator[str]:
    """Yield a row for each family with three numbers of rounds or more in every library."""
    yield f"| {' | '.join(LAWS)} |"
    yield f"|{' --- |' * len(LAWS)}"
    for family in (name for name in FAMILIES if name not in OTHER_FORMS):
        errors = [_errors(f"{family}_{library}") for library in LIBRARIES]
        if not all(errors):
            continue
        cells = (" · ".join(f"{100 * one:.1f}" for one in row) for row in zip(*errors, strict=True))
        names = (f"{family}_{library}" for library in LIBRARIES)
        lawful = [name for name in names if "law" in registry.get(Core, name).models]
        law = ", ".join(name.rpartition("_")[2] for name in lawful) or "none"
        yield f"| `{family}` | {' | '.join(cells)} | {law} |"


def _errors(name: str) -> list[float]:
    """Return the errors of lines through area, period and energy, over n, the last over n²."""
    rows = [row for row in _rows(name) if row["design"][1:].isdigit()]
    over = [float(row["design"][1:]) for row in rows]
    if len(over) < len(LIBRARIES):
        return []
    energies = [float(row["energy_pj"]) / float(row["cycles_per_task"]) for row in rows]
    return [
        _off_a_line(over, [float(row["area_um2"]) for row in rows]),
        _off_a_line(over, [1 / float(row["clock_mhz"]) for row in rows]),
        _off_a_line(over, energies),
        _off_a_line([one**2 for one in over], energies),
    ]


def _off_a_line(over: Sequence[float], values: Sequence[float]) -> float:
    """Return the largest relative error of the line with the least squares of these errors."""
    line = np.polynomial.Polynomial.fit(over, values, 1, w=1 / np.array(values))
    return float(np.abs(line(np.array(over)) / values - 1).max())


def _rows(name: str) -> list[dict[str, str]]:
    path = TABLES / f"{name}.csv"
    if not path.is_file():
        return []
    return list(csv.DictReader(x for x in path.read_text("utf-8").splitlines() if x[0] != "#"))


def _section(family: str) -> Iterator[str]:
    for library in LIBRARIES:
        rows = _rows(f"{family}_{library}")
        if not rows:
            continue
        yield f"\n## {family}_{library}\n"
        yield f"| {' | '.join(COLUMNS)} |"
        yield f"|{' --- |' * len(COLUMNS)}"
        for row in rows:
            yield f"| {row['design']} | {' | '.join(f'{value:.4g}' for value in _figures(row))} |"


def _figures(row: Mapping[str, str]) -> Iterator[float]:
    bit = float(row["payload_bit"])
    yield float(row["area_um2"])
    yield from (float(row[name]) / bit for name in ("energy_pj", "settled_energy_pj"))
    yield float(row["clock_mhz"])
    yield float(row["clock_mhz"]) * bit / float(row["cycles_per_task"]) / 1e3
