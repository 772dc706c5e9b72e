"""What ``dse fit interface`` and ``dse measure interface`` do; text goes out here."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dse.algebra import units
from dse.errors import DseError, OutputError
from dse.files.folder import new_folder
from dse.fitting.interface import interface_answer, interface_record, openssl_speed, timings
from dse.fitting.interface.interface_answer import Answer
from dse.fitting.interface.interface_record import PerByte
from dse.fitting.interface.timings import Timings
from dse.reports.progress import bar

_WIDTH = 100
_LEAST_GAIN = 1.05
"""An instruction that does no more for any size is not in use."""


def fit(
    data: Path | None,
    software: Path | None,
    hardware: Path | None,
    algorithm: str | None,
    out: Path | None,
    *,
    pure: bool,
    per_byte: PerByte,
    force: bool,
    as_json: bool,
) -> None:
    """Fit an interface to a CSV or to two outputs; print it, and write its record."""
    found = interface_answer.answer(_read(data, software, hardware, algorithm), pure=pure)
    from dse.cli import fit_files

    path, _ = fit_files.target(Path(found.timings.files[-1][0]), out)
    _print(found, save(found, path, per_byte, force=force), as_json=as_json)


def measure(
    out: Path,
    algorithm: str,
    sizes: str,
    seconds: int,
    repetitions: int,
    *,
    pure: bool,
    per_byte: PerByte,
    as_json: bool,
) -> None:
    """Measure this machine with openssl speed, fit what comes out, and keep both."""
    from dse.fitting.interface import measure

    used = measure.instructions(algorithm)
    wanted = _sizes(sizes)
    stem = re.sub(r"\W", "_", algorithm)
    names = ["software.txt", "hardware.txt", "interface.csv"]
    names += [f"{stem}.{ending}" for ending in ("yaml", "png", "svg")]
    about = measure.machine(used)
    with new_folder(out, names) as folder:
        with bar("measurements") as progress:
            outputs = measure.run(about.openssl, algorithm, wanted, seconds, repetitions, progress)
        content = measure.table(outputs, about, algorithm, repetitions)
        written = (outputs.software, outputs.hardware, content)
        for name, lines in zip(names, written, strict=False):
            (folder / name).write_text(lines, encoding="utf-8", newline="\n")
    data = timings.read_csv(out / "interface.csv")
    gain = float(np.max(data.host / data.offload))
    if gain < _LEAST_GAIN:
        raise DseError(
            f"hiding the {used.name} instructions makes {algorithm} at most {gain:.2f} times as "
            f"slow: this OpenSSL does without them; the outputs are in {out}"
        )
    found = interface_answer.answer(data, pure=pure)
    files = save(found, out / f"{stem}.yaml", per_byte, force=True)
    _print(found, [*(out / name for name in names[:3]), *files], as_json=as_json)


def _sizes(written: str) -> list[int]:
    """Return the sizes of a list such as ``16 B, 1 KiB``."""
    found = []
    for part in written.split(","):
        size = units.parse(part.strip(), "size_byte")
        if size < 1 or size != int(size):
            raise DseError(f"--sizes {part.strip()!r}: a size is a whole number of bytes")
        found.append(int(size))
    if len(set(found)) < timings.LEAST_SIZES:
        raise DseError(
            f"--sizes has {len(set(found))} different sizes; a fit needs at least "
            f"{timings.LEAST_SIZES}"
        )
    return sorted(set(found))


def _print(found: Answer, files: Sequence[Path], *, as_json: bool) -> None:
    if as_json:
        from dse.cli.commands import print_json

        print_json(interface_answer.plain(found) | {"files": [str(file) for file in files]})
        return
    from dse.cli import fit_files

    print(f"{text(found)}\n")
    for file in files:
        print(f"written to {file}")
    record = next(file for file in files if file.suffix == ".yaml")
    used = f"use it as `interface.device: {record}` and `workload.kernel: {record}`"
    print(textwrap.fill(f"{used}, {fit_files.COUNTED}", _WIDTH, break_on_hyphens=False))


def _read(
    data: Path | None, software: Path | None, hardware: Path | None, algorithm: str | None
) -> Timings:
    if data is not None and software is None and hardware is None:
        if algorithm is not None:
            raise DseError("--algorithm chooses among outputs of openssl speed; remove it")
        return timings.read_csv(data)
    if data is None and software is not None and hardware is not None:
        return openssl_speed.timings(software, hardware, algorithm)
    raise DseError(
        "a fit needs a CSV of granularity, host and offload times, or both --software and "
        "--hardware, outputs of `openssl speed`; name one or the other"
    )


def text(found: Answer) -> str:
    """Return a fit as text."""
    from dse.reports import report

    sizes = found.timings.size
    where = ", ".join(name for name, _ in found.timings.files)
    head = (
        f"{where}: {len(sizes)} sizes from {units.show(sizes[0], 'size_byte')} "
        f"to {units.show(sizes[-1], 'size_byte')}"
    )
    facts = [f"{name}: {value}" for name, value in found.timings.facts.items()]
    headers = ("parameter", "value", "95 % interval", "what it is")
    curve = ("curve", "noise", "largest residual", "size left out", "worst", "adequacy")
    parts = [
        "\n".join([head, *facts]),
        report.catalogue(interface_answer.parameters(found), headers),
        report.catalogue(interface_answer.curves(found), curve),
        "\n".join(
            textwrap.fill(line, _WIDTH, subsequent_indent="  ")
            for line in interface_answer.sentences(found)
        ),
    ]
    return "\n\n".join(parts)


def save(found: Answer, out: Path, per_byte: PerByte, *, force: bool) -> list[Path]:
    """Write the record and, beside it, the picture; return their paths."""
    from dse.cli import fit_files
    from dse.fitting.interface import plots
    from dse.study import records

    out, name = fit_files.target(out, out)
    sections = interface_record.sections(found, name, per_byte)
    records.write(out, sections, interface_record.provenance(found), force=force)
    try:
        pictures = plots.draw(found, f"{name}: host and offload", out.with_suffix(""))
    except OSError as error:
        raise OutputError(f"{out.with_suffix('.png')} cannot be written: {error}") from error
    return [out, *pictures]
