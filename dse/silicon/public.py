"""Tables of cores from descriptions of hardware: ``dse.characterise("des", library=...)``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from dse.api.arguments import Count, Kind, Names, Paths, paths, public, texts
from dse.errors import ArgumentError, results_of
from dse.files.document import assignments
from dse.files.json import write_text
from dse.silicon.characterisation import Characterisation, characterise_all
from dse.silicon.description import Sources
from dse.silicon.figures import (
    DEFAULT_TARGETS,
    STATED,
    Conditions,
    positive_quantity,
    targets_of,
)
from dse.silicon.flow import Characteriser, KeptResults, user_folder
from dse.silicon.request import Request, Verilog, are_files, between_commas, check_library_files

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
        sources=Sources(tuple(map(str, paths(files)))),
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
    request = _request(hardware, over, tasks)
    mapped_for, wanted, _, period_s = results_of(
        lambda: targets_of(between_commas(targets)) or ([STATED] if clock else DEFAULT_TARGETS),
        request.design_tasks,
        lambda: check_library_files(files),
        lambda: 1.0 / positive_quantity(clock, "clock_hz", "clock") if clock else 0.0,
    )
    if out is not None:
        request.check_output(Path(out), wanted, files)
    characteriser = Characteriser(
        library_files=tuple(map(str, files)),
        conditions=Conditions(period_s, gate_clocks or 0),
        kept=KeptResults(user_folder() / "silicon") if cache else None,
    )
    found = characterise_all(
        request.name,
        wanted,
        characteriser,
        jobs=jobs,
        targets=mapped_for,
        remarks=[*request.remarks(characteriser, mapped_for)],
        progress=progress or (lambda *_: None),
    )
    if out is not None:
        write_text(Path(out), found.csv())
    return found


def _request(hardware: str | Verilog, over: Names, tasks: int) -> Request:
    if isinstance(hardware, str) and are_files([hardware]):
        raise ArgumentError(f"hardware={hardware!r}: describe it: dse.verilog({hardware!r}, ...)")
    return Request(hardware=hardware, over=assignments(texts(over), "unroll=1,2,4"), tasks=tasks)
