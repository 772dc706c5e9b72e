"""AES on bytes: its substitution box as gates, and the known answers of a core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import combinations

import numpy as np

from dse.contract.generators import Design, Vectors
from dse.cores.rtl.frames import Frames, added, known_answers, port_bits
from dse.cores.rtl.verilog import decision_diagram

_AES = 0x11B
_CONSTANT = 0x63


def doubled(value: int) -> int:
    """Return x times a polynomial over GF(2), modulo AES's polynomial."""
    return value << 1 ^ (_AES if value & 0x80 else 0)


def _affine(value: int) -> int:
    """Return the linear part of the map after the inverse: FIPS 197, equation 5.2."""
    turned = value | value << 8
    return (turned ^ turned >> 4 ^ turned >> 5 ^ turned >> 6 ^ turned >> 7) & 0xFF


@cache
def substitution() -> tuple[int, ...]:
    """Return the S-box: the inverse in GF(256), 0 for 0, then an affine map (FIPS 197, 5.1.1)."""
    powers = [1]
    for _ in range(254):
        powers.append(doubled(powers[-1]) ^ powers[-1])  # of x + 1, which generates the group
    inverse = {power: powers[-place % 255] for place, power in enumerate(powers)}
    return tuple(_affine(inverse.get(value, 0)) ^ _CONSTANT for value in range(256))


def box(name: str, kind: str) -> Iterator[str]:
    """Yield a module with ports `from` and `to`: ``table`` or ``composite``."""
    yield f"\n// The S-box, {kind}."
    yield from decision_diagram(name, substitution(), 8) if kind == "table" else _composite(name)


# A field of 2 m bits is GF(2 ** m)[y] / (y ** 2 + y + c): GF(4), GF(16), GF(256) on GF(2).

_C = {2: 1, 4: 2, 8: 8}
"""c of GF(4), GF(16) and GF(256): the polynomial has no root."""

_INTO = (0x01, 0x7A, 0x45, 0x48, 0x60, 0xF4, 0x6A, 0x9A)
"""AES's basis in the tower, whose maps into and out of it add the fewest bits of all bases."""


def _times(a: int, b: int, width: int) -> int:
    """Return a product in a field of the tower."""
    if width == 1:
        return a & b
    half = width // 2
    a_high, a_low, b_high, b_low = a >> half, a & (1 << half) - 1, b >> half, b & (1 << half) - 1
    low = _times(a_low, b_low, half)
    middle = _times(a_high ^ a_low, b_high ^ b_low, half)
    high = _times(_times(a_high, b_high, half), _C[width], half)
    return (middle ^ low) << half | low ^ high


def _out_of_tower() -> list[int]:
    """Return the way back from the tower and the affine map, as columns."""
    back = {0: 0}
    for bit, column in enumerate(_INTO):
        back |= {inside ^ column: value | 1 << bit for inside, value in back.items()}
    return [_affine(back[1 << bit]) for bit in range(8)]


class _Gates:
    """Gates of two inputs, equal ones written once."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def gate(self, first: str, operator: str, second: str) -> str:
        text = f" {operator} ".join(sorted((first, second)))
        return self.known.setdefault(text, f"node_{len(self.known)}")

    def linear(self, columns: Sequence[int], bits: Sequence[str], width: int) -> list[str]:
        """Return sums of bits, adding the pair that most sums share first (Paar 1997)."""
        terms = [
            {name for name, column in zip(bits, columns, strict=True) if column >> row & 1}
            for row in range(width)
        ]
        while any(len(term) > 1 for term in terms):
            counts = Counter(pair for term in terms for pair in combinations(sorted(term), 2))
            best = max(counts, key=lambda pair: (counts[pair], pair))
            total = self.gate(best[0], "^", best[1])
            terms = [term - {*best} | {total} if term.issuperset(best) else term for term in terms]
        return [next(iter(term)) for term in terms]

    def sum(self, a: Sequence[str], b: Sequence[str]) -> list[str]:
        return [self.gate(one, "^", other) for one, other in zip(a, b, strict=True)]

    def product(self, a: Sequence[str], b: Sequence[str]) -> list[str]:
        """Return a product in GF(16) or below, as `_times` does."""
        if len(a) == 1:
            return [self.gate(a[0], "&", b[0])]
        half = len(a) // 2
        low, high = self.product(a[:half], b[:half]), self.product(a[half:], b[half:])
        middle = self.product(self.sum(a[:half], a[half:]), self.sum(b[:half], b[half:]))
        scaled = [_times(1 << bit, _C[len(a)], half) for bit in range(half)]
        return [*self.sum(low, self.linear(scaled, high, half)), *self.sum(middle, low)]

    def inverse(self, a: Sequence[str]) -> list[str]:
        """Return the inverse in GF(4), GF(16) or GF(256).

        Of h y + l it is h / n y + (h + l) / n, with the norm n = l (l + h) + c h ** 2.
        """
        half = len(a) // 2
        if half == 1:
            return [self.gate(a[0], "^", a[1]), a[1]]  # the square
        low, high = a[:half], a[half:]
        both = self.sum(low, high)
        squares = [
            _times(_times(1 << bit, 1 << bit, half), _C[len(a)], half) for bit in range(half)
        ]
        norm = self.sum(self.product(low, both), self.linear(squares, high, half))
        divided = self.inverse(norm)
        return [*self.product(both, divided), *self.product(high, divided)]


def _composite(name: str) -> Iterator[str]:
    """Yield a tower's S-box."""
    gates = _Gates()
    bits = gates.linear(_INTO, [f"from[{bit}]" for bit in range(8)], 8)
    found = gates.linear(_out_of_tower(), gates.inverse(bits), 8)
    yield f"module {name} (input [7:0] from, output [7:0] to);"
    for text, node in gates.known.items():
        yield f"  wire {node} = {text};"
    yield f"  assign to = {{{', '.join(reversed(found))}}} ^ 8'd{_CONSTANT};"
    yield "endmodule"


_MESSAGE_BLOCKS = 16
"""Number of blocks of the vectors with one key: messages of 256 B."""


def published(key_byte: int) -> list[tuple[bytes, bytes, bytes]]:
    """Return key, block and answer."""
    known = known_answers(f"aes{8 * key_byte}")
    return [(key, text, answer) for key, _, _, text, answer in known]


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

    A random key stays for `_MESSAGE_BLOCKS` blocks.
    """
    known = published(int(design.parameters["key_bit"]) // 8)
    frames = Frames.of(design, tasks + len(known))
    random, messages = np.random.default_rng(seed), -(-frames.taken // _MESSAGE_BLOCKS)
    keys = [random.bytes(len(known[0][0])) for _ in range(messages)]
    made = ((keys[at // _MESSAGE_BLOCKS], random.bytes(16)) for at in range(frames.taken))
    steps = [*((key, block) for key, block, _ in known), *made][: frames.taken]
    key, block = map(port_bits, zip(*steps, strict=True))
    return frames.vectors(
        {"key": key, "block": block}, {"answer": port_bits([aes_encrypt(*step) for step in steps])}
    )
