"""CRC-32 cores in Verilog: a word of a message in each cycle."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from zlib import crc32 as checked

from dse.contract.generators import Choice, Design, Vectors, generator
from dse.cores.rtl.frames import Digest, message_vectors
from dse.cores.rtl.rounds import RoundCore, State

_POLYNOMIAL = 0xEDB88320
"""0x04C11DB7 with its bits reversed: the first bit of a byte is its lowest."""
_WIDTH = Choice(
    name="word_bit", description="Bits in a cycle", values=(8, 16, 32, 64, 128, 256, 512)
)
CRC32_PUBLISHED = (b"123456789", 0xCBF43926)
"""Message and its check, which identify checksums in catalogues (Rocksoft model)."""


def checked_messages(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return random messages of four words, a word in each cycle, and the check after each.

    For words of 8 bit the published message is first.
    """
    size = int(design.read_byte)
    return message_vectors(
        design,
        seed=seed,
        tasks=tasks,
        published=CRC32_PUBLISHED[:1] if size == 1 else (),
        digest=Digest(
            padded=lambda message: message + bytes(-len(message) % size),
            start=0,
            after=lambda check, word: checked(word, check),
            answer=lambda check: check.to_bytes(4, "big"),
        ),
        port="word",
    )


@generator(
    answers=checked_messages,
    parameters=(_WIDTH,),
    designs=tuple({"word_bit": width} for width in _WIDTH.values),
    description="CRC-32 of IEEE 802.3: 8 to 512 bits in a cycle",
    source="IEEE 802.3, clause 3.2.9",
)
def crc32(*, word_bit: int) -> Design:
    """Return a core that takes a word in each cycle, which begins a message if `first` is 1.

    The state after a word is a sum over GF(2) of bits of the word and of the state before.

    Assumed: messages are whole words, and the check counts as read with each word: 4 bytes that
    leave only once if messages are longer.
    """
    core = RoundCore(
        name="crc32",
        remark=f"{word_bit} bits in a cycle; the first byte leftmost.",
        inputs={"word": word_bit, "first": 1},
        outputs={"answer": 32},
        fields={"state": 32},
        unroll=1,
        passes=1,
    )
    return core.design(
        _text(core, word_bit),
        read_byte=word_bit / 8.0,
        written_byte=4.0,
        name=f"w{word_bit}",
        parameters={"word_bit": word_bit},
    )


def _text(core: RoundCore, width: int) -> Iterator[str]:
    yield f"// The check of IEEE 802.3 over GF(2): {width} bits of a word and 32 of the state."
    yield f"module add_word (input [{width - 1}:0] word, input [31:0] from, output [31:0] to);"
    yield f"  wire [{width + 31}:0] both = {{word, from}};"
    for row, mask in enumerate(_sums(width)):
        yield f"  assign to[{row}] = ^(both & {width + 32}'h{mask:x});"
    yield "endmodule"
    yield from core.text(
        {"state": "first ? 32'hffffffff : state_1"},
        _round,
        lambda state: [f"  assign answer = ~{state['state']};"],
    )


def _round(number: int, which: str, state: State) -> Generator[str, None, State]:
    yield "  wire [31:0] added;"
    yield f"  add_word add (word, {state['state']}, added);"
    return {"state": "added"}


def _sums(width: int) -> list[int]:
    """Return of which bits of {word, state} each bit of the next state is the sum."""
    state = [1 << bit for bit in range(32)]
    for place in range(width):
        # the first bit of a message is the lowest of the leftmost byte
        at = 32 + width - 8 * (place // 8 + 1) + place % 8
        carried = state[0] ^ 1 << at
        state = [
            (state[bit + 1] if bit < 31 else 0) ^ (carried if _POLYNOMIAL >> bit & 1 else 0)
            for bit in range(32)
        ]
    return state
