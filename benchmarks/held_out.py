"""Each size of the published tables kept back in turn: predicted against measured.

``python -m benchmarks.held_out`` writes docs/held_out.md, and with ``--records`` the records of
studies/soc_crypto.yaml instead.
"""

# ruff: noqa: E501  lines of a page are long

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dse.errors import DseError
from dse.fitting.report import InterfaceFitReport, report_on
from dse.fitting.timings import Timings
from dse.study import records

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "studies" / "interfaces" / "soc_crypto.csv"
PAGE = ROOT / "docs" / "held_out.md"
HOSTS = ("instructions", "software")
SOURCE = (
    "Texas Instruments, processor-sdk-doc (github.com/TexasInstruments/processor-sdk-doc), Linux "
    "performance guides, July 2026"
)


def rows() -> list[dict[str, str]]:
    """Return the table, a dict per row."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def timings(device: str, algorithm: str, host: str | None, offload: str = "engine") -> Timings:
    """Return the times of one case: on the host, unless it is None, and offloaded."""
    kept = [row for row in rows() if (row["device"], row["algorithm"]) == (device, algorithm)]
    size = np.array([float(row["size_byte"]) for row in kept])

    def times(kind: str) -> np.ndarray:
        return size / np.array([1e6 * float(row[f"{kind}_mb_per_s"]) for row in kept])

    def load(kind: str) -> np.ndarray:
        return np.array([float(row[f"{kind}_load_percent"]) / 100 for row in kept])

    return Timings(
        size=size,
        host=times(host) if host else None,
        offload=times(offload),
        host_cpu=load(host) if host else None,
        offload_cpu=load(offload),
        files=((TABLE.name, TABLE.read_bytes()),),
        facts={"machine": device, "algorithm": algorithm, "source": SOURCE},
    )


def cases() -> Iterator[tuple[str, str, str, InterfaceFitReport]]:
    """Yield device, algorithm, host and fit of every case."""
    for device, algorithm in dict.fromkeys((row["device"], row["algorithm"]) for row in rows()):
        for host in HOSTS:
            yield device, algorithm, host, report_on(timings(device, algorithm, host))


def page() -> str:
    """Return the page."""
    lines, right, of, sure, of_sure = [], 0, 0, 0, 0
    missed: dict[str, list[float]] = {"host": [], "offload": []}
    for device, algorithm, host, found in cases():
        curves, unseen = found.model.curves, found.unseen
        true = curves["host"].time > curves["offload"].time
        predicted = unseen["host"] > unseen["offload"]
        near = np.maximum(curves["host"].time, curves["offload"].time) < 1.25 * np.minimum(
            curves["host"].time, curves["offload"].time
        )
        right, of = right + int((true == predicted).sum()), of + len(true)
        sure, of_sure = sure + int((true == predicted)[near].sum()), of_sure + int(near.sum())
        errors = {name: np.abs(unseen[name] / curves[name].time - 1) for name in missed}
        for name, values in errors.items():
            missed[name] += values.tolist()
        if found.verdict is None or found.frees is None:
            raise DseError(f"{TABLE}: {device} {algorithm} has no host or no load")
        measured = sizes(found.timings.size[true])
        shown = (found.verdict.says, found.frees.says, measured)
        worst = (f"{100 * errors[name].max():.2g} %" for name in missed)
        count = f"{(true == predicted).sum()} of {len(true)}"
        lines.append(f"| {' | '.join((device, algorithm, host, *shown, count, *worst))} |")
    middle = {name: 100 * float(np.median(values)) for name, values in missed.items()}
    worst_of = {name: 100 * float(np.max(values)) for name, values in missed.items()}
    return TEXT.format(
        right=right, of=of, near=of_sure, near_right=sure, cases=len(lines),
        rows="\n".join(lines), **{f"{name}_middle": f"{value:.2g}" for name, value in middle.items()},
        **{f"{name}_worst": f"{value:.2g}" for name, value in worst_of.items()},
    )  # fmt: skip


def sizes(faster: np.ndarray) -> str:
    """Return in words at which sizes the measured engine is faster: always the largest ones."""
    return "at none" if not len(faster) else f"from {faster[0]:,.0f} B".replace(",", " ")


TEXT = """\
# Held out: predicted against measured

Predictions of `dse fit interface` for held-out sizes, and the measurements. `python -m benchmarks.held_out` writes this
page. The tables are of two systems on a chip, AM62X and AM64X, seven algorithms each: `openssl speed -elapsed` at six sizes, on the crypto
engine, with the instructions of the processor, and in plain code. The file is `studies/interfaces/soc_crypto.csv`, the source
{source}.

In each of the {cases} cases each size was held out in turn. Host and engine were fitted to the other five sizes, and predicted at the sixth.
**The faster one was named at {right} of {of}.** Most are easy: only at {near} of them the two times are within 25 % of each other, of which
{near_right} were right. Median and largest error are {offload_middle} % and {offload_worst} % for the engine, {host_middle} % and {host_worst} % for the host.

Verdicts use all six sizes. *Measured faster* has the sizes at which the table's engine is faster. The guides have one load of a core per
algorithm, used for every size: *frees CPU* is no more accurate. Both systems have one kind of cores and one family of engines. The results
may not hold for others.

| system | algorithm | host | faster | frees CPU | measured faster | named | host missed by | engine missed by |
| --- | --- | --- | --- | --- | --- | --- | --: | --: |
{rows}
""".replace("{source}", SOURCE)


def write_records() -> None:
    """Write the records of AES-128-CBC: the engine, the instructions and plain code of each."""
    for device in dict.fromkeys(row["device"] for row in rows()):
        for kind in ("engine", *HOSTS):
            found = report_on(timings(device, "aes-128-cbc", None, kind))
            path = TABLE.with_name(f"{device.lower()}_aes_{kind}.yaml")
            path.unlink(missing_ok=True)
            records.write_record(path, found.sections(path.stem, "latency"), found.provenance())


if __name__ == "__main__":
    if sys.argv[1:] == ["--records"]:
        write_records()
    else:
        PAGE.write_text(page(), encoding="utf-8")
