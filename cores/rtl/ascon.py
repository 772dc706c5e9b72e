"""Ascon-AEAD128 cores in Verilog: a block passes 8 or 12 rounds, some of them in a cycle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from dse.contract.generators import Choice, Design, Vectors, generator
from dse.cores.rtl.frames import Frames, known_answers, text_of, turned, words_of
from dse.cores.rtl.rounds import RoundCore, State, module_round
from dse.cores.rtl.verilog import cut, decision_diagram, reversed_bytes

ROUNDS, _FEW_ROUNDS, _BLOCK_BYTE = 12, 8, 16
_START = 0x00001000808C0001
"""First word of a state (SP 800-232, section 4.1.1)."""
_CONSTANTS = tuple(0xF0 - 0x0F * number for number in range(ROUNDS))
_TURNS = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))
"""Turns of the linear layer, to the right (section 3.4)."""
_WORD = (1 << 64) - 1
_UNROLL = Choice(
    name="unroll",
    description="Rounds in a cycle; 8 / unroll cycles for a block, 12 for the ends of a message",
    values=(1, 2, 4),
)
_MESSAGE_BYTE = 250


def ascon_permuted(state: Sequence[int], rounds: int) -> list[int]:
    """Return Ascon-p of five words (SP 800-232, section 3)."""
    x = [*state]
    for constant in _CONSTANTS[-rounds:]:
        x[2] ^= constant
        x[0], x[2], x[4] = x[0] ^ x[4], x[2] ^ x[1], x[4] ^ x[3]
        x = [x[at] ^ ~x[(at + 1) % 5] & x[(at + 2) % 5] for at in range(5)]
        x[0], x[1], x[2], x[3] = x[0] ^ x[4], x[1] ^ x[0], ~x[2] & _WORD, x[3] ^ x[2]
        x = [
            word ^ turned(word, -a) ^ turned(word, -b)
            for word, (a, b) in zip(x, _TURNS, strict=True)
        ]
    return x


class _Step(NamedTuple):
    """Input of a core in one step: a block, and its place in a message."""

    key: bytes
    nonce: bytes
    block: bytes
    starts: bool = False
    separates: bool = False
    ends: bool = False

    @property
    def rounds(self) -> int:
        return ROUNDS if self.starts or self.ends else _FEW_ROUNDS


def ascon_padded(text: bytes, block_byte: int) -> bytes:
    """Return whole blocks: a text, a bit that is 1, zeros (section 4)."""
    return text + b"\x01" + bytes(-(len(text) + 1) % block_byte)


def _blocks(text: bytes) -> list[bytes]:
    whole = ascon_padded(text, _BLOCK_BYTE)
    return [whole[at : at + _BLOCK_BYTE] for at in range(0, len(whole), _BLOCK_BYTE)]


def ascon_steps(key: bytes, nonce: bytes, data: bytes, text: bytes) -> Iterator[_Step]:
    """Yield the steps of a message: its start, blocks of associated data, blocks of text."""
    yield _Step(key, nonce, bytes(_BLOCK_BYTE), starts=True)
    for block in _blocks(data) if data else ():
        yield _Step(key, nonce, block)
    blocks = _blocks(text)
    for at, block in enumerate(blocks):
        yield _Step(key, nonce, block, separates=at == 0, ends=at == len(blocks) - 1)


def ascon_answers(steps: Sequence[_Step]) -> list[tuple[bytes, bytes]]:
    """Return encrypted block and tag of each step (section 4.1), more than a message needs."""
    state, found, keyed = [0] * 5, [], False
    for step in steps:
        key, block = words_of(step.key), words_of(step.block)
        if keyed:
            state = [*state[:3], state[3] ^ key[0], state[4] ^ key[1]]
        block = [a ^ b for a, b in zip(state, block, strict=False)]
        if step.starts:
            state = [_START, *key, *words_of(step.nonce)]
        else:
            state = [*block, *state[2:4], state[4] ^ step.separates << 63]
        if step.ends:
            state[2:4] = state[2] ^ key[0], state[3] ^ key[1]
        state = ascon_permuted(state, step.rounds)
        found.append((text_of(block), text_of([state[3] ^ key[0], state[4] ^ key[1]])))
        keyed = step.starts
    return found


ASCON_PUBLISHED = known_answers("ascon_aead")
"""Key, nonce, data, text and answer."""


def ascon_messages(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return published messages, then random ones of 250 B with 40 B of data, step by step."""
    random = np.random.default_rng(seed)
    steps = [step for message in ASCON_PUBLISHED for step in ascon_steps(*message[:4])]
    known = len(steps)
    while len(steps) < known + tasks:
        message = (random.bytes(length) for length in (16, 16, 40, _MESSAGE_BYTE))
        steps += ascon_steps(*message)
    unroll = int(design.parameters["unroll"])
    frames = Frames.paced([step.rounds // unroll for step in steps])
    taken = [*steps, steps[0]]  # as the last answer leaves another message begins
    blocks, tags = zip(*ascon_answers(steps), strict=True)
    vectors = frames.fed(taken, {"tag": tags, "answer": blocks})
    of_blocks = frames.valid.copy()
    of_blocks[frames.valid] = [not step.starts for step in steps]
    return replace(vectors, known={**vectors.known, "answer": of_blocks})


@generator(
    answers=ascon_messages,
    parameters=(_UNROLL,),
    designs=tuple({"unroll": unroll} for unroll in _UNROLL.values),
    description="Ascon-AEAD128 encryption: 1, 2 or 4 of the 8 rounds of a block in a cycle",
    source="NIST SP 800-232",
)
def ascon_aead(*, unroll: int) -> Design:
    """Return a core with `unroll` rounds in a cycle, n.

    A message is steps: one that `starts` it with its nonce, blocks of associated data, blocks of
    text, whose first `separates` and whose last `ends` it.  Blocks take 8 / n cycles, starts
    and ends 12 / n.  As a step leaves, `answer` is its encrypted block, and after the last `tag`
    is the tag.  The key is held in a register from the start on.

    Assumed: blocks are padded before.  Cycles of a task are a block's in a long message: a
    message takes 16 / n cycles more than its blocks of text and data.
    """
    passes, few = ROUNDS // unroll, _FEW_ROUNDS // unroll
    bits = (passes - 1).bit_length()
    core = RoundCore(
        name="ascon_aead",
        remark=f"{unroll} rounds in a cycle.",
        inputs={"key": 128, "nonce": 128, "block": 128, "starts": 1, "separates": 1, "ends": 1},
        outputs={"tag": 128, "answer": 128},
        fields={"state": 320, "held": 128, "mixed": 128, "keyed": 1},
        unroll=unroll,
        passes=passes,
        begins=f"(starts | ends ? {bits}'d0 : {bits}'d{passes - few})",
    )
    made = core.design(_module(core), read_byte=float(_BLOCK_BYTE), written_byte=float(_BLOCK_BYTE))
    return replace(made, cycles_per_task=float(few), latency_cycles=few)


def _module(core: RoundCore) -> Iterator[str]:
    yield "// Ascon-AEAD128, NIST SP 800-232: first byte of a text leftmost, first word of a state."
    yield from ascon_rounds(core.unroll)
    key, nonce, block = (reversed_bytes(port, 2, 8) for port in ("key", "nonce", "block"))
    word = [cut("state_1", 4 - at, 64) for at in range(5)]

    def answer(state: State) -> Iterator[str]:
        yield f"  wire [127:0] key_words = {key};"
        yield f"  wire [127:0] added = {block} ^ {{{word[0]}, {word[1]}}};"
        yield f"  wire [127:0] under_key = {{{word[3]}, {word[4]}}} ^ held_1;"
        yield f"  wire [127:0] rest = keyed_1 ? under_key : {{{word[3]}, {word[4]}}};"
        yield f"  wire [319:0] absorbed = {{added, {word[2]}, rest}}"
        yield "    ^ {128'd0, ends ? held_1 : 128'd0, separates, 63'd0};"
        yield f"  assign tag = {reversed_bytes('under_key', 2, 8)};"
        yield f"  assign answer = {reversed_bytes(state['mixed'], 2, 8)};"

    begun = f"{{64'd{_START}, key_words, {nonce}}}"
    entry = {
        "state": f"(starts ? {begun} : absorbed)",
        "held": "(starts ? key_words : held_1)",
        "mixed": "added",
        "keyed": "starts",
    }
    yield from core.text(entry, ASCON_ROUND, answer)


def ascon_rounds(unroll: int) -> Iterator[str]:
    """Yield a round, as one block since simulators else follow each bit, and its constants."""
    yield "module ascon_round (input [319:0] from, input [7:0] constant, output reg [319:0] to);"
    yield f"  reg [63:0] {', '.join(f'{name}{at}' for name in 'xyz' for at in range(5))};"
    yield "  always @* begin"
    added = {0: " ^ " + cut("from", 0, 64), 2: f" ^ {cut('from', 3, 64)} ^ constant"}
    added[4] = " ^ " + cut("from", 1, 64)
    for at in range(5):
        yield f"    x{at} = {cut('from', 4 - at, 64)}{added.get(at, '')};"
    for at in range(5):
        yield f"    y{at} = x{at} ^ (~x{(at + 1) % 5} & x{(at + 2) % 5});"
    for at, text in enumerate(("y0 ^ y4", "y1 ^ y0", "~y2", "y3 ^ y2", "y4")):
        yield f"    z{at} = {text};"
    for at, turns in enumerate(_TURNS):
        turned = (f"{{z{at}[{turn - 1}:0], z{at}[63:{turn}]}}" for turn in turns)
        yield f"    {cut('to', 4 - at, 64)} = {' ^ '.join((f'z{at}', *turned))};"
    yield "  end"
    yield "endmodule"
    for number in range(unroll):
        yield from decision_diagram(f"constants_{number}", _CONSTANTS[number::unroll], 8)


ASCON_ROUND = partial(module_round, "ascon_round", 320, 8)
