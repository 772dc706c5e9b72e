"""The fixed-point arithmetic of the FFT cores in numpy, exact to the bit, and its error."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from dse.contract.generators import Design, Vectors, bits_of

POINTS = 64

Complex = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Real and imaginary parts."""


def fraction_bits(width: int) -> int:
    """Return after how many binary places constants are cut; 1.0 fits into `width` bits."""
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
    overflows where ``real ** 2 + imaginary ** 2`` is at most ``loudest(...) ** 2``; beyond,
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
    """Return what is left in two's complement of `width` bits."""
    half = 1 << (width - 1)
    return ((values + half) & (2 * half - 1)) - half


def error_bound(*, radix: int, width: int) -> float:
    """Return how far an answer can be from the exact transform over 64, in units of the last bit.

    With inputs below M = 2 ** (width - 1), constants cut after f places, and S stages:
    ``S * (sqrt(1/2) + sqrt(1/2) * M * 2**-f)``, rounding and constants of a stage; a stage divides
    by the radix what it sums, so that errors of earlier stages do not grow.  Radix 8 adds
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
