"""AES encryption cores in Verilog: rounds in hardware, keys expanded beside the blocks."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial

from dse.contract.generators import Choice, Design, generator
from dse.cores.rtl.aes_answers import aes_blocks, doubled
from dse.cores.rtl.aes_answers import box as box_module
from dse.cores.rtl.rounds import STRUCTURE, RoundCore, State
from dse.cores.rtl.verilog import chosen_by, cut

_BOX = Choice(
    name="box",
    description="S-box: composite, an inverse in a tower of fields; table, multiplexers",
    values=("composite", "table"),
)

_STRUCTURE = replace(
    STRUCTURE,
    description=f"{STRUCTURE.description}; column, 32 bits of one round in a cycle",
    values=(*STRUCTURE.values, "column"),
)


def _unroll(rounds: int) -> Choice:
    values = tuple(one for one in range(1, rounds + 1) if rounds % one == 0)
    return Choice(
        name="unroll",
        description=f"Rounds in hardware; a block passes {rounds} / unroll times",
        values=values,
    )


def _shipped(rounds: int) -> tuple[dict[str, int | str], ...]:
    return tuple({"unroll": unroll} for unroll in _unroll(rounds).values)


_COLUMNS: tuple[dict[str, int | str], ...] = (
    {"unroll": 1, "structure": "column"},
    {"unroll": 1, "structure": "column", "box": "table"},
)
_OTHERS: tuple[dict[str, int | str], ...] = (
    {"unroll": 1, "box": "table"},
    {"unroll": 2, "structure": "chained"},
    *_COLUMNS,
)
_SOURCE = "FIPS 197"


@generator(
    answers=aes_blocks,
    parameters=(_unroll(10), _STRUCTURE, _BOX),
    designs=_shipped(10) + _OTHERS,
    description="AES-128 encryption: 1 to 10 of the 10 rounds in hardware",
    source=_SOURCE,
)
def aes128(*, unroll: int, structure: str, box: str) -> Design:
    """Return a core for keys of 128 bit (`aes_design`)."""
    return aes_design(128, unroll=unroll, structure=structure, box=box)


@generator(
    answers=aes_blocks,
    parameters=(_unroll(14), _STRUCTURE, _BOX),
    designs=_shipped(14) + _COLUMNS,
    description="AES-256 encryption: 1 to 14 of the 14 rounds in hardware",
    source=_SOURCE,
)
def aes256(*, unroll: int, structure: str, box: str) -> Design:
    """Return a core for keys of 256 bit (`aes_design`)."""
    return aes_design(256, unroll=unroll, structure=structure, box=box)


def aes_design(key_bit: int, *, unroll: int, structure: str, box: str) -> Design:
    """Return a core with n = `unroll` of R rounds in hardware, in which R is 10 or 14.

    A block passes R / n times, and one starts each R / n cycles in every structure: pipelined
    cores hold n blocks for R cycles, chained ones a single block for R / n longer cycles.  Keys are
    expanded round by round beside their block.  With the structure `column` one column of a round
    and a word of the key take a cycle: 4 R cycles, with 8 boxes instead of a round's 20.

    Assumed: a key has a separate port and stays for many blocks, so that a block reads 16 bytes.

    Raises
    ------
    ValueError
        Columns of more than one round.
    """
    if structure == "column" and unroll > 1:
        raise ValueError("columns belong to one round; unroll has to be 1")
    core = aes_core(key_bit, unroll=unroll, structure=structure)
    shown = structure == "column" or core.layers < unroll
    name = f"u{unroll}" + (f"_{structure}" if shown else "")
    return core.design(
        aes_text(core, key_bit, box),
        read_byte=16.0,
        written_byte=16.0,
        name=name + ("_table" if box == "table" else ""),
        parameters={"key_bit": key_bit, "unroll": unroll, "structure": structure, "box": box},
    )


def aes_core(key_bit: int, *, unroll: int, structure: str) -> RoundCore:
    """Return the structure of a core that encrypts blocks."""
    rounds = key_bit // 32 + 6
    return RoundCore(
        name=f"aes{key_bit}",
        remark=f"{unroll} of {rounds} rounds in hardware, {structure}.",
        inputs={"block": 128, "key": key_bit},
        outputs={"answer": 128},
        fields={"text": 128, "key": key_bit},
        unroll=unroll,
        passes=4 * rounds if structure == "column" else rounds // unroll,
        layers=unroll if structure == "pipelined" else 1,
    )


def aes_text(core: RoundCore, key_bit: int, box: str) -> Iterator[str]:
    """Yield all modules of a core, itself last."""

    step = _column if core.passes > key_bit // 32 + 6 else _round
    title = "The Advanced Encryption Standard, FIPS 197"
    yield f"// {title}, keys of {key_bit} bit, first byte leftmost."
    yield from box_module("substitute_byte", box)
    yield from _shared()
    whitening = f"key[{key_bit - 1}:{key_bit - 128}]"
    yield from core.text(
        {"text": f"block ^ {whitening}", "key": "key"},
        partial(step, core, key_bit),
        lambda state: [f"  assign answer = {state['text']};"],
    )


def _shared() -> Iterator[str]:
    yield "\nmodule substitute_word (input [31:0] from, output [31:0] to);"
    for byte in range(4):
        yield f"  substitute_byte box_{byte} ({cut('from', byte, 8)}, {cut('to', byte, 8)});"
    yield "endmodule"
    yield "\nmodule mix_column (input [31:0] from, output [31:0] to);"
    bytes_ = [cut("from", 3 - row, 8) for row in range(4)]
    yield f"  wire [7:0] every = {' ^ '.join(bytes_)};"
    for row in range(4):
        yield f"  wire [7:0] pair_{row} = {bytes_[row]} ^ {bytes_[(row + 1) % 4]};"
        carried = f"{{2{{pair_{row}[7]}}}}"
        twice = f"{{pair_{row}[6:0], 1'b0}} ^ {{3'd0, {carried}, 1'b0, {carried}}}"
        yield f"  assign {cut('to', 3 - row, 8)} = {bytes_[row]} ^ every ^ {twice};"
    yield "endmodule"
    yield "\n// The last round does not mix columns."
    yield "module encrypt_round ("
    yield "  input [127:0] from, input [127:0] key, input last, output [127:0] to"
    yield ");"
    yield "  wire [127:0] substituted, mixed;"
    places = [15 - (at + 4 * (at % 4)) % 16 for at in range(16)]
    yield f"  wire [127:0] shifted = {{{', '.join(cut('substituted', at, 8) for at in places)}}};"
    for word in range(4):
        ends = cut("from", word, 32), cut("substituted", word, 32)
        yield f"  substitute_word substitute_{word} ({', '.join(ends)});"
        ends = cut("shifted", word, 32), cut("mixed", word, 32)
        yield f"  mix_column mix_{word} ({', '.join(ends)});"
    yield "  assign to = (last ? shifted : mixed) ^ key;"
    yield "endmodule"
    yield "\n// Four words of the expanded key, from the four that are a key before them."
    yield "module next_key ("
    yield "  input [127:0] before, input [31:0] word, input [7:0] constant, output [127:0] to"
    yield ");"
    yield "  wire [31:0] substituted;"
    yield "  substitute_word substitute (word, substituted);"
    yield "  assign to[127:96] = before[127:96] ^ substituted ^ {constant, 24'd0};"
    for word in (2, 1, 0):
        above = cut("to", word + 1, 32)
        yield f"  assign {cut('to', word, 32)} = {cut('before', word, 32)} ^ {above};"
    yield "endmodule"


def _round(
    core: RoundCore, key_bit: int, number: int, which: str, state: State
) -> Generator[str, None, State]:
    """Yield a round.  Keys of 256 bit are one round ahead."""
    ahead, key = key_bit == 256, state["key"]
    rounds = [number + 1 + ahead + core.unroll * one for one in range(core.passes)]
    turned = [f"{{{key}[23:0], {key}[31:24]}}", f"{key}[31:0]"]
    words = (turned[ahead and one % 2] for one in rounds)
    constants = (0 if ahead and one % 2 else _constant(one >> ahead) for one in rounds)
    yield f"  wire [31:0] word_{number} = {chosen_by(which, words)};"
    written = chosen_by(which, (f"8'd{one}" for one in constants))
    yield f"  wire [7:0] constant_{number} = {written};"
    yield f"  wire [127:0] key_of_{number}, text_of_{number};"
    high = f"{key}[{key_bit - 1}:{key_bit - 128}]"
    ends = f"{high}, word_{number}, constant_{number}, key_of_{number}"
    yield f"  next_key expand_{number} ({ends});"
    last = "1'b0"
    if number == core.unroll - 1:
        last = "1'b1" if core.passes == 1 else f"{which} == {core.bits}'d{core.passes - 1}"
    used = f"{key}[127:0]" if ahead else f"key_of_{number}"
    yield f"  encrypt_round round_{number} ({state['text']}, {used}, {last}, text_of_{number});"
    following = f"{{{key}[127:0], key_of_{number}}}" if ahead else f"key_of_{number}"
    yield f"  wire [{key_bit - 1}:0] following_{number} = {following};"
    return {"text": f"text_of_{number}", "key": f"following_{number}"}


def _column(
    core: RoundCore, key_bit: int, number: int, which: str, state: State
) -> Generator[str, None, State]:
    """Yield a column of a round and a word of the key.  The one round has number 0.

    Rows shift as their bytes are taken: of row r the byte r from the left, then the bytes before.
    """
    text, words = state["text"], key_bit // 32
    byte = [[cut(text, 15 - 4 * place - row, 8) for place in range(4)] for row in range(4)]
    late = [f"{which}[1:0] > 2'd{3 - row}" for row in range(4)]
    taken = [f"({late[row]} ? {byte[row][0]} : {byte[row][row]})" for row in (1, 2, 3)]
    yield f"  wire [31:0] taken = {{{', '.join((byte[0][0], *taken))}}};"
    yield "  wire [31:0] substituted, mixed, expanded;"
    yield "  substitute_word substitute (taken, substituted);"
    yield "  mix_column mix (substituted, mixed);"
    key, last = state["key"], core.passes - 4
    turns = f"{which}[2]" if words == 8 else "1'b0"
    turned = f"{turns} ? {key}[31:0] : {{{key}[23:0], {key}[31:24]}}"
    yield f"  substitute_word expand ({turned}, expanded);"
    constants = (_constant(one * 4 // words + 1) for one in range(core.passes // 4))
    chosen = chosen_by(f"{which}[{core.bits - 1}:2]", (f"8'd{one}" for one in constants))
    yield f"  wire [7:0] constant = {turns} ? 8'd0 : {chosen};"
    first = f"{which}[1:0] == 2'd0"
    added = f"({first} ? expanded ^ {{constant, 24'd0}} : {key}[31:0])"
    yield f"  wire [31:0] word = {cut(key, words - 1, 32)} ^ {added};"
    used = "word" if words == 4 else cut(key, 3, 32)
    yield f"  wire [31:0] column = ({which} >= {last} ? substituted : mixed) ^ {used};"
    following = [
        f"({late[row]} ? {byte[row][place + 1]} : {byte[row][place]})"
        if place < row
        else byte[row][place + 1]
        for place in range(3)
        for row in range(4)
    ]
    yield f"  wire [127:0] shifted = {{{', '.join(following)}, column}};"
    return {"text": "shifted", "key": f"{{{key}[{key_bit - 33}:0], word}}"}


def _constant(number: int) -> int:
    """Return the first byte of Rcon, FIPS 197, table 5."""
    value = 1
    for _ in range(number - 1):
        value = doubled(value)
    return value
