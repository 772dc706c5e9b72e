"""Published tables as SI columns, and functions that the models of all cores share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from dse.contract import Column, Core, CoreMetrics, Model, Parameter
from dse.contract.published import read_published, si_columns

PAPER = (
    "Battle & Hempstead, Characterizing the Costs and Benefits of Hardware Parallelism in "
    "Accelerator Cores"
)

TABLES = files("dse.cores") / "tables"


def read_table(name: str) -> tuple[tuple[str, ...], Mapping[str, Column]]:
    """Return names of designs and columns in SI of a table of numbers in ``tables``."""
    table = read_published(TABLES / name)
    return table.designs, si_columns(table.rows, table.header[1:])


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
    """Return 1.0 for `values` beyond the range of `parameter`, else 0.0."""
    beyond = np.less(values, parameter.low) | np.greater(values, parameter.high)
    return np.asarray(beyond, dtype=np.float64)


def printed_costs(printed: Mapping[str, Column]) -> dict[str, Column]:
    """Return the area and the powers of a table, for `metrics`."""
    return {name: printed[name] for name in ("area_m2", "dynamic_power_w", "leakage_power_w")}


def split_power(power_w: Column, leakage: float) -> dict[str, Column]:
    """Return total power as dynamic and leakage power, for `metrics`, by the share `leakage`."""
    return {"dynamic_power_w": (1.0 - leakage) * power_w, "leakage_power_w": leakage * power_w}


def leakage_share(table: CoreMetrics, rows: Sequence[int]) -> float:
    """Return leakage as a share of power, both summed over `rows` of a table.

    The paper's laws give total power only.  That they split like the designs they describe
    is an assumption of this project.
    """
    leakage = table.leakage_power_w[list(rows)]
    return float(leakage.sum() / full_power_w(table)[list(rows)].sum())


@dataclass(frozen=True, kw_only=True)
class PublishedLaws:
    """Laws that a paper draws through a table.

    Attributes
    ----------
    rows, fitted
        Rows that the laws describe, and their parameters by name.
    parameters
        Arguments of a law.  A table takes the ones with a default.
    design_name
        Format of the names of a law's designs.
    """

    rows: Sequence[int]
    fitted: Mapping[str, Column]
    parameters: tuple[Parameter, ...]
    design_name: str


def published_core(
    name: str,
    summary: str,
    *,
    provides: str,
    designs: tuple[str, ...],
    drawn: PublishedLaws,
    table: tuple[Callable[..., CoreMetrics], str],
    law: tuple[Callable[..., CoreMetrics], str],
) -> Core:
    """Return a core that computes a function, with a printed table of designs and laws of it.

    `table` and `law` are functions and their sources within the paper.  The law has residuals
    against the table.
    """
    printed, laws = table[0], law[0]
    options = tuple(one for one in drawn.parameters if one.default is not None)
    rows = list(drawn.rows)
    return Core(
        name=name,
        summary=f"{summary}; Battle & Hempstead",
        provides=(provides,),
        node="32 nm",
        evidence="synthesis",
        models={
            "table": Model(
                function=printed,
                parameters=options,
                designs=designs,
                source=f"{PAPER}, {table[1]}",
            ),
            "law": Model(
                function=laws,
                parameters=drawn.parameters,
                design_name=drawn.design_name,
                source=f"{PAPER}, {law[1]}",
                residuals=lambda: residuals(designs, rows, printed(), laws(**drawn.fitted)),
            ),
        },
    )


def residuals(
    designs: Sequence[str], rows: list[int], table: CoreMetrics, law: CoreMetrics
) -> Mapping[str, tuple[tuple[str, ...], Column, Column]]:
    """Return area, power and capacity of `rows` of a table, each with its value by a law."""
    names = tuple(designs[row] for row in rows)
    compared = {
        "area_m2": (table.area_m2, law.area_m2),
        "power_w": (full_power_w(table), full_power_w(law)),
        "capacity_bit_per_s": (_capacity_bit_per_s(table), _capacity_bit_per_s(law)),
    }
    return {name: (names, of[rows], said) for name, (of, said) in compared.items()}


def full_power_w(of: CoreMetrics) -> Column:
    """Return power at full clock."""
    return of.dynamic_power_w + of.leakage_power_w


def full_rate_task_per_s(of: CoreMetrics) -> Column:
    """Return tasks per second at full clock."""
    return of.clock_hz / of.cycles_per_task


def _capacity_bit_per_s(of: CoreMetrics) -> Column:
    return full_rate_task_per_s(of) * of.payload_bit
