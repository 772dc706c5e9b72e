"""Answers of every shipped study, stored to compare two versions.

    python -m benchmarks.snapshot take FOLDER
    python -m benchmarks.snapshot compare BEFORE AFTER [--renamed told=tracked ...]

A snapshot holds, for each study, what `questions` return as plain data, and the front of its run.
Take one with each version.  Comparing prints every value that differs; its status is 1 if any does.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dse

STUDIES = Path(__file__).resolve().parent.parent / "studies"

TOO_FAST = {"workload.rate": "1e6 Gbit/s"}
"""What no design of a study with a demand meets."""

PASSING = {
    "folder",
    "checksums",
    "wall_s",
    "versions",
    "written",
    "program",
    "python",
    "study_sha256",
}
"""What may differ between two runs of one version."""


def take(folder: Path) -> None:
    """Write a snapshot of what this program answers."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for study in sorted(STUDIES.glob("*.yaml")):
            run = Path(scratch, study.stem)
            for name, ask in questions(study, run).items():
                print(f"{study.stem}.{name}", flush=True)
                kept = json.dumps(_asked(ask), indent=1, default=float)
                (folder / f"{study.stem}.{name}.json").write_text(kept, encoding="utf-8")
            shutil.copyfile(run / "front.csv", folder / f"{study.stem}.front.csv")


def questions(study: Path, run: Path) -> dict[str, Callable[[], Any]]:
    """Return what is asked of a study, by name; the first question writes its run."""
    return {
        "run": lambda: dse.run(study, out=run, plots=False),
        "answer": lambda: dse.answer(study),
        "flips": lambda: dse.flips(study),
        "verify": lambda: dse.verify(run, trials=20_000),
        "explain": lambda: dse.explain(run, design=_recommended(run)),
        "too_fast": lambda: dse.run(study, overrides=TOO_FAST),
    }


def _recommended(run: Path) -> str:
    """Return the name of the design that a run recommends, of a sweep at its first value."""
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    (first, *_) = manifest.get("points") or [manifest]
    return str((first.get("recommended") or {}).get("design"))


def _asked(ask: Callable[[], Any]) -> Any:
    """Return what an answer says as plain data, or the error in words."""
    try:
        return ask().to_dict()
    except dse.errors.DseError as error:
        return {"error": type(error).__name__, "text": str(error)}


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield each value of `one` that is not the same in `other`, with where it stands."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other} - PASSING):
            if key not in one or key not in other:
                yield f"{path}.{key}: only {'after' if key in other else 'before'}"
            else:
                yield from differences(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{path}[{number}]")
    elif one != other and (one == one or other == other):  # no number equals itself
        yield f"{path}: {str(one)[:200]!r} became {str(other)[:200]!r}"


def compare(before: Path, after: Path, names: Mapping[str, str]) -> int:
    """Print what differs between two snapshots, words renamed; return how many files do."""
    differing = 0
    files = sorted({file.name for folder in (before, after) for file in folder.iterdir()})
    for file in files:
        one, other = before / file, after / file
        if not (one.exists() and other.exists()):
            found = [f"only in {before if one.exists() else after}"]
        elif file.endswith(".csv"):
            found = [] if one.read_bytes() == other.read_bytes() else ["the fronts differ"]
        else:
            text = one.read_text(encoding="utf-8")
            for old, new in names.items():
                text = re.sub(rf"(?<![A-Za-z]){re.escape(old)}(?![A-Za-z])", new, text)
            found = list(differences(json.loads(text), json.loads(other.read_text("utf-8"))))
        differing += bool(found)
        for line in found[:20]:
            print(f"{file}{line}" if line.startswith(".") else f"{file}: {line}")
        if len(found) > 20:
            print(f"{file}: and {len(found) - 20} more")
    print(f"{len(files)} files, {differing} differ")
    return differing


def main() -> None:
    """Take a snapshot, or compare two."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("task", choices=("take", "compare"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--renamed", nargs="*", default=[], metavar="OLD=NEW")
    given = parser.parse_args()
    if given.task == "take":
        take(given.folders[0])
        return
    names = dict(pair.split("=", 1) for pair in given.renamed)
    sys.exit(compare(*given.folders, names) > 0)


if __name__ == "__main__":
    main()
