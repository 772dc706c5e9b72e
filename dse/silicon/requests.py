"""What a user wants characterised, as text: read, checked, and named in a table; and with what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dse.contract.generators import Design, Generator, Value
from dse.errors import ArgumentError, Fault, StudyError, UnknownPluginError, followed, refuse
from dse.files.document import no_such
from dse.plugins import registry
from dse.silicon.chain import Characteriser
from dse.silicon.descriptions.own_hardware import Verilog
from dse.silicon.descriptions.sources import ENDINGS
from dse.silicon.descriptions.vectors import WrittenVectors
from dse.silicon.targets import Target
from dse.silicon.tasks import DesignTask, combinations


def are_files(hardware: Iterable[str]) -> bool:
    """Return whether hardware is files of Verilog, not the name of a generator."""
    return any(Path(one).suffix in ENDINGS for one in hardware)


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

    def design_tasks(self) -> list[DesignTask]:
        """Return the designs with their answers.

        Raises
        ------
        StudyError
            Everything that is wrong with them.
        """
        if not isinstance(self.hardware, str):
            return self.hardware.design_tasks(self.over)
        chosen = combinations(self.over) if self.over else []
        try:
            return _generated(self.hardware, chosen, seed=self.seed, tasks=self.tasks)
        except UnknownPluginError as error:
            remedy = followed(error.remedy, f"files of Verilog end in {' or '.join(ENDINGS[:2])}")
            raise StudyError([Fault("hardware", "", error.rule, remedy)]) from None

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
            raise StudyError([Fault("out", str(out), rule, remedy)])

    def remarks(self, characteriser: Characteriser, targets: Sequence[Target]) -> Iterator[str]:
        """Yield what stands above a table: what was characterised, and where it comes from."""
        origin, what = "", self.hardware
        stimulus = f"{self.tasks} random tasks at least, seed {self.seed}"
        if isinstance(what, str):
            origin = f"{registry.get(Generator, what).source}; "
        else:
            stimulus = Path(str(what.check)).name
            what = ", ".join(Path(one).name for one in what.sources.files)
        yield f"source: {origin}characterised by dse from {what}"
        yield from characteriser.remarks(targets)
        yield f"stimulus: {stimulus}"


def _generated(
    name: str, chosen: Sequence[Mapping[str, Value]], *, seed: int, tasks: int
) -> list[DesignTask]:
    """Return designs of a generator with random tasks; all that it ships if none are chosen.

    Raises
    ------
    StudyError
        A parameter or a value that the generator does not have; all faults at once.
    UnknownPluginError
        There is no such generator.
    """
    generator = registry.get(Generator, name)
    designs = []
    faults = []
    for parameters in chosen or generator.designs:
        try:
            designs.append(generator(**parameters))
        except ArgumentError as error:
            faults.append(Fault("over", "", str(error), ""))
    refuse(faults)
    return [
        DesignTask(design, generator.answers(design, seed=seed, tasks=tasks))
        for design in _named_apart(designs)
    ]


def _named_apart(designs: Sequence[Design]) -> Iterator[Design]:
    """Yield designs; those of one name get the parameters in which they differ behind it."""
    for design in designs:
        alike = [one.parameters for one in designs if one.name == design.name]
        differing = [
            f"{key}{value}"
            for key, value in design.parameters.items()
            if any(one[key] != value for one in alike)
        ]
        yield replace(design, name="_".join([design.name, *differing]))


def check_library_files(files: Sequence[str | Path]) -> None:
    """Refuse files of a library that are not there.

    Raises
    ------
    StudyError
        All of them at once.
    """
    missing = [Path(file) for file in files if not Path(file).is_file()]
    faults = [fault for path in missing for fault in no_such(path, "file", "*.lib*").faults]
    if faults or not files:
        none = Fault("library", "", "no file", "name a .lib file")
        raise StudyError(faults or [none])


def between_commas(given: str | Sequence[str]) -> list[str]:
    """Return what stands between commas, in one text or several."""
    several = [given] if isinstance(given, str) else [*given]
    return [part.strip() for text in several for part in text.split(",") if part.strip()]
