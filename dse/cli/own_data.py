"""Commands that fit and characterise the user's own cores, interfaces and hosts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dse.api.arguments import Paths, paths
from dse.cli.options import Call, command, imported, show, show_json, write
from dse.errors import ArgumentError
from dse.reports.progress import bar

COUNTED = "a path that counts from the folder of the study"


@command("dse.api.fit:core", name="fit core")
def fit_core(call: Call, *, out: str | Path | None = None, json: bool = False) -> None:
    """Fit a core: area, power and rate over one or two parameters.

    Parameters
    ----------
    out : RECORD.yaml
        Record to write (default: records/NAME.yaml).
    """
    path = _record(call.given["table"], out)
    _show_record(call(out=path), path, f"`core: {path}`", json=json)


@command("dse.api.fit:interface", name="fit interface")
def fit_interface(call: Call, *, out: str | Path | None = None, json: bool = False) -> None:
    """Find the size from which an accelerator pays, and its record.

    Parameters
    ----------
    out
        As in `fit_core`.
    """
    files = [call.given[name] for name in ("data", "hardware", "software") if name in call.given]
    path = _record(files[0] if files else Path("interface"), out)
    found = call(out=path)
    kernel = f" and `workload.kernel: {path}`" * (found.verdict is not None)
    _show_record(found, path, f"`interface.device: {path}`{kernel}", json=json)


def _record(data: Path, out: str | Path | None) -> Path:
    path: Path
    path, _ = imported("dse.study.records:path_and_name")(data, None if out is None else Path(out))
    return path


def _show_record(found: Any, path: Path, use: str, *, json: bool) -> None:
    if json:
        show_json({"record": str(path), **found.to_dict()})
        return
    write(f"{found.text()}\n\nwritten to {path}")
    write(imported("dse.reports.text:paragraph")(f"use it as {use}, {COUNTED}"))


@command(name="fit host")
def fit_host(
    *,
    out: str | Path = "records",
    kernels: str = "",
    sizes: str = "64 B, 256 B, 1500 B, 4 KiB, 16 KiB, 64 KiB",
    json: bool = False,
) -> None:
    """Fit ciphers, hashes and zlib, measured on this machine.

    Parameters
    ----------
    out
        Folder for the record files.
    kernels
        aes_128_gcm, sha256, zlib_6 and so on (default: all).
    sizes
        Granularities, with units, separated by commas.
    """
    from dse.fitting import host as hosts

    wanted, granularities = hosts.chosen(kernels), hosts.read_sizes(sizes)
    with bar("measurements") as progress:
        found = hosts.measure_host(wanted, granularities, progress=progress)
    named = zip(found, hosts.write_hosts(found, Path(out)), strict=True)
    records = [hosts.host_record(one)[0] | {"file": str(file)} for one, file in named]
    if json:
        show_json(records)
        return
    for one in records:
        write(f"{one['index']} and {one['offset']} a call: use it as `kernel: {one['file']}`")


@command(
    "dse.silicon.public:characterise",
    "dse.silicon.public:verilog",
    without=("files",),
)
def characterise(call: Call, hardware: Paths, *, json: bool = False) -> None:
    """Find area, clock and power of your hardware.

    Parameters
    ----------
    hardware : NAME|FILE.v...
        A generator (des, fft, jacobi, ...), or files of Verilog.
    """
    reached = [0, 0]

    def progress(done: int, total: int, now: str = "") -> None:
        reached[:] = done, total
        shown(done, total, now)

    described = _hardware(call, [*map(str, paths(hardware))])
    characterised = call.of("characterise", "", "verilog")
    try:
        with bar("designs", "reading descriptions") as shown:
            found = characterised(hardware=described, progress=progress)
    except KeyboardInterrupt:
        kept = "kept: the same command goes on from there"
        after = kept if call.given["cache"] else "lost, as nothing is kept"
        print(f"{reached[0]} of {reached[1]} designs are done, and {after}", file=sys.stderr)
        raise
    show(found, json)
    if "out" in call.given and not json:
        table = call.given["out"]
        write(f"\nwritten to {table}: `table: {table}` in a stage")


def _hardware(call: Call, words: Sequence[str]) -> Any:
    """Return a generator's name, or files of Verilog as the options describe them."""
    if imported("dse.silicon.tasks:are_files")(words):
        return call.of("verilog", "", "characterise")(words)
    call.of("characterise", "a generator has this itself")
    if len(words) != 1:
        endings = imported("dse.silicon.description:ENDINGS")
        rule = "one generator at a time, or files of Verilog"
        remedy = f"name one generator, or files that end in {' or '.join(endings)}"
        raise ArgumentError(f"hardware: {' '.join(words)}; {rule}; {remedy}")
    return words[0]
