"""What measures designs of a study with `dse characterise`: ``evaluate: {using: characterise}``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dse.contract.evaluators import InfeasibleDesign, Setup, Value, measurer
from dse.errors import Fault, StudyError, refuse, results_of
from dse.files.json import read_bytes
from dse.silicon.chain import LibraryCharacteriser
from dse.silicon.characterisation import characterise_all
from dse.silicon.characteriser import KeptResults, own_sha256, user_folder
from dse.silicon.descriptions.own_hardware import Verilog
from dse.silicon.descriptions.sources import sources_of
from dse.silicon.descriptions.vectors import WrittenVectors
from dse.silicon.figures import (
    FIGURES,
    CharacterisedDesign,
    Conditions,
    positive_quantity,
)
from dse.silicon.requests import Request, check_library_files
from dse.silicon.targets import STATED, Target, targets_of
from dse.silicon.tasks import DesignTask
from dse.silicon.yosys import chosen_yosys, full_name

_OWN = ("top", "check", "clock_port", "warm_up", "include", "define", "sv", "done", "dut", *FIGURES)
_SETTINGS = (
    *_OWN,
    "generator",
    "tasks",
    "seed",
    "wire",
    "time_limit",
    "cache_limit",
    "memory",
    "full_adders",
)
CONDITIONS = ("library", "clock", "target", "multiplier", "gate_clocks")
"""Settings that may be axes, too; any other axis is a parameter of the hardware."""

_OF_ALL = {
    "area": ("um2", "area_m2", 1e12),
    "clock": ("MHz", "clock_hz", 1e-6),
    "dynamic_power": ("mW", "dynamic_power_w", 1e3),
    "leakage_power": ("uW", "leakage_power_w", 1e6),
}
_OF_CORES = {
    name: (unit, figure, 1.0)
    for (name, figure), unit in zip(
        FIGURES.items(), ("bit", "cycle/task", "cycles", "1", "B", "B"), strict=True
    )
}
"""What is reported: its unit, the figure, and what that is multiplied by."""

_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")
_UNITS = {name: unit for name, (unit, _, _) in _OF_ALL.items()}


@dataclass(frozen=True)
class Characterising:
    """Characterises a design of a study when it is called with the values of its axes."""

    setup: Setup
    digests: Mapping[str, str]

    def __call__(self, **design: Value) -> dict[str, str]:
        """Return the outputs of a design.

        Raises
        ------
        InfeasibleDesign
            Its longest path takes longer than the clock that was requested.
        """
        try:
            figures = dict(self._characterised(design).figures)
        except StudyError as error:
            if all(one.rule.startswith("the period of the clock is ") for one in error.faults):
                raise InfeasibleDesign("; ".join(one.written for one in error.faults)) from error
            raise
        found = {
            name: f"{figures[figure] * factor!r} {unit}".removesuffix(" 1")
            for name, (unit, figure, factor) in (_OF_ALL | _OF_CORES).items()
        }
        task_per_s = figures["clock_hz"] / figures["cycles_per_task"]
        power_w = figures["dynamic_power_w"] + figures["leakage_power_w"]
        return found | {
            "power": f"{power_w * 1e3!r} mW",
            "idle_power": f"{figures['idle_power_w'] * 1e3!r} mW",
            "throughput": f"{task_per_s * figures['payload_bit'] * 1e-9!r} Gbit/s",
            "task_energy": f"{power_w / task_per_s * 1e12!r} pJ",
        }

    def _characterised(self, design: Mapping[str, Value]) -> CharacterisedDesign:
        said = Said(self.setup, design)
        tasks = said.design_tasks()
        limit_byte = positive_quantity(said.text("cache_limit", "64 MB"), "byte", "cache_limit")
        kept = KeptResults(user_folder() / "silicon", limit_byte)
        files = tuple(said.paths("library"))
        one = LibraryCharacteriser(library_files=files, conditions=said.conditions(), kept=kept)
        return characterise_all("", tasks, one, jobs=1, targets=said.targets()).designs[0]


@dataclass(frozen=True)
class Said:
    """What settings and the axes of one design say together."""

    setup: Setup
    design: Mapping[str, Value]

    def text(self, name: str, otherwise: str = "") -> str:
        """Return what an axis or a setting says, as text."""
        found = self.design.get(name, self.setup.settings.get(name, otherwise))
        return found if isinstance(found, str) else _number(found)

    def texts(self, name: str) -> list[str]:
        """Return what an axis or a setting says, one text or several."""
        found = self.design.get(name, self.setup.settings.get(name, ()))
        return [str(found)] if isinstance(found, str | float) else [*map(str, found)]

    def yes(self, name: str) -> bool:
        """Return whether a setting is on."""
        return self.text(name).lower() in _YES

    def paths(self, name: str) -> list[str]:
        """Return files, which lie beside the study."""
        return [str(self.setup.folder / one) for one in self.texts(name)]

    def design_tasks(self) -> list[DesignTask]:
        """Return the design with its known answers."""
        over = {
            name: value if isinstance(value, str) else _number(value)
            for name, value in self.design.items()
            if name not in CONDITIONS
        }
        tasks, seed = int(self.text("tasks", "200")), int(self.text("seed", "1"))
        hardware = self.text("generator") or Verilog(
            sources=sources_of(
                [str(self.setup.folder / one) for one in self.setup.files],
                include=self.paths("include"),
                define=self.texts("define"),
                sv=self.yes("sv"),
            ),
            top=self.text("top") or None,
            check=str(self.setup.folder / self.text("check")) if self.text("check") else None,
            clock_port=self.text("clock_port", "clk"),
            figures={name: self.text(name) for name in FIGURES if self.text(name)},
            warm_up=int(self.text("warm_up", "0")),
            done=self.text("done"),
            dut=self.text("dut"),
        )
        wanted = Request(hardware=hardware, over=over, tasks=tasks, seed=seed)
        return wanted.design_tasks(self.conditions().time_limit_s)

    def targets(self) -> list[Target]:
        """Return what logic is mapped for: one target, by default the clock, else the fastest."""
        found = self.design.get("target")
        clock, way = ([one] if one else [] for one in map(self.text, ("target", "multiplier")))
        if isinstance(found, float | int):
            return targets_of([], way, [Target(clock_hz=float(found))])
        return targets_of(clock, way, [STATED])

    def conditions(self) -> Conditions:
        """Return under which the design is characterised."""
        limit_s = positive_quantity(self.text("time_limit", "3600 s"), "time_limit_s", "time_limit")
        return Conditions(
            period_s=1.0 / self._clock_hz() if self.text("clock") else 0.0,
            wire=self.text("wire") or None,
            gate_clocks=int(self.text("gate_clocks", "0")),
            full_adders=self.yes("full_adders"),
            time_limit_s=limit_s,
            memory_bit=positive_quantity(self.text("memory", "20 kbit"), "memory_bit", "memory"),
        )

    def _clock_hz(self) -> float:
        found = self.design.get("clock")
        if isinstance(found, float | int):
            return float(found)
        return positive_quantity(self.text("clock"), "clock_hz", "clock")


def _prepared(setup: Setup) -> Characterising:
    """Return what characterises the designs of a study: its files, answers and libraries are there.

    Raises
    ------
    StudyError
        What is wrong with settings or axes, all at once.
    """
    refuse(_wrong(setup))
    digests = {"program": own_sha256(), "tool": full_name(chosen_yosys())}
    for design in _each_value(setup.axes):
        said = Said(setup, design)
        files = said.paths("library")
        tasks, *_ = results_of(
            said.design_tasks, said.conditions, said.targets, partial(check_library_files, files)
        )
        for file in files:
            digests[file] = hashlib.sha256(read_bytes(Path(file))).hexdigest()
        for task in tasks:
            digests |= _read(task)
    beside = f"{setup.folder}/"
    return Characterising(
        setup, {name.removeprefix(beside): one for name, one in sorted(digests.items())}
    )


_prepared.__name__ = "characterise"  # a function of `dse` is called so, too
characterise = measurer(
    description="Area, clock and power of hardware, by dse characterise",
    outputs=_UNITS
    | {"power": "mW", "idle_power": "mW", "throughput": "Gbit/s", "task_energy": "pJ"},
    core_outputs=_UNITS | {name: unit for name, (unit, _, _) in _OF_CORES.items()},
    version="1",
    settings=(*_SETTINGS, *CONDITIONS),
)(_prepared)


def _read(task: DesignTask) -> Iterator[tuple[str, str]]:
    """Yield the hash of each file that a design is read from."""
    for path, text in task.sources.texts.items():
        yield str(path), hashlib.sha256(text.encode()).hexdigest()
    if not task.sources.is_wholly_named:
        yield f"{task.design.top}, elaborated", task.description_sha256
    if isinstance(task.vectors, WrittenVectors):
        yield task.vectors.table.file, task.vectors_sha256


def _each_value(axes: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Yield designs that together have each value of each axis."""
    first = {name: values[0] for name, values in axes.items()}
    yield first
    for name, values in axes.items():
        yield from ({**first, name: value} for value in values[1:])


