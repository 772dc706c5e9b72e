"""ChaCha20 cores in Verilog: a block of key stream from 20 rounds, some of them in a cycle."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from dse.contract.generators import Choice, Design, Vectors, generator
from dse.cores.rtl.frames import Frames, added, known_answers, text_of, turned, words_of
from dse.cores.rtl.rounds import RoundCore, State
from dse.cores.rtl.verilog import chosen_by, cut, reversed_bytes

_ROUNDS = 20
_WORD = (1 << 32) - 1
_CONSTANT = b"expand 32-byte k"
_UNROLL = Choice(
    name="unroll",
    description="Rounds in a cycle, of four quarter rounds each; 20 / unroll cycles for a block",
    values=(1, 2, 4),
)
_TURNS = (16, 12, 8, 7)
_MESSAGE_BLOCKS = 16
"""Number of random blocks with one key and nonce: 1 KiB."""


def key_stream(key: bytes, counter: int, nonce: bytes) -> bytes:
    """Return 64 bytes of key stream (RFC 8439, section 2.3)."""
    begin = [*words_of(_CONSTANT + key, 4), counter, *words_of(nonce, 4)]
    state = [*begin]
    for number in range(_ROUNDS):
        for column in range(4):
            places = [4 * row + (column + row * (number % 2)) % 4 for row in range(4)]
            _quarter_round(state, *places)
    return text_of((a + b & _WORD for a, b in zip(begin, state, strict=True)), 4)


def _quarter_round(state: list[int], a: int, b: int, c: int, d: int) -> None:
    """Change four words as in section 2.1."""
    for turn, (to, other, mixed) in zip(_TURNS, 2 * ((a, b, d), (c, d, b)), strict=True):
        state[to] = state[to] + state[other] & _WORD
        state[mixed] = turned(state[mixed] ^ state[to], turn, 32)


CHACHA20_PUBLISHED = [
    (key, int.from_bytes(counter), nonce, stream)
    for key, nonce, counter, _, stream in known_answers("chacha20")
]
"""Key, counter, nonce and key stream."""


class _Step(NamedTuple):
    """A block, its stream and its place in the stream."""

    key: bytes
    counter: bytes
    nonce: bytes
    block: bytes


def streamed_blocks(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return published blocks, then random messages of 16 blocks, and their encryption."""
    frames = Frames.of(design, tasks + len(CHACHA20_PUBLISHED))
    random = np.random.default_rng(seed)
    steps = [
        _Step(key, counter.to_bytes(4, "big"), nonce, bytes(64))
        for key, counter, nonce, _ in CHACHA20_PUBLISHED
    ]
    while len(steps) < frames.taken:
        key, nonce = random.bytes(32), random.bytes(12)
        begin = int(random.integers(1 << 31))
        counters = ((begin + at).to_bytes(4, "big") for at in range(_MESSAGE_BLOCKS))
        steps += [_Step(key, counter, nonce, random.bytes(64)) for counter in counters]
    steps = steps[: frames.taken]
    answers = []
    for step in steps:
        stream = key_stream(step.key, int.from_bytes(step.counter, "big"), step.nonce)
        answers.append(added(step.block, stream))
    return frames.fed(steps, {"answer": answers}, late=("block",))


@generator(
    answers=streamed_blocks,
    parameters=(_UNROLL,),
    designs=tuple({"unroll": unroll} for unroll in _UNROLL.values),
    description="ChaCha20: 1, 2 or 4 of the 20 rounds in a cycle",
    source="RFC 8439",
)
def chacha20(*, unroll: int) -> Design:
    """Return a core with `unroll` rounds in a cycle, n: 4 n quarter rounds.

    Key, counter and nonce are taken when `ready` is 1.  The block of 64 bytes is added to its key
    stream as the answer leaves, 20 / n cycles later.  Rows of the state turn after each round, so
    that every round works on columns.

    Assumed: a key and a nonce stay for many blocks, so that a block reads 64 bytes.
    """
    core = RoundCore(
        name="chacha20",
        remark=f"{unroll} of {_ROUNDS} rounds in a cycle.",
        inputs={"key": 256, "counter": 32, "nonce": 96, "block": 512},
        outputs={"answer": 512},
        fields={"base": 384, "state": 512},
        unroll=unroll,
        passes=_ROUNDS // unroll,
    )
    return core.design(_text(core), read_byte=64.0, written_byte=64.0)


def _text(core: RoundCore) -> Iterator[str]:
    yield "// ChaCha20, RFC 8439: first byte of a text leftmost, first bit of a word lowest."
    yield "module quarter_round ("
    yield "  input [31:0] a, input [31:0] b, input [31:0] c, input [31:0] d, output [127:0] to"
    yield ");"
    names = {"a": "a", "b": "b", "c": "c", "d": "d"}
    for step, turn in enumerate(_TURNS):
        to, other, mixed = ("a", "b", "d") if step % 2 == 0 else ("c", "d", "b")
        yield f"  wire [31:0] sum_{step} = {names[to]} + {names[other]};"
        yield f"  wire [31:0] mixed_{step} = {names[mixed]} ^ sum_{step};"
        ends = f"{{mixed_{step}[{31 - turn}:0], mixed_{step}[31:{32 - turn}]}}"
        yield f"  wire [31:0] turned_{step} = {ends};"
        names |= {to: f"sum_{step}", mixed: f"turned_{step}"}
    yield f"  assign to = {{{', '.join(names.values())}}};"
    yield "endmodule"
    base = [reversed_bytes("key", 8, 4), "counter", reversed_bytes("nonce", 3, 4)]
    joined = f"{{{', '.join(base)}}}"
    constant = f"128'd{sum(word << 96 - 32 * at for at, word in enumerate(words_of(_CONSTANT, 4)))}"

    def answer(state: State) -> Iterator[str]:
        yield f"  wire [511:0] begun = {{{constant}, {state['base']}}};"
        yield "  wire [511:0] added;"
        for place in range(16):
            ends = cut("begun", place, 32), cut(state["state"], place, 32)
            yield f"  assign {cut('added', place, 32)} = {' + '.join(ends)};"
        yield f"  assign answer = block ^ {reversed_bytes('added', 16, 4)};"

    entry = {"base": joined, "state": f"{{{constant}, {joined}}}"}
    yield from core.text(entry, partial(_round, core), answer)


def _round(core: RoundCore, number: int, which: str, state: State) -> Generator[str, None, State]:
    """Yield four quarter rounds on columns.  Rows turn to diagonals after even rounds, and back."""
    words = [[f"word_{number}_{row}_{column}" for column in range(4)] for row in range(4)]
    for column in range(4):
        found = f"column_{number}_{column}"
        yield f"  wire [127:0] {found};"
        ends = [cut(state["state"], 15 - 4 * row - column, 32) for row in range(4)]
        yield f"  quarter_round quarter_{number}_{column} ({', '.join(ends)}, {found});"
        for row in range(4):
            piece = cut(found, 3 - row, 32)
            yield f"  wire [31:0] {words[row][column]} = {piece};"

    def turned(sign: int) -> str:
        places = ((row, (column + sign * row) % 4) for row in range(4) for column in range(4))
        return f"{{{', '.join(words[row][column] for row, column in places)}}}"

    rounds = (number + core.unroll * one for one in range(core.passes))
    chosen = chosen_by(which, (turned(-1 if one % 2 else 1) for one in rounds))
    return {"base": state["base"], "state": chosen}
