"""Inputs and outputs of a core at full rate, task by task, as cycles of vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dse.contract.generators import Bits, Design, Vectors, bits_of
from dse.contract.published import read_published
from dse.cores._table import TABLES

RESET_CYCLES = 2
_MESSAGE_BLOCKS = 4
"""Number of blocks of a random message."""


@dataclass(frozen=True)
class Frames:
    """Cycles of a core that takes tasks, or gives answers, each of shape (cycles,).

    After the reset, frames of `latency_cycles` follow each other.  In the first cycles of each, as
    many as there are tasks in flight, a task is taken, and an answer leaves except in the first.
    """

    ready: NDArray[np.bool_]
    valid: NDArray[np.bool_]
    warm_up: int

    @classmethod
    def of(cls, design: Design, tasks: int) -> Frames:
        """Return the frames of at least so many answers."""
        frame, taken = design.latency_cycles, int(design.tasks_in_flight)
        frames = 1 + -(-tasks // taken)
        position = np.arange(RESET_CYCLES + frames * frame + taken) - RESET_CYCLES
        ready = (position % frame < taken) & (position >= 0)
        return cls(ready, ready & (position >= frame), RESET_CYCLES + frame)

    @classmethod
    def paced(cls, cycles: Sequence[int]) -> Frames:
        """Return the frames of tasks that take so many cycles each, one after the other."""
        begin = RESET_CYCLES + np.cumsum([0, *cycles])
        ready = np.zeros(begin[-1] + 1, dtype=bool)
        ready[begin] = True
        return cls(ready, ready & (np.arange(len(ready)) > RESET_CYCLES), int(begin[1]))

    @property
    def taken(self) -> int:
        """Return the number of tasks that are taken."""
        return int(np.count_nonzero(self.ready))

    def fed(
        self,
        steps: Sequence[NamedTuple],
        answers: Mapping[str, Sequence[bytes]],
        *,
        late: Sequence[str] = (),
        widths: Mapping[str, int] | None = None,
    ) -> Vectors:
        """Return inputs and outputs, from steps whose fields are ports.

        Numbers have one bit if not in `widths`.  Ports of `late` are read as the answer leaves.
        """
        values: Mapping[str, Any] = dict(
            zip(steps[0]._fields, zip(*steps, strict=True), strict=True)
        )
        bits = {port: port_bits(of, (widths or {}).get(port, 1)) for port, of in values.items()}
        given = {port: of for port, of in bits.items() if port not in late}
        found = {port: port_bits(texts) for port, texts in answers.items()}
        return self.vectors(given, found, {port: bits[port] for port in late})

    def vectors(
        self,
        given: Mapping[str, Bits],
        answers: Mapping[str, Bits],
        late: Mapping[str, Bits] | None = None,
    ) -> Vectors:
        """Return inputs and outputs, from bits of shape (taken, bits) in the order of tasks.

        Inputs stay between tasks.  Inputs of `late` are taken as the answer leaves.
        """
        left = np.count_nonzero(self.valid)
        current = np.maximum(np.cumsum(self.ready) - 1, 0)
        leaving: NDArray[np.int64] = np.cumsum(self.valid) - self.valid
        reset = np.arange(len(self.ready)) < RESET_CYCLES
        expected = {"ready": self.ready[:, None], "valid": self.valid[:, None]}
        for port, bits in answers.items():
            expected[port] = np.zeros((len(reset), bits.shape[1]), dtype=bool)
            expected[port][self.valid] = bits[:left]
        return Vectors(
            stimulus={
                "reset": reset[:, None],
                **{port: bits[current] for port, bits in given.items()},
                **{port: bits[leaving] for port, bits in (late or {}).items()},
            },
            expected=expected,
            known={"ready": ~reset, "valid": ~reset, **dict.fromkeys(answers, self.valid)},
            warm_up=self.warm_up,
            tasks=int(left),
        )


def known_answers(function: str) -> list[tuple[bytes, ...]]:
    """Return key, nonce, data, text and answer of the published answers of a function."""
    rows = read_published(TABLES / "known_answers.csv").rows
    own = ([*row.values()] for row in rows)
    return [tuple(map(bytes.fromhex, cells)) for name, *cells in own if name == function]


def added(a: bytes, b: bytes) -> bytes:
    """Return the exclusive or of two texts of one length."""
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def words_of(text: bytes, octets: int = 8) -> list[int]:
    """Return the words of a text, the first byte of each lowest."""
    return [int.from_bytes(text[at : at + octets], "little") for at in range(0, len(text), octets)]


def text_of(words: Iterable[int], octets: int = 8) -> bytes:
    """Return the text of words."""
    return b"".join(word.to_bytes(octets, "little") for word in words)


def turned(word: int, turn: int, width: int = 64) -> int:
    """Return a word turned left, or to the right by a negative `turn`."""
    turn %= width
    return (word << turn | word >> width - turn) & (1 << width) - 1


def port_bits(values: Sequence[bytes] | Sequence[int], width: int = 1) -> Bits:
    """Return values of a port: texts of one length, first byte leftmost, or numbers of a width."""
    if not isinstance(values[0], bytes):
        return bits_of(np.array(values, dtype=np.int64), width)
    octets = np.array([list(text[::-1]) for text in values], dtype=np.uint8)  # type: ignore[index]
    return np.unpackbits(octets, axis=1, bitorder="little").astype(bool)


class Digest(NamedTuple):
    """Computation of the digest of a message, block by block.

    `padded` makes whole blocks of a message.  `start`, `after` and `answer` are the initial sum of
    a message, the sum after a block, and a sum's answer.
    """

    padded: Callable[[bytes], bytes]
    start: Any
    after: Callable[[Any, bytes], Any]
    answer: Callable[[Any], bytes]


def message_vectors(
    design: Design,
    *,
    seed: int,
    tasks: int,
    published: Sequence[bytes],
    digest: Digest,
    port: str = "block",
) -> Vectors:
    """Return published messages, then random ones of `_MESSAGE_BLOCKS` blocks, and their digests.

    A task reads a block at `port`, and whether it begins a message.
    """
    size, random = int(design.read_byte), np.random.default_rng(seed)
    known = [digest.padded(message) for message in published]
    frames = Frames.of(design, tasks + sum(map(len, known)) // size)
    lengths = (_MESSAGE_BLOCKS - 1) * size, _MESSAGE_BLOCKS * size - size // 4
    texts = iter(known)
    blocks: list[bytes] = []
    first: list[bool] = []
    while len(blocks) < frames.taken:
        length = int(random.integers(*lengths))
        text = next(texts, b"") or digest.padded(random.bytes(length))
        blocks += [text[at : at + size] for at in range(0, len(text), size)]
        first += [at == 0 for at in range(0, len(text), size)]
    given = {port: port_bits(blocks[: frames.taken]), "first": port_bits(first[: frames.taken])}
    answers, total = [], digest.start
    for block, begins in zip(blocks[: frames.taken], first, strict=False):
        total = digest.after(digest.start if begins else total, block)
        answers.append(digest.answer(total))
    return frames.vectors(given, {"answer": port_bits(answers)})
