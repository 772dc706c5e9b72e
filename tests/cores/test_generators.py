"""Generated hardware gives the answers of models that are held to published figures."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dse.contract.generators import Generator, bits_of
from dse.cores.rtl.des import encrypt
from dse.cores.rtl.fft import error_bound, loudest, transform
from dse.cores.rtl.frames import known_answers
from dse.cores.rtl.jacobi import smooth
from dse.cores.rtl.verilog import signed_digits, weighted
from dse.plugins import registry
from tests.cores.bench import first_wrong, needs_icarus

GENERATORS = [registry.get(Generator, name) for name in registry.names(Generator)]
OF_TABLES = [{"radix": radix, "width": 8} for radix in (2, 4, 8)]
"""Transforms of the cores that are shipped, narrower than what the generator makes by itself."""
OF_TODAY = [one for one in GENERATORS if one.name not in ("des", "fft", "jacobi")]
"""Functions of today have published answers among their vectors; see test_todays_functions.py."""
SHIPPED = [
    pytest.param(
        one,
        parameters,
        id=f"{one.name}-{'-'.join(map(str, parameters.values()))}",
        marks=[pytest.mark.slow] if one in OF_TODAY else [],
    )
    for one in GENERATORS
    for parameters in (*one.designs, *(OF_TABLES if one.name == "fft" else ()))
]


def hexadecimal(texts: list[str]) -> NDArray[np.bool_]:
    return bits_of(np.array([int(text, 16) for text in texts], dtype=np.uint64), 64)


def test_des_gives_the_published_answers() -> None:
    """They go through every entry of every box."""
    keys, _, _, blocks, answers = (
        map(bytes.hex, one) for one in zip(*known_answers("des"), strict=True)
    )
    found = encrypt(block=hexadecimal([*blocks]), key=hexadecimal([*keys]))
    assert (found == hexadecimal([*answers])).all()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_des_is_that_of_openssl() -> None:
    """200 random blocks; triple DES with one key three times is DES, which openssl hides."""
    random = np.random.default_rng(5)
    for _ in range(8):
        key, blocks = random.bytes(8), random.bytes(25 * 8)
        command = ["openssl", "enc", "-des-ede3", "-nopad", "-K", (key * 3).hex()]
        done = subprocess.run(command, input=blocks, capture_output=True, check=True)
        texts, answers = (
            [text[at : at + 8].hex() for at in range(0, 200, 8)] for text in (blocks, done.stdout)
        )
        found = encrypt(block=hexadecimal(texts), key=hexadecimal([key.hex()] * 25))
        assert (found == hexadecimal(answers)).all()


def test_constants_are_sums_of_as_few_shifts_as_can_be() -> None:
    for number in range(-300, 301):
        digits = dict(signed_digits(number))
        assert sum(digit << place for place, digit in digits.items()) == number
        assert not any(place + 1 in digits for place in digits)
    assert weighted({"a": 7, "b": -2}) == " - (a <<< 0) + (a <<< 3) - (b <<< 1)"


def test_a_stencil_is_the_weighted_mean() -> None:
    """By hand: (1 + 2*2 + 3 + 2*4 + 4*5 + 2*6 + 7 + 2*8 + 10) // 16 = 81 // 16."""
    assert smooth(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]])).tolist() == [[5]]
    flat = np.full((5, 6), 2**32 - 1)
    assert (smooth(flat) == 2**32 - 1).all()


@pytest.mark.parametrize("width", [8, 12, 16])
@pytest.mark.parametrize("radix", [2, 4, 8])
def test_the_transform_is_within_its_bound_of_the_exact_one(radix: int, width: int) -> None:
    """The bound is a worst case; a thousand random transforms come within a fifth of it."""
    most = loudest(radix=radix, width=width) * np.sqrt(0.5)
    random = np.random.default_rng(7)
    parts = random.integers(-int(most), int(most) + 1, (2, 1000, 64))
    real, imaginary = transform(real=parts[0], imaginary=parts[1], radix=radix, width=width)
    exact = np.fft.fft(parts[0] + 1j * parts[1]) / 64
    error = np.abs(real + 1j * imaginary - exact).max()
    bound = error_bound(radix=radix, width=width)
    assert bound / 10 < error <= bound


@pytest.mark.parametrize("radix", [2, 4, 8])
def test_the_loudest_tones_do_not_overflow(radix: int) -> None:
    most = loudest(radix=radix, width=8)
    turns = np.exp(2j * np.pi * np.outer(np.arange(64), np.arange(64)) / 64) * most
    parts = np.trunc(turns.real).astype(int), np.trunc(turns.imag).astype(int)
    real, imaginary = transform(real=parts[0], imaginary=parts[1], radix=radix, width=8)
    exact = np.fft.fft(parts[0] + 1j * parts[1]) / 64
    assert np.abs(real + 1j * imaginary - exact).max() <= error_bound(radix=radix, width=8)


@needs_icarus
@pytest.mark.parametrize(("made", "parameters"), SHIPPED)
def test_shipped_hardware_gives_known_answers(
    made: Generator, parameters: dict[str, int | str], tmp_path: Path
) -> None:
    design = made(**parameters)
    vectors = made.answers(design, seed=3, tasks=200)
    assert vectors.tasks >= 200
    assert first_wrong(design, vectors, tmp_path) == ""


@needs_icarus
@pytest.mark.parametrize("made", OF_TODAY, ids=lambda one: one.name)
def test_the_first_design_of_each_function_gives_known_answers(
    made: Generator, tmp_path: Path
) -> None:
    design = made(**made.designs[0])
    assert first_wrong(design, made.answers(design, seed=3, tasks=10), tmp_path) == ""


@needs_icarus
@pytest.mark.parametrize("structure", ["pipelined", "chained", "two_stage"])
def test_selected_subkeys_are_those_of_turning_keys(structure: str, tmp_path: Path) -> None:
    des = registry.get(Generator, "des")
    design = des(unroll=4, structure=structure, key_schedule="select")
    vectors = des.answers(design, seed=3, tasks=20)
    assert first_wrong(design, vectors, tmp_path) == ""


@pytest.mark.parametrize(("made", "parameters"), SHIPPED)
def test_figures_follow_from_the_answers(made: Generator, parameters: dict[str, int | str]) -> None:
    """From the first input of the first task to its answer, and answers in the cycles after it."""
    design = made(**parameters)
    assert made(**parameters) == design
    vectors, again = (made.answers(design, seed=3, tasks=64) for _ in range(2))
    assert all((bits == again.stimulus[port]).all() for port, bits in vectors.stimulus.items())
    begun = np.count_nonzero(vectors.stimulus.get("reset", np.zeros(1)))
    answered = int(np.argmax([*vectors.known.values()][-1]))
    if made.name == "ascon_aead":  # its messages have steps of two lengths, and begin with a longer
        valid = np.flatnonzero(vectors.expected["valid"])
        assert np.diff(valid).min() == design.latency_cycles
        return
    assert answered - begun == design.latency_cycles
    rate = (vectors.cycles - answered) / design.cycles_per_task
    assert rate <= vectors.tasks <= rate + design.tasks_in_flight
