"""SHA-256 cores in Verilog: a block of a message passes 64 rounds, some of them in a cycle."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import partial
from itertools import count, islice
from math import cbrt, isqrt

from dse.contract.generators import Choice, Design, generator
from dse.cores.rtl.frames import Digest, message_vectors
from dse.cores.rtl.rounds import RoundCore, State
from dse.cores.rtl.verilog import cut, decision_diagram

_ROUNDS = 64
_WORD = (1 << 32) - 1
_UNROLL = Choice(
    name="unroll",
    description="Rounds in a cycle; cycles of a block: 64 / unroll + 1",
    values=(1, 2, 4),
)
_TURNS = {
    "sigma_0": (7, 18, -3),
    "sigma_1": (17, 19, -10),
    "sum_0": (2, 13, 22),
    "sum_1": (6, 11, 25),
}
"""Turns to the right, or shifts if negative (FIPS 180-4, section 4.1.2)."""


def _primes() -> Iterator[int]:
    return (one for one in count(2) if all(one % below for below in range(2, isqrt(one) + 1)))


_CONSTANTS = tuple(int(cbrt(prime) * 2**32) & _WORD for prime in islice(_primes(), _ROUNDS))
"""The first 32 bits after the point of cube roots of primes (section 4.2.2)."""
INITIAL_HASH = tuple(isqrt(prime << 64) & _WORD for prime in islice(_primes(), 8))
"""The first hash value, likewise of square roots (section 5.3.3)."""


def _turned(word: int, name: str) -> int:
    result = 0
    for turn in _TURNS[name]:
        result ^= word >> turn | word << 32 - turn if turn > 0 else word >> -turn
    return result & _WORD


def compressed(chain: tuple[int, ...], block: bytes) -> tuple[int, ...]:
    """Return the hash value after a block of 64 bytes (FIPS 180-4, section 6.2.2)."""
    words = [int.from_bytes(block[at : at + 4], "big") for at in range(0, 64, 4)]
    for at in range(16, _ROUNDS):
        near = _turned(words[at - 2], "sigma_1") + _turned(words[at - 15], "sigma_0")
        words.append((near + words[at - 7] + words[at - 16]) & _WORD)
    a, b, c, d, e, f, g, h = chain
    for constant, word in zip(_CONSTANTS, words, strict=True):
        first = h + _turned(e, "sum_1") + (e & f ^ ~e & g) + constant + word
        second = _turned(a, "sum_0") + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, h = first + second & _WORD, a, b, c, d + first & _WORD, e, f, g
    return tuple(x + y & _WORD for x, y in zip(chain, (a, b, c, d, e, f, g, h), strict=True))


def sha2_padded(message: bytes) -> bytes:
    """Return whole blocks: a bit 1, zeros, the length in bits (section 5.1.1)."""
    zeros = bytes(-(len(message) + 9) % 64)
    return message + b"\x80" + zeros + (8 * len(message)).to_bytes(8, "big")


SHA2_PUBLISHED = (b"abc", b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
"""Messages of the examples of NIST for FIPS 180-4, of one block and of two."""


@generator(
    answers=partial(
        message_vectors,
        published=SHA2_PUBLISHED,
        digest=Digest(
            padded=sha2_padded,
            start=INITIAL_HASH,
            after=compressed,
            answer=lambda words: b"".join(word.to_bytes(4, "big") for word in words),
        ),
    ),
    parameters=(_UNROLL,),
    designs=tuple({"unroll": unroll} for unroll in _UNROLL.values),
    description="SHA-256: 1, 2 or 4 of the 64 rounds in a cycle",
    source="FIPS 180-4",
)
def sha2_256(*, unroll: int) -> Design:
    """Return a core with `unroll` rounds in a cycle, n.

    A padded block of 64 bytes is taken in one cycle and takes 64 / n more.  With `first` it begins
    a message.  Else it continues the hash at `answer` in that cycle, so
    that blocks of a message follow each other at full rate.

    Assumed: messages are padded before, and their hash counts as read with each block: 32 bytes
    that leave only once if messages are longer.
    """
    core = RoundCore(
        name="sha2_256",
        remark=f"{unroll} of {_ROUNDS} rounds in a cycle.",
        inputs={"block": 512, "first": 1},
        outputs={"answer": 256},
        fields={"chain": 256, "state": 256, "words": 512},
        unroll=unroll,
        passes=_ROUNDS // unroll,
        loads=True,
    )
    return core.design(_text(core), read_byte=64.0, written_byte=32.0)


def _text(core: RoundCore) -> Iterator[str]:
    yield "// The Secure Hash Algorithm with 256 bit, FIPS 180-4; the first word leftmost."
    for name, turns in _TURNS.items():
        yield f"module {name} (input [31:0] from, output [31:0] to);"
        terms = (
            f"{{from[{turn - 1}:0], from[31:{turn}]}}" if turn > 0 else f"(from >> {-turn})"
            for turn in turns
        )
        yield f"  assign to = {' ^ '.join(terms)};"
        yield "endmodule"
    for number in range(core.unroll):
        table = [0, *_CONSTANTS[number :: core.unroll]]
        yield from decision_diagram(f"constants_{number}", table, 32)
    begin = ", ".join(f"32'd{word}" for word in INITIAL_HASH)
    chained = f"first ? {{{begin}}} : answer"
    entry = {"chain": chained, "state": chained, "words": "block"}

    def answer(state: State) -> Iterator[str]:
        for place in range(8):
            ends = (cut(signal, place, 32) for signal in (state["chain"], state["state"]))
            yield f"  assign {cut('answer', place, 32)} = {' + '.join(ends)};"

    yield from core.text(entry, _round, answer)


def _round(number: int, which: str, state: State) -> Generator[str, None, State]:
    names = dict(zip("abcdefgh", (f"{letter}_{number}" for letter in "abcdefgh"), strict=True))
    for place, name in enumerate(reversed(names.values())):
        yield f"  wire [31:0] {name} = {cut(state['state'], place, 32)};"
    turned = {"sum_0": names["a"], "sum_1": names["e"]}
    turned |= {"sigma_0": cut(state["words"], 14, 32), "sigma_1": cut(state["words"], 1, 32)}
    for turn, word in turned.items():
        yield f"  wire [31:0] {turn}_{number};"
        yield f"  {turn} {turn}_of_{number} ({word}, {turn}_{number});"
    a, b, c, d, e, f, g, h = names.values()
    yield f"  wire [31:0] constant_{number};"
    yield f"  constants_{number} choose_{number} ({which}, constant_{number});"
    yield f"  wire [31:0] first_{number} = {h} + sum_1_{number} + (({e} & {f}) ^ (~{e} & {g}))"
    yield f"    + constant_{number} + {cut(state['words'], 15, 32)};"
    most = f"({a} & {b}) ^ ({a} & {c}) ^ ({b} & {c})"
    yield f"  wire [31:0] second_{number} = sum_0_{number} + ({most});"
    yield f"  wire [31:0] word_{number} = sigma_1_{number} + {cut(state['words'], 6, 32)}"
    yield f"    + sigma_0_{number} + {cut(state['words'], 15, 32)};"
    following = f"first_{number} + second_{number}"
    yield f"  wire [31:0] next_a_{number} = {following}, next_e_{number} = {d} + first_{number};"
    return {
        "chain": state["chain"],
        "state": f"{{next_a_{number}, {a}, {b}, {c}, next_e_{number}, {e}, {f}, {g}}}",
        "words": f"{{{state['words']}[479:0], word_{number}}}",
    }
