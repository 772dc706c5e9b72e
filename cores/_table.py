"""Published tables as SI columns, and what the models of every core share."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from importlib.resources import files

import numpy as np

from dse.contract import Column, CoreMetrics, Parameter

PAPER = (
    "Battle & Hempstead, Characterizing the Costs and Benefits of Hardware Parallelism in "
    "Accelerator Cores"
)

_SI = {
    "_um2": ("_m2", "e-12"),
    "_mm2": ("_m2", "e-6"),
    "_mhz": ("_hz", "e6"),
    "_mw": ("_w", "e-3"),
    "_uw": ("_w", "e-6"),
    "_gbit_per_s": ("_bit_per_s", "e9"),
    "_mtask_per_s": ("_task_per_s", "e6"),
    "_gtask_per_s": ("_task_per_s", "e9"),
}


def read_table(table: str) -> tuple[tuple[str, ...], Mapping[str, Column]]:
    """Return the design names and the columns of a table in the folder ``tables``.

    Parameters
    ----------
    table
        File name.  Lines that start with ``#`` give the source; the first column names the
        designs; an empty cell is a figure that the source does not give.

    Returns
    -------
    tuple
        Names, and read-only columns of shape (n,) in SI under their SI name: ``area_um2``
        becomes ``area_m2``.  A cell without a figure is NaN.
    """
    text = (files("dse.cores") / "tables" / table).read_text(encoding="utf-8")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    columns = {}
    for written in list(rows[0])[1:]:
        name, exponent = _si(written)
        # The exponent goes into the text, so that 0.72 mm2 is the float nearest to 7.2e-7.
        cells = [row[written] for row in rows]
        column = np.array([float(cell + exponent) if cell else np.nan for cell in cells])
        column.setflags(write=False)
        columns[name] = column
    return tuple(row["design"] for row in rows), columns


def _si(written: str) -> tuple[str, str]:
    for suffix, (si, exponent) in _SI.items():
        if written.endswith(suffix):
            return written.removesuffix(suffix) + si, exponent
    return written, ""


def metrics(**columns: Column | float) -> CoreMetrics:
    """Return the columns broadcast against each other: float64, of one shape, at least 1-d."""
    arrays = np.broadcast_arrays(*(np.atleast_1d(column) for column in columns.values()))
    return CoreMetrics(
        **{
            name: np.array(array, dtype=np.float64)
            for name, array in zip(columns, arrays, strict=True)
        }
    )


def outside(parameter: Parameter, values: Column | float) -> Column:
    """Return 1.0 where `values` lie beyond the range of `parameter`, else 0.0."""
    beyond = np.less(values, parameter.low) | np.greater(values, parameter.high)
    return np.asarray(beyond, dtype=np.float64)


def leakage_share(table: CoreMetrics, rows: Sequence[int]) -> float:
    """Return leakage as a share of power, both summed over `rows` of a table.

    The paper's laws give total power only.  That they split like the designs they describe
    is an assumption of this project.
    """
    leakage = table.leakage_power_w[list(rows)]
    return float(leakage.sum() / _power_w(table)[list(rows)].sum())


def residuals(
    designs: Sequence[str], rows: Sequence[int], table: CoreMetrics, law: CoreMetrics
) -> Mapping[str, tuple[tuple[str, ...], Column, Column]]:
    """Return what a law says beside the table that it describes.

    Parameters
    ----------
    designs
        Names of all designs of `table`.
    rows
        Designs of `table` that the law describes.
    table, law
        Metrics; `law` has one row for each entry of `rows`.

    Returns
    -------
    Mapping
        ``{quantity: (names, table values, law values)}`` for area, for power at full clock and
        for the payload rate of one instance.
    """
    names = tuple(designs[row] for row in rows)
    compared = {
        "area_m2": (table.area_m2, law.area_m2),
        "power_w": (_power_w(table), _power_w(law)),
        "capacity_bit_per_s": (_capacity_bit_per_s(table), _capacity_bit_per_s(law)),
    }
    return {name: (names, of[list(rows)], said) for name, (of, said) in compared.items()}


def _power_w(of: CoreMetrics) -> Column:
    return of.dynamic_power_w + of.leakage_power_w


def _capacity_bit_per_s(of: CoreMetrics) -> Column:
    return of.clock_hz / of.cycles_per_task * of.payload_bit
