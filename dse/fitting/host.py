"""Kernels of this machine: what one host core takes for a function, by size, as record files.

Ciphers and digests are those of ``openssl speed``; compression is Python's zlib, on the sources of
Python's own library.
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
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.errors import DseError, nearest, refuse
from dse.files.whole_folders import new_folder
from dse.fitting.interface import timings
from dse.fitting.interface.timings import parse_speed
from dse.reports.text import percent
from dse.search import Progress
from dse.study import records

MASK = "OPENSSL_ia32cap"
X86 = ("x86_64", "amd64", "i386", "i686")
LEAST_GAIN = 1.05
"""An instruction that does no more for any size is not in use."""

SECONDS, REPETITIONS = 1, 3
"""Time of each measurement, and how often one of instructions is repeated; the median counts."""

CPUINFO = Path("/proc/cpuinfo")

OUTPUTS = ("software.txt", "hardware.txt")
"""Files of what ``openssl speed`` prints without and with the instructions."""


@dataclass(frozen=True)
class Instructions:
    """Instructions that speed algorithms up: flag of the processor, and how to hide them."""

    name: str
    flag: str
    mask: str
    starts: tuple[str, ...]


INSTRUCTIONS = (
    # AES-NI is bit 57 and PCLMULQDQ bit 33 of the first word, VAES bit 41 and VPCLMULQDQ bit 42
    # of the second.
    Instructions("AES", "aes", "~0x200000200000000:~0x60000000000", ("aes-",)),
    # SHA is bit 29 of the second word.
    Instructions("SHA", "sha_ni", "~0x0:~0x20000000", ("sha1", "sha224", "sha256")),
)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The processor that is measured, and the program that measures it."""

    openssl: str
    version: str
    processor: str


def instructions(algorithm: str) -> Instructions:
    """Return the instructions behind an algorithm.

    Raises
    ------
    DseError
        No x86 instruction that can be hidden serves it.
    """
    for found in INSTRUCTIONS:
        if algorithm.lower().startswith(found.starts):
            return found
    raise DseError(
        f"--algorithm {algorithm!r}: no instructions are known that can be hidden from it; "
        "write one of AES or SHA, such as aes-128-cbc or sha256"
    )


def machine(used: Instructions) -> Machine:
    """Return this machine.

    Raises
    ------
    DseError
        With everything that is missing to measure on it.
    """
    lacking = []
    openssl = shutil.which("openssl")
    if openssl is None:
        lacking.append("the program openssl is not on the PATH: install OpenSSL 3")
    name, flags = processor_facts()
    kind = platform.machine()
    if kind.lower() not in X86:
        lacking.append(
            f"{MASK} hides instructions of x86 processors only, and this is {kind or 'unknown'}: "
            "measure software and hardware yourself, and fit them with dse fit interface"
        )
    elif flags is None:
        lacking.append(f"{CPUINFO} does not say whether this processor has {used.name}")
    elif used.flag not in flags:
        lacking.append(
            f"this processor has no {used.name} instructions (flag {used.flag}): "
            "there is nothing to hide; choose another --algorithm"
        )
    if lacking or openssl is None:
        raise DseError("cannot measure here:\n" + "\n".join(f"  {text}" for text in lacking))
    version = run_openssl([openssl, "version"]).strip()
    system = f"{platform.system()} {platform.release()}"
    return Machine(openssl=openssl, version=version, processor=f"{name or kind}, {system}")


def processor_facts() -> tuple[str, frozenset[str] | None]:
    """Return name and flags of the processor; None where the system does not tell."""
    try:
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor(), None
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    flags = frozenset(fields["flags"].split()) if "flags" in fields else None
    return fields.get("model name", ""), flags


def speed(openssl: str, algorithm: str, size: int, mask: str | None) -> str:
    """Return what ``openssl speed`` prints for one size, with instructions hidden by `mask`."""
    command = [openssl, "speed", "-mr", "-seconds", str(SECONDS), "-bytes", str(size)]
    return run_openssl([*command, "-evp", algorithm], mask)


