"""AES on bytes, and what an AES core is fed and must answer."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dse.contract.generators import Design, Vectors
from dse.cores.rtl.aes_box import doubled, substitution
from dse.cores.rtl.frames import Frames, added, port_bits

MESSAGE_BLOCKS = 16
"""So many blocks of the vectors have one key: messages of 256 B."""

_BLOCK = "00112233445566778899aabbccddeeff"
_OF_BLOCK = {
    "000102030405060708090a0b0c0d0e0f": "69c4e0d86a7b0430d8cdb78070b4c55a",
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f": (
        "8ea2b7ca516745bfeafc49904b496089"
    ),
}
"""Answers by key: FIPS 197, appendix C."""
_TEXT = """
    6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710
"""
_OF_TEXT = {
    "2b7e151628aed2a6abf7158809cf4f3c": """
        3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf
        43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4
    """,
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4": """
        f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870
        b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7
    """,
}
"""Answers by key: NIST SP 800-38A, F.1 (ECB)."""


def published(key_byte: int) -> list[tuple[bytes, bytes, bytes]]:
    """Return key, block and answer: FIPS 197, appendix C, and NIST SP 800-38A, F.1 (ECB)."""
    return [
        (bytes.fromhex(key), bytes.fromhex(block), bytes.fromhex(answer))
        for blocks, by_key in ((_BLOCK, _OF_BLOCK), (_TEXT, _OF_TEXT))
        for key, answers in by_key.items()
        for block, answer in zip(blocks.split(), answers.split(), strict=True)
        if len(key) == 2 * key_byte
    ]


@lru_cache(maxsize=64)
def round_keys(key: bytes) -> tuple[bytes, ...]:
    """Return the key of each round, the first for before them (FIPS 197, section 5.2)."""
    count, box = len(key) // 4, substitution()
    words = [key[at : at + 4] for at in range(0, len(key), 4)]
    constant = 1
    for number in range(count, 4 * (count + 7)):
        word = words[-1]
        if number % count == 0:
            word = bytes(box[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant, *word[1:]])
            constant = doubled(constant)
        elif count > 6 and number % count == 4:
            word = bytes(box[byte] for byte in word)
        words.append(bytes(a ^ b for a, b in zip(word, words[-count], strict=True)))
    return tuple(b"".join(words[at : at + 4]) for at in range(0, len(words), 4))


def aes_encrypt(key: bytes, block: bytes) -> bytes:
    """Return a block encrypted by the Advanced Encryption Standard (FIPS 197, section 5.1)."""
    first, *keys = round_keys(key)
    state, box = added(block, first), substitution()
    for number, round_key in enumerate(keys, 1):
        state = bytes(box[state[(at + 4 * (at % 4)) % 16]] for at in range(16))
        if number < len(keys):
            state = b"".join(_mixed(state[at : at + 4]) for at in range(0, 16, 4))
        state = added(state, round_key)
    return state


def _mixed(column: bytes) -> bytes:
    every = column[0] ^ column[1] ^ column[2] ^ column[3]
    return bytes(column[at] ^ every ^ doubled(column[at] ^ column[(at + 1) % 4]) for at in range(4))


def aes_blocks(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return published blocks, then random ones, at full rate, and the encrypted blocks.

    A random key stays for `MESSAGE_BLOCKS` blocks.
    """
    known = published(int(design.parameters["key_bit"]) // 8)
    frames = Frames.of(design, tasks + len(known))
    random, messages = np.random.default_rng(seed), -(-frames.taken // MESSAGE_BLOCKS)
    keys = [random.bytes(len(known[0][0])) for _ in range(messages)]
    made = ((keys[at // MESSAGE_BLOCKS], random.bytes(16)) for at in range(frames.taken))
    steps = [*((key, block) for key, block, _ in known), *made][: frames.taken]
    key, block = map(port_bits, zip(*steps, strict=True))
    return frames.vectors(
        {"key": key, "block": block}, {"answer": port_bits([aes_encrypt(*step) for step in steps])}
    )
