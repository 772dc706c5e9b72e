"""64-point FFT cores in Verilog: all stages in hardware, one transform in each clock cycle."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from math import log2

from dse.contract.generators import Choice, Design, generator
from dse.cores.rtl.fft_answers import (
    POINTS,
    constants,
    fraction_bits,
    frequency,
    rotations,
    transformed_samples,
)
from dse.cores.rtl.verilog import cut, weighted

_RADIX = Choice(
    name="radix", description="Lines of a butterfly; a register after each stage", values=(2, 4, 8)
)
_WIDTH = Choice(
    name="width",
    description="Bits of a real or imaginary part, signed; the paper's words have 32",
    values=(16, 12, 8),
)


@generator(
    answers=transformed_samples,
    parameters=(_RADIX, _WIDTH),
    designs=tuple({"radix": radix} for radix in _RADIX.values),
    description="64-point FFT in fixed point: one transform per cycle, radix 2, 4 or 8",
    source="Cooley & Tukey 1965, decimation in frequency; after Battle & Hempstead, section V-A",
)
def fft(*, radix: int, width: int) -> Design:
    """Return a core with log(64) / log(radix) stages: 6, 3 or 2.

    All 64 points enter in one cycle, a stage is butterflies, rotations by constants and a division
    by the radix, and its results stand in registers; the answer is the transform over 64.
    `transform` has the arithmetic, and `error_bound` how far it is from the exact one.

    Departs from the paper: its designs, by Spiral, take 64 words per cycle as well, but start a
    transform each 4 cycles by their published rates, and have 17 to 26 stages of registers where
    these have 2 to 6; which arithmetic they have is not said.  Radix 16 to 64 are omitted.
    """
    stages = round(log2(POINTS) / log2(radix))
    return Design(
        name=f"r{radix}",
        parameters={"radix": radix, "width": width},
        verilog="\n".join(_text(radix, width)) + "\n",
        top="fft",
        clock="clock",
        payload_bit=2.0 * POINTS * width,
        cycles_per_task=1.0,
        latency_cycles=stages,
        tasks_in_flight=float(stages),
        read_byte=2.0 * POINTS * width / 8.0,
        written_byte=2.0 * POINTS * width / 8.0,
    )


def _text(radix: int, width: int) -> Iterator[str]:
    for turn in sorted({turn for turns in rotations(radix) for turn in turns}):
        yield from _rotation(turn, radix, width)
    yield from _butterfly(radix, width)
    yield f"\n// {POINTS} points, radix {radix}: decimation in frequency."
    yield "// Ports: point by point, the real part in the lower bits."
    total = 2 * POINTS * width
    yield "module fft ("
    yield f"  input clock, input [{total - 1}:0] samples, output [{total - 1}:0] spectrum"
    yield ");"
    lines = [cut("samples", point, 2 * width) for point in range(POINTS)]
    for stage, turns in enumerate(rotations(radix), 1):
        yield from _stage(stage, lines, turns, radix, width)
        lines = [f"line_{stage}_{line}" for line in range(POINTS)]
    yield "\n  // The last stage leaves frequencies in the order of their reversed digits."
    for line, name in enumerate(lines):
        yield f"  assign {cut('spectrum', frequency(line, radix), 2 * width)} = {name};"
    yield "endmodule"


def _inner(radix: int, width: int) -> int:
    """Return the width inside a butterfly: sums of `radix` numbers, turned by any angle."""
    return width + round(log2(radix)) + 1


def _rotation(turn: int, radix: int, width: int) -> Iterator[str]:
    """Yield a rotation by a constant angle, division by the radix, and rounding."""
    inner, fraction = _inner(radix, width), fraction_bits(width)
    cosine, sine = constants(turn, POINTS, fraction)
    shift = fraction + round(log2(radix))
    yield f"\n// Turns a number back by {turn} / {POINTS} of a turn; divided by {radix}."
    yield f"module rotation_{turn} ("
    yield f"  input [{2 * inner - 1}:0] from, output [{2 * width - 1}:0] to"
    yield ");"
    yield f"  wire signed [{inner - 1}:0] real_part = {cut('from', 0, inner)};"
    yield f"  wire signed [{inner - 1}:0] imaginary_part = {cut('from', 1, inner)};"
    widest = inner + fraction + 2
    half = f"{widest}'sd{1 << (shift - 1)}"
    for name, first, second in (
        ("real", {"real_part": cosine}, {"imaginary_part": sine}),
        ("imaginary", {"imaginary_part": cosine}, {"real_part": -sine}),
    ):
        terms = weighted(first | second)
        yield f"  wire signed [{widest - 1}:0] turned_{name} = {half}{terms};"
    top = shift + width - 1
    yield f"  assign to = {{turned_imaginary[{top}:{shift}], turned_real[{top}:{shift}]}};"
    yield "endmodule"


def _butterfly(radix: int, width: int) -> Iterator[str]:
    """Yield a butterfly: log2(radix) steps of sums and differences, which are turned."""
    inner, fraction = _inner(radix, width), fraction_bits(width)
    total, entering = 2 * radix * inner, 2 * radix * width
    yield f"\n// The transform of {radix} numbers."
    yield "module butterfly ("
    yield f"  input [{entering - 1}:0] from, output [{total - 1}:0] to"
    yield ");"
    lines = []
    for line in range(radix):
        for place, part in enumerate(("real", "imaginary"), 2 * line):
            piece = cut("from", place, width)
            yield f"  wire signed [{inner - 1}:0] {part}_{line} = $signed({piece});"
        lines.append(f"{line}")
    lines = yield from _steps(lines, "", inner, fraction)
    parts = [part for line in lines for part in (f"real_{line}", f"imaginary_{line}")]
    yield f"  assign to = {{{', '.join(reversed(parts))}}};"
    yield "endmodule"


def _steps(
    lines: list[str], family: str, inner: int, fraction: int
) -> Generator[str, None, list[str]]:
    """Yield sums and differences of both halves of the lines; return the lines of the answer."""
    if len(lines) == 1:
        return lines
    half = len(lines) // 2
    even, odd = [], []
    for number, (first, second) in enumerate(zip(lines[:half], lines[half:], strict=True)):
        even.append(f"{family}even_{number}")
        odd.append(f"{family}odd_{number}")
        for part in ("real", "imaginary"):
            declared = f"  wire signed [{inner - 1}:0] {part}"
            yield f"{declared}_{even[-1]} = {part}_{first} + {part}_{second};"
            yield f"{declared}_{odd[-1]} = {part}_{first} - {part}_{second};"
        odd[-1] = yield from _turned(odd[-1], number * 8 // len(lines), inner, fraction)
    above = yield from _steps(even, f"{family}even_", inner, fraction)
    below = yield from _steps(odd, f"{family}odd_", inner, fraction)
    return [line for pair in zip(above, below, strict=True) for line in pair]


def _turned(line: str, eighths: int, inner: int, fraction: int) -> Generator[str, None, str]:
    """Yield a number turned back by eighths of a turn, as `fft_answers` has it; return its name."""
    if eighths == 0:
        return line
    declared = f"  wire signed [{inner - 1}:0]"
    if eighths == 2:
        yield f"{declared} real_{line}_turned = imaginary_{line};"
        yield f"{declared} imaginary_{line}_turned = -real_{line};"
        return f"{line}_turned"
    widest = inner + fraction + 2
    root = constants(1, 8, fraction)[0]
    half = f"{widest}'sd{1 << (fraction - 1)}"
    for name, terms in (
        ("sum", f"real_{line} + imaginary_{line}"),
        ("difference", f"imaginary_{line} - real_{line}"),
    ):
        yield f"{declared} whole_{name}_{line} = {terms};"
        product = weighted({f"whole_{name}_{line}": root})
        yield f"  wire signed [{widest - 1}:0] {name}_{line} = {half}{product};"
    high = f"[{fraction + inner - 1}:{fraction}]"
    turned = (f"sum_{line}{high}", f"difference_{line}{high}")
    real, imaginary = turned if eighths == 1 else (turned[1], f"-$signed({turned[0]})")
    yield f"{declared} real_{line}_turned = {real};"
    yield f"{declared} imaginary_{line}_turned = {imaginary};"
    return f"{line}_turned"


def _stage(stage: int, lines: list[str], turns: list[int], radix: int, width: int) -> Iterator[str]:
    """Yield a stage: butterflies over lines that lie apart, rotations, registers."""
    inner = _inner(radix, width)
    size = POINTS // radix ** (stage - 1)
    yield f"\n  // Stage {stage}."
    for first in (one for one in range(POINTS) if one % size < size // radix):
        members = [first + size // radix * number for number in range(radix)]
        group = f"group_{stage}_{first}"
        yield f"  wire [{2 * radix * inner - 1}:0] {group};"
        entering = ", ".join(lines[member] for member in reversed(members))
        yield f"  butterfly butterfly_{stage}_{first} ({{{entering}}}, {group});"
        for number, member in enumerate(members):
            name = f"{stage}_{member}"
            yield f"  wire [{2 * width - 1}:0] turned_{name};"
            yield f"  rotation_{turns[member]} rotate_{name}"
            yield f"    ({cut(group, number, 2 * inner)}, turned_{name});"
            yield f"  reg [{2 * width - 1}:0] line_{name};"
            yield f"  always @(posedge clock) line_{name} <= turned_{name};"
