"""What a user wants characterised, as text: read, checked, and named in a table; and with what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dse.algebra.expression import is_float
from dse.contract.generators import Generator
from dse.errors import Fault, StudyError, UnknownPluginError, followed, refuse
from dse.files.document import no_such
from dse.plugins import registry
from dse.silicon.chain import LibraryCharacteriser
from dse.silicon.characteriser import Characteriser, KeptResults
from dse.silicon.descriptions.own_hardware import Verilog
from dse.silicon.descriptions.sources import ENDINGS
from dse.silicon.descriptions.vectors import WrittenVectors
from dse.silicon.figures import Conditions
from dse.silicon.flow import Flow
from dse.silicon.targets import Target
from dse.silicon.tasks import DesignTask, combinations, generated


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


def of_library(
    files: Sequence[str | Path],
    corners: Sequence[str | Path],
    conditions: Conditions,
    kept: KeptResults | None,
    keep: Path | None = None,
    flow: Flow | None = None,
) -> list[Characteriser]:
    """Return what maps to a library of standard cells, and what characterises other corners of it.

    Raises
    ------
    StudyError
        A file is not there.
    """
    check_library_files([*files, *corners])
    nominal = tuple(map(str, files))
    pairs = [(nominal, ()), *(((str(one),), nominal) for one in corners)]
    return [
        LibraryCharacteriser(
            library_files=own,
            mapped_with=mapped_with,
            keep=keep,
            flow=flow,
            conditions=conditions,
            kept=kept,
        )
        for own, mapped_with in pairs
    ]


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
            faults.append(Fault("supply", repr(text), rule, remedy))
    if texts and not corners:
        rule, remedy = "laws need libraries at two or more voltages", "give others: --corner LIB"
        faults.append(Fault("supply", "", rule, remedy))
    if corners and clock:
        rule, remedy = "with --corner each voltage has a clock of its own", "leave it out"
        faults.append(Fault("clock", clock, rule, remedy))
    if corners and joined_by is not None:
        rule = "a table of networks has one supply voltage"
        remedy = "leave the corners out, or add each corner's network to a table of its own"
        faults.append(Fault("joined_by", "", rule, remedy))
    refuse(faults)
    return [*dict.fromkeys(map(float, texts))]
