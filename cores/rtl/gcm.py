"""AES-128-GCM cores in Verilog: AES in counter mode beside GHASH, which takes a digit a cycle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dse.contract.generators import Choice, Design, Vectors, generator
from dse.cores.rtl.aes import aes_core, aes_text
from dse.cores.rtl.aes_answers import aes_encrypt
from dse.cores.rtl.frames import Frames, added, known_answers, port_bits
from dse.cores.rtl.verilog import cut

_DIGITS = {1: 16, 2: 32, 5: 64, 10: 128}
"""Bits of a digit, by rounds in hardware: no more cycles of GHASH than of AES."""
_UNROLL = Choice(
    name="unroll",
    description="Rounds in a cycle, or 10 with a register after each; GHASH in digits of "
    + ", ".join(f"{digit} bit for {unroll}" for unroll, digit in _DIGITS.items()),
    values=tuple(_DIGITS),
)
_BOX = Choice(name="box", description="S-box, as of aes128", values=("composite", "table"))
_HASH_KEY, _DATA, _TEXT, _TAG = range(4)
"""Kinds of steps."""
_REDUCED = 0xE1 << 120
"""x ** 128, with x ** 0 as the leftmost bit (NIST SP 800-38D, section 6.3)."""


def ghash_product(a: int, b: int) -> int:
    """Return the product of two blocks (SP 800-38D, algorithm 1)."""
    result = 0
    for place in reversed(range(128)):
        result ^= b if a >> place & 1 else 0
        b = b >> 1 ^ (_REDUCED if b & 1 else 0)
    return result


class _Step(NamedTuple):
    """Input of a core in one step, in which `counter` is encrypted."""

    counter: bytes
    key: bytes
    kind: int
    block: bytes = bytes(16)
    missing: int = 0


def gcm_steps(key: bytes, nonce: bytes, data: bytes, text: bytes) -> Iterator[_Step]:
    """Yield the steps of a message with a nonce of 12 bytes (SP 800-38D, algorithm 4)."""
    yield _Step(bytes(16), key, _HASH_KEY)
    for at in range(0, len(data), 16):
        yield _Step(bytes(16), key, _DATA, data[at : at + 16].ljust(16, b"\0"))
    for at in range(0, len(text), 16):
        block, counter = text[at : at + 16], nonce + (2 + at // 16).to_bytes(4, "big")
        yield _Step(counter, key, _TEXT, block.ljust(16, b"\0"), 16 - len(block))
    lengths = b"".join((8 * len(one)).to_bytes(8, "big") for one in (data, text))
    yield _Step(nonce + (1).to_bytes(4, "big"), key, _TAG, lengths)


def gcm_answers(steps: Sequence[_Step]) -> list[tuple[bytes, bytes]]:
    """Return the encrypted block of each step, zeros for a step without text, and its tag."""
    found, hash_key, total = [], 0, 0
    for step in steps:
        stream = aes_encrypt(step.key, step.counter)
        block = step.block
        if step.kind == _TEXT:
            size = 16 - step.missing
            block = added(block, stream)[:size].ljust(16, b"\0")
        if step.kind == _HASH_KEY:
            hash_key, total = int.from_bytes(stream, "big"), 0
        else:
            total = ghash_product(total ^ int.from_bytes(block, "big"), hash_key)
        tag = added(total.to_bytes(16, "big"), stream)
        found.append((block if step.kind == _TEXT else bytes(16), tag))
    return found


GCM_PUBLISHED = known_answers("aes128_gcm")
"""Key, nonce, data, text and answer."""


def gcm_messages(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return published messages and a random one of 250 B, then `tasks` steps of a long text.

    Transitions are counted only over steps of text, which have the energy of a block in a long
    message.  The messages before them are the warm-up, and their answers are checked, too.
    """
    random = np.random.default_rng(seed)
    short = tuple(random.bytes(length) for length in (16, 12, 20, 250))
    steps = [step for one in (*GCM_PUBLISHED, short) for step in gcm_steps(*one[:4])]
    begin = len(steps) + 1  # after the hash key of the long message
    frames = Frames.of(design, begin + tasks)
    size = 16 * frames.taken
    steps += gcm_steps(*(random.bytes(length) for length in (16, 12, 0, size)))
    steps = steps[: frames.taken]
    blocks, tags = zip(*gcm_answers(steps), strict=True)
    late, widths = ("block", "kind", "missing"), {"kind": 2, "missing": 4}
    vectors = frames.fed(steps, {"answer": blocks}, late=late, widths=widths)
    # the tag of a step is valid when GHASH has taken all digits after the block has left
    after = 1 + 128 // _DIGITS[int(design.parameters["unroll"])]
    left = np.flatnonzero(frames.valid)[: len(steps)]
    place = left + after
    ends = [at for at, step in enumerate(steps[: len(place)]) if step.kind == _TAG]
    ends = [at for at in ends if place[at] < vectors.cycles]
    tag, known = np.zeros((vectors.cycles, 128), bool), np.zeros(vectors.cycles, bool)
    tag[place[ends]], known[place[ends]] = port_bits(tags)[ends], True
    return replace(
        vectors,
        expected={"tag": tag, **vectors.expected},
        known={"tag": known, **vectors.known},
        warm_up=int(left[begin]),
    )


