"""Models of today's functions give published answers, and those of libraries written by others."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from dse.contract.generators import Generator
from dse.cores.rtl import aes_answers, ascon, ascon_hash, chacha20, crc32, gcm, sha2, sha3, xts
from dse.cores.rtl.aes_answers import box, substitution
from dse.cores.rtl.frames import port_bits
from dse.plugins import registry

RANDOM = 200


def texts(*lengths: int) -> Iterator[tuple[bytes, ...]]:
    random = np.random.default_rng(5)
    for _ in range(RANDOM):
        yield tuple(random.bytes(length) for length in lengths)


@pytest.mark.parametrize("key_byte", [16, 32])
def test_aes_is_that_of_the_standard_and_of_openssl(key_byte: int) -> None:
    for key, block, answer in aes_answers.published(key_byte):
        assert aes_answers.aes_encrypt(key, block) == answer
    for key, block in texts(key_byte, 16):
        cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305
        assert aes_answers.aes_encrypt(key, block) == cipher.update(block)


def test_chacha20_is_that_of_the_standard_and_of_openssl() -> None:
    for key, counter, nonce, stream in chacha20.CHACHA20_PUBLISHED:
        assert chacha20.key_stream(key, counter, nonce) == stream
    for key, start in texts(32, 16):
        cipher = Cipher(algorithms.ChaCha20(key, start), None).encryptor()
        counter = int.from_bytes(start[:4], "little")
        assert chacha20.key_stream(key, counter, start[4:]) == cipher.update(bytes(64))


def gcm_encrypted(key: bytes, nonce: bytes, data: bytes, text: bytes) -> bytes:
    """Return the encrypted text with its tag; steps of other kinds have blocks of zeros."""
    steps = [*gcm.gcm_steps(key, nonce, data, text)]
    pairs = gcm.gcm_answers(steps)
    first = 1 - len(data) // -16
    return b"".join(block for block, _ in pairs[first:-1])[: len(text)] + pairs[-1][1]


def test_gcm_is_that_of_its_designers_and_of_openssl() -> None:
    for key, nonce, data, text, answer in gcm.GCM_PUBLISHED:
        assert gcm_encrypted(key, nonce, data, text) == answer
    for key, nonce, data, text in texts(16, 12, 40, 60):
        data, text = data[: data[0] % 41], text[: text[0] % 61]
        found = gcm_encrypted(key, nonce, data, text)
        assert found == AESGCM(key).encrypt(nonce, text, data)


def test_xts_is_that_of_the_standard_and_of_openssl() -> None:
    for key, tweak_key, sector, text, answer in xts.XTS_PUBLISHED:
        steps = [*xts.xts_steps(key, tweak_key, sector, text)]
        assert b"".join(xts.xts_answers(steps)[1:]) == answer
    for key, tweak_key, sector, text in texts(16, 16, 16, 64):
        found = xts.xts_answers([*xts.xts_steps(key, tweak_key, sector, text)])
        cipher = Cipher(algorithms.AES(key + tweak_key), modes.XTS(sector)).encryptor()
        assert b"".join(found[1:]) == cipher.update(text)


def sha256_of(message: bytes) -> bytes:
    chain, text = sha2.INITIAL_HASH, sha2.sha2_padded(message)
    for at in range(0, len(text), 64):
        chain = sha2.compressed(chain, text[at : at + 64])
    return b"".join(word.to_bytes(4, "big") for word in chain)


def sha3_of(message: bytes) -> bytes:
    state, text = bytes(200), sha3.sha3_padded(message)
    for at in range(0, len(text), 136):
        block = text[at : at + 136].ljust(200, b"\0")
        state = sha3.keccak(bytes(a ^ b for a, b in zip(state, block, strict=True)))
    return state[:32]


HASHES = {
    "abc": (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
    ),
    "": (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a",
    ),
}
"""SHA-256 and SHA3-256, from NIST's examples of FIPS 180-4 and FIPS 202."""


@pytest.mark.parametrize("message", HASHES)
def test_hashes_are_the_published_ones(message: str) -> None:
    found = (sha256_of(message.encode()).hex(), sha3_of(message.encode()).hex())
    assert found == HASHES[message]


@pytest.mark.parametrize(
    ("ours", "theirs"), [(sha256_of, hashlib.sha256), (sha3_of, hashlib.sha3_256)]
)
def test_hashes_are_those_of_openssl(
    ours: Callable[[bytes], bytes], theirs: Callable[[bytes], hashlib._Hash]
) -> None:
    for (message,) in texts(300):
        text = message[: message[0]]
        assert ours(text) == theirs(text).digest()


