"""SHA3-256 cores in Verilog: a block of a message passes Keccak's 24 rounds, some in a cycle."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dse.contract.generators import Choice, Design, generator
from dse.cores.rtl.frames import Digest, message_vectors, text_of, turned, words_of
from dse.cores.rtl.rounds import RoundCore, module_round
from dse.cores.rtl.verilog import cut, decision_diagram, reversed_bytes

_ROUNDS = 24
_BLOCK_BYTE = 136
_LANES = [(x, y) for y in range(5) for x in range(5)]
"""Lanes of the state, the lowest first: lane (x, y) has bits 64 (x + 5 y) and following."""
_UNROLL = Choice(
    name="unroll",
    description="Rounds in a cycle; cycles of a block: 24 / unroll",
    values=(1, 2, 3, 6),
)


def _iota_constants() -> Iterator[int]:
    """Yield the constant of iota for lane (0, 0) in each round (FIPS 202, algorithms 5 and 6)."""
    register = 1
    for _ in range(_ROUNDS):
        constant = 0
        for place in range(7):
            constant |= (register & 1) << ((1 << place) - 1)
            register <<= 1
            register ^= 0x171 if register >> 8 else 0
        yield constant


def _turns() -> dict[tuple[int, int], int]:
    """Return by how much rho turns each lane (algorithm 2)."""
    found, x, y = {(0, 0): 0}, 1, 0
    for step in range(24):
        found[x, y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return found


_CONSTANTS, _TURNS = tuple(_iota_constants()), _turns()


def keccak(state: bytes) -> bytes:
    """Return Keccak-f[1600] of 200 bytes (FIPS 202, section 3)."""
    lanes = dict(zip(_LANES, words_of(state), strict=True))
    for constant in _CONSTANTS:
        parity = [
            lanes[x, 0] ^ lanes[x, 1] ^ lanes[x, 2] ^ lanes[x, 3] ^ lanes[x, 4] for x in range(5)
        ]
        moved = {
            (y, (2 * x + 3 * y) % 5): turned(
                lanes[x, y] ^ parity[x - 1] ^ turned(parity[(x + 1) % 5], 1), _TURNS[x, y]
            )
            for x, y in _LANES
        }
        lanes = {
            (x, y): moved[x, y] ^ ~moved[(x + 1) % 5, y] & moved[(x + 2) % 5, y] for x, y in _LANES
        }
        lanes[0, 0] ^= constant
    return text_of(lanes.values())


def sha3_padded(message: bytes) -> bytes:
    """Return whole blocks: the bits of the domain, 1, zeros, 1 (sections 5.1 and 6.1)."""
    text = bytearray(message + b"\x06" + bytes(-(len(message) + 1) % _BLOCK_BYTE))
    text[-1] |= 0x80
    return bytes(text)


def absorbed(state: bytes, block: bytes) -> bytes:
    """Return the state after a block of 136 bytes (section 4)."""
    return keccak(bytes(a ^ b for a, b in zip(state, block.ljust(200, b"\0"), strict=True)))


SHA3_PUBLISHED = (b"", b"abc", b"\xa3" * 200)
"""Messages of NIST's examples of SHA3-256: of 0 and 1600 bit, and `abc`."""


@generator(
    answers=partial(
        message_vectors,
        published=SHA3_PUBLISHED,
        digest=Digest(
            padded=sha3_padded,
            start=bytes(200),
            after=absorbed,
            answer=lambda state: state[:32],
        ),
    ),
    parameters=(_UNROLL,),
    designs=tuple({"unroll": unroll} for unroll in _UNROLL.values),
    description="SHA3-256: 1 to 6 of the 24 rounds of Keccak-f[1600] in a cycle",
    source="FIPS 202",
)
def sha3_256(*, unroll: int) -> Design:
    """Return a core with `unroll` rounds in a cycle, n.

    A padded block of 136 bytes is taken and passes 24 / n times.  With `first` it begins a message.
    Else it is added to the state before, so that blocks of a message follow each
    other at full rate.

    Assumed: messages are padded before, and their hash counts as read with each block: 32 bytes
    that leave only once if messages are longer.
    """
    core = RoundCore(
        name="sha3_256",
        remark=f"{unroll} of {_ROUNDS} rounds in a cycle.",
        inputs={"block": 8 * _BLOCK_BYTE, "first": 1},
        outputs={"answer": 256},
        fields={"state": 1600},
        unroll=unroll,
        passes=_ROUNDS // unroll,
    )
    return core.design(_text(core), read_byte=float(_BLOCK_BYTE), written_byte=32.0)


def _text(core: RoundCore) -> Iterator[str]:
    yield "// SHA3-256, FIPS 202: texts with the first byte leftmost, lane (x, y) at 64 (x + 5 y)."
    yield "module keccak_round ("
    yield "  input [1599:0] from, input [63:0] constant, output reg [1599:0] to"
    yield ");"
    names = [f"{name}_{x}" for name in ("parity", "theta") for x in range(5)]
    names += [f"{name}_{x}_{y}" for name in ("mixed", "moved") for x, y in _LANES]
    yield f"  reg [63:0] {', '.join(names)};"
    yield "  // in one block, for a simulator else follows each lane that changes alone"
    yield "  always @* begin"
    for x in range(5):
        column = " ^ ".join(_lane("from", x, y) for y in range(5))
        yield f"    parity_{x} = {column};"
    for x in range(5):
        near = f"parity_{(x + 1) % 5}"
        yield f"    theta_{x} = parity_{(x - 1) % 5} ^ {{{near}[62:0], {near}[63]}};"
    for x, y in _LANES:
        turn, mixed = _TURNS[x, y], f"mixed_{x}_{y}"
        yield f"    {mixed} = {_lane('from', x, y)} ^ theta_{x};"
        ends = f"{{{mixed}[{63 - turn}:0], {mixed}[63:{64 - turn}]}}" if turn else mixed
        yield f"    moved_{y}_{(2 * x + 3 * y) % 5} = {ends};"
    for x, y in _LANES:
        chi = f"moved_{x}_{y} ^ (~moved_{(x + 1) % 5}_{y} & moved_{(x + 2) % 5}_{y})"
        iota = " ^ constant" if x == y == 0 else ""
        yield f"    {_lane('to', x, y)} = {chi}{iota};"
    yield "  end"
    yield "endmodule"
    for number in range(core.unroll):
        yield from decision_diagram(f"constants_{number}", _CONSTANTS[number :: core.unroll], 64)
    before = f"(first ? 1600'd0 : state_{core.layers})"
    block = reversed_bytes("block", 1, _BLOCK_BYTE)
    yield from core.text(
        {"state": f"{before} ^ {{512'd0, {block}}}"},
        partial(module_round, "keccak_round", 1600, 64),
        lambda state: [
            f"  wire [255:0] digest = {state['state']}[255:0];",
            f"  assign answer = {reversed_bytes('digest', 1, 32)};",
        ],
    )


def _lane(signal: str, x: int, y: int) -> str:
    return cut(signal, x + 5 * y, 64)
