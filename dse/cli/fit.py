"""``dse fit``: records of a core, a platform or an interface from one's own data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dse.cli.app import AsJson, Commands, app, show_json, tell

if TYPE_CHECKING:
    from dse.fitting.interface.report import InterfaceReport

fit = typer.Typer(
    name="fit",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(fit)

Record = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="RECORD.yaml", help="Record to write (default: records/NAME.yaml)."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing record.")]


@fit.callback()
def _fit() -> None:
    """Fit a core, interface or platform to your own data."""


Pure = Annotated[
    bool, typer.Option("--pure", help="Fit LogCA as published, without a fixed host time.")
]
PerByte = Annotated[
    Literal["latency", "computing"],
    typer.Option(help="What a time per byte counts as where the data cannot tell."),
]

_COUNTED = "a path that counts from the folder of the study"


@fit.command()
def core(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE.csv", help="Table with a row per design.")
    ],
    out: Record = None,
    over: Annotated[
        list[str] | None, typer.Option(help="Column that is a parameter (once or twice).")
    ] = None,
    form: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUANTITY=FORM",
            help="Form to fit instead of the best: constant, affine, square, power, exponential.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help='Set a field, as in a stage with a table: --set "values.payload=64 bit".',
        ),
    ] = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Fit a core: area, power and rate over one or two parameters."""
    from dse.api import fit as fits
    from dse.study import records

    path, _ = records.path_and_name(table, out)
    found = fits.core(table, out=path, over=over or [], forms=form, settings=set_, force=force)
    if json:
        show_json({"record": str(path), **found.to_dict()})
    else:
        tell(f"{found.text()}\n\nwritten to {path}: use it as `core: {path}`, {_COUNTED}")


@fit.command()
def platform(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA.csv",
            help="Table with a row per run: work, traffic, time, energy, with units.",
        ),
    ],
    out: Record = None,
    precision: Annotated[
        str, typer.Option(help="Precision of the operations (single or double).")
    ] = "single",
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Fit the energy roofline of a platform to measured runs."""
    from dse.api import fit as fits
    from dse.study import records

    path, _ = records.path_and_name(data, out)
    found = fits.platform(data, out=path, precision=precision, force=force)
    if json:
        show_json({"record": str(path), **found.to_dict()})
    else:
        used = f"use it as `budget.platform: {path}`, {_COUNTED}"
        tell(f"{found.text()}\n\nwritten to {path}: {used}")


@fit.command("interface")
def interface(
    data: Annotated[
        Path | None,
        typer.Argument(help="CSV with granularity_byte, host_us, offload_us or the like."),
    ] = None,
    software: Annotated[
        Path | None, typer.Option(help="Output of `openssl speed` without the accelerator.")
    ] = None,
    hardware: Annotated[
        Path | None, typer.Option(help="Output of `openssl speed` with the accelerator.")
    ] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="Algorithm, where the outputs have several.")
    ] = None,
    clock: Annotated[
        str | None, typer.Option(help='Clock of times that the CSV has in cycles: "3 GHz".')
    ] = None,
    out: Record = None,
    pure: Pure = False,
    per_byte: PerByte = "latency",
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Fit an interface and a kernel to measured times."""
    from dse.fitting.interface.record import save_interface
    from dse.fitting.interface.report import read_timings, report_on
    from dse.study import records

    found = report_on(
        read_timings(data, software, hardware, algorithm=algorithm, clock=clock), pure=pure
    )
    path, _ = records.path_and_name(Path(found.timings.files[-1][0]), out)
    show_interface(found, save_interface(found, path, per_byte, force=force), as_json=json)


def show_interface(found: InterfaceReport, files: Sequence[Path], *, as_json: bool) -> None:
    """Print a fitted interface and the files that were written."""
    if as_json:
        from dse.fitting.interface.text import interface_facts

        show_json(interface_facts(found) | {"files": [str(file) for file in files]})
        return
    from dse.fitting.interface.text import interface_text
    from dse.reports.words import paragraph

    tell(f"{interface_text(found)}\n")
    for file in files:
        tell(f"written to {file}")
    record = next(file for file in files if file.suffix == ".yaml")
    used = f"use it as `interface.device: {record}` and `workload.kernel: {record}`"
    tell(paragraph(f"{used}, {_COUNTED}"))
