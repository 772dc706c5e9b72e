"""``dse characterise``: a table of cores from descriptions of hardware, in cells or a device."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, Jobs, app, show, tell


@app.command()
def characterise(
    hardware: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|FILE.v...",
            help="A generator (des, fft, jacobi, ...), or files of Verilog.",
            show_default=False,
        ),
    ],
    library: Annotated[
        list[Path] | None,
        typer.Option(metavar="LIB", help="Liberty file, .lib or .lib.gz; several make one."),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="In place of a library, an FPGA: ice40:hx8k.")
    ] = None,
    placements: Annotated[
        int, typer.Option(min=1, help="Times that a device is filled; the median clock counts.")
    ] = 3,
    over: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUES", help="Parameter and its values: unroll=1,2,4."),
    ] = None,
    corner: Annotated[
        list[Path] | None,
        typer.Option(metavar="LIB", help="The same cells at another voltage (may be repeated)."),
    ] = None,
    supply: Annotated[
        list[str] | None,
        typer.Option(metavar="VOLTS", help="Voltages in between, in V, by fitted laws: 1.3,1.4."),
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(help='Clock of all designs: "225 MHz" (default: each at its fastest).'),
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option(help='Clocks that each design is mapped for: "200 MHz, 400 MHz".'),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="TABLE.csv", help="Table to write.")] = None,
    tasks: Annotated[int, typer.Option(min=1, help="Generator: number of random tasks.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Generator: seed of the random tasks.")] = 1,
    top: Annotated[str | None, typer.Option(help="Verilog: name of the outermost module.")] = None,
    clock_port: Annotated[str, typer.Option(help="Verilog: name of the clock input.")] = "clk",
    check: Annotated[
        str | None,
        typer.Option(metavar="VECTORS.csv", help="Verilog: known answers, a row per cycle."),
    ] = None,
    payload: Annotated[
        str | None, typer.Option(help='Verilog: payload of a task: "64 bit".')
    ] = None,
    cycles_per_task: Annotated[
        str | None, typer.Option(help='Verilog: cycles from task to task: 16, or "16 / unroll".')
    ] = None,
    latency: Annotated[
        str | None, typer.Option(help="Verilog: cycles from input to answer.")
    ] = None,
    tasks_in_flight: Annotated[
        str | None,
        typer.Option(help="Verilog: at once (default: latency / cycles per task)."),
    ] = None,
    read: Annotated[
        str | None, typer.Option(help="Verilog: bytes into a task (default: payload).")
    ] = None,
    written: Annotated[
        str | None, typer.Option(help="Verilog: bytes out of a task (default: payload).")
    ] = None,
    warm_up: Annotated[
        int | None,
        typer.Option(min=1, help="Verilog: cycles not counted (default: to the first answer)."),
    ] = None,
    wire: Annotated[
        str | None, typer.Option(help="Wire load of the library (default: none).")
    ] = None,
    joined_by: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE.csv", help="What joins a fleet: add to each row what a core takes of it."
        ),
    ] = None,
    mapping_tool: Annotated[
        str | None, typer.Option(help="pyosys or yosys (default: the first installed).")
    ] = None,
    time_limit: Annotated[
        str, typer.Option(metavar="TIME", help="Longest time to map one design.")
    ] = "3600 s",
    cache: Annotated[
        bool,
        typer.Option("--cache/--no-cache", help="Keep results, and use those of earlier runs."),
    ] = True,
    cache_limit: Annotated[
        str, typer.Option(metavar="SIZE", help="Most disk space for kept results.")
    ] = "64 MB",
    jobs: Jobs = None,
    json: AsJson = False,
) -> None:
    """Find area, clock and power of your hardware."""
    from dse.api import silicon
    from dse.reports.progress import bar
    from dse.workers import cores

    figures = {
        "payload": payload,
        "cycles_per_task": cycles_per_task,
        "latency": latency,
        "tasks_in_flight": tasks_in_flight,
        "read": read,
        "written": written,
    }
    reached = [0, 0]

    def progress(done: int, total: int, now: str = "") -> None:
        reached[:] = done, total
        shown(done, total, now)

    try:
        with bar("designs", "reading descriptions") as shown:
            found = silicon.characterise(
                hardware,
                library=library or [],
                device=device,
                placements=placements,
                over=over or [],
                corners=corner or [],
                supply=supply or [],
                clock=clock,
                targets=targets or [],
                out=out,
                tasks=tasks,
                seed=seed,
                top=top,
                clock_port=clock_port,
                check=check,
                figures={name: text for name, text in figures.items() if text is not None},
                warm_up=warm_up,
                wire=wire,
                joined_by=joined_by,
                mapping_tool=mapping_tool,
                time_limit=time_limit,
                cache=cache,
                cache_limit=cache_limit,
                jobs=jobs or cores(),
                progress=progress,
            )
    except KeyboardInterrupt:
        after = "kept: the same command goes on from there" if cache else "lost, as nothing is kept"
        print(f"{reached[0]} of {reached[1]} designs are done, and {after}", file=sys.stderr)
        raise
    show(found, as_json=json)
    if out is not None and not json:
        from dse.fitting.core import FEWEST

        names = found.fitted_over() if len(found.designs) >= FEWEST else ()
        over_which = " ".join(f"--over {name}" for name in names)
        fit = f", or `dse fit core {out} {over_which}`" if over_which else ""
        tell(f"\nwritten to {out}: `table: {out}` in a stage{fit}")
