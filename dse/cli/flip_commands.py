"""What the commands about flips and crossovers do."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dse.algebra import units
from dse.cli import commands
from dse.files.document import Document
from dse.files.folder import new_folder
from dse.files.json import plain
from dse.runs import finished
from dse.stability import crossovers
from dse.stability import flips as flipping
from dse.study import study

FLIP_FILES = ("flips.json", "flips.png", "flips.svg")
SWEEP_FILES = ("crossovers.csv", "crossovers.json", "crossovers.png", "crossovers.svg")


def flips(
    path: Path,
    only: Sequence[str],
    preferred: str | None,
    out: Path | None,
    pairs: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Print how far each assumption may move, and draw it."""
    prepared = study.prepare(_document(path, commands.settings(pairs)))
    found = flipping.find(prepared, written=preferred, only=only, progress=_assumption)
    _clear()
    facts = flipping.plain(found)
    print(_json(facts) if as_json else flipping.text(found))
    if out is not None:
        from dse.stability import plots

        with new_folder(out, FLIP_FILES) as folder:
            (folder / FLIP_FILES[0]).write_text(_json(facts) + "\n", encoding="utf-8")
            plots.flips(found, folder)


def _document(path: Path, overrides: Sequence[tuple[str, str]]) -> Document:
    """Return the study in a file, or of a finished run."""
    if not path.is_dir():
        return study.read(path, overrides)
    return study.override(finished.read(path).document, overrides)


def sweep(
    path: Path,
    range_: str | None,
    preferred: str | None,
    out: Path | None,
    pairs: Sequence[str],
    *,
    front: bool,
    counts: bool,
    by: Sequence[str],
    as_json: bool,
) -> None:
    """Print which design holds which interval, and draw it."""
    document = _document(path, commands.settings(pairs))
    found = crossovers.of_range(
        document,
        range_,
        preferred=preferred,
        front=front,
        counts=counts,
        by=by,
        progress=_share,
    )
    _clear()
    facts = crossovers.plain(found)
    print(_json(facts) if as_json else crossovers.text(found))
    if out is not None:
        from dse.stability import plots

        with new_folder(out, SWEEP_FILES) as folder:
            _write_csv(found, folder / SWEEP_FILES[0])
            (folder / SWEEP_FILES[1]).write_text(_json(facts) + "\n", encoding="utf-8")
            plots.crossovers(found, folder)


def _write_csv(found: crossovers.Crossovers, path: Path) -> None:
    """Write one line per interval and design."""
    suffix = units.suffix(found.assumption.quantity)
    unit = f"_{suffix}" if suffix else ""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([f"from{unit}", f"to{unit}", "design"])
        for interval in found.intervals:
            for design in interval.designs or ("",):
                writer.writerow([repr(interval.low), repr(interval.high), design])


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def _assumption(name: str, number: int, total: int) -> None:
    _say(f"assumption {number} of {total}: {name}")


def _share(share: float) -> None:
    _say(f"{share:.0%} of the range")


def _say(line: str) -> None:
    """Show progress on stderr when it is a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


def _clear() -> None:
    _say("")
