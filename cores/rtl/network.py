"""What stands between one port and n instances of a core: words out in turn, answers back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dse.contract.generators import Choice, Design, Vectors, generator
from dse.cores.rtl.verilog import cut

_INSTANCES = Choice(
    name="instances", description="Cores behind the port", values=(2, 4, 8, 16, 32, 64)
)
_LATENCY = 2
_WIDTH = Choice(name="word_bit", description="Bits of a word, either way", values=(64, 8, 32, 128))


def words_in_turn(design: Design, *, seed: int, tasks: int) -> Vectors:
    """Return random words at the port in each cycle and random answers of all instances.

    A word that enters in cycle c stands at instance ``c % n`` from cycle c + 1 until its next; the
    answer that this instance gives in cycle c is at the port in cycle c + 1.
    """
    instances, width = int(design.parameters["instances"]), int(design.parameters["word_bit"])
    cycles = max(tasks, 2) + 2 * instances + 2
    random = np.random.default_rng(seed)
    words = random.integers(0, 2, (cycles, width)).astype(bool)
    # An instance changes its answer when its turn has passed, as a core at full rate does.
    fresh = random.integers(0, 2, (cycles, width)).astype(bool)
    before = np.arange(cycles)[:, None] - 1
    turn = before - (before - np.arange(instances)) % instances  # the last of each instance
    has_had, at = (turn >= 0)[..., None], np.maximum(turn, 0)
    held, given = has_had & words[at], has_had & fresh[at + 1]
    answers = np.zeros((cycles, width), dtype=bool)
    answers[1:] = given[np.arange(cycles - 1), np.arange(cycles - 1) % instances]
    first = instances + 1
    known = np.arange(cycles) >= _LATENCY
    start = (np.arange(cycles) == 0)[:, None]
    return Vectors(
        stimulus={"start": start, "word": words, "given": given.reshape(cycles, -1)},
        expected={"held": held.reshape(cycles, -1), "answer": answers},
        known={"held": np.arange(cycles) >= first, "answer": known},
        warm_up=first,
        tasks=int(known.sum()),
    )


@generator(
    answers=words_in_turn,
    parameters=(_INSTANCES, _WIDTH),
    designs=tuple({"instances": count} for count in _INSTANCES.values),
    description="Distribution and collection network: one port for 2 to 64 cores, in turn",
    source="round robin with one-hot turns (a ring counter); this project",
)
def network(*, instances: int, word_bit: int) -> Design:
    """Return a network that takes a word and gives an answer in each cycle, at full rate.

    A ring of n flip-flops says whose turn it is.  The word goes into the register of that
    instance, the one register that changes, and its answer through an AND-OR tree into the
    register of the port.  `start` says that it is the first instance's turn.

    Assumed: a task is one word in and one out; n cores that take n cycles each fill the port.
    Wires between instances, which a larger fleet has longer, are not in it.
    """
    return Design(
        name=f"n{instances}",
        parameters={"instances": instances, "word_bit": word_bit},
        verilog="\n".join(_text(instances, word_bit)) + "\n",
        top="network",
        clock="clock",
        payload_bit=float(word_bit),
        cycles_per_task=1.0,
        latency_cycles=_LATENCY,
        tasks_in_flight=float(_LATENCY),
        read_byte=word_bit / 8.0,
        written_byte=word_bit / 8.0,
    )


def _text(instances: int, width: int) -> Iterator[str]:
    total = instances * width
    yield f"// One port, {instances} instances in turn; instance by instance, the first lowest."
    yield "module network ("
    yield f"  input clock, input start, input [{width - 1}:0] word, input [{total - 1}:0] given,"
    yield f"  output reg [{width - 1}:0] answer, output reg [{total - 1}:0] held"
    yield ");"
    yield f"  reg [{instances - 1}:0] next;"
    yield f"  wire [{instances - 1}:0] turn = start ? {instances}'d1 : next;"
    yield f"  always @(posedge clock) next <= {{turn[{instances - 2}:0], turn[{instances - 1}]}};"
    chosen = []
    for number in range(instances):
        yield f"  always @(posedge clock) if (turn[{number}]) {cut('held', number, width)} <= word;"
        yield f"  wire [{width - 1}:0] chosen_{number} = {{{width}{{turn[{number}]}}}}"
        yield f"    & {cut('given', number, width)};"
        chosen.append(f"chosen_{number}")
    yield "  always @(posedge clock) answer <= "
    yield "    " + "\n    | ".join(chosen) + ";"
    yield "endmodule"
