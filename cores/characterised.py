"""Cores from our own descriptions of hardware, in cell libraries that anybody may have.

The tables come from ``dse characterise``: each has its library, corner, target, stimulus and
hashes above it, and lists only designs whose netlists gave every known answer.  Wires and the
tree of the clock cost nothing in them: there is no placement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, Core, CoreMetrics, Model, Parameter
from dse.contract.published import PublishedTable, read_published, si_columns
from dse.cores._table import TABLES, metrics, outside, residuals
from dse.cores.jacobi import SIDE

LIBRARIES = {
    "sky130": "SkyWater 130 nm, 1.8 V",
    "ihp130": "IHP 130 nm, 1.2 V",
    "asap7": "ASAP7 7 nm (predictive), 0.7 V",
}
_NODES = {"sky130": "130 nm", "ihp130": "130 nm", "asap7": "7 nm"}
_HEADERS = (
    *("area_um2", "clock_mhz", "dynamic_power_mw", "leakage_power_uw", "payload_bit"),
    *("cycles_per_task", "latency_cycles", "tasks_in_flight", "read_byte", "written_byte"),
)
"""What `dse characterise` calls the columns of `CoreMetrics`."""

_UNROLL = Parameter(
    name="unroll",
    description="Rounds in hardware, a register after each",
    low=1,
    high=16,
    integer=True,
)
_STAGES = Parameter(
    name="stages",
    description="Stages of butterflies with a register after each: 6, 3, 2 for radix 2, 4, 8",
    low=2,
    high=6,
    integer=True,
)
_CELL_BYTE = 2.0
_TRANSFORM_BIT = 64 * 2 * 8.0


def _des_structure(unroll: Column) -> dict[str, Column | float]:
    return {
        "payload_bit": 64.0,
        "cycles_per_task": 16.0 / unroll,
        "latency_cycles": 16.0,
        "tasks_in_flight": unroll,
        "read_byte": 16.0,
        "written_byte": 8.0,
    }


def _jacobi_structure(side: Column) -> dict[str, Column | float]:
    return {
        "payload_bit": 8.0 * _CELL_BYTE,
        "cycles_per_task": 1.0 / side**2,
        "latency_cycles": np.where(np.equal(side, 1), 4.0, 3.0),
        "tasks_in_flight": side**2,
        "read_byte": _CELL_BYTE * (side + 2.0) / side,
        "written_byte": _CELL_BYTE,
    }


def _fft_structure(stages: Column) -> dict[str, Column | float]:
    return {
        "payload_bit": _TRANSFORM_BIT,
        "cycles_per_task": 1.0,
        "latency_cycles": stages,
        "tasks_in_flight": stages,
        "read_byte": _TRANSFORM_BIT / 8.0,
        "written_byte": _TRANSFORM_BIT / 8.0,
    }


@dataclass(frozen=True)
class _Family:
    """What the cores of a generator have in common, whatever the library.

    `described` has columns and values of the rows that the law is about, `column` is that of the
    parameter; figures are straight lines over the parameter to the power of `power`.
    """

    summary: str
    provides: str
    described: Mapping[str, str]
    parameter: Parameter
    column: str
    power: int
    design_name: str
    structure: Callable[[Column], Mapping[str, Column | float]]


_FAMILIES = {
    "des": _Family(
        "DES encryptor: 1 to 16 rounds in hardware, pipelined, two stages a round, or chained",
        "des",
        {"structure": "pipelined"},
        _UNROLL,
        "unroll",
        1,
        "u{unroll}",
        _des_structure,
    ),
    "jacobi": _Family(
        "Jacobi stencil of 16-bit cells: 1 to 16 cells per cycle",
        "stencil",
        {},
        SIDE,
        "side",
        2,
        "n{side}",
        _jacobi_structure,
    ),
    "fft": _Family(
        "64-point FFT of 8-bit parts: one transform per cycle, radix 2, 4 or 8",
        "fft64",
        {},
        _STAGES,
        "latency_cycles",
        1,
        "s{stages}",
        _fft_structure,
    ),
}


_STEPS = 20
"""Of Gauss and Newton; the first one or two count."""


def characterised_designs(table: PublishedTable) -> CoreMetrics:
    """Return the figures of the designs of a table of `dse characterise`."""
    return metrics(**si_columns(table.rows, _HEADERS), extrapolated=0.0)


def _characterised(family: str, library: str) -> Core:
    """Return the core of a table: its rows, and straight lines of least squares through them.

    Area, clock, leakage and the energy of a clock cycle are lines; dynamic power is that energy
    times the clock.
    """
    kind, place = _FAMILIES[family], LIBRARIES[library]
    name, table = kind.parameter.name, read_published(TABLES / f"{family}_{library}.csv")
    designs, known = table.designs, characterised_designs(table)
    rows = [n for n, row in enumerate(table.rows) if kind.described.items() <= row.items()]
    values = si_columns(table.rows, (kind.column,))[kind.column][rows]
    area_m2, clock_hz, leakage_w, energy_j = (
        _straight_line(values**kind.power, figure[rows])
        for figure in (
            *(known.area_m2, known.clock_hz, known.leakage_power_w),
            known.dynamic_power_w / known.clock_hz,
        )
    )

    def rows_of_table() -> CoreMetrics:
        """Return the designs as they were characterised."""
        return known

    def on_lines(at: Column) -> CoreMetrics:
        value = np.asarray(at, dtype=np.float64)
        powered = value**kind.power
        clock = clock_hz(powered)
        return metrics(
            area_m2=area_m2(powered),
            clock_hz=clock,
            dynamic_power_w=energy_j(powered) * clock,
            leakage_power_w=leakage_w(powered),
            **kind.structure(value),
            extrapolated=outside(kind.parameter, value),
        )

    source = f"our own description of the hardware in {place}, by dse characterise"
    of_law = f"straight lines over {name}{'' if kind.power == 1 else ' squared'}"
    return Core(
        name=f"{family}_{library}",
        summary=f"{kind.summary}; our Verilog in {place}",
        provides=(kind.provides,),
        node=_NODES[library],
        evidence="synthesis",
        models={
            "table": Model(function=rows_of_table, designs=designs, source=source),
            "law": Model(
                function=_law_of(name, on_lines),
                parameters=(kind.parameter,),
                design_name=kind.design_name,
                source=f"{source}; {of_law} by least squares",
                residuals=lambda: residuals(designs, rows, rows_of_table(), on_lines(values)),
            ),
        },
    )


def _law_of(name: str, on_lines: Callable[[Column], CoreMetrics]) -> Callable[..., CoreMetrics]:
    """Return a law whose argument has the name of the parameter."""

    def of_rounds(*, unroll: Column) -> CoreMetrics:
        """Return designs on the straight lines fitted to the table over the rounds."""
        return on_lines(unroll)

    def of_stages(*, stages: Column) -> CoreMetrics:
        """Return designs on the straight lines fitted to the table over the stages."""
        return on_lines(stages)

    def of_cells(*, side: Column) -> CoreMetrics:
        """Return designs on the straight lines fitted to the table over the cells."""
        return on_lines(side)

    laws: dict[str, Callable[..., CoreMetrics]] = {
        "side": of_cells,
        "stages": of_stages,
        "unroll": of_rounds,
    }
    return laws[name]


def _straight_line(over: Column, values: Column) -> Callable[[Column], Column]:
    """Return the line of least squares over the logarithms of line over values, as fits are."""
    columns: NDArray[np.float64] = np.column_stack([over, np.ones_like(over)])
    found = np.linalg.lstsq(columns / values[:, None], np.ones_like(values), rcond=None)[0]
    for _ in range(_STEPS):
        line = columns @ found
        found += np.linalg.lstsq(columns / line[:, None], np.log(values / line), rcond=None)[0]
    slope, start = found
    return lambda at: slope * at + start


des_sky130 = _characterised("des", "sky130")
des_ihp130 = _characterised("des", "ihp130")
des_asap7 = _characterised("des", "asap7")
fft_sky130 = _characterised("fft", "sky130")
fft_ihp130 = _characterised("fft", "ihp130")
fft_asap7 = _characterised("fft", "asap7")
jacobi_sky130 = _characterised("jacobi", "sky130")
jacobi_ihp130 = _characterised("jacobi", "ihp130")
jacobi_asap7 = _characterised("jacobi", "asap7")