def _wrong(setup: Setup) -> Iterator[Fault]:
    """Yield what cannot be together."""
    said = {*setup.settings} | {*setup.axes}
    for name in sorted({*setup.settings} & {*setup.axes}):
        rule, remedy = "it is an axis of this study, and set here as well", "remove one of them"
        yield Fault(name, "", rule, remedy)
    if ("generator" in said) == bool(setup.files):
        rule = "hardware is the files of Verilog, or a generator"
        remedy = "write one of `files: [core.v]` and `settings: {generator: NAME}`"
        yield Fault("generator", "", rule, remedy)
    if "library" not in said:
        rule, remedy = "logic is mapped to a library", "add for instance `library: sky130.lib`"
        yield Fault("library", "", rule, remedy)
    for name in ("tasks", "seed", "warm_up", "gate_clocks"):
        if not str(setup.settings.get(name, "0")).isdigit():
            rule, remedy = "it must be a whole number", "write for instance 200"
            yield Fault(name, str(setup.settings[name]), rule, remedy)
    for name in ("sv", "full_adders"):
        if str(setup.settings.get(name, "no")).lower() not in _YES + _NO:
            yield Fault(name, str(setup.settings[name]), "it is on or off", "write yes or no")


def _number(value: object) -> str:
    """Return a number as texts of parameters have it: whole where it is."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if isinstance(value, float) and whole else str(value)
