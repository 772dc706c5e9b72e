"""The page with the tables of our silicon, read from what is shipped when the site is built."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping

from dse.cores._table import TABLES
from dse.cores.characterised import FAMILIES, LIBRARIES

HEAD = """# Tables of our silicon

Area in um2, dynamic energy of a bit in pJ with glitches and without, clock in MHz, rate in Gbit/s.
[Results](../silicon.md) explains them; remarks in `cores/tables` say how each table was made.
"""
COLUMNS = ("design", "area", "energy", "settled", "clock", "rate")


def page() -> str:
    """Return a section for each family and library that is shipped."""
    return "\n".join([HEAD, *(line for family in FAMILIES for line in _section(family))])


def _section(family: str) -> Iterator[str]:
    for library in LIBRARIES:
        path = TABLES / f"{family}_{library}.csv"
        if not path.is_file():
            continue
        lines = (line for line in path.read_text("utf-8").splitlines() if line[0] != "#")
        yield f"\n## {family}_{library}\n"
        yield f"| {' | '.join(COLUMNS)} |"
        yield f"|{' --- |' * len(COLUMNS)}"
        for row in csv.DictReader(lines):
            yield f"| {row['design']} | {' | '.join(f'{value:.4g}' for value in _figures(row))} |"


def _figures(row: Mapping[str, str]) -> Iterator[float]:
    bit = float(row["payload_bit"])
    yield float(row["area_um2"])
    yield from (float(row[name]) / bit for name in ("energy_pj", "settled_energy_pj"))
    yield float(row["clock_mhz"])
    yield float(row["clock_mhz"]) * bit / float(row["cycles_per_task"]) / 1e3