@generator(
    answers=gcm_messages,
    parameters=(_UNROLL, _BOX),
    designs=tuple({"unroll": unroll} for unroll in _DIGITS),
    description="AES-128-GCM encryption: AES with 1 to 10 rounds in hardware, GHASH by digits",
    source="NIST SP 800-38D; FIPS 197",
)
def aes128_gcm(*, unroll: int, box: str) -> Design:
    """Return a core with `unroll` rounds, n, and digits of GHASH to match.

    A message is steps: its hash key, with counter 0, blocks of associated data, blocks of text, and
    the lengths, with the counter of the tag.  `counter` and `key` are taken when `ready` is 1.
    `kind`, `block` and `missing`, bytes that a last block of text lacks, are taken as the answer
    leaves.  Below 10, n rounds are chained in a cycle and a step takes 10 / n.  With 10 there is a
    register after each and a step starts in every cycle.  `tag` follows when GHASH has taken 128 /
    digit cycles more.

    Assumed: counters are made outside, an increment of 32 bits, and nonces have 96.  Cycles of a
    task are a block's in a long message, which has two steps more.
    """
    core = aes_core(128, unroll=unroll, structure="pipelined" if unroll == 10 else "chained")
    digit = _DIGITS[unroll]
    lines = [*aes_text(core, 128, box), *_digit_module(digit), *_top(digit)]
    made = core.design(
        lines,
        read_byte=16.0,
        written_byte=16.0,
        name=f"u{unroll}_d{digit}" + ("_table" if box == "table" else ""),
        parameters={"unroll": unroll, "box": box},
    )
    return replace(made, top="aes128_gcm")


def _digit_module(digit: int) -> Iterator[str]:
    """Yield a sum times x ** digit plus the hash key times a digit, the highest power rightmost."""
    yield "\nmodule times_x (input [127:0] from, output [127:0] to);"
    yield f"  assign to = (from >> 1) ^ (from[0] ? 128'h{_REDUCED:032x} : 128'd0);"
    yield "endmodule"
    yield "\n// Horner's rule: what was summed, times x for each bit of a digit, and its product."
    yield "module add_digit ("
    yield "  input [127:0] total, input [127:0] hash_key,"
    yield f"  input [{digit - 1}:0] digit, output [127:0] to"
    yield ");"
    state, power = "total", "hash_key"
    terms = []
    for bit in range(digit):
        if bit:
            yield f"  wire [127:0] power_{bit};"
            yield f"  times_x next_{bit} ({power}, power_{bit});"
            power = f"power_{bit}"
        terms.append(f"(digit[{digit - 1 - bit}] ? {power} : 128'd0)")
        yield f"  wire [127:0] total_{bit};"
        yield f"  times_x turn_{bit} ({state}, total_{bit});"
        state = f"total_{bit}"
    if digit == 128:
        state = "128'd0"  # a whole product starts anew
    yield "  assign to = " + "\n    ^ ".join((state, *terms)) + ";"
    yield "endmodule"


def _top(digit: int) -> Iterator[str]:
    count = 128 // digit
    yield "\nmodule aes128_gcm ("
    yield "  input clock, input reset, input [127:0] counter, input [127:0] key,"
    yield "  input [127:0] block, input [1:0] kind, input [3:0] missing,"
    yield "  output ready, output valid, output [127:0] answer, output [127:0] tag"
    yield ");"
    yield "  wire [127:0] stream;"
    yield "  aes128 cipher (clock, reset, counter, key, ready, valid, stream);"
    yield f"  wire text = kind == 2'd{_TEXT};"
    yield "  wire [127:0] kept = {128{1'b1}} << {missing, 3'd0};"
    yield "  assign answer = text ? (block ^ stream) & kept : 128'd0;"
    yield "  // GHASH begins in the cycle after a block has left."
    yield "  reg [127:0] hashed, hash_key, mask, total;\n  reg first, clears;"
    yield "  always @(posedge clock) begin"
    yield "    first <= valid;"
    yield "    if (valid) begin"
    yield "      hashed <= text ? answer : block;"
    yield f"      clears <= kind == 2'd{_HASH_KEY};"
    yield f"      if (kind == 2'd{_HASH_KEY}) hash_key <= stream;"
    yield f"      if (kind == 2'd{_TAG}) mask <= stream;"
    yield "    end\n  end"
    yield "  wire [127:0] operand, summed;"
    if count == 1:
        yield "  assign operand = total ^ hashed;"
        yield "  add_digit add (128'd0, hash_key, operand, summed);"
        yield "  always @(posedge clock) if (first) total <= clears ? 128'd0 : summed;"
    else:
        bits = count.bit_length()
        yield "  reg [127:0] rest;"
        yield f"  reg [{bits - 1}:0] left;"
        yield "  assign operand = first ? total ^ hashed : rest;"
        ends = f"hash_key, {cut('operand', 0, digit)}, summed"
        yield f"  add_digit add (first ? 128'd0 : total, {ends});"
        yield "  always @(posedge clock) begin"
        yield f"    rest <= operand >> {digit};"
        yield f"    left <= first ? {bits}'d{count - 1} : left - (left != 0);"
        yield "    if (first | left != 0) total <= clears ? 128'd0 : summed;"
        yield "  end"
    yield "  assign tag = total ^ mask;"
    yield "endmodule"
