"""DES in numpy, and what a DES core is fed and must answer.

Tables are those of FIPS 46-3, appendix 1: bits count from 1, leftmost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dse.contract.generators import Bits, Design, Vectors, bits_of
from dse.cores.rtl.frames import Frames

ROUNDS = 16

INITIAL = (
    *(58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4),
    *(62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8),
    *(57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3),
    *(61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7),
)
"""IP, of a block; its inverse is the last permutation."""

FINAL = tuple(INITIAL.index(bit) + 1 for bit in range(1, 65))
"""The inverse of IP."""

EXPANSION = tuple((4 * box + bit - 1) % 32 + 1 for box in range(8) for bit in range(6))
"""E, of the right half: each box sees four bits and their neighbours."""

PERMUTATION = (
    *(16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10),
    *(2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25),
)
"""P, of what the boxes give."""

KEY_CHOICE = (
    *(57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18),
    *(10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36),
    *(63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22),
    *(14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4),
)
"""PC-1: 56 of the 64 bits of a key; the others are parity."""

SUBKEY_CHOICE = (
    *(14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2),
    *(41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36),
    *(29, 32),
)
"""PC-2: 48 of the 56 bits, in each round."""

SHIFTS = (1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1)
"""By how many bits both halves of the 56 turn left before each round."""

_WRITTEN = (
    "e4d12fb83a6c5907 0f74e2d1a6cb9538 41e8d62bfc973a50 fc8249175b3ea06d",
    "f18e6b34972dc05a 3d47f28ec01a69b5 0e7ba4d158c6932f d8a13f42b67c05e9",
    "a09e63f51dc7b428 d709346a285ecbf1 d6498f30b12c5ae7 1ad069874fe3b52c",
    "7de3069a1285bc4f d8b56f03472c1ae9 a690cb7df13e5284 3f06a1d8945bc72e",
    "2c417ab6853fd0e9 eb2c47d150fa3986 421bad78f9c5630e b8c71e2d6f09a453",
    "c1af92680d34e75b af427c9561de0b38 9ef528c3704a1db6 432c95fabe17608d",
    "4b2ef08d3c975a61 d0b7491ae35c2f86 14bdc37eaf680592 6bd814a7950fe23c",
    "d2846fb1a93e50c7 1fd8a374c56b0e92 7b419ce206adf358 21e74a8dfc90356b",
)

BOXES = tuple(tuple(int(digit, 16) for digit in box.replace(" ", "")) for box in _WRITTEN)
"""S1 to S8: four rows of 16; the first and the last of six bits choose the row."""


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
    four = np.array(BOXES)[np.arange(8), 16 * row + column]
    return _chosen(bits_of(four, 4)[:, :, ::-1].reshape(-1, 32), PERMUTATION)


def encrypted_blocks(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return random blocks with random keys at full rate, and the encrypted blocks."""
    frames = Frames.of(design, tasks)
    random = np.random.default_rng(seed)
    block, key = random.integers(0, 2, (2, frames.taken, 64), dtype=np.uint8) == 1
    return frames.vectors({"block": block, "key": key}, {"answer": encrypt(block=block, key=key)})
