"""Cells of Tables I to III that follow from others.

Areas and powers are measured; clock, bandwidth, rate and parallelism determine each other.
The tolerance is the rounding of the cell itself, not of the one that it follows from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dse.contract import Column
from dse.contract.papers import Claim
from dse.cores import des, fft, jacobi
from dse.cores._table import read_table
from dse.cores.battle_hempstead.claim import claim, half_unit, task_rate


def _input(source: str, place: str) -> str:
    return f"no more than rounding {source} to {place} explains"


@dataclass(frozen=True, kw_only=True)
class _Column:
    """A column of printed cells and the same figures as they follow from another column.

    `place` is the unit of the last printed place, and `source` the column it follows from.
    """

    table: str
    name: str
    unit: str
    printed: Column
    ours: Column
    place: float
    source: str
    reasons: Mapping[str, str] = field(default_factory=dict)

    def claims(self, designs: Sequence[str]) -> list[Claim]:
        """Return one claim per design."""
        return [self._claim(row, design) for row, design in enumerate(designs)]

    def _claim(self, row: int, design: str) -> Claim:
        printed, ours = float(self.printed[row]), float(self.ours[row])
        return claim(
            name=f"cores-{self.table.lower().replace(' ', '-')}-{self.name}-{design}",
            where=self.table,
            statement=f"{self.name} of {design}, from its {self.source}",
            printed=float(f"{printed:.9g}"),
            unit=self.unit,
            ours=lambda _: ours,
            tolerance=half_unit(self.place, printed),
            reason=self.reasons.get(design, ""),
            inputs=(f"{self.table}, {self.source}: table",),
        )


def _des() -> list[Claim]:
    designs, printed = read_table("des.csv")
    table = des.table()
    bandwidth, rate = printed["bandwidth_bit_per_s"] / 1e9, printed["rate_task_per_s"] / 1e6
    clock = (
        "bandwidth and performance columns both need 645 MHz (1.55 ns); at the printed 625 MHz "
        "an instance would carry 3 % less than is printed"
    )
    columns = (
        _Column(
            table="Table I",
            name="clock",
            unit="MHz",
            printed=printed["clock_hz"] / 1e6,
            ours=table.clock_hz / 1e6,
            place=1,
            source="bandwidth",
            reasons={design: clock for design in designs if design != "u1_p2"},
        ),
        _Column(
            table="Table I",
            name="bandwidth",
            unit="Gbit/s",
            printed=bandwidth,
            ours=rate * table.payload_bit / 1e3,
            place=0.01,
            source="performance, 64 bit per task",
            reasons={"u8": _input("performance", "0.1 Mtask/s")},
        ),
        _Column(
            table="Table I",
            name="performance",
            unit="Mtask/s",
            printed=rate,
            ours=task_rate(table) / 1e6,
            place=0.1,
            source="bandwidth, 64 bit per task",
            reasons={"u8": _input("bandwidth", "0.01 Gbit/s")},
        ),
        _Column(
            table="Table I",
            name="parallelism",
            unit="",
            printed=printed["parallelism"],
            ours=table.latency_cycles / table.cycles_per_task,
            place=0,
            source="latency (section IV-B) over cycles between tasks",
        ),
    )
    return [each for column in columns for each in column.claims(designs)]


def _fft() -> list[Claim]:
    designs, printed = read_table("fft.csv")
    table = fft.table()
    bandwidth, rate = printed["bandwidth_bit_per_s"] / 1e9, printed["rate_task_per_s"] / 1e6
    r8 = "29.5 is a misprint: bandwidth gives 29.86 and the clock 29.75 Mtask/s"
    columns = (
        _Column(
            table="Table II",
            name="clock",
            unit="MHz",
            printed=printed["clock_hz"] / 1e6,
            ours=table.clock_hz / 1e6,
            place=1,
            source="bandwidth, 4096 bit each 4 cycles",
            reasons={"r4": "bandwidth and performance need 151.8 MHz: cut, not rounded"},
        ),
        _Column(
            table="Table II",
            name="bandwidth",
            unit="Gbit/s",
            printed=bandwidth,
            ours=rate * table.payload_bit / 1e3,
            place=0.1,
            source="performance, 4096 bit per task",
            reasons={"r8": r8}
            | dict.fromkeys(("r4", "r16", "r32", "r64"), _input("performance", "0.1 Mtask/s")),
        ),
        _Column(
            table="Table II",
            name="performance",
            unit="Mtask/s",
            printed=rate,
            ours=task_rate(table) / 1e6,
            place=0.1,
            source="bandwidth, 4096 bit per task",
            reasons={"r8": r8, "r32": _input("bandwidth", "0.1 Gbit/s")},
        ),
    )
    return [each for column in columns for each in column.claims(designs)]


def _jacobi() -> list[Claim]:
    designs, printed = read_table("jacobi.csv")
    table = jacobi.table()
    rate, clock = printed["rate_task_per_s"] / 1e9, printed["clock_hz"] / 1e6
    columns = (
        _Column(
            table="Table III",
            name="clock",
            unit="MHz",
            printed=clock,
            ours=rate * 1e3 / printed["parallelism"],
            place=1,
            source="performance and parallelism",
        ),
        _Column(
            table="Table III",
            name="performance",
            unit="Gtask/s",
            printed=rate,
            ours=task_rate(table) / 1e9,
            place=0.1,
            source="clock and number of stencils",
        ),
        _Column(
            table="Table III",
            name="parallelism",
            unit="",
            printed=printed["parallelism"],
            ours=printed["side"] ** 2,
            place=0,
            source="number of stencils, n squared",
        ),
    )
    return [each for column in columns for each in column.claims(designs)]


claims = (*_des(), *_fft(), *_jacobi())
