"""DES in numpy, and what a DES core is fed and must answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dse.contract.generators import Bits, Design, Vectors, bits_of
from dse.cores.rtl.des_tables import (
    BOXES,
    EXPANSION,
    FINAL,
    INITIAL,
    KEY_CHOICE,
    PERMUTATION,
    SHIFTS,
    SUBKEY_CHOICE,
)
from dse.cores.rtl.frames import Frames

_BOXES = np.array(BOXES)


def encrypt(*, block: Bits, key: Bits) -> Bits:
    """Return blocks encrypted by the Data Encryption Standard (FIPS 46-3), vectorised.

    All have shape (n, 64), least significant bit first: bit 1 of the standard is the last column.
    """
    permuted = _chosen(block[:, ::-1], INITIAL)
    left, right = permuted[:, :32], permuted[:, 32:]
    chosen = _chosen(key[:, ::-1], KEY_CHOICE)
    halves = chosen[:, :28], chosen[:, 28:]
    for shift in SHIFTS:
        halves = np.roll(halves[0], -shift, axis=1), np.roll(halves[1], -shift, axis=1)
        subkey = _chosen(np.hstack(halves), SUBKEY_CHOICE)
        left, right = right, left ^ _changed(right, subkey)
    return _chosen(np.hstack((right, left)), FINAL)[:, ::-1]


def _chosen(bits: Bits, order: Sequence[int]) -> Bits:
    """Return the bits that a table names, counted from 1."""
    return bits[:, np.array(order) - 1]


def _changed(right: Bits, subkey: Bits) -> Bits:
    """Return f(R, K): expansion, the eight boxes, permutation."""
    six = (_chosen(right, EXPANSION) ^ subkey).reshape(-1, 8, 6)
    row = 2 * six[:, :, 0] + six[:, :, 5]
    column = six[:, :, 1:5] @ np.array([8, 4, 2, 1])
    four = _BOXES[np.arange(8), 16 * row + column]
    return _chosen(bits_of(four, 4)[:, :, ::-1].reshape(-1, 32), PERMUTATION)


def encrypted_blocks(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return random blocks with random keys at full rate, and the encrypted blocks."""
    frames = Frames.of(design, tasks)
    random = np.random.default_rng(seed)
    block, key = random.integers(0, 2, (2, frames.taken, 64), dtype=np.uint8) == 1
    return frames.vectors({"block": block, "key": key}, {"answer": encrypt(block=block, key=key)})
