"""``dse measure``: an interface or the host of this machine, measured and fitted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, Commands, app, show_json, tell
from dse.cli.fit import Force, PerByte, Pure, show_interface

measure = typer.Typer(
    name="measure",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(measure)


@measure.callback()
def _measure() -> None:
    """Measure an interface or the host of this machine for a study."""


@measure.command("interface")
def interface(
    out: Annotated[
        Path,
        typer.Option(
            help="Output folder for measurements, CSV, record and picture.", show_default=False
        ),
    ],
    algorithm: Annotated[str, typer.Option(help="AES or SHA, as openssl calls it.")] = "sha256",
    sizes: Annotated[
        str, typer.Option(help="Granularities, with units, separated by commas.")
    ] = "16 B, 64 B, 256 B, 1 KiB, 4 KiB, 16 KiB, 64 KiB",
    seconds: Annotated[int, typer.Option(min=1, help="Seconds per measurement.")] = 1,
    repetitions: Annotated[int, typer.Option(min=1, help="Repetitions; the median counts.")] = 3,
    pure: Pure = False,
    per_byte: PerByte = "latency",
    json: AsJson = False,
) -> None:
    """Measure and fit AES or SHA instructions of this x86 machine."""
    from dse.fitting.interface.measure import measure_into, read_sizes
    from dse.fitting.interface.record import save_interface
    from dse.fitting.interface.report import report_on
    from dse.reports.progress import bar

    wanted = read_sizes(sizes)
    with bar("measurements") as progress:
        timings, files = measure_into(
            out, algorithm, wanted, seconds=seconds, repetitions=repetitions, progress=progress
        )
    found = report_on(timings, pure=pure)
    record = out / f"{re.sub(r'[^A-Za-z0-9_]', '_', algorithm)}.yaml"
    saved = save_interface(found, record, per_byte, force=True)
    show_interface(found, [*files, *saved], as_json=json)


@measure.command("host")
def host(
    out: Annotated[
        Path, typer.Option(help="Folder for the record files.", show_default=True)
    ] = Path("records"),
    kernels: Annotated[
        str, typer.Option(help="aes_128_gcm, sha256, zlib_6 and so on; all by default.")
    ] = "",
    sizes: Annotated[
        str, typer.Option(help="Granularities, with units, separated by commas.")
    ] = "64 B, 256 B, 1500 B, 4 KiB, 16 KiB, 64 KiB",
    seconds: Annotated[int, typer.Option(min=1, help="Seconds per measurement.")] = 1,
    repetitions: Annotated[int, typer.Option(min=1, help="Repetitions; the median counts.")] = 1,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Measure ciphers, hashes and zlib on a core of this machine."""
    from dse.fitting import host as hosts
    from dse.fitting.interface.measure import read_sizes
    from dse.reports.progress import bar

    wanted, granularities = hosts.chosen(kernels), read_sizes(sizes)
    with bar("measurements") as progress:
        found = hosts.measure_host(
            wanted, granularities, seconds=seconds, repetitions=repetitions, progress=progress
        )
    files = hosts.write_hosts(found, out, force=force)
    records = [hosts.host_record(one)[0] for one in found]
    if json:
        show_json([{**one, "file": str(path)} for one, path in zip(records, files, strict=True)])
        return
    for one, path in zip(records, files, strict=True):
        tell(f"{one['index']} and {one['offset']} a call: use it as `kernel: {path}`")
