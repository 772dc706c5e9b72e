"""Kernels of this machine: times of one host core for a function, by size, as record files.

Ciphers and digests are measured by ``openssl speed``.  Compression is Python's zlib, on the sources
of Python's library.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.errors import DseError, nearest, refuse
from dse.fitting.curves import LEAST_SIZES, fit_curve
from dse.fitting.outputs import parse_output
from dse.reports.text import percent
from dse.search import Progress
from dse.study import records

SECONDS = 1  # of each measurement
CPUINFO = Path("/proc/cpuinfo")
TEXTS = ("argparse", "inspect", "typing", "tarfile", "subprocess")
"""Modules of Python's library whose sources are compressed."""
_LEVEL = 6


class HostKernel(NamedTuple):
    """A kernel that can be measured: the function, and openssl's name for it.  Empty for zlib."""

    name: str
    provides: str
    algorithm: str


MEASURED = (
    HostKernel("host_aes_128_gcm", "aes_gcm", "aes-128-gcm"),
    HostKernel("host_aes_256_gcm", "aes_gcm", "aes-256-gcm"),
    HostKernel("host_aes_128_xts", "aes_xts", "aes-128-xts"),
    HostKernel("host_chacha20_poly1305", "chacha20_poly1305", "chacha20-poly1305"),
    HostKernel("host_sha256", "sha256", "sha256"),
    HostKernel("host_zlib_6", "deflate", ""),
)


@dataclass(frozen=True)
class MeasuredHost:
    """Times of one kernel by size, and the machine."""

    kernel: HostKernel
    size_byte: Column
    time_s: Column
    machine: str
    version: str


def chosen(names: str) -> tuple[HostKernel, ...]:
    """Return the kernels of a list such as ``host_sha256, host_zlib_6``.  All for an empty one."""
    known = {one.name.removeprefix("host_"): one for one in MEASURED}
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            raise DseError(f"--kernels {name!r} cannot be measured; {nearest(name, known)}")
    return tuple(known[name] for name in wanted) or MEASURED


def read_sizes(written: str) -> list[int]:
    """Return the sizes of a list such as ``16 B, 1 KiB``."""
    found = set()
    for part in map(str.strip, written.split(",")):
        size = units.parse(part, "size_byte")
        if size < 1 or size != int(size):
            raise DseError(f"--sizes {part!r}: a size is a whole number of bytes")
        found.add(int(size))
    if len(found) < LEAST_SIZES:
        raise DseError(f"--sizes has {len(found)} different sizes; a fit needs {LEAST_SIZES}")
    return sorted(found)


def measure_host(
    kernels: Sequence[HostKernel], sizes: Sequence[int], *, progress: Progress | None = None
) -> list[MeasuredHost]:
    """Measure every kernel at every size, on one thread."""
    openssl = shutil.which("openssl")
    if openssl is None and any(one.algorithm for one in kernels):
        only = ", ".join(one.name.removeprefix("host_") for one in MEASURED if not one.algorithm)
        raise DseError(
            "cannot measure here: the program openssl is not on the PATH; install OpenSSL 3, or "
            f"measure the kernels without it with --kernels {only}"
        )
    version = run_openssl(openssl, "version").strip() if openssl else ""
    found: list[MeasuredHost] = []
    for kernel in kernels:
        times = []
        for size in sizes:
            times.append(_timed(openssl, kernel, size))
            if progress is not None:
                progress(len(found) * len(sizes) + len(times), len(kernels) * len(sizes))
        by = version if kernel.algorithm else f"zlib {zlib.ZLIB_RUNTIME_VERSION}"
        machine = processor_name() or "an unnamed processor"
        found.append(MeasuredHost(kernel, np.array(sizes, float), np.array(times), machine, by))
    return found


def processor_name() -> str:
    """Return the name of the processor, nothing if the system does not report one."""
    text = CPUINFO.read_text("utf-8", errors="replace") if CPUINFO.exists() else ""
    found = re.search(r"^model name\s*: (.*\S)", text, re.MULTILINE)
    return found[1] if found else platform.processor()


def run_openssl(*words: str, limit_s: float = 60.0) -> str:
    """Return the output of openssl.  A failure or a longer time is a `DseError`."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603  a list, no shell; the program is openssl of the PATH
            words, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
            encoding="utf-8", errors="replace", timeout=limit_s, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        lines = (getattr(error, "stderr", "") or "").strip().splitlines()
        raise DseError(f"{' '.join(words)}: {lines[0] if lines else error}") from error
    return done.stdout


def _timed(openssl: str | None, kernel: HostKernel, size: int) -> float:
    """Return the time of one call, in seconds."""
    if not kernel.algorithm:
        found = (find_spec(name) for name in TEXTS)
        text = b"".join(Path(str(one.origin)).read_bytes() for one in found if one and one.origin)
        return _by_zlib((text * (size // len(text) + 1))[:size])
    options = ("-mr", "-seconds", str(SECONDS), "-bytes", str(size), "-evp", kernel.algorithm)
    read = parse_output(run_openssl(str(openssl), "speed", *options), Path(kernel.algorithm))
    refuse(read.faults)
    (key,) = read.times
    return read.time_s(key, size)


def _by_zlib(part: bytes) -> float:
    """Return the processor time of one call.  Calls go on for some seconds."""
    calls, start = 0, time.process_time()
    while (spent := time.process_time() - start) < SECONDS:
        zlib.compress(part, _LEVEL)
        calls += 1
    return spent / calls


def host_record(found: MeasuredHost) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the section `kernel` of a record, as sure as errors are small, and its provenance."""
    curve = fit_curve(found.size_byte, found.time_s, [0.0, 1.0])
    spread = percent(float(np.sqrt(np.mean(curve.errors**2))))
    values = dict(zip(("offset", "index"), curve.coefficients.tolist(), strict=True))
    values["offset"] *= values["offset"] > 1e-9 * found.time_s.min()  # less is rounding
    fitted = sorted(name for name, value in values.items() if value > 0)
    names = ", ".join(TEXTS)
    source = found.kernel.algorithm or f"zlib at level {_LEVEL}, of the sources of {names}"
    kernel = {
        "name": found.kernel.name,
        "provides": [found.kernel.provides],
        "host": found.machine,
        "source": f"measured on this machine: {source}, {found.version}, one thread",
        "index": units.written(float(f"{values['index']:.6g}"), "index_s_per_byte"),
        "offset": units.written(float(f"{values['offset']:.6g}"), "offset_s"),
        "fitted": fitted,
        "uncertainty": dict.fromkeys(fitted, spread),
    }
    rows = zip(found.size_byte, found.time_s, strict=True)
    times = {units.show(size, "size_byte"): units.show(taken, "time_s") for size, taken in rows}
    return kernel, {"residuals": f"{percent(round(curve.worst, 12))} at most", "times": times}


def write_hosts(found: Sequence[MeasuredHost], out: Path) -> list[Path]:
    """Write a record file per kernel into a folder, and return the files."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for one in found:
        kernel, origin = host_record(one)
        path = out / f"{one.kernel.name}.yaml"
        data = repr((one.size_byte.tolist(), one.time_s.tolist())).encode()
        about = records.provenance(data, "dse fit host", "affine in the size")
        records.write_record(path, {"kernel": kernel}, {**about, **origin})
        written.append(path)
    return written
