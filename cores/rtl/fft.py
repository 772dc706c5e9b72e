"""64-point FFT cores in Verilog: all stages in hardware, one transform in each clock cycle."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from math import log2, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from dse.contract.generators import Choice, Design, Vectors, bits_of, generator
from dse.cores.rtl.verilog import cut, weighted

POINTS = 64

Complex = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Real and imaginary parts."""


def fraction_bits(width: int) -> int:
    """Return the number of binary places of constants, with which 1.0 fits into `width` bits."""
    return width - 2


def constants(turn: int, size: int, fraction: int) -> tuple[int, int]:
    """Return cosine and sine of `turn` / `size` of a full turn, in units of 2 ** -fraction."""
    angle = 2.0 * pi * turn / size
    return round(float(np.cos(angle)) * 2**fraction), round(float(np.sin(angle)) * 2**fraction)


def rotations(radix: int) -> Iterator[list[int]]:
    """Yield, for each stage, by how many of the 64 parts of a turn each line is turned back."""
    size = POINTS
    while size > 1:
        part = size // radix
        block = [
            harmonic * offset * POINTS // size
            for harmonic in range(radix)
            for offset in range(part)
        ]
        yield block * (POINTS // size)
        size = part


def frequency(line: int, radix: int) -> int:
    """Return which frequency a line has after the last stage: its digits in reverse."""
    result = 0
    for _ in range(round(log2(POINTS) / log2(radix))):
        line, digit = divmod(line, radix)
        result = result * radix + digit
    return result


def transform(
    *, real: NDArray[np.int64], imaginary: NDArray[np.int64], radix: int, width: int
) -> Complex:
    """Return the transform of 64 points over 64, in fixed point as the hardware computes it.

    Decimation in frequency: log(64) / log(radix) stages, each of butterflies, rotations by
    constants, and one division by the radix with rounding to nearest (halves up).  Inside a
    butterfly of radix 8 a rotation by an eighth of a turn rounds to a whole number.  No sum
    overflows if ``real ** 2 + imaginary ** 2`` is at most ``loudest(...) ** 2``.  Beyond that,
    numbers wrap.

    Parameters
    ----------
    real, imaginary
        Shape (n, 64), whole numbers of `width` bits, signed.
    radix
        2, 4 or 8.
    width
        Bits of a part.

    Returns
    -------
    tuple
        Both parts, shape (n, 64), in order of frequency.
    """
    fraction, steps = fraction_bits(width), round(log2(radix))
    parts: Complex = (real, imaginary)
    size = POINTS
    for turns in rotations(radix):
        grouped = tuple(part.reshape(-1, POINTS // size, radix, size // radix) for part in parts)
        lines = [(grouped[0][:, :, one], grouped[1][:, :, one]) for one in range(radix)]
        lines = butterfly(lines, fraction)
        joined = [np.stack(part, axis=2).reshape(-1, POINTS) for part in zip(*lines, strict=True)]
        cosine, sine = np.array([constants(turn, POINTS, fraction) for turn in turns]).T
        half, shift = 1 << (fraction + steps - 1), fraction + steps
        turned = (
            (joined[0] * cosine + joined[1] * sine + half) >> shift,
            (joined[1] * cosine - joined[0] * sine + half) >> shift,
        )
        parts = (_wrapped(turned[0], width), _wrapped(turned[1], width))
        size //= radix
    order = np.argsort([frequency(line, radix) for line in range(POINTS)])
    return parts[0][:, order], parts[1][:, order]


def butterfly(lines: list[Complex], fraction: int) -> list[Complex]:
    """Return the transform of 2, 4 or 8 lines, from butterflies of radix 2."""
    if len(lines) == 1:
        return lines
    half = len(lines) // 2
    sums = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(lines[:half], lines[half:], strict=True)]
    differences = [
        _turned(a[0] - b[0], a[1] - b[1], number * 8 // len(lines), fraction)
        for number, (a, b) in enumerate(zip(lines[:half], lines[half:], strict=True))
    ]
    even, odd = butterfly(sums, fraction), butterfly(differences, fraction)
    return [line for pair in zip(even, odd, strict=True) for line in pair]


def _turned(
    real: NDArray[np.int64], imaginary: NDArray[np.int64], eighths: int, fraction: int
) -> Complex:
    """Return a number turned back by eighths of a turn: less than half a turn."""
    if eighths == 0:
        return real, imaginary
    if eighths == 2:
        return imaginary, -real
    root, half = constants(1, 8, fraction)[0], 1 << (fraction - 1)
    sum_ = ((real + imaginary) * root + half) >> fraction
    difference = ((imaginary - real) * root + half) >> fraction
    return (sum_, difference) if eighths == 1 else (difference, -sum_)


def _wrapped(values: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return values wrapped to two's complement of `width` bits."""
    half = 1 << (width - 1)
    return ((values + half) & (2 * half - 1)) - half


def error_bound(*, radix: int, width: int) -> float:
    """Return the largest error of an answer, the exact transform over 64, in units of the last bit.

    With inputs below M = 2 ** (width - 1), constants cut after f places, and S stages:
    ``S * (sqrt(1/2) + sqrt(1/2) * M * 2**-f)``, rounding and constants of a stage.  A stage divides
    its sums by the radix, so that errors of earlier stages do not grow.  Radix 8 adds
    ``S * 2 * (sqrt(2) * M * 2**-f + sqrt(1/2)) / 8`` for its two rotations by an eighth of a turn.

    Returns
    -------
    float
        Of the distance in the complex plane.
    """
    stages, scaled = round(log2(POINTS) / log2(radix)), 2.0 ** (width - 1 - fraction_bits(width))
    inner = (sqrt(2.0) * scaled + sqrt(0.5)) / 4.0 if radix == 8 else 0.0
    return stages * (sqrt(0.5) + sqrt(0.5) * scaled + inner)


def loudest(*, radix: int, width: int) -> float:
    """Return the largest magnitude of an input for which nothing overflows."""
    return 2.0 ** (width - 1) - 1.0 - error_bound(radix=radix, width=width)


def transformed_samples(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return random samples, a transform in each cycle, and the transforms.

    Both parts of a sample are uniform, as large as cannot overflow.
    """
    radix, width = int(design.parameters["radix"]), int(design.parameters["width"])
    latency = design.latency_cycles
    cycles = tasks + latency
    most = int(loudest(radix=radix, width=width) * sqrt(0.5))
    random = np.random.default_rng(seed)
    real, imaginary = random.integers(-most, most + 1, (2, cycles, POINTS), dtype=np.int64)
    found = transform(real=real[:tasks], imaginary=imaginary[:tasks], radix=radix, width=width)
    answer = np.zeros((cycles, 2 * POINTS * width), dtype=bool)
    answer[latency:] = _packed(found, width)
    return Vectors(
        stimulus={"samples": _packed((real, imaginary), width)},
        expected={"spectrum": answer},
        known={"spectrum": np.arange(cycles) >= latency},
        warm_up=latency,
        tasks=tasks,
    )


def _packed(parts: Complex, width: int) -> NDArray[np.bool_]:
    """Return the bits of a port: point by point, the real part lowest."""
    return bits_of(np.stack(parts, axis=2), width).reshape(len(parts[0]), -1)


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

    All 64 points enter in one cycle.  A stage is butterflies, rotations by constants and a division
    by the radix, with its results in registers.  The answer is the transform over 64.
    `transform` has the arithmetic, and `error_bound` its distance from the exact transform.

    Departs from the paper: its designs, by Spiral, take 64 words per cycle as well, but start a
    transform each 4 cycles by their published rates, and have 17 to 26 stages of registers, while
    these have 2 to 6.  The paper does not state their arithmetic.  Radix 16 to 64 are omitted.
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
    """Yield a butterfly: log2(radix) steps of sums and rotated differences."""
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
    """Yield sums and differences of both halves of the lines.  Return the lines of the answer."""
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
        odd[-1] = yield from _turn(odd[-1], number * 8 // len(lines), inner, fraction)
    above = yield from _steps(even, f"{family}even_", inner, fraction)
    below = yield from _steps(odd, f"{family}odd_", inner, fraction)
    return [line for pair in zip(above, below, strict=True) for line in pair]


def _turn(line: str, eighths: int, inner: int, fraction: int) -> Generator[str, None, str]:
    """Yield a number turned back by eighths of a turn, like `_turned`.  Return its name."""
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