def run_openssl(command: Sequence[str], mask: str | None = None, limit_s: float = 60.0) -> str:
    """Return what a program prints, with instructions hidden by `mask`.

    Raises
    ------
    DseError
        It fails, or takes longer than the limit.
    """
    environment = {name: value for name, value in os.environ.items() if name != MASK}
    environment |= {"LC_ALL": "C"} | ({MASK: mask} if mask else {})
    shown = " ".join(command)
    try:
        done = subprocess.run(  # noqa: S603  a list, no shell; the program is openssl of the PATH
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DseError(f"{shown} did not end within {limit_s:.0f} s; look at it by hand") from None
    except OSError as error:
        raise DseError(f"{shown} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it says nothing"]
        raise DseError(f"{shown} ended with status {done.returncode}: {lines[0]}")
    return done.stdout


def measure_sizes(
    openssl: str, algorithm: str, sizes: Sequence[int], progress: Progress | None
) -> tuple[str, str]:
    """Return what ``openssl speed`` prints, without and with the instructions, at every size.

    In turn and several times over, so that a machine that slows down slows both.
    """
    runs = [*product(range(REPETITIONS), sizes, (instructions(algorithm).mask, None))]
    outputs = []
    for _, size, hidden in runs:
        outputs.append(speed(openssl, algorithm, size, hidden))
        if progress is not None:
            progress(len(outputs), len(runs))
    return "".join(outputs[::2]), "".join(outputs[1::2])


def measured_table(measured: Sequence[str], about: Machine, algorithm: str) -> str:
    """Return the medians as a CSV that ``dse fit interface`` reads.

    Raises
    ------
    StudyError
        An output lacks rates.
    """
    outputs = [parse_speed(text, Path(name)) for name, text in zip(OUTPUTS, measured, strict=True)]
    refuse(fault for found in outputs for fault in found.faults)
    slow, fast = (next(iter(found.rates.values())) for found in outputs)
    rows = [(size, size / median(slow[size]), size / median(fast[size])) for size in sorted(slow)]
    lines = [
        f"# machine: {about.processor}",
        f"# version: {about.version}",
        f"# algorithm: {algorithm}, {MASK}={instructions(algorithm).mask} for the host",
        f"# repetitions: {REPETITIONS}, medians",
        "granularity_byte,host_ns,offload_ns",
        *(f"{size},{host * 1e9:.6g},{offload * 1e9:.6g}" for size, host, offload in rows),
    ]
    return "\n".join(lines) + "\n"


def measure_into(
    out: Path, algorithm: str, sizes: Sequence[int], *, progress: Progress | None = None
) -> list[Path]:
    """Measure this machine, write what was seen into a folder, and return the files, a CSV last.

    Raises
    ------
    DseError
        When this machine cannot be measured, or hiding its instructions changes nothing.
    OutputError
        When the folder cannot be written.
    """
    used = instructions(algorithm)
    stem = re.sub(r"\W", "_", algorithm)
    names = [*OUTPUTS, "interface.csv"]
    about = machine(used)
    with new_folder(out, [*names, *(f"{stem}.{end}" for end in ("yaml", "png", "svg"))]) as folder:
        outputs = measure_sizes(about.openssl, algorithm, sizes, progress)
        content = measured_table(outputs, about, algorithm)
        for name, lines in zip(names, (*outputs, content), strict=True):
            (folder / name).write_text(lines, encoding="utf-8", newline="\n")
    data = timings.read_csv(out / "interface.csv")
    gain = float(np.max(data.host / data.offload))
    if gain < LEAST_GAIN:
        raise DseError(
            f"hiding the {used.name} instructions makes {algorithm} at most {gain:.2f} times as "
            f"slow: this OpenSSL does without them; the outputs are in {out}"
        )
    return [out / name for name in names]


def read_sizes(written: str) -> list[int]:
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
"""What `dse fit host` measures, by the name of the record."""

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
    kernels: Sequence[HostKernel], sizes: Sequence[int], *, progress: Progress | None = None
) -> list[MeasuredHost]:
    """Measure every kernel at every size, on one thread.

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
            times.append(_timed(openssl, kernel, size))
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


def _timed(openssl: str | None, kernel: HostKernel, size: int) -> float:
    """Return the time of one call, in seconds."""
    if kernel.algorithm:
        return _by_openssl(str(openssl), kernel.algorithm, size)
    text = _text()
    return _by_zlib((text * (size // len(text) + 1))[:size])


def _by_openssl(openssl: str, algorithm: str, size: int) -> float:
    said = parse_speed(speed(openssl, algorithm, size, None), Path(algorithm))
    refuse(said.faults)
    (rates,) = said.rates.values()
    return size / median(rates[size])


def _by_zlib(part: bytes) -> float:
    """Return the processor time of one call; calls go on for some seconds."""
    calls, start = 0, time.process_time()
    while (spent := time.process_time() - start) < SECONDS:
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
