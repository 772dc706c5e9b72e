"""AES-128-XTS cores in Verilog: one AES encrypts the tweak of a sector, then its blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dse.contract.generators import Choice, Design, Vectors, generator
from dse.cores.rtl.aes import aes_core, aes_text
from dse.cores.rtl.aes_answers import aes_encrypt
from dse.cores.rtl.frames import Frames, added, known_answers
from dse.cores.rtl.verilog import reversed_bytes

_UNROLL = Choice(
    name="unroll", description="Rounds in a cycle; cycles of a block: 10 / unroll", values=(1, 2, 5)
)
_BOX = Choice(name="box", description="S-box, as of aes128", values=("composite", "table"))
_SECTOR_BLOCKS = 16
_REDUCED = 0x87
"""x ** 128, with x ** 0 as the lowest bit of the first byte (IEEE 1619, section 5.2)."""


class _Step(NamedTuple):
    """Input of a core in one step: the number of a sector, or a block of it."""

    key: bytes
    tweak_key: bytes
    block: bytes
    starts: bool = False


def xts_steps(key: bytes, tweak_key: bytes, sector: bytes, text: bytes) -> Iterator[_Step]:
    """Yield the steps of a sector of whole blocks."""
    yield _Step(key, tweak_key, sector, starts=True)
    for at in range(0, len(text), 16):
        yield _Step(key, tweak_key, text[at : at + 16])


def xts_answers(steps: Sequence[_Step]) -> list[bytes]:
    """Return the encrypted block of each step, zeros for a start (IEEE 1619, section 5.3)."""
    found, tweak = [], bytes(16)
    for step in steps:
        if step.starts:
            tweak = aes_encrypt(step.tweak_key, step.block)
            found.append(bytes(16))
            continue
        found.append(added(aes_encrypt(step.key, added(step.block, tweak)), tweak))
        doubled = int.from_bytes(tweak, "little") << 1
        carried = _REDUCED if doubled >> 128 else 0
        tweak = ((doubled ^ carried) & (1 << 128) - 1).to_bytes(16, "little")
    return found


XTS_PUBLISHED = known_answers("aes128_xts")
"""Key, key of the tweak, sector, text and answer."""


def encrypted_sectors(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return published sectors, then random ones of 256 B, step by step, and their encryption."""
    random = np.random.default_rng(seed)
    steps = [step for sector in XTS_PUBLISHED for step in xts_steps(*sector[:4])]
    frames = Frames.of(design, tasks + len(steps))
    while len(steps) < frames.taken:
        steps += xts_steps(*(random.bytes(length) for length in (16, 16, 16, 16 * _SECTOR_BLOCKS)))
    steps = steps[: frames.taken]
    return frames.fed(steps, {"answer": xts_answers(steps)})


@generator(
    answers=encrypted_sectors,
    parameters=(_UNROLL, _BOX),
    designs=tuple({"unroll": unroll} for unroll in _UNROLL.values),
    description="AES-128-XTS encryption of whole blocks: 1, 2 or 5 of 10 rounds in a cycle",
    source="IEEE 1619; NIST SP 800-38E; FIPS 197",
)
def aes128_xts(*, unroll: int, box: str) -> Design:
    """Return a core with `unroll` rounds in a cycle, n.

    A sector is steps: one that `starts` it, whose block is the number of the sector, and its
    blocks.  All of them take 10 / n cycles in the same AES.  The tweak is held beside it.

    Departs from IEEE 1619: sectors are whole blocks, without stealing.  Assumed: cycles of a task
    are a block's in a long sector, which has one step more.
    """
    core = aes_core(128, unroll=unroll, structure="chained")
    made = core.design(
        [*aes_text(core, 128, box), *_top()],
        read_byte=16.0,
        written_byte=16.0,
        name=f"u{unroll}" + ("_table" if box == "table" else ""),
        parameters={"unroll": unroll, "box": box},
    )
    return replace(made, top="aes128_xts")


def _top() -> Iterator[str]:
    yield "\nmodule aes128_xts ("
    yield "  input clock, input reset, input [127:0] key, input [127:0] tweak_key,"
    yield "  input [127:0] block, input starts,"
    yield "  output ready, output valid, output [127:0] answer"
    yield ");"
    yield "  // A tweak is held as a number, whose lowest byte is the first."
    yield "  reg [127:0] tweak;"
    yield "  reg started;"
    yield "  wire [127:0] encrypted;"
    yield f"  wire [127:0] begun = {reversed_bytes('encrypted', 1, 16)};"
    carried = f"(tweak[127] ? 128'd{_REDUCED} : 128'd0)"
    yield f"  wire [127:0] doubled = {{tweak[126:0], 1'b0}} ^ {carried};"
    yield "  wire [127:0] following = started ? begun : doubled;"
    yield f"  wire [127:0] mask = {reversed_bytes('following', 1, 16)};"
    yield "  wire [127:0] entering = starts ? block : block ^ mask;"
    yield "  aes128 cipher ("
    yield "    clock, reset, entering, starts ? tweak_key : key, ready, valid, encrypted"
    yield "  );"
    yield "  always @(posedge clock) if (ready) begin"
    yield "    tweak <= following;"
    yield "    started <= starts;"
    yield "  end"
    yield f"  assign answer = started ? 128'd0 : encrypted ^ {reversed_bytes('tweak', 1, 16)};"
    yield "endmodule"
