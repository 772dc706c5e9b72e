"""What ``dse fit interface`` and ``dse measure interface`` do; text goes out here."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

from dse import interface_answer, interface_record, openssl_speed, timings
from dse.errors import DseError, OutputError
from dse.file_names import short
from dse.interface_answer import Answer
from dse.interface_record import PerByte
from dse.timings import Timings

_WIDTH = 100


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
    files = [] if out is None else save(found, out, per_byte, force=force)
    if as_json:
        from dse.plain import plain

        content = interface_answer.plain(found) | {"files": [str(file) for file in files]}
        print(json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False))
        return
    print(text(found))
    print()
    for file in files:
        print(f"written to {file}")
    if out is None:
        print("nothing written; --out records/link.yaml keeps the record and a picture")


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
    from dse import report, units

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
    from dse import fit_plots, user_records

    name = short(out.name)
    sections = interface_record.sections(found, name, per_byte)
    user_records.write(out, sections, interface_record.provenance(found), force=force)
    try:
        pictures = fit_plots.draw(found, f"{name}: host and offload", out.with_suffix(""))
    except OSError as error:
        raise OutputError(f"{out.with_suffix('.png')} cannot be written: {error}") from error
    return [out, *pictures]
