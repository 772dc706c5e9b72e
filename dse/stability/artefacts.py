"""What `dse flips` and `dse sweep` leave in a folder."""

from __future__ import annotations

import csv
from pathlib import Path

from dse.files.folder import new_folder
from dse.files.json import json_text
from dse.reports.words import unit_suffix
from dse.stability import plots
from dse.stability.crossovers import Crossovers
from dse.stability.flips import Flips

FLIP_FILES = ("flips.json", "flips.png", "flips.svg")
SWEEP_FILES = ("crossovers.csv", "crossovers.json", "crossovers.png", "crossovers.svg")


def save_flips(found: Flips, out: Path) -> None:
    """Write flips as JSON and as a picture into a folder, all or nothing."""
    with new_folder(out, FLIP_FILES) as folder:
        (folder / FLIP_FILES[0]).write_text(json_text(found.to_dict()) + "\n", encoding="utf-8")
        plots.draw_flips(found, folder)


def save_crossovers(found: Crossovers, out: Path) -> None:
    """Write intervals as a table, as JSON and as a picture into a folder, all or nothing."""
    with new_folder(out, SWEEP_FILES) as folder:
        _write_csv(found, folder / SWEEP_FILES[0])
        (folder / SWEEP_FILES[1]).write_text(json_text(found.to_dict()) + "\n", encoding="utf-8")
        plots.draw_crossovers(found, folder)


def _write_csv(found: Crossovers, path: Path) -> None:
    """Write one line per interval and design."""
    unit = unit_suffix(found.assumption.quantity)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([f"from{unit}", f"to{unit}", "design"])
        for interval in found.intervals:
            for design in interval.designs or ("",):
                writer.writerow([repr(interval.low), repr(interval.high), design])
