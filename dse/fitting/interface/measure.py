"""Measuring an instruction of this machine as an accelerator: ``openssl speed`` with and without.

The environment variable OPENSSL_ia32cap hides instructions of an x86 processor from OpenSSL (its
manual page of that name lists the bits), which then computes in software; that is the host.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np

from dse.algebra import units
from dse.errors import DseError, refuse
from dse.files.whole_folders import new_folder
from dse.fitting.interface import timings
from dse.fitting.interface.openssl import parse_speed
from dse.fitting.interface.timings import Timings
from dse.search import Progress

MASK = "OPENSSL_ia32cap"
X86 = ("x86_64", "amd64", "i386", "i686")
LEAST_GAIN = 1.05
"""An instruction that does no more for any size is not in use."""

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


def speed(openssl: str, algorithm: str, size: int, seconds: int, mask: str | None) -> str:
    """Return what ``openssl speed`` prints for one size, with instructions hidden by `mask`."""
    command = [openssl, "speed", "-mr", "-seconds", str(seconds), "-bytes", str(size)]
    return run_openssl([*command, "-evp", algorithm], mask, seconds + 60.0)


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
    openssl: str,
    algorithm: str,
    sizes: Sequence[int],
    seconds: int,
    repetitions: int,
    progress: Progress | None,
) -> tuple[str, str]:
    """Return what ``openssl speed`` prints, without and with the instructions, at every size.

    In turn and several times over, so that a machine that slows down slows both.
    """
    runs = [*product(range(repetitions), sizes, (instructions(algorithm).mask, None))]
    outputs = []
    for _, size, hidden in runs:
        outputs.append(speed(openssl, algorithm, size, seconds, hidden))
        if progress is not None:
            progress(len(outputs), len(runs))
    return "".join(outputs[::2]), "".join(outputs[1::2])


def measured_table(
    measured: Sequence[str], about: Machine, algorithm: str, repetitions: int
) -> str:
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
        f"# repetitions: {repetitions}, medians",
        "granularity_byte,host_ns,offload_ns",
        *(f"{size},{host * 1e9:.6g},{offload * 1e9:.6g}" for size, host, offload in rows),
    ]
    return "\n".join(lines) + "\n"


def measure_into(
    out: Path,
    algorithm: str,
    sizes: Sequence[int],
    *,
    seconds: int,
    repetitions: int,
    progress: Progress | None = None,
) -> tuple[Timings, list[Path]]:
    """Measure this machine, write what was seen into a folder, and return the times and files.

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
        outputs = measure_sizes(about.openssl, algorithm, sizes, seconds, repetitions, progress)
        content = measured_table(outputs, about, algorithm, repetitions)
        for name, lines in zip(names, (*outputs, content), strict=True):
            (folder / name).write_text(lines, encoding="utf-8", newline="\n")
    data = timings.read_csv(out / "interface.csv")
    gain = float(np.max(data.host / data.offload))
    if gain < LEAST_GAIN:
        raise DseError(
            f"hiding the {used.name} instructions makes {algorithm} at most {gain:.2f} times as "
            f"slow: this OpenSSL does without them; the outputs are in {out}"
        )
    return data, [out / name for name in names]


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
