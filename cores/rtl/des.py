"""DES encryption cores in Verilog: rounds in hardware, and the places of the registers.

A task is a block of 64 bit with its key.  Both are taken at a clock edge at which `ready`
is 1, and `answer` holds the encrypted block at an edge at which `valid` is 1.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log2

import numpy as np

from dse.contract.generators import Bits, Choice, Design, Vectors, bits_of, generator
from dse.cores.rtl.frames import Frames
from dse.cores.rtl.verilog import chosen_by, picked

_ROUNDS = 16

INITIAL = (
    *(58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4),
    *(62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8),
    *(57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3),
    *(61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7),
)
"""IP, of a block.  Its inverse is the last permutation."""

FINAL = tuple(INITIAL.index(bit) + 1 for bit in range(1, 65))
"""The inverse of IP."""

EXPANSION = tuple((4 * box + bit - 1) % 32 + 1 for box in range(8) for bit in range(6))
"""E, of the right half: each box sees four bits and their neighbours."""

PERMUTATION = (
    *(16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10),
    *(2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25),
)
"""P, of the boxes' outputs."""

KEY_CHOICE = (
    *(57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18),
    *(10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36),
    *(63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22),
    *(14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4),
)
"""PC-1: 56 of the 64 bits of a key.  The others are parity."""

SUBKEY_CHOICE = (
    *(14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2),
    *(41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36),
    *(29, 32),
)
"""PC-2: 48 of the 56 bits, in each round."""

SHIFTS = (1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1)
"""Numbers of bits by which both halves of the 56 turn left before each round."""

_WRITTEN = (
    "e4d12fb83a6c5907 0f74e2d1a6cb9538 41e8d62bfc973a50 fc8249175b3ea06d",
    "f18e6b34972dc05a 3d47f28ec01a69b5 0e7ba4d158c6932f d8a13f42b67c05e9",
    "a09e63f51dc7b428 d709346a285ecbf1 d6498f30b12c5ae7 1ad069874fe3b52c",
    "7de3069a1285bc4f d8b56f03472c1ae9 a690cb7df13e5284 3f06a1d8945bc72e",
    "2c417ab6853fd0e9 eb2c47d150fa3986 421bad78f9c5630e b8c71e2d6f09a453",
    "c1af92680d34e75b af427c9561de0b38 9ef528c3704a1db6 432c95fabe17608d",
    "4b2ef08d3c975a61 d0b7491ae35c2f86 14bdc37eaf680592 6bd814a7950fe23c",
    "d2846fb1a93e50c7 1fd8a374c56b0e92 7b419ce206adf358 21e74a8dfc90356b",
)

BOXES = tuple(tuple(int(digit, 16) for digit in box.replace(" ", "")) for box in _WRITTEN)
"""S1 to S8: four rows of 16.  The first and the last of six bits choose the row."""


def encrypt(*, block: Bits, key: Bits) -> Bits:
    """Return blocks encrypted by the Data Encryption Standard (FIPS 46-3), vectorised.

    All have shape (n, 64), least significant bit first: bit 1 of the standard is the last column.
    """
    permuted = _chosen(block[:, ::-1], INITIAL)
    left, right = permuted[:, :32], permuted[:, 32:]
    chosen = _chosen(key[:, ::-1], KEY_CHOICE)
    halves = chosen[:, :28], chosen[:, 28:]
    for shift in SHIFTS:
        halves = np.roll(halves[0], -shift, axis=1), np.roll(halves[1], -shift, axis=1)
        subkey = _chosen(np.hstack(halves), SUBKEY_CHOICE)
        left, right = right, left ^ _changed(right, subkey)
    return _chosen(np.hstack((right, left)), FINAL)[:, ::-1]


def _chosen(bits: Bits, order: Sequence[int]) -> Bits:
    """Return the bits that a table names, counted from 1."""
    return bits[:, np.array(order) - 1]


