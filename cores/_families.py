"""What the cores of a generator have in common, whatever the library they are characterised in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dse.contract import Column, Parameter
from dse.cores.jacobi import SIDE

LIBRARIES = {
    "sky130": "SkyWater 130 nm, 1.8 V",
    "ihp130": "IHP 130 nm, 1.2 V",
    "asap7": "ASAP7 7 nm (predictive), 0.7 V",
}
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
_CELL_BYTE = 2.0
_TRANSFORM_BIT = 64 * 2 * 8.0


def _des_structure(unroll: Column) -> dict[str, Column | float]:
    return {
        "payload_bit": 64.0,
        "cycles_per_task": 16.0 / unroll,
        "latency_cycles": 16.0,
        "tasks_in_flight": unroll,
        "read_byte": 16.0,
        "written_byte": 8.0,
    }


def _jacobi_structure(side: Column) -> dict[str, Column | float]:
    return {
        "payload_bit": 8.0 * _CELL_BYTE,
        "cycles_per_task": 1.0 / side**2,
        "latency_cycles": np.where(np.equal(side, 1), 4.0, 3.0),
        "tasks_in_flight": side**2,
        "read_byte": _CELL_BYTE * (side + 2.0) / side,
        "written_byte": _CELL_BYTE,
    }


def _fft_structure(stages: Column) -> dict[str, Column | float]:
    return {
        "payload_bit": _TRANSFORM_BIT,
        "cycles_per_task": 1.0,
        "latency_cycles": stages,
        "tasks_in_flight": stages,
        "read_byte": _TRANSFORM_BIT / 8.0,
        "written_byte": _TRANSFORM_BIT / 8.0,
    }


def _rounds_structure(
    payload_bit: float, rounds: int, *, written_byte: float, pipelined: bool = False, load: int = 0
) -> Callable[[Column], Mapping[str, Column | float]]:
    """Return what a task is where it passes rounds, the same to read as its payload."""

    def structure(unroll: Column) -> dict[str, Column | float]:
        cycles = rounds / unroll + load
        return {
            "payload_bit": payload_bit,
            "cycles_per_task": cycles,
            "latency_cycles": cycles * unroll if pipelined else cycles,
            "tasks_in_flight": unroll if pipelined else 1.0,
            "read_byte": payload_bit / 8.0,
            "written_byte": written_byte,
        }

    return structure


def _checksum_structure(word_bit: Column) -> dict[str, Column | float]:
    return {
        "payload_bit": word_bit,
        "cycles_per_task": 1.0,
        "latency_cycles": 1.0,
        "tasks_in_flight": 1.0,
        "read_byte": word_bit / 8.0,
        "written_byte": 4.0,
    }


@dataclass(frozen=True)
class Family:
    """What the cores of a generator have in common, whatever the library.

    `described` has columns and values of the rows that the law is about, `column` is that of the
    parameter; figures are straight lines over the parameter to the power of `power`.  The law is
    that of `lawful` libraries: elsewhere a line is too far from the table to be shipped.  Rounds
    `in_a_cycle` have no register between them.
    """

    summary: str
    provides: str
    described: Mapping[str, str]
    parameter: Parameter
    column: str
    power: int
    design_name: str
    structure: Callable[[Column], Mapping[str, Column | float]]
    lawful: tuple[str, ...] = ()
    in_a_cycle: bool = False


def _of_rounds(low: int, high: int, what: str) -> Parameter:
    return Parameter(name="unroll", description=what, low=low, high=high, integer=True)


def _aes(key_bit: int, lawful: tuple[str, ...]) -> Family:
    rounds = key_bit // 32 + 6
    return Family(
        f"AES-{key_bit} encryption: 1 to {rounds} rounds in hardware, pipelined",
        "aes",
        {"structure": "pipelined", "box": "composite"},
        _of_rounds(1, rounds, "Rounds in hardware, a register after each"),
        "unroll",
        1,
        "u{unroll}",
        _rounds_structure(128.0, rounds, written_byte=16.0, pipelined=True),
        lawful,
    )


def _in_a_cycle(
    summary: str,
    provides: str,
    payload_bit: float,
    rounds: int,
    written_byte: float,
    load: int = 0,
    lawful: tuple[str, ...] = (),
) -> Family:
    """Return a family whose designs differ in the rounds that they do in a cycle."""
    return Family(
        summary,
        provides,
        {},
        _of_rounds(1, 4, "Rounds in a cycle"),
        "unroll",
        1,
        "u{unroll}",
        _rounds_structure(payload_bit, rounds, written_byte=written_byte, load=load),
        lawful,
        in_a_cycle=True,
    )


FAMILIES = {
    "des": Family(
        "DES encryptor: 1 to 16 rounds in hardware, pipelined, two stages a round, or chained",
        "des",
        {"structure": "pipelined"},
        _UNROLL,
        "unroll",
        1,
        "u{unroll}",
        _des_structure,
        tuple(LIBRARIES),
    ),
    "jacobi": Family(
        "Jacobi stencil of 16-bit cells: 1 to 16 cells per cycle",
        "stencil",
        {},
        SIDE,
        "side",
        2,
        "n{side}",
        _jacobi_structure,
        tuple(LIBRARIES),
    ),
    "fft": Family(
        "64-point FFT of 8-bit parts: one transform per cycle, radix 2, 4 or 8",
        "fft64",
        {},
        _STAGES,
        "latency_cycles",
        1,
        "s{stages}",
        _fft_structure,
        tuple(LIBRARIES),
    ),
    "aes128": _aes(128, tuple(LIBRARIES)),
    "aes256": _aes(256, ()),
    "chacha20": _in_a_cycle("ChaCha20: 1, 2 or 4 rounds in a cycle", "chacha20", 512.0, 20, 64.0),
    "ascon_aead": _in_a_cycle(
        "Ascon-AEAD128: 1, 2 or 4 rounds in a cycle", "ascon_aead", 128.0, 8, 16.0
    ),
    "sha2_256": _in_a_cycle("SHA-256: 1, 2 or 4 rounds in a cycle", "sha256", 512.0, 64, 32.0, 1),
    "sha3_256": _in_a_cycle(
        "SHA3-256: 1, 2 or 3 rounds of Keccak in a cycle", "sha3_256", 1088.0, 24, 32.0
    ),
    "crc32": Family(
        "CRC-32: 8 to 512 bits in a cycle",
        "crc32",
        {},
        Parameter(name="word_bit", description="Bits in a cycle", low=8, high=512, integer=True),
        "word_bit",
        1,
        "w{word_bit}",
        _checksum_structure,
    ),
}
