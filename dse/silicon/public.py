"""Tables of cores from descriptions of hardware: ``dse.characterise("des", library=...)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from dse.api.arguments import Count, Kind, Names, Paths, paths, public, texts
from dse.contract.generators import Generator
from dse.errors import ArgumentError, Fault, StudyError, refuse, results_of
from dse.files.document import assignments, no_such
from dse.files.json import write_text
from dse.plugins import registry
from dse.silicon.characterisation import Characterisation, check_names
from dse.silicon.figures import AT_ONE_CLOCK, DEFAULT_TARGETS, clock_of, targets_of
from dse.silicon.flow import Characteriser, KeptResults, characterise_all, user_folder
from dse.silicon.tasks import STIMULUS_SEED, DesignTask, Verilog, are_files, generated
from dse.silicon.vectors import WrittenVectors

Hardware = Annotated[
    str | Verilog,
    Kind(
        "the name of a generator, or a result of dse.verilog",
        lambda value: isinstance(value, str | Verilog),
    ),
]


@public
def verilog(
    files: Paths,
    *,
    top: str | None = None,
    check: str | Path | None = None,
    payload: str | None = None,
    cycles_per_task: str | None = None,
    latency: str | None = None,
    read: str | None = None,
    written: str | None = None,
    clock_port: str = "clk",
    dut: str | None = None,
) -> Verilog:
    """Describe the user's own hardware, for `characterise`.

    >>> sha = dse.verilog("sha.v", top="sha", check="vectors.csv", payload="512 bit",
    ...                   cycles_per_task="64 / unroll", latency="64 / unroll")

    Parameters
    ----------
    files
        Files of Verilog or SystemVerilog.
    top
        Verilog: name of the outermost module.
    check : FILE
        Verilog: known answers: a table (.csv, a row per cycle), or waves (.vcd).
    payload
        Verilog: payload of a task: "64 bit", or "8 * WIDTH bit".
    cycles_per_task
        Verilog: cycles from task to task: 16, or "16 / unroll".
    latency
        Verilog: cycles from input to answer.
    read
        Verilog: bytes into a task (default: payload).
    written
        Verilog: bytes out of a task (default: payload).
    clock_port
        Verilog: name of the clock input.
    dut : INSTANCE
        Verilog: the design in waves: tb.dut.
    """
    figures = {"payload": payload, "cycles_per_task": cycles_per_task, "latency": latency}
    figures |= {"read": read, "written": written}
    return Verilog(
        sources=tuple(map(str, paths(files))),
        top=top,
        check=None if check is None else str(check),
        clock_port=clock_port,
        figures={name: text for name, text in figures.items() if text},
        dut=dut or "",
    )


@public
def characterise(
    hardware: Hardware,
    *,
    library: Paths = (),
    over: Names = (),
    clock: str | None = None,
    targets: Names = (),
    out: str | Path | None = None,
    tasks: Count = 200,
    gate_clocks: Count | None = None,
    cache: bool = True,
    jobs: Count = 1,
    progress: Callable[[int, int, str], None] | None = None,
) -> Characterisation:
    """Map hardware to the cells of a library, and find its area, clock and power.

    >>> dse.characterise("des", library="sky130.lib.gz", over="unroll=1,2,4", out="des_sky130.csv")

    Each design is mapped, its timing analysed, random tasks are simulated at its clock with the
    delays of its gates, and no table is written unless every answer is right.

    Parameters
    ----------
    hardware
        The name of a generator, or the result of `verilog`.
    library : LIB
        Liberty file, .lib or .lib.gz, or several as one.  They have one process and one corner.
    over : NAME=VALUES
        Parameter and its values: unroll=1,2,4.  Every combination of several is a design.  By
        default, designs are the ones that a generator ships.
    clock
        Clock of all designs: "225 MHz" (default: each at its fastest).  Power is taken at
        this clock, and logic is mapped for it.
    targets : CLOCKS
        Clocks that each design is mapped for: "fastest, 400 MHz" (default: `clock`, else
        "fastest, half, quarter" of a design's fastest clock).  Each is a row unless another
        is no worse by 1 %.  For slower clocks logic is smaller and uses less energy.
    out : TABLE.csv
        Table to write.  A study's `table` and `dse.fit.core` read it.
    tasks
        Generator: number of random tasks.
    gate_clocks
        Flip-flops with one enable that get a clock gate of the library: 8 (default: no gates).
    cache
        Keep results, and use the results of earlier runs.
    jobs
        Most processes.

    Raises
    ------
    dse.errors.StudyError
        Errors in descriptions, library or answers, or the first wrong answer.
    dse.errors.MissingLibraryError
        There is no Yosys.
    """
    files = paths(library)
    clocks = [part.strip() for text in texts(targets) for part in text.split(",") if part.strip()]
    given = assignments(texts(over), "unroll=1,2,4")
    mapped_for, wanted, _, clock_hz = results_of(
        lambda: targets_of(clocks) or ([AT_ONE_CLOCK] if clock else DEFAULT_TARGETS),
        lambda: _tasks(hardware, given, tasks),
        lambda: check_library_files(files),
        lambda: clock_of(clock, "clock") if clock else 0.0,
    )
    check_names(wanted)
    if out is not None:
        _check_output(Path(out), wanted, files)
    characteriser = Characteriser(
        library_files=tuple(map(str, files)),
        period_s=1.0 / clock_hz if clock else 0.0,
        gate_clocks=gate_clocks or 0,
        kept=KeptResults(user_folder() / "silicon") if cache else None,
    )
    report = progress or (lambda *_: None)
    rows, kept = characterise_all(wanted, mapped_for, characteriser, jobs=jobs, progress=report)
    origin, stimulus = _origin(hardware, tasks)
    remarks = (origin, *characteriser.remarks(mapped_for), stimulus)
    name = hardware if isinstance(hardware, str) else str(hardware.top)
    found = Characterisation(name, tuple(rows), remarks, kept)
    if out is not None:
        write_text(Path(out), found.csv())
    return found


def _tasks(hardware: str | Verilog, over: Mapping[str, str], tasks: int) -> list[DesignTask]:
    if not isinstance(hardware, str):
        return hardware.design_tasks(over)
    if are_files([hardware]):
        raise ArgumentError(f"hardware={hardware!r}: describe it: dse.verilog({hardware!r}, ...)")
    return generated(hardware, over, tasks)


def check_library_files(files: Sequence[Path]) -> None:
    """Raise StudyError for all files of a library that do not exist."""
    if not files:
        raise StudyError([Fault("library", "", "no file", "name a .lib file")])
    missing = (no_such(path, "file", "*.lib*").faults for path in files if not path.is_file())
    refuse(fault for faults in missing for fault in faults)


def _check_output(out: Path, tasks: Sequence[DesignTask], others: Sequence[Path]) -> None:
    """Raise StudyError if the output is an input file, by any name."""
    read = [*others]
    for task in tasks:
        read += task.texts
        if isinstance(task.vectors, WrittenVectors):
            read.append(Path(task.vectors.table.file))
    if any(out.exists() and out.samefile(one) for one in read):
        rule, remedy = "the table would replace one of its inputs", "name another file"
        raise StudyError([Fault("out", str(out), rule, remedy)])


def _origin(hardware: str | Verilog, tasks: int) -> tuple[str, str]:
    """Return the remarks on the source of the designs and of their stimulus."""
    if isinstance(hardware, str):
        source = f"{registry.get(Generator, hardware).source}; characterised by dse from {hardware}"
        return f"source: {source}", f"stimulus: {tasks} random tasks at least, seed {STIMULUS_SEED}"
    files = ", ".join(Path(one).name for one in hardware.sources)
    return (
        f"source: characterised by dse from {files}",
        f"stimulus: {Path(str(hardware.check)).name}",
    )
