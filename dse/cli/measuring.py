"""Commands that fit an interface to measured times, and that measure such times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dse.cli.app import AsJson, app
from dse.cli.fitting import Force, Record, fit

measure = typer.Typer(
    name="measure",
    help="Measure on this machine what a study needs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(measure)

Pure = Annotated[bool, typer.Option("--pure", help="LogCA as published: no fixed host time.")]
PerByte = Annotated[
    Literal["latency", "computing"],
    typer.Option(help="What time per byte is taken for where the data cannot tell."),
]


@measure.callback()
def _measure() -> None:
    """Measure on this machine what a study needs."""


@fit.command("interface")
def fit_interface(
    data: Annotated[
        Path | None,
        typer.Argument(help="CSV with columns such as granularity_byte, host_us, offload_us."),
    ] = None,
    software: Annotated[
        Path | None, typer.Option(help="Output of `openssl speed` without the accelerator.")
    ] = None,
    hardware: Annotated[Path | None, typer.Option(help="Output of it with.")] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="Which of several algorithms in both outputs.")
    ] = None,
    out: Record = None,
    pure: Pure = False,
    per_byte: PerByte = "latency",
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Fit a kernel and an interface to host and offload times, or to openssl speed."""
    from dse.cli import interface_commands

    interface_commands.fit(
        data,
        software,
        hardware,
        algorithm,
        out,
        pure=pure,
        per_byte=per_byte,
        force=force,
        as_json=json,
    )


@measure.command("interface")
def measure_interface(
    out: Annotated[
        Path, typer.Option(help="Folder for outputs, CSV, record and picture.", show_default=False)
    ],
    algorithm: Annotated[str, typer.Option(help="AES or SHA, as openssl calls it.")] = "sha256",
    sizes: Annotated[
        str, typer.Option(help="Granularities, with units.")
    ] = "16 B, 64 B, 256 B, 1 KiB, 4 KiB, 16 KiB, 64 KiB",
    seconds: Annotated[int, typer.Option(min=1, help="Time of each measurement.")] = 1,
    repetitions: Annotated[int, typer.Option(min=1, help="Of each; medians count.")] = 3,
    pure: Pure = False,
    per_byte: PerByte = "latency",
    json: AsJson = False,
) -> None:
    """Measure AES or SHA instructions of this x86 machine against software, and fit them."""
    from dse.cli import interface_commands

    interface_commands.measure(
        out,
        algorithm,
        sizes,
        seconds,
        repetitions,
        pure=pure,
        per_byte=per_byte,
        as_json=json,
    )
