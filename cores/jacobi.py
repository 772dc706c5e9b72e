"""Jacobi stencil cores: side * side stencils on one array of shift registers.

One task is one cell of a sweep.  The register array holds (side + 2) * (side + 2) cells.  In each
cycle side * (side + 2) cells enter it and side * side results leave, so that traffic per cell
falls as the core grows (section VI-A).
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, CoreMetrics, Parameter
from dse.cores._table import (
    PublishedLaws,
    leakage_share,
    metrics,
    outside,
    printed_costs,
    published_core,
    read_table,
    split_power,
)

_BIT_PER_BYTE = 8.0
_CELL_BIT = 32.0

_DESIGNS, _PRINTED = read_table("jacobi.csv")
_ALL = range(len(_DESIGNS))
_CLOCK_HZ = float(_PRINTED["clock_hz"][0])
"""500 MHz, the target that all designs were synthesised for."""

SIDE = Parameter(
    name="side",
    description="Stencils along one edge of the square array, n; the core holds n * n",
    low=1,
    high=4,
    integer=True,
)
_CELL = Parameter(
    name="cell_bit",
    description="Width of a cell; the paper does not give it, and area and power ignore it",
    low=8,
    high=64,
    integer=True,
    default=_CELL_BIT,
)


def of_cells(side: Column, cell_bit: Column | float) -> dict[str, Column | float]:
    """Return the columns of designs that follow from their structure."""
    cell_byte = cell_bit / _BIT_PER_BYTE
    return {
        "payload_bit": cell_bit,
        "cycles_per_task": 1.0 / side**2,
        "latency_cycles": side + 2.0,
        "tasks_in_flight": side**2,
        "read_byte": (side + 2.0) / side * cell_byte,
        "written_byte": cell_byte,
    }


def jacobi_table(*, cell_bit: Column | float = _CELL_BIT) -> CoreMetrics:
    """Return the designs of Table III, as printed: 500 MHz and side ** 2 cells per cycle agree.

    A cell costs (side + 2) / side cells of reading and one of writing.  Tasks in flight are the
    printed parallelism: the cells that the stencils compute in one cycle.

    Assumed: latency is side + 2 cycles, one for each column of the register array, which shifts
    by one column per cycle (section VI-A).  It is an upper bound if several enter at once.

    Parameters
    ----------
    cell_bit
        Width of a cell, the same for all designs or one value for each.

    Returns
    -------
    CoreMetrics
        Columns of shape (4,).
    """
    return metrics(
        **printed_costs(_PRINTED),
        **of_cells(_PRINTED["side"], cell_bit),
        clock_hz=_CLOCK_HZ,
        extrapolated=outside(_CELL, cell_bit),
    )


_LEAKAGE_SHARE = leakage_share(jacobi_table(), _ALL)


def jacobi_law(*, side: Column, cell_bit: Column | float = _CELL_BIT) -> CoreMetrics:
    """Return square arrays by equations 8 to 10, with the units of power of Table III.

    area = 1018 + 635 n ** 2 um2 (8), power = 1.12 n - 0.73 mW (9), n ** 2 cells per cycle (10)
    at 500 MHz.  Equation 9 is printed as 1.12 n ** 2 - 0.73 W.  In mW and linear in n it gives
    0.39 1.51 2.63 3.75 beside the 0.48 1.38 2.73 3.75 of the table.

    Ours: leakage is its share of power in Table III, summed over its designs (5.8 %).

    Parameters
    ----------
    side
        Stencils along one edge, n.
    cell_bit
        Width of a cell.

    Returns
    -------
    CoreMetrics
        Columns shaped like `side` and `cell_bit` broadcast.
    """
    return metrics(
        area_m2=(1018.0 + 635.0 * side**2) * 1e-12,
        **split_power((1.12 * side - 0.73) * 1e-3, _LEAKAGE_SHARE),
        **of_cells(side, cell_bit),
        clock_hz=_CLOCK_HZ,
        extrapolated=np.maximum(outside(SIDE, side), outside(_CELL, cell_bit)),
    )


core = published_core(
    "jacobi",
    "Jacobi stencil: 1 to 16 cells per cycle from one array of shift registers",
    provides="stencil",
    designs=_DESIGNS,
    drawn=PublishedLaws(
        rows=_ALL,
        fitted={"side": _PRINTED["side"]},
        parameters=(SIDE, _CELL),
        design_name="n{side}",
    ),
    table=(
        jacobi_table,
        "Table III; traffic from section VI-A; latency and cell width are assumptions",
    ),
    law=(
        jacobi_law,
        "eqs 8 to 10; eq. 9 in mW and linear in n, 500 MHz; split of power into dynamic "
        "and leakage is this project's",
    ),
)
