"""Share of the program's statements that an architect's day executes.

    python -m benchmarks.everyday [--missing]

The day is `DAY`: commands over ten shipped studies and the README's own.  The share is of the
statements inside functions, outside `WINGS` and in each of them; `--missing` lists each file with
the lines that nothing executed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import coverage

from dse.cli import main as command_line

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ("dse", "cores", "objectives")
"""Folders of the source."""

WINGS = {
    "silicon": ("dse/silicon", "dse/contract/generators.py", "cores/rtl"),
    "papers": (
        "dse/papers",
        "dse/contract/papers.py",
        "dse/contract/claim_table.py",
        "cores/battle_hempstead",
        "objectives/logca/paper",
        "objectives/roofline/paper",
    ),
    "measuring": (
        "dse/measure",
        "dse/study/evaluated.py",
        "dse/model/measured.py",
        "dse/contract/evaluators.py",
        "dse/search/expensive",
        "dse/methods/gaussian.py",
        "dse/runs/measurements.py",
        "dse/study/measuring.py",
    ),
}
"""Parts that no everyday question enters, by file or folder."""

STUDIES = (
    "tls_100gbps",
    "des_100gbps",
    "settop_116mbps",
    "crypto_interface_100gbps",
    "aes_100gbps",
    "hash_100gbps",
    "jacobi_bandwidth",
    "platforms_power_bound",
    "storage_xts_100gbps",
    "nic_crypto_100gbps",
)
SMALL = "studies/settop_116mbps.yaml"
OWN = "{own}/my_study.yaml"
TOO_MUCH = ("--set", "constraints=[area <= 100000 um2, power <= 30 mW]")

DAY: tuple[tuple[str, ...], ...] = (
    *(("run", f"studies/{name}.yaml", "--out", f"{{out}}/{name}") for name in STUDIES),
    *(("answer", f"{{out}}/{name}") for name in STUDIES),
    *(("check", f"studies/{name}.yaml") for name in STUDIES[:3]),
    ("check", SMALL, "--set", "workload.speed=1 Gbit/s"),
    ("check", OWN),
    ("run", OWN, "--out", "{out}/aes"),
    ("answer", "{out}/aes"),
    ("answer", OWN, "--rate", "10 Gbps", "--prefer", "area"),
    ("answer", "studies/crypto_interface_100gbps.yaml", "--all"),
    ("answer", "studies/tls_100gbps.yaml", "--set", "workload.granularity=1500 B"),
    ("answer", "studies/des_100gbps.yaml", "--within", "5 %", "--no-flips"),
    ("uncertainty", OWN, "--samples", "200", "--of", "area=10 %"),
    ("answer", SMALL, "--json"),
    ("flips", "studies/des_100gbps.yaml"),
    ("flips", OWN),
    ("flips", SMALL, "--out", "{out}/flips"),
    ("map", "studies/des_100gbps.yaml", "rate=1..120Gbps"),
    ("map", OWN, "rate=1..80Gbps", "granularity=1KiB..64KiB", "--out", "{out}/map"),
    ("map", "studies/storage_xts_100gbps.yaml", "granularity=512B..64KiB", "rate=1..100Gbps"),
    ("report", "{out}/aes", "-o", "{out}/aes.html"),
    ("report", "{out}/tls_100gbps", "-o", "{out}/tls.html"),
    ("report", "{out}/des_100gbps", "-o", "{out}/des.html"),
    ("verify", "{out}/aes"),
    ("verify", "{out}/des_100gbps"),
    ("verify", "{out}/tls_100gbps"),
    ("explain", "{out}/settop_116mbps", "--design", "1 u16"),
    ("explain", "{out}/aes", "--design", "9 quad64"),
    ("explain", "studies/des_100gbps.yaml", "--design", "1 u8 + 2 u16"),
    ("run", "studies/des_100gbps.yaml", *TOO_MUCH, "--out", "{out}/infeasible"),
    ("answer", OWN, "--set", "constraints=[area <= 0.1 mm2]"),
    ("run", "studies/tls_100gbps.yaml", "--set", "workload.rate=400 Gbps", "--out", "{out}/fast"),
    ("list",),
    ("list", "studies"),
    ("list", "interfaces"),
    ("list", "sparc_t4_engine"),
    ("doctor",),
    ("new", "study", "{out}/mine.yaml", "--from", "des_100gbps"),
)
"""Commands: `{out}` is a folder that is lost, `{own}` that of the README's study."""


def own_study(folder: Path) -> None:
    """Write the table and the study of the README into a folder."""
    folder.mkdir()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(csv|yaml)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for name, language in (("my_aes.csv", "csv"), ("my_study.yaml", "yaml")):
        body = next(body for kind, body in blocks if kind == language)
        (folder / name).write_text(body, encoding="utf-8")


def execute(day: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    """Execute commands in this process; yield one that ends with a status of no answer."""
    with tempfile.TemporaryDirectory() as folder:
        own_study(Path(folder, "own"))
        for command in day:
            words = [word.format(out=folder, own=f"{folder}/own") for word in command]
            sys.argv = ["dse", *words]
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                try:
                    command_line()
                    status: object = 0
                except SystemExit as ended:
                    status = ended.code
            expected = (0, 2) if "workload.speed=1 Gbit/s" in command else (0, None, 3)
            if status not in expected:
                yield f"{' '.join(command)}: status {status}: {printed.getvalue()[-300:]}"


def inside_functions(file: Path) -> set[int]:
    """Return the lines of a file that belong to a body of a function."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    functions = [one for one in nodes if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    bodies = (range(one.body[0].lineno, (one.end_lineno or 0) + 1) for one in functions)
    return {line for body in bodies for line in body}


def wing(file: str) -> str:
    """Return the wing that a file is part of, or nothing."""
    inside = (name for name, places in WINGS.items() if file.startswith(places))
    return next(inside, "")


def main() -> int:
    """Print the shares; return 1 where a command failed."""
    listing = "--missing" in sys.argv
    os.chdir(ROOT)
    measured = coverage.Coverage(data_file=None, source=[str(ROOT / name) for name in SOURCE])
    with measured.collect():
        failed = [*execute(DAY)]
    totals: dict[str, list[int]] = {}
    for file in sorted(path for name in SOURCE for path in (ROOT / name).rglob("*.py")):
        short = file.resolve().relative_to(ROOT).as_posix()
        _, listed, _, unexecuted, _ = measured.analysis2(str(file))
        lines = inside_functions(file)
        statements, missing = lines & {*listed}, lines & {*unexecuted}
        total = totals.setdefault(wing(short), [0, 0])
        total[0] += len(statements)
        total[1] += len(statements) - len(missing)
        if missing and listing:
            numbers = " ".join(map(str, sorted(missing)))
            print(f"{short}: {len(missing)} of {len(statements)}: {numbers}")
    for name, (count, done) in sorted(totals.items()):
        print(f"{name or 'outside the wings'}: {done / count:.1%} of {count} statements")
    print(f"{len(DAY)} commands", *failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