ASCON_AEAD = "a2584d735d8806ecf99d93da734fb6144318c244bb9991def56667e1df0aa35e"
ASCON_HASH = "1e2a23d05a60dae39c4a794257e67bedbca7ae14d69cd12bea3c1169e183bca3"
"""SHA-256 of the known answers of the designers' implementation, one after another: github.com/
ascon/ascon-c at 446347f, LWC_AEAD_KAT_128_128.txt and the first 257 of LWC_HASH_KAT_128_256.txt."""


def ascon_encrypted(key: bytes, nonce: bytes, data: bytes, text: bytes) -> bytes:
    """Return the encrypted text with its tag (section 4.1.1)."""
    pairs = ascon.ascon_answers([*ascon.ascon_steps(key, nonce, data, text)])
    blocks = [block for block, _ in pairs][-(len(text) // 16 + 1) :]
    return b"".join(blocks)[: len(text)] + pairs[-1][1]


def ascon_hashed(message: bytes) -> bytes:
    """Return the digest of 32 bytes (section 5.1)."""
    state, digest, steps = ascon_hash.INITIAL_STATE, b"", ascon_hash.hash_steps(message)
    for at in range(0, len(steps), 8):
        state = ascon_hash.hash_absorbed(state, steps[at : at + 8])
        digest += state[:8]
    return digest[-32:]


def test_ascon_is_that_of_its_designers() -> None:
    """Also in all 1089 known answers: texts and associated data of 0 to 32 bytes."""
    for key, nonce, data, text, answer in ascon.ASCON_PUBLISHED:
        assert ascon_encrypted(key, nonce, data, text) == answer
    key, nonce, text, data = (bytes(range(at, at + 32)) for at in (0x00, 0x10, 0x20, 0x30))
    encrypted = b"".join(
        ascon_encrypted(key[:16], nonce[:16], data[: at % 33], text[: at // 33])
        for at in range(33 * 33)
    )
    assert hashlib.sha256(encrypted).hexdigest() == ASCON_AEAD


def test_ascon_hash_is_that_of_its_designers() -> None:
    """And the state that a message begins with is that of SP 800-232, appendix A.3.

    Also in the known answers of 0 to 256 bytes.
    """
    assert ascon_hash.INITIAL_STATE[:8] == 0x9B1E5494E934D681.to_bytes(8, "little")
    for message, digest in ascon_hash.ASCON_HASH_PUBLISHED:
        assert ascon_hashed(message) == digest
    digests = (ascon_hashed(bytes(range(256))[:length]) for length in range(257))
    assert hashlib.sha256(b"".join(digests)).hexdigest() == ASCON_HASH


def test_the_check_is_the_published_one() -> None:
    message, check = crc32.CRC32_PUBLISHED
    assert zlib.crc32(message) == check


FIRST = {
    "aes128": "69c4e0d86a7b0430d8cdb78070b4c55a",
    "aes256": "8ea2b7ca516745bfeafc49904b496089",
    "ascon_hash": ascon_hash.ASCON_HASH_PUBLISHED[0][1][:8].hex(),
    "chacha20": chacha20.CHACHA20_PUBLISHED[0][3].hex(),
    "sha2_256": HASHES["abc"][0],
    "sha3_256": HASHES[""][1],
}


@pytest.mark.parametrize("name", FIRST)
def test_vectors_begin_with_published_answers(name: str) -> None:
    """So that each netlist is held to them whenever it is characterised."""
    made = registry.get(Generator, name)
    vectors = made.answers(made(), seed=1, tasks=4)
    first = vectors.expected["answer"][vectors.known["answer"]][0]
    assert (first == port_bits([bytes.fromhex(FIRST[name])])[0]).all()


@pytest.mark.parametrize("kind", ["composite", "table"])
def test_a_box_is_that_of_the_standard(kind: str) -> None:
    """Every entry, from the text of the module: gates of two inputs, and multiplexers."""
    bits = np.arange(256) >> np.arange(8)[:, None] & 1
    values = {f"from[{bit}]": bits[bit] == 1 for bit in range(8)}
    values |= {"1'b0": np.zeros(256, bool), "1'b1": np.ones(256, bool)}
    found = np.zeros(256, int)
    for line in box("box", kind):
        if line.startswith("  wire"):
            name, _, text = line.removeprefix("  wire ").rstrip(";").partition(" = ")
            words = text.split()
            first, last = values[words[0]], values[words[-1]]
            operator = {"^": first ^ last, "&": first & last}
            chosen = np.where(first, values[words[2]], last) if words[1] == "?" else None
            values[name] = operator[words[1]] if chosen is None else chosen
        elif line.startswith("  assign to["):
            bit, _, text = line.removeprefix("  assign to[").rstrip(";").partition("] = ")
            found |= values[text] << int(bit)
        elif line.startswith("  assign to = {"):
            for bit, text in enumerate(reversed(line[15 : line.index("}")].split(", "))):
                found |= values[text] << bit
            found ^= 0x63
    assert tuple(found) == substitution()
