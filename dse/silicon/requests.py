"""What a user wants characterised, as text: read, checked, and named in a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dse.algebra import units
from dse.algebra.expression import is_float, parse_expression
from dse.contract.generators import Generator, Value
from dse.errors import Fault, StudyError, UnitError, UnknownPluginError, followed
from dse.plugins import registry
from dse.silicon.characteriser import Characteriser
from dse.silicon.figures import FIGURES
from dse.silicon.sources import ENDINGS, Sources
from dse.silicon.targets import Target
from dse.silicon.tasks import (
    DesignTask,
    OwnHardware,
    combinations,
    generated,
    written_by_hand,
)
from dse.silicon.vectors import WrittenVectors

_ONE_SUPPLY = Fault(
    where="joined_by",
    written="",
    rule="a table of networks has one supply voltage",
    remedy="leave the corners out, or add each corner's network to a table of its own",
)

NEEDED = ("payload", "cycles_per_task", "latency")
"""Those that nothing else tells."""


def are_files(hardware: Iterable[str]) -> bool:
    """Return whether hardware is files of Verilog, not the name of a generator."""
    return any(Path(one).suffix in ENDINGS for one in hardware)


@dataclass(frozen=True, kw_only=True)
class Verilog:
    """Hardware of a user's own, as `dse.verilog` describes it."""

    sources: Sources
    top: str | None
    check: str | None
    clock_port: str
    figures: Mapping[str, str]
    warm_up: int
    done: str = ""
    dut: str = ""

    def design_tasks(self, over: Mapping[str, str], time_limit_s: float) -> list[DesignTask]:
        """Return the designs with their answers, each combination of parameters one.

        Raises
        ------
        StudyError
            Everything that is wrong with them.
        """
        missing = {"top": self.top, "check": self.check}
        missing |= {name: self.figures.get(name) for name in NEEDED}
        if self.done:
            del missing["cycles_per_task"]
        faults = [
            Fault(where=name, written="", rule="Verilog of your own needs it", remedy=_GIVE[name])
            for name, value in missing.items()
            if value is None
        ]
        if faults or self.top is None or self.check is None:
            raise StudyError(faults)
        _check_whole(over)
        chosen = combinations(over) if over else [{}]
        own = OwnHardware(
            sources=self.sources,
            top=self.top,
            clock=self.clock_port,
            check=self.check,
            dut=self.dut,
            warm_up=self.warm_up,
            chosen=chosen,
            done=self.done,
            time_limit_s=time_limit_s,
        )
        return written_by_hand(own, self._figures(own))

    def _figures(self, own: OwnHardware) -> dict[str, list[float]]:
        """Return each figure in SI for each combination of parameters."""
        chosen = own.chosen
        faults: list[Fault] = []
        found = {}
        for name, quantity in FIGURES.items():
            if name in self.figures:
                found[quantity] = _values(self.figures[name], name, quantity, chosen, faults)
        if faults:
            raise StudyError(faults)
        if self.done:
            found["cycles_per_task"] = own.counted_cycles(found.get("cycles_per_task"))
        flights = [
            float(max(1, np.ceil(latency / cycles)))
            for latency, cycles in zip(
                found["latency_cycles"], found["cycles_per_task"], strict=True
            )
        ]
        once = [payload / 8.0 for payload in found["payload_bit"]]
        return {"tasks_in_flight": flights, "read_byte": once, "written_byte": once, **found}


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is characterised: a generator by its name, or Verilog, over values of parameters."""

    hardware: str | Verilog
    over: Mapping[str, str]
    tasks: int
    seed: int

    @property
    def name(self) -> str:
        """What it is called."""
        return self.hardware if isinstance(self.hardware, str) else str(self.hardware.top)

    def design_tasks(self, time_limit_s: float) -> list[DesignTask]:
        """Return the designs with their answers, from testbenches that may run so long.

        Raises
        ------
        StudyError
            Everything that is wrong with them.
        """
        if not isinstance(self.hardware, str):
            return self.hardware.design_tasks(self.over, time_limit_s)
        chosen = combinations(self.over) if self.over else []
        try:
            return generated(self.hardware, chosen, seed=self.seed, tasks=self.tasks)
        except UnknownPluginError as error:
            remedy = followed(error.remedy, f"files of Verilog end in {' or '.join(ENDINGS[:2])}")
            fault = Fault(where="hardware", written="", rule=error.rule, remedy=remedy)
            raise StudyError([fault]) from None

    def check_output(self, out: Path, tasks: Sequence[DesignTask], others: Iterable[Path]) -> None:
        """Refuse to write over what is read: descriptions, tables of answers, `others`.

        Raises
        ------
        StudyError
            The output is one of them, by whatever name.
        """
        read = [*others]
        for task in tasks:
            read += task.sources.texts
            if isinstance(task.vectors, WrittenVectors):
                read.append(Path(task.vectors.table.file))
        if any(out.exists() and out.samefile(one) for one in read):
            rule, remedy = "the table would replace what it is made from", "name another file"
            raise StudyError([Fault(where="out", written=str(out), rule=rule, remedy=remedy)])

    def remarks(
        self, characterisers: Sequence[Characteriser], targets: Sequence[Target]
    ) -> Iterator[str]:
        """Yield what stands above a table: what was characterised, and where it comes from."""
        origin, what = "", self.hardware
        stimulus = f"{self.tasks} random tasks at least, seed {self.seed}"
        if isinstance(what, str):
            origin = f"{registry.get(Generator, what).source}; "
        else:
            stimulus = Path(str(what.check)).name
            what = ", ".join(Path(one).name for one in what.sources.files)
        yield f"source: {origin}characterised by dse from {what}"
        yield from dict.fromkeys(line for one in characterisers for line in one.remarks(targets))
        yield f"stimulus: {stimulus}"


_GIVE = {
    "top": "name the outermost module: --top NAME",
    "check": "give a testbench, waves or a table: --check tb.v --dut tb.dut, --check vectors.csv",
    "payload": 'give the payload of a task: --payload "64 bit"',
    "cycles_per_task": 'give the cycles from task to task: --cycles-per-task "16 / unroll"',
    "latency": 'give the cycles from input to answer: --latency "16"',
}


def _check_whole(over: Mapping[str, str]) -> None:
    """Refuse values of parameters in Verilog that Yosys would take for texts."""
    faults = [
        Fault(
            where=f"over.{name}",
            written=written,
            rule="a parameter of Verilog is a whole number here, no fraction and no text",
            remedy=f"write whole numbers with commas between: {name}=8,16",
        )
        for name, written in over.items()
        if not all(isinstance(row[name], int) for row in combinations({name: written}))
    ]
    if faults:
        raise StudyError(faults)


def _values(
    text: str,
    name: str,
    quantity: str,
    chosen: Sequence[Mapping[str, Value]],
    faults: list[Fault],
) -> list[float]:
    """Return a quantity, or an expression over parameters, for each combination of these."""
    try:
        if name not in ("cycles_per_task", "latency", "tasks_in_flight") or is_float(text):
            size = float(text) if is_float(text) else units.parse(text, quantity)
            values = [size] * len(chosen)
        else:
            numbers = {
                key: np.array([float(one[key]) for one in chosen])
                for key, value in chosen[0].items()
                if isinstance(value, int)
            }
            value = parse_expression(text, [*numbers], constant=True).value(numbers)
            values = np.broadcast_to(value, len(chosen)).tolist()
    except UnitError as error:
        faults.append(Fault(where=name, written=repr(text), rule=error.rule, remedy=error.remedy))
        return [1.0] * len(chosen)
    if not all(0 < value < np.inf for value in values):
        finite = np.isfinite(values).all()
        rule = "it must be positive" if finite else "it must be a finite number"
        remedy = "write a larger value" if finite else "write for instance 16"
        faults.append(Fault(where=name, written=repr(text), rule=rule, remedy=remedy))
    return values


def between_commas(given: str | Sequence[str]) -> list[str]:
    """Return what stands between commas, in one text or several."""
    several = [given] if isinstance(given, str) else [*given]
    return [part.strip() for text in several for part in text.split(",") if part.strip()]


def supplies(
    given: str | Sequence[str],
    corners: Sequence[str | Path],
    clock: str | None,
    joined_by: str | Path | None,
) -> list[float]:
    """Return supply voltages (V), written as numbers.

    Raises
    ------
    StudyError
        One is no number above 0, there are no libraries to fit laws to, or all voltages are to
        have one clock or one table of networks.
    """
    faults = []
    texts = between_commas(given)
    for text in texts:
        if not is_float(text) or not 0 < float(text) < np.inf:
            rule, remedy = "a voltage is a number above 0, in V", "write for instance 1.3,1.4"
            faults.append(Fault(where="supply", written=repr(text), rule=rule, remedy=remedy))
    if texts and not corners:
        rule, remedy = "laws need libraries at two or more voltages", "give others: --corner LIB"
        faults.append(Fault(where="supply", written="", rule=rule, remedy=remedy))
    if corners and clock:
        rule, remedy = "with --corner each voltage has a clock of its own", "leave it out"
        faults.append(Fault(where="clock", written=clock, rule=rule, remedy=remedy))
    if corners and joined_by is not None:
        faults.append(_ONE_SUPPLY)
    if faults:
        raise StudyError(faults)
    return [*dict.fromkeys(map(float, texts))]
