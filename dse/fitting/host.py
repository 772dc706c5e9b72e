"""Kernels of this machine: what one host core takes for a function, by size, as record files.

Ciphers and digests are those of ``openssl speed``; compression is Python's zlib, on the sources of
Python's own library.
"""

from __future__ import annotations

import shutil
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.errors import DseError, nearest, refuse
from dse.fitting.interface.measure import processor_facts, run_openssl, speed
from dse.fitting.interface.openssl import parse_speed
from dse.reports.text import percent
from dse.search import Progress
from dse.study import records


@dataclass(frozen=True)
class HostKernel:
    """A kernel that can be measured: the function, and what openssl calls it; empty for zlib."""

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
"""What `dse measure host` knows, by the name of the record."""

TEXTS = ("argparse", "inspect", "typing", "tarfile", "subprocess")
"""Modules of Python's library whose sources are compressed."""

_LEVEL = 6


@dataclass(frozen=True, kw_only=True)
class MeasuredHost:
    """Times of one kernel by size, and the machine."""

    kernel: HostKernel
    size_byte: Column
    time_s: Column
    machine: str
    version: str


def chosen(names: str) -> tuple[HostKernel, ...]:
    """Return the kernels of a list such as ``host_sha256, host_zlib_6``; all for an empty one.

    Raises
    ------
    DseError
        One of them is not known.
    """
    known = {one.name.removeprefix("host_"): one for one in MEASURED}
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            raise DseError(f"--kernels {name!r} cannot be measured; {nearest(name, known)}")
    return tuple(known[name] for name in wanted) or MEASURED


def measure_host(
    kernels: Sequence[HostKernel],
    sizes: Sequence[int],
    *,
    seconds: int,
    repetitions: int,
    progress: Progress | None = None,
) -> list[MeasuredHost]:
    """Measure every kernel at every size: the median of some repetitions, one thread.

    Raises
    ------
    DseError
        With what is missing on this machine.
    """
    openssl = shutil.which("openssl")
    if openssl is None and any(one.algorithm for one in kernels):
        only = ", ".join(one.name.removeprefix("host_") for one in MEASURED if not one.algorithm)
        raise DseError(
            "cannot measure here: the program openssl is not on the PATH; install OpenSSL 3, or "
            f"measure what needs none with --kernels {only}"
        )
    name, _ = processor_facts()
    version = run_openssl([str(openssl), "version"]).strip() if openssl else ""
    found, done = [], 0
    for kernel in kernels:
        times = []
        for size in sizes:
            once = _timed(openssl, kernel, size, seconds)
            times.append(median(once() for _ in range(repetitions)))
            done += 1
            if progress is not None:
                progress(done, len(kernels) * len(sizes))
        found.append(
            MeasuredHost(
                kernel=kernel,
                size_byte=np.array(sizes, dtype=np.float64),
                time_s=np.array(times),
                machine=name or "an unnamed processor",
                version=version if kernel.algorithm else f"zlib {zlib.ZLIB_RUNTIME_VERSION}",
            )
        )
    return found


def _timed(openssl: str | None, kernel: HostKernel, size: int, seconds: int) -> Callable[[], float]:
    """Return a function that measures the time of one call, in seconds."""
    if kernel.algorithm:
        return lambda: _by_openssl(str(openssl), kernel.algorithm, size, seconds)
    text = _text()
    part = (text * (size // len(text) + 1))[:size]
    return lambda: _by_zlib(part, seconds)


def _by_openssl(openssl: str, algorithm: str, size: int, seconds: int) -> float:
    said = parse_speed(speed(openssl, algorithm, size, seconds, None), Path(algorithm))
    refuse(said.faults)
    (rates,) = said.rates.values()
    return size / median(rates[size])


def _by_zlib(part: bytes, seconds: int) -> float:
    """Return the processor time of one call; calls go on for some seconds."""
    calls, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        zlib.compress(part, _LEVEL)
        calls += 1
    return spent / calls


def _text() -> bytes:
    found = (find_spec(name) for name in TEXTS)
    return b"".join(Path(str(one.origin)).read_bytes() for one in found if one and one.origin)


def host_record(found: MeasuredHost) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the section `kernel` of a record, and its provenance.

    Time is ``offset + index * size``, neither negative, by least squares of relative errors; both
    are as sure as the root mean square of these.
    """
    from scipy.optimize import nnls  # slower to import than all else

    basis = np.column_stack([np.ones_like(found.size_byte), found.size_byte])
    (offset, index), _ = nnls(basis / found.time_s[:, None], np.ones_like(found.time_s))
    errors = basis @ [offset, index] / found.time_s - 1
    spread = percent(float(np.sqrt(np.mean(errors**2))))
    shown = {name for name, value in (("index", index), ("offset", offset)) if value > 0}
    what = found.kernel.algorithm or f"zlib at level {_LEVEL}, of the sources of {', '.join(TEXTS)}"
    kernel = {
        "name": found.kernel.name,
        "provides": [found.kernel.provides],
        "host": found.machine,
        "source": f"measured on this machine: {what}, {found.version}, one thread",
        "index": units.written(float(f"{index:.6g}"), "index_s_per_byte"),
        "offset": units.written(float(f"{offset:.6g}"), "offset_s"),
        "fitted": sorted(shown),
        "uncertainty": dict.fromkeys(sorted(shown), spread),
    }
    rows = zip(found.size_byte, found.time_s, strict=True)
    times = {units.show(size, "size_byte"): units.show(taken, "time_s") for size, taken in rows}
    return kernel, {"residuals": f"{percent(float(np.abs(errors).max()))} at most", "times": times}


def write_hosts(found: Sequence[MeasuredHost], out: Path, *, force: bool) -> list[Path]:
    """Write a record file per kernel into a folder, and return the files."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for one in found:
        kernel, origin = host_record(one)
        path = out / f"{one.kernel.name}.yaml"
        data = repr((one.size_byte.tolist(), one.time_s.tolist())).encode()
        about = records.provenance(data, "dse measure host", "affine in the size")
        records.write_record(path, {"kernel": kernel}, {**about, **origin}, force=force)
        written.append(path)
    return written
