"""Cores from our own descriptions of hardware, in cell libraries that anybody may have.

The tables come from ``dse characterise``: each has its library, corner, target, stimulus and
hashes above it, and lists only designs whose netlists gave every known answer.  Wires and the
tree of the clock cost nothing in them, so that a study takes them times the factors of placement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, wraps

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, Core, CoreMetrics, Model, Parameter
from dse.contract.placement import kit_of, placement_text
from dse.contract.published import PublishedTable, read_published, si_columns
from dse.cores._table import TABLES, metrics, outside, residuals
from dse.cores.jacobi import SIDE, of_cells

LIBRARIES = {
    "sky130": "SkyWater 130 nm, 1.8 V",
    "ihp130": "IHP 130 nm, 1.2 V",
    "asap7": "ASAP7 7 nm (predictive), 0.7 V",
}
Structure = Callable[..., Mapping[str, Column | float]]
"""Columns of designs that follow from their structure, given one parameter by its name."""

_OF_TASK = (
    *("payload_bit", "cycles_per_task", "latency_cycles", "tasks_in_flight"),
    *("read_byte", "written_byte"),
)
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
_TRANSFORM_BIT = 64 * 2 * 8.0


def _pipelined(
    payload_bit: float, rounds: float, read_byte: float, written_byte: float
) -> Structure:
    """Return the structure of rounds with a register after each."""

    def structure(*, unroll: Column) -> dict[str, Column | float]:
        task = (payload_bit, rounds / unroll, rounds, unroll, read_byte, written_byte)
        return dict(zip(_OF_TASK, task, strict=True))

    return structure


def _jacobi_structure(*, side: Column) -> dict[str, Column | float]:
    return of_cells(side, 16.0) | {"latency_cycles": np.where(np.equal(side, 1), 4.0, 3.0)}


def _fft_structure(*, stages: Column) -> dict[str, Column | float]:
    task = (_TRANSFORM_BIT, 1.0, stages, stages, _TRANSFORM_BIT / 8.0, _TRANSFORM_BIT / 8.0)
    return dict(zip(_OF_TASK, task, strict=True))


@dataclass(frozen=True)
class Lines:
    """Data of the straight lines of a law.

    `described` has columns and values of the rows that the law describes, `column` is the
    parameter's column.  Quantities are lines over the parameter to the power of `power`.  For
    rounds that are `chained` in a cycle the period is a line, and the energy of a cycle one over
    their square: each hands its glitches on to all after it.  No line is drawn in libraries that
    are `refused`, because one of the lines is more than 5 % from the table.
    """

    parameter: Parameter
    structure: Structure
    described: Mapping[str, str] = field(default_factory=dict)
    column: str = "unroll"
    power: int = 1
    design_name: str = "u{unroll}"
    chained: bool = False
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """A generator's cores, without a law if a line is more than 5 % from every table.

    Attributes
    ----------
    label
        Prefix of the labels of its designs, or empty if these have the short names of a paper.
    message_end_bit
        Steps of a message besides its text, as payload, and the least padding.
    """

    label: str
    summary: str
    provides: str
    law: Lines | None = None
    message_end_bit: float = 0.0


def _chained(
    most: int, block_byte: int, rounds: int, *, written_byte: int, load: int = 0, refused: str = ""
) -> Lines:
    """Return the law of rounds in a cycle, with `load` cycles before a block."""

    def structure(*, unroll: Column) -> dict[str, Column | float]:
        cycles = rounds / unroll + load
        task = (8.0 * block_byte, cycles, cycles, 1.0, float(block_byte), float(written_byte))
        return dict(zip(_OF_TASK, task, strict=True))

    said = "Rounds in a cycle, with no register between them"
    parameter = replace(_UNROLL, description=said, high=most)
    return Lines(parameter, structure, chained=True, refused=(*refused.split(),))


_LAWS = {
    "des": Lines(_UNROLL, _pipelined(64.0, 16.0, 16.0, 8.0), {"structure": "pipelined"}),
    "jacobi": Lines(SIDE, _jacobi_structure, {}, "side", 2, "n{side}"),
    "fft": Lines(_STAGES, _fft_structure, {}, "latency_cycles", 1, "s{stages}"),
    "aes128": Lines(
        replace(_UNROLL, high=10),
        _pipelined(128.0, 10.0, 16.0, 16.0),
        {"structure": "pipelined", "box": "composite"},
    ),
    "aes128_xts": _chained(5, 16, 10, written_byte=16, refused="sky130"),
    "ascon_aead": _chained(4, 16, 8, written_byte=16),
    "ascon_hash": _chained(4, 8, 12, written_byte=8, refused="asap7"),
    "chacha20": _chained(4, 64, 20, written_byte=64, refused="sky130"),
    "sha2_256": _chained(4, 64, 64, written_byte=32, load=1),
    "sha3_256": _chained(6, 136, 24, written_byte=32, refused="ihp130 asap7"),
}

FAMILIES = {
    row["generator"]: Family(
        row["label"],
        row["summary"],
        row["provides"],
        _LAWS.get(row["generator"]),
        float(row["message_end_bit"]),
    )
    for row in read_published(TABLES / "families.csv").rows
}

_SIZES = {
    "unroll": ("1 round", "{} rounds"),
    "word_bit": ("", "{} bits"),
}
"""Columns of tables with the size of a design, in words for one and for several."""

_WORDS = {
    "chained": "chained",
    "column": "by columns",
    "table": "S-box tables",
    "half": "half clock",
    "quarter": "quarter clock",
}
"""Cells of tables that distinguish designs, in words."""

_NODES = {"sky130": "130 nm", "ihp130": "130 nm", "asap7": "7 nm"}
_HEADERS = ("area_um2", "clock_mhz", "dynamic_power_mw", "leakage_power_uw", *_OF_TASK)
"""Headers of the columns of `CoreMetrics` in tables of `dse characterise`."""

_STEPS = 20
"""Steps of Gauss and Newton, more than the one or two that matter."""


def characterised_designs(table: PublishedTable, message_end_bit: float = 0.0) -> CoreMetrics:
    """Return the metrics of the designs of a table of `dse characterise`."""
    columns = si_columns(table.rows, _HEADERS)
    return metrics(**columns, message_end_bit=message_end_bit, extrapolated=0.0)


def characterised_core(name: str) -> Core:
    """Return the core of a table: its rows, and the law through them, if there is one."""
    generator, _, library = name.rpartition("_")
    family, table = FAMILIES[generator], read_published(TABLES / f"{name}.csv")
    known = characterised_designs(table, family.message_end_bit)

    def rows_of_table() -> CoreMetrics:
        """Return the designs as they were characterised."""
        return known

    source = f"our own description of the hardware in {LIBRARIES[library]}, by dse characterise"
    kit = kit_of(library)
    source = f"{source}; {placement_text(kit)}"
    models = {
        "table": Model(
            function=rows_of_table,
            designs=table.designs,
            source=source,
            kit=kit,
            labels={row["design"]: design_label(row) for row in table.rows if family.label},
        )
    }
    if family.law is not None and library not in family.law.refused:
        models["law"] = replace(_model_of(family.law, table, known, source), kit=kit)
    return Core(
        name=name,
        summary=f"{family.summary}; our Verilog in {LIBRARIES[library]}",
        provides=(family.provides,),
        node=_NODES[library],
        evidence="synthesis",
        models=models,
        label=family.label,
    )


def design_label(row: Mapping[str, str]) -> str:
    """Return the label that distinguishes a design of a table from others."""
    found = []
    for column, (one, several) in _SIZES.items():
        if number := int(row.get(column, 0)):
            found.append((one if number == 1 else several).format(number))
    return ", ".join([*found, *(_WORDS[text] for text in row.values() if text in _WORDS)])


def _model_of(law: Lines, table: PublishedTable, known: CoreMetrics, source: str) -> Model:
    """Return straight lines of least squares through the rows that a law describes.

    These are designs at their fastest: designs mapped for slower clocks are other trade-offs.

    Area, leakage, clock or its period, and the energy of a clock cycle are lines.  Dynamic power is
    that energy times the clock.
    """
    parameter = law.parameter
    described = {**law.described, "target": "fastest"}.items()
    rows = [n for n, row in enumerate(table.rows) if described <= row.items()]
    values = si_columns(table.rows, (law.column,))[law.column][rows]
    lines = cache(lambda: _fitted_lines(law, known, rows, values))

    @wraps(law.structure, assigned=())  # its argument has the name of the parameter
    def on_lines(**at: Column) -> CoreMetrics:
        """Return designs on the straight lines fitted to the table."""
        value = np.asarray(at[parameter.name], dtype=np.float64)
        area_m2, leakage_w, pace, energy_j = (line(value**power) for power, line in lines())
        clock_hz = 1 / pace if law.chained else pace
        return metrics(
            area_m2=area_m2,
            clock_hz=clock_hz,
            dynamic_power_w=energy_j * clock_hz,
            leakage_power_w=leakage_w,
            message_end_bit=known.message_end_bit[0],
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
    )


def _fitted_lines(
    law: Lines, known: CoreMetrics, rows: Sequence[int], values: Column
) -> list[tuple[int, Callable[[Column], Column]]]:
    """Return lines of area, leakage, clock or period, and energy, each with its power of `values`.

    The energy is that of a clock cycle, in J.
    """
    pace = 1 / known.clock_hz if law.chained else known.clock_hz
    energy_j = known.dynamic_power_w / known.clock_hz
    pairs = (
        (law.power, known.area_m2),
        (law.power, known.leakage_power_w),
        (law.power, pace),
        (2 if law.chained else law.power, energy_j),
    )
    return [(power, _straight_line(values**power, column[rows])) for power, column in pairs]


def _straight_line(over: Column, values: Column) -> Callable[[Column], Column]:
    """Return the line of least squares over the logarithms of line over values, as fits are."""
    columns: NDArray[np.float64] = np.column_stack([over, np.ones_like(over)])
    found = np.linalg.lstsq(columns / values[:, None], np.ones_like(values), rcond=None)[0]
    for _ in range(_STEPS):
        line = columns @ found
        found += np.linalg.lstsq(columns / line[:, None], np.log(values / line), rcond=None)[0]
    slope, start = found
    return lambda at: slope * at + start
