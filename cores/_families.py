"""What the cores of a generator have in common, whatever the library they are characterised in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dse.contract import Column, Parameter
from dse.cores.jacobi import SIDE, of_cells

LIBRARIES = {
    "sky130": "SkyWater 130 nm, 1.8 V",
    "ihp130": "IHP 130 nm, 1.2 V",
    "asap7": "ASAP7 7 nm (predictive), 0.7 V",
}
Structure = Callable[..., Mapping[str, Column | float]]
"""Columns of designs that follow from how they are built, of a parameter by its name."""

_UNROLL = Parameter(
    name="unroll",
    description="Rounds in hardware, a register after each",
    low=1,
    high=16,
    integer=True,
)
_STAGES = Parameter(
    name="stages",
    description="Stages of butterflies with a register after each: 6, 3, 2 for radix 2, 4, 8",
    low=2,
    high=6,
    integer=True,
)
_TRANSFORM_BIT = 64 * 2 * 8.0


def _pipelined(
    payload_bit: float, rounds: float, read_byte: float, written_byte: float
) -> Structure:
    """Return the structure of rounds with a register after each."""

    def structure(*, unroll: Column) -> dict[str, Column | float]:
        return {
            "payload_bit": payload_bit,
            "cycles_per_task": rounds / unroll,
            "latency_cycles": rounds,
            "tasks_in_flight": unroll,
            "read_byte": read_byte,
            "written_byte": written_byte,
        }

    return structure


def _jacobi_structure(*, side: Column) -> dict[str, Column | float]:
    return of_cells(side, 16.0) | {"latency_cycles": np.where(np.equal(side, 1), 4.0, 3.0)}


def _fft_structure(*, stages: Column) -> dict[str, Column | float]:
    return {
        "payload_bit": _TRANSFORM_BIT,
        "cycles_per_task": 1.0,
        "latency_cycles": stages,
        "tasks_in_flight": stages,
        "read_byte": _TRANSFORM_BIT / 8.0,
        "written_byte": _TRANSFORM_BIT / 8.0,
    }


@dataclass(frozen=True)
class Lines:
    """What straight lines are drawn through.

    `described` has columns and values of the rows that the law is about, `column` is that of the
    parameter; figures are lines over the parameter to the power of `power`.  Of rounds that are
    `chained` in a cycle the period is a line, and the energy of a cycle one over their square:
    each hands its glitches on to all after it.  No line is drawn in libraries that are `refused`,
    for one of them is more than 5 % from the table.
    """

    parameter: Parameter
    structure: Structure
    described: Mapping[str, str] = field(default_factory=dict)
    column: str = "unroll"
    power: int = 1
    design_name: str = "u{unroll}"
    chained: bool = False
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """A generator's cores: without a law where a line is more than 5 % from every table."""

    summary: str
    provides: str
    law: Lines | None = None


def _chained(
    most: int, block_byte: int, rounds: int, *, written_byte: int, load: int = 0, refused: str = ""
) -> Lines:
    """Return the law of rounds in a cycle, `load` cycles before those of a block."""

    def structure(*, unroll: Column) -> dict[str, Column | float]:
        cycles = rounds / unroll + load
        return {
            "payload_bit": 8.0 * block_byte,
            "cycles_per_task": cycles,
            "latency_cycles": cycles,
            "tasks_in_flight": 1.0,
            "read_byte": float(block_byte),
            "written_byte": float(written_byte),
        }

    said = "Rounds in a cycle, with no register between them"
    parameter = replace(_UNROLL, description=said, high=most)
    return Lines(parameter, structure, chained=True, refused=(*refused.split(),))


FAMILIES = {
    "des": Family(
        "DES encryptor: 1 to 16 rounds in hardware, pipelined, two stages a round, or chained",
        "des",
        Lines(_UNROLL, _pipelined(64.0, 16.0, 16.0, 8.0), {"structure": "pipelined"}),
    ),
    "jacobi": Family(
        "Jacobi stencil of 16-bit cells: 1 to 16 cells per cycle",
        "stencil",
        Lines(SIDE, _jacobi_structure, {}, "side", 2, "n{side}"),
    ),
    "fft": Family(
        "64-point FFT of 8-bit parts: one transform per cycle, radix 2, 4 or 8",
        "fft64",
        Lines(_STAGES, _fft_structure, {}, "latency_cycles", 1, "s{stages}"),
    ),
    "aes128": Family(
        "AES-128 encryption: 1 to 10 rounds in hardware",
        "aes",
        Lines(
            replace(_UNROLL, high=10),
            _pipelined(128.0, 10.0, 16.0, 16.0),
            {"structure": "pipelined", "box": "composite"},
        ),
    ),
    "aes256": Family("AES-256 encryption: 1 to 14 rounds in hardware", "aes"),
    "aes128_gcm": Family("AES-128-GCM encryption: 1 to 10 rounds, GHASH by digits", "aes_gcm"),
    "aes128_xts": Family(
        "AES-128-XTS encryption: 1, 2 or 5 rounds in a cycle",
        "aes_xts",
        _chained(5, 16, 10, written_byte=16, refused="sky130"),
    ),
    "ascon_aead": Family(
        "Ascon-AEAD128: 1, 2 or 4 rounds in a cycle",
        "ascon_aead",
        _chained(4, 16, 8, written_byte=16),
    ),
    "ascon_hash": Family(
        "Ascon-Hash256: 1 to 4 rounds in a cycle",
        "ascon_hash",
        _chained(4, 8, 12, written_byte=8, refused="asap7"),
    ),
    "chacha20": Family(
        "ChaCha20: 1, 2 or 4 rounds in a cycle",
        "chacha20",
        _chained(4, 64, 20, written_byte=64, refused="sky130"),
    ),
    "crc32": Family("CRC-32: 8 to 512 bits in a cycle", "crc32"),
    "sha2_256": Family(
        "SHA-256: 1, 2 or 4 rounds in a cycle",
        "sha256",
        _chained(4, 64, 64, written_byte=32, load=1),
    ),
    "sha3_256": Family(
        "SHA3-256: 1 to 6 rounds of Keccak in a cycle",
        "sha3_256",
        _chained(6, 136, 24, written_byte=32, refused="ihp130 asap7"),
    ),
}
