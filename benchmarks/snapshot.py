"""What every shipped study answers, taken down so that two versions can be held together.

    python -m benchmarks.snapshot take BEFORE --dse old/.venv/bin/dse
    python -m benchmarks.snapshot take AFTER
    python -m benchmarks.snapshot compare BEFORE AFTER [--renamed told=tracked ...]

A snapshot holds, for each command of `COMMANDS`, its exit status and what it prints as JSON, and
the front of each run.  Comparing prints every value that differs; its status is 1 if any does.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

STUDIES = Path(__file__).resolve().parent.parent / "studies"

COMMANDS = {
    "answer": ["answer", "{study}", "--json"],
    "flips": ["flips", "{study}", "--json"],
    "samples": ["answer", "{study}", "--samples", "200", "--no-flips", "--json"],
    "sensitivity": ["sensitivity", "{study}", "--json"],
    "verify": ["verify", "{run}", "--trials", "20000", "--json"],
    "too_fast": [
        "run",
        "{study}",
        "--set",
        "workload.rate=1e6 Gbit/s",
        "--out",
        "{run}_",
        "--json",
    ],
    "misspelt": ["check", "{study}", "--set", "workload.speed=1 Gbit/s"],
}
"""What is asked of each study, besides to run it."""

ALONE = {
    "reproduce": ["reproduce", "--json"],
    "sweep": ["sweep", "{studies}/des_100gbps.yaml", "rate=1..120Gbps", "--json"],
    "evaluate": ["evaluate", "{studies}/settop_116mbps.yaml", "--set", "des.design=u1", "--json"],
    "flipped": [
        "answer",
        "{studies}/crypto_interface_100gbps.yaml",
        "--set",
        "workload.granularity=1500 B",
        "--json",
    ],
}
"""Commands that need no study of their own, or just one."""

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


def take(folder: Path, dse: str) -> None:
    """Write a snapshot of what a program answers."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for study in sorted(STUDIES.glob("*.yaml")):
            run = Path(scratch, study.stem)
            _keep(folder, f"{study.stem}.run", [dse, "run", study, "--out", run, "--json"])
            front = run / "front.csv"
            (folder / f"{study.stem}.front.csv").write_bytes(front.read_bytes())
            for name, command in COMMANDS.items():
                filled = [part.format(study=study, run=run) for part in command]
                _keep(folder, f"{study.stem}.{name}", [dse, *filled])
        for name, command in ALONE.items():
            _keep(folder, name, [dse, *(part.format(studies=STUDIES) for part in command)])


def _keep(folder: Path, name: str, command: list[Any]) -> None:
    print(name, flush=True)
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    printed = _read(done.stdout)
    kept = {"status": done.returncode, "printed": printed, "faults": done.stderr.count("\n") > 0}
    (folder / f"{name}.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return bool(text)


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
    elif one != other:
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
    parser.add_argument("--dse", default=str(Path(sys.executable).with_name("dse")))
    parser.add_argument("--renamed", nargs="*", default=[], metavar="OLD=NEW")
    given = parser.parse_args()
    if given.task == "take":
        take(given.folders[0], given.dse)
        return
    names = dict(pair.split("=", 1) for pair in given.renamed)
    sys.exit(compare(*given.folders, names) > 0)


if __name__ == "__main__":
    main()