def _changed(right: Bits, subkey: Bits) -> Bits:
    """Return f(R, K): expansion, the eight boxes, permutation."""
    six = (_chosen(right, EXPANSION) ^ subkey).reshape(-1, 8, 6)
    row = 2 * six[:, :, 0] + six[:, :, 5]
    column = six[:, :, 1:5] @ np.array([8, 4, 2, 1])
    four = np.array(BOXES)[np.arange(8), 16 * row + column]
    return _chosen(bits_of(four, 4)[:, :, ::-1].reshape(-1, 32), PERMUTATION)


def encrypted_blocks(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return random blocks with random keys at full rate, and the encrypted blocks."""
    frames = Frames.of(design, tasks)
    random = np.random.default_rng(seed)
    block, key = random.integers(0, 2, (2, frames.taken, 64), dtype=np.uint8) == 1
    return frames.vectors({"block": block, "key": key}, {"answer": encrypt(block=block, key=key)})


_STAGES = {
    "pipelined": "a register after each round",
    "chained": "all of them in one clock cycle",
    "two_stage": "a register after the key is mixed in, and one after the boxes, in each round",
}
_UNROLL = Choice(
    name="unroll",
    description="Rounds in hardware; a block passes 16 / unroll times",
    values=(1, 2, 4, 8, 16),
)
_STRUCTURE = Choice(
    name="structure",
    description="Place of registers: "
    + "; ".join(f"{name}, {where}" for name, where in _STAGES.items()),
    values=tuple(_STAGES),
)
_SCHEDULE = Choice(
    name="key_schedule",
    description="rotate: the key turns with its block; select: each round chooses its subkey "
    "among the subkeys of all passes",
    values=("rotate", "select"),
)
_LETTER = {"pipelined": "", "chained": "_chained", "two_stage": "_p2"}


@generator(
    answers=encrypted_blocks,
    parameters=(_UNROLL, _STRUCTURE, _SCHEDULE),
    designs=tuple(
        {"structure": structure, "unroll": unroll}
        for structure in _STRUCTURE.values
        for unroll in _UNROLL.values
    ),
    description="DES encryption: 1 to 16 of the 16 rounds in hardware, each block with its key",
    source="FIPS 46-3; structure after Battle & Hempstead, section IV-A",
)
def des(*, unroll: int, structure: str, key_schedule: str) -> Design:
    """Return a core with `unroll` rounds in hardware, n.

    A block passes 16 / n times through the rounds, and one starts each 16 / n cycles in every
    structure: pipelined cores hold n blocks for 16 cycles, chained ones a single block for 16 / n
    (longer) cycles, two-stage ones 2 n blocks for 32 cycles.

    The loading multiplexer is before the first round and the answer is the last register, so
    that all registers are registers of rounds.  A key turns in the register beside its block
    (``rotate``), or stays, and each round selects among 16 / n subkeys (``select``: the paper's
    iterative and lightly unrolled cores).  Parity bits of a key are not examined.

    Departs from the paper: blocks carry their keys, while its pipelined key block may serve one
    key for all.  It encrypts only.
    """
    layers = {"pipelined": unroll, "chained": 1, "two_stage": 2 * unroll}[structure]
    passes = _ROUNDS // unroll
    name = f"u{unroll}{_LETTER[structure]}" + ("_select" if key_schedule == "select" else "")
    core = _Core(unroll, structure, key_schedule, layers)
    return Design(
        name=name,
        parameters={"unroll": unroll, "structure": structure, "key_schedule": key_schedule},
        verilog="\n".join((*_shared_modules(), *core.text())) + "\n",
        top="des",
        clock="clock",
        payload_bit=64.0,
        cycles_per_task=float(passes),
        latency_cycles=layers * passes,
        tasks_in_flight=float(layers),
        read_byte=16.0,
        written_byte=8.0,
    )


def _shared_modules() -> Iterator[str]:
    """Yield the modules of every core: permutations, boxes.  Bits count from 1, as in FIPS 46-3."""
    yield "// The Data Encryption Standard, FIPS 46-3. Bits count from 1, the leftmost."
    yield from _permutation("initial_permutation", "IP", 64, INITIAL)
    yield from _permutation("final_permutation", "the inverse of IP", 64, FINAL)
    yield from _permutation("key_choice", "PC-1: leaves parity out", 64, KEY_CHOICE)
    yield from _permutation("subkey_choice", "PC-2", 56, SUBKEY_CHOICE)
    yield from _permutation("expansion", "E", 32, EXPANSION)
    yield from _permutation("round_permutation", "P", 32, PERMUTATION)
    for number, box in enumerate(BOXES, 1):
        yield f"\n// S{number}: bits 1 and 6 choose the row, the others the column."
        yield f"module substitution_{number} (input [1:6] from, output reg [1:4] to);"
        yield "  always @* case ({from[1], from[6], from[2:5]})"
        for row in range(0, 64, 4):
            cases = (f"6'd{entry}: to = 4'd{box[entry]};" for entry in range(row, row + 4))
            yield "    " + " ".join(cases)
        yield "  endcase"
        yield "endmodule"
    yield "\n// All boxes, then P."
    yield "module substitution (input [1:48] from, output [1:32] to);"
    yield "  wire [1:32] substituted;"
    for box_number in range(8):
        source = f"from[{6 * box_number + 1}:{6 * box_number + 6}]"
        target = f"substituted[{4 * box_number + 1}:{4 * box_number + 4}]"
        yield f"  substitution_{box_number + 1} box_{box_number + 1} ({source}, {target});"
    yield "  round_permutation permute (substituted, to);"
    yield "endmodule"


def _permutation(name: str, comment: str, width: int, order: Sequence[int]) -> Iterator[str]:
    yield f"\n// {comment}"
    yield f"module {name} (input [1:{width}] from, output [1:{len(order)}] to);"
    yield f"  assign to = {picked('from', order)};"
    yield "endmodule"


@dataclass(frozen=True)
class _State:
    """Signals of both halves and the key, and the number of registers before them."""

    left: str
    right: str
    key: str
    layer: int


@dataclass(frozen=True)
class _Core:
    """The text of module ``des``.  A layer is the logic before one set of registers."""

    unroll: int
    structure: str
    key_schedule: str
    layers: int

    @property
    def passes(self) -> int:
        return _ROUNDS // self.unroll

    def text(self) -> Iterator[str]:
        """Yield the lines of the module."""
        yield f"\n// {self.unroll} of {_ROUNDS} rounds in hardware: {_STAGES[self.structure]}."
        yield "module des ("
        yield "  input clock, input reset, input [63:0] block, input [63:0] key,"
        yield "  output ready, output valid, output [63:0] answer"
        yield ");"
        yield from self._control() if self.passes > 1 else self._free_running()
        yield from self._entry()
        state = _State("entering_block[1:32]", "entering_block[33:64]", "entering_key", 0)
        for number in range(1, self.unroll + 1):
            state = yield from self._round(number, state)
        yield "\n  // The halves of the last round are not exchanged."
        yield f"  final_permutation permute_answer ({{{state.right}, {state.left}}}, answer);"
        yield "endmodule"

    def _free_running(self) -> Iterator[str]:
        yield "  // A block enters in each cycle, and leaves after the last register."
        yield f"  reg [{self.layers}:1] filled;"
        shifted = f"{{filled[{self.layers - 1}:1], 1'b1}}" if self.layers > 1 else "1'b1"
        yield f"  always @(posedge clock) filled <= reset ? {self.layers}'d0 : {shifted};"
        yield "  assign ready = 1'b1;"
        yield f"  assign valid = filled[{self.layers}];"

    def _control(self) -> Iterator[str]:
        frame = self.layers * self.passes
        bits, pass_bits = int(log2(frame)), int(log2(self.passes))
        yield f"  // A frame has {frame} cycles; blocks enter and leave in the first {self.layers}."
        yield f"  reg [{bits - 1}:0] cycle;"
        yield "  reg filled;"
        yield "  always @(posedge clock) begin"
        yield f"    cycle <= reset ? {bits}'d0 : cycle + {bits}'d1;"
        yield f"    filled <= reset ? 1'b0 : filled | (cycle == {bits}'d{frame - 1});"
        yield "  end"
        yield "  // The pass that a block is in goes with it from layer to layer."
        yield f"  wire [{pass_bits - 1}:0] pass_0 = cycle[{bits - 1}:{bits - pass_bits}];"
        for layer in range(1, self.layers):
            yield f"  reg [{pass_bits - 1}:0] pass_{layer};"
            yield f"  always @(posedge clock) pass_{layer} <= pass_{layer - 1};"
        yield f"  assign ready = pass_0 == {pass_bits}'d0;"
        yield "  assign valid = ready & filled;"

    def _entry(self) -> Iterator[str]:
        last = self.layers
        yield "\n  // A block and its key enter, or come back for another pass."
        yield "  wire [1:64] permuted;"
        yield "  wire [1:56] chosen;"
        yield "  initial_permutation permute_block (block, permuted);"
        yield "  key_choice choose_key (key, chosen);"
        again = self.passes > 1
        if again:
            yield f"  reg [1:32] left_{last}, right_{last};"
            yield f"  reg [1:56] key_{last};"
        back = f"ready ? permuted : {{left_{last}, right_{last}}}" if again else "permuted"
        yield f"  wire [1:64] entering_block = {back};"
        back = f"ready ? chosen : key_{last}" if again else "chosen"
        yield f"  wire [1:56] entering_key = {back};"

    def _round(self, number: int, state: _State) -> Generator[str, None, _State]:
        """Yield a round, and its registers.  Return the signals of its results."""
        yield f"\n  // Round {number} of a pass."
        key = yield from self._subkey(number, state)
        yield f"  wire [1:48] expanded_{number};"
        yield f"  expansion expand_{number} ({state.right}, expanded_{number});"
        mixed = f"expanded_{number} ^ subkey_{number}"
        state = replace(state, key=key)
        if self.structure == "two_stage":
            layer = state.layer + 1
            yield f"  reg [1:48] mixed_{layer};"
            yield f"  always @(posedge clock) mixed_{layer} <= {mixed};"
            mixed = f"mixed_{layer}"
            state = yield from self._registers(state)
        yield f"  wire [1:32] changed_{number};"
        yield f"  substitution substitute_{number} ({mixed}, changed_{number});"
        yield f"  wire [1:32] crossed_{number} = {state.left} ^ changed_{number};"
        state = replace(state, left=state.right, right=f"crossed_{number}")
        if self.structure != "chained" or number == self.unroll:
            state = yield from self._registers(state)
        return state

    def _subkey(self, number: int, state: _State) -> Generator[str, None, str]:
        """Yield the subkey of a round.  Return the key from then on."""
        rounds = range(number - 1, _ROUNDS, self.unroll)
        which = f"pass_{state.layer}"
        selects = self.key_schedule == "select"
        shifts = (sum(SHIFTS[0 if selects else one : one + 1]) for one in rounds)
        turned = chosen_by(which, (_turned(state.key, shift) for shift in shifts))
        yield f"  wire [1:56] turned_{number} = {turned};"
        yield f"  wire [1:48] subkey_{number};"
        yield f"  subkey_choice choose_{number} (turned_{number}, subkey_{number});"
        return state.key if selects else f"turned_{number}"

    def _registers(self, state: _State) -> Generator[str, None, _State]:
        """Yield the registers of a layer.  The entry of blocks declares the last layer's."""
        layer = state.layer + 1
        if layer < self.layers or self.passes == 1:
            yield f"  reg [1:32] left_{layer}, right_{layer};"
            yield f"  reg [1:56] key_{layer};"
        yield "  always @(posedge clock) begin"
        yield f"    left_{layer} <= {state.left};"
        yield f"    right_{layer} <= {state.right};"
        yield f"    key_{layer} <= {state.key};"
        yield "  end"
        return _State(f"left_{layer}", f"right_{layer}", f"key_{layer}", layer)


def _turned(key: str, shift: int) -> str:
    """Return both halves of a key turned left."""
    shift %= 28
    if not shift:
        return key
    halves = ((1, 28), (29, 56))
    parts = (
        f"{key}[{first + shift}:{last}], {key}[{first}:{first + shift - 1}]"
        for first, last in halves
    )
    return "{" + ", ".join(parts) + "}"
