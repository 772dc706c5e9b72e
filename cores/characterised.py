"""Cores from our own descriptions of hardware, in cell libraries that anybody may have.

The tables come from ``dse characterise``: each has its library, corner, target, stimulus and
hashes above it, and lists only designs whose netlists gave every known answer.  Wires and the
tree of the clock cost nothing in them: there is no placement, whose spread is their uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, Core, CoreMetrics, Model
from dse.contract.placement import before_placement, placement_text
from dse.contract.published import PublishedTable, read_published, si_columns
from dse.cores._families import FAMILIES, LIBRARIES, Lines
from dse.cores._table import TABLES, metrics, outside, residuals

_NODES = {"sky130": "130 nm", "ihp130": "130 nm", "asap7": "7 nm"}
_HEADERS = (
    *("area_um2", "clock_mhz", "dynamic_power_mw", "leakage_power_uw", "payload_bit"),
    *("cycles_per_task", "latency_cycles", "tasks_in_flight", "read_byte", "written_byte"),
)
"""What `dse characterise` calls the columns of `CoreMetrics`."""

_STEPS = 20
"""Of Gauss and Newton; the first one or two count."""


def characterised_designs(table: PublishedTable) -> CoreMetrics:
    """Return the figures of the designs of a table of `dse characterise`."""
    return metrics(**si_columns(table.rows, _HEADERS), extrapolated=0.0)


def _characterised(name: str, library: str) -> Core:
    """Return the core of a table: its rows, and the law through them where one holds."""
    family, table = FAMILIES[name], read_published(TABLES / f"{name}_{library}.csv")
    known = characterised_designs(table)
    source = f"our own description of the hardware in {LIBRARIES[library]}, by dse characterise"
    source = f"{source}; {placement_text()}"
    models = {
        "table": Model(
            function=lambda: known,
            designs=table.designs,
            source=source,
            uncertainty=before_placement(),
        )
    }
    if family.law is not None and library not in family.law.refused:
        models["law"] = _model_of(family.law, table, known, source)
    return Core(
        name=f"{name}_{library}",
        summary=f"{family.summary}; our Verilog in {LIBRARIES[library]}",
        provides=(family.provides,),
        node=_NODES[library],
        evidence="synthesis",
        models=models,
    )


def _model_of(law: Lines, table: PublishedTable, known: CoreMetrics, source: str) -> Model:
    """Return straight lines of least squares through the rows that it describes.

    They are of designs at their fastest: those mapped for slower clocks are other trade-offs.

    Area, leakage, clock or its period, and the energy of a clock cycle are lines; dynamic power is
    that energy times the clock.
    """
    parameter = law.parameter
    described = {**law.described, "target": "fastest"}.items()
    rows = [n for n, row in enumerate(table.rows) if described <= row.items()]
    values = si_columns(table.rows, (law.column,))[law.column][rows]
    powers = (law.power, law.power, law.power, 2 if law.chained else law.power)

    @cache
    def lines() -> tuple[Callable[[Column], Column], ...]:
        pace = 1 / known.clock_hz if law.chained else known.clock_hz
        energy_j = known.dynamic_power_w / known.clock_hz
        figures = (known.area_m2, known.leakage_power_w, pace, energy_j)
        return tuple(
            _straight_line(values**power, figure[rows])
            for power, figure in zip(powers, figures, strict=True)
        )

    @wraps(law.structure, assigned=())  # its argument has the name of the parameter
    def on_lines(**at: Column) -> CoreMetrics:
        """Return designs on the straight lines fitted to the table."""
        value = np.asarray(at[parameter.name], dtype=np.float64)
        area_m2, leakage_w, pace, energy_j = (
            line(value**power) for power, line in zip(powers, lines(), strict=True)
        )
        clock_hz = 1 / pace if law.chained else pace
        return metrics(
            area_m2=area_m2,
            clock_hz=clock_hz,
            dynamic_power_w=energy_j * clock_hz,
            leakage_power_w=leakage_w,
            **law.structure(**at),
            extrapolated=outside(parameter, value),
        )

    squared = "" if law.power == 1 else " squared"
    over = parameter.name + squared + ", of energy over its square" * law.chained
    return Model(
        function=on_lines,
        parameters=(parameter,),
        design_name=law.design_name,
        source=f"{source}; straight lines over {over} by least squares",
        residuals=lambda: residuals(
            table.designs, rows, known, on_lines(**{parameter.name: values})
        ),
        uncertainty=before_placement(),
    )


def _straight_line(over: Column, values: Column) -> Callable[[Column], Column]:
    """Return the line of least squares over the logarithms of line over values, as fits are."""
    columns: NDArray[np.float64] = np.column_stack([over, np.ones_like(over)])
    found = np.linalg.lstsq(columns / values[:, None], np.ones_like(values), rcond=None)[0]
    for _ in range(_STEPS):
        line = columns @ found
        found += np.linalg.lstsq(columns / line[:, None], np.log(values / line), rcond=None)[0]
    slope, start = found
    return lambda at: slope * at + start


globals().update(
    {
        f"{name}_{library}": _characterised(name, library)
        for name in FAMILIES
        for library in LIBRARIES
        if (TABLES / f"{name}_{library}.csv").is_file()
    }
)
