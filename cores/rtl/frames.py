"""What goes into a core at full rate and leaves it, task by task, as cycles of vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.contract.generators import Bits, Design, Vectors

RESET_CYCLES = 2
MESSAGE_BLOCKS = 4
"""Of a random message that is hashed."""


@dataclass(frozen=True)
class Frames:
    """When a core takes tasks, and when it gives their answers: shape (cycles,) each.

    After the reset frames of `latency_cycles` follow each other; in the first cycles of each, as
    many as there are tasks in flight, a task is taken, and an answer leaves but in the first.
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
        """How many tasks are taken."""
        return int(np.count_nonzero(self.ready))

    def vectors(
        self,
        given: Mapping[str, Bits],
        answers: Mapping[str, Bits],
        late: Mapping[str, Bits] | None = None,
    ) -> Vectors:
        """Return what enters and leaves, from bits of shape (taken, bits) in the order of tasks.

        Inputs stay between tasks; those of `late` are taken as the answer leaves.
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


def port_bits(texts: Sequence[bytes]) -> Bits:
    """Return texts of one length as values of a port, the first byte leftmost."""
    octets = np.array([list(text[::-1]) for text in texts], dtype=np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little").astype(bool)


def message_blocks(
    count: int,
    size: int,
    published: Sequence[bytes],
    padded: Callable[[bytes], bytes],
    random: np.random.Generator,
) -> tuple[list[bytes], list[bool]]:
    """Return so many blocks of padded messages, and which of them begin one.

    Published messages come first, padded already, then random ones of `MESSAGE_BLOCKS` blocks.
    """
    blocks: list[bytes] = []
    first: list[bool] = []
    texts = iter(published)
    lengths = (MESSAGE_BLOCKS - 1) * size, MESSAGE_BLOCKS * size - size // 4
    while len(blocks) < count:
        length = int(random.integers(*lengths))
        text = next(texts, b"") or padded(random.bytes(length))
        blocks += [text[at : at + size] for at in range(0, len(text), size)]
        first += [at == 0 for at in range(0, len(text), size)]
    return blocks[:count], first[:count]
