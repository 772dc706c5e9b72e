"""Ascon-Hash256 cores in Verilog: a block of a message passes 12 rounds, some in a cycle."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dse.contract.generators import Choice, Design, generator
from dse.cores.rtl.ascon import ASCON_ROUND, ROUNDS, ascon_padded, ascon_permuted, ascon_rounds
from dse.cores.rtl.frames import Digest, known_answers, message_vectors, text_of, words_of
from dse.cores.rtl.rounds import RoundCore
from dse.cores.rtl.verilog import cut, reversed_bytes

_BLOCK_BYTE, _DIGEST_BYTE = 8, 32
_SQUEEZED = bytes(_DIGEST_BYTE - _BLOCK_BYTE)
"""Blocks of zeros after a message: each brings eight more bytes of the digest."""
INITIAL_STATE = text_of(ascon_permuted([0x0000080100CC0002, 0, 0, 0, 0], ROUNDS))
"""The state that each message begins with (SP 800-232, section 5.1): constant, and no cycles."""
_UNROLL = Choice(
    name="unroll",
    description="Rounds in a cycle; cycles of a block: 12 / unroll",
    values=(1, 2, 3, 4),
)


def hash_absorbed(state: bytes, block: bytes) -> bytes:
    """Return the state after a block of 8 bytes."""
    first, *rest = words_of(state)
    return text_of(ascon_permuted([first ^ words_of(block)[0], *rest], ROUNDS))


def hash_steps(message: bytes) -> bytes:
    """Return the padded message, and the blocks of zeros that bring the rest of its digest."""
    return ascon_padded(message, _BLOCK_BYTE) + _SQUEEZED


ASCON_HASH_PUBLISHED = [(text, answer) for *_, text, answer in known_answers("ascon_hash")]
"""Messages and digests."""


@generator(
    answers=partial(
        message_vectors,
        published=[message for message, _ in ASCON_HASH_PUBLISHED],
        digest=Digest(
            padded=hash_steps,
            start=INITIAL_STATE,
            after=hash_absorbed,
            answer=lambda state: state[:_BLOCK_BYTE],
        ),
    ),
    parameters=(_UNROLL,),
    designs=tuple({"unroll": unroll} for unroll in _UNROLL.values),
    description="Ascon-Hash256: 1 to 4 of the 12 rounds of a block in a cycle",
    source="NIST SP 800-232",
)
def ascon_hash(*, unroll: int) -> Design:
    """Return a core with `unroll` rounds in a cycle, n.

    A padded block of 8 bytes is taken and passes 12 / n times.  With `first` it begins a message.
    Else it is added to the state before.  After the last block three of zeros bring the
    rest of the digest, of which eight bytes leave after each.

    Assumed: messages are padded before, and a word of the digest counts as written with each
    block.  Cycles of a task are a block's in a long message: a message takes 36 / n more.
    """
    core = RoundCore(
        name="ascon_hash",
        remark=f"{unroll} of {ROUNDS} rounds in a cycle.",
        inputs={"block": 8 * _BLOCK_BYTE, "first": 1},
        outputs={"answer": 8 * _BLOCK_BYTE},
        fields={"state": 320},
        unroll=unroll,
        passes=ROUNDS // unroll,
        cleared=True,
    )
    block_byte = float(_BLOCK_BYTE)
    return core.design(_module(core), read_byte=block_byte, written_byte=block_byte)


def _module(core: RoundCore) -> Iterator[str]:
    yield "// Ascon-Hash256, NIST SP 800-232: texts with the first byte leftmost."
    yield from ascon_rounds(core.unroll)
    start = "".join(f"{word:016x}" for word in words_of(INITIAL_STATE))
    before = f"(first ? 320'h{start} : state_{core.layers})"
    yield from core.text(
        {"state": f"{before} ^ {{{reversed_bytes('block', 1, _BLOCK_BYTE)}, 256'd0}}"},
        ASCON_ROUND,
        lambda state: [
            f"  wire [63:0] word = {cut(state['state'], 4, 64)};",
            f"  assign answer = {reversed_bytes('word', 1, _BLOCK_BYTE)};",
        ],
    )
