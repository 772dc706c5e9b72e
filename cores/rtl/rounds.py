"""The text of cores that pass a task through rounds in hardware, once or several times.

After a reset a core takes tasks at full rate, each at a clock edge at which `ready` is 1.  An
answer is valid at an edge at which `valid` is 1, as the next task is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass

from dse.contract.generators import Choice, Design, Value

State = Mapping[str, str]
"""Expressions of the state between two rounds, by field."""

Round = Callable[[int, str, State], Generator[str, None, State]]
"""Yields the text of a round of a pass, counted from 0, given the signal that counts passes."""

STRUCTURE = Choice(
    name="structure",
    description="Place of registers: pipelined, after each round; chained, after all of them",
    values=("pipelined", "chained"),
)


@dataclass(frozen=True, kw_only=True)
class RoundCore:
    """A module whose tasks pass its rounds several times.

    Attributes
    ----------
    name, remark
        Of the module.
    inputs, outputs
        Width of each port but clock, reset, `ready` and `valid`.
    fields
        Width of each field of the register between rounds.
    unroll
        Rounds in hardware.
    passes
        Number of times that a task goes through them.
    layers
        Number of registers on its way, a divisor of `unroll`.
    loads
        Whether a task is taken in a separate cycle before its first pass.  For one layer only.
    begins
        The first pass of a task, an expression over the inputs that are taken with it.
    cleared
        Whether reset clears the fields too.  A first task that overwrites them does not need it,
        but if mapped logic takes the old value twice, a simulation of gates may not see that.
    """

    name: str
    remark: str
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    fields: Mapping[str, int]
    unroll: int
    passes: int
    layers: int = 1
    loads: bool = False
    begins: str = "0"
    cleared: bool = False

    @property
    def steps(self) -> int:
        """Return the cycles from one task to the next, over the layers."""
        return self.passes + self.loads

    def design(
        self,
        lines: Iterable[str],
        *,
        read_byte: float,
        written_byte: float,
        name: str = "",
        parameters: Mapping[str, Value] | None = None,
    ) -> Design:
        """Return the design: text of all modules, and its task, whose payload is its input.

        By default, the rounds in hardware give name and parameters.
        """
        return Design(
            name=name or f"u{self.unroll}",
            parameters=parameters or {"unroll": self.unroll},
            verilog="\n".join(lines) + "\n",
            top=self.name,
            clock="clock",
            payload_bit=8.0 * read_byte,
            cycles_per_task=float(self.steps),
            latency_cycles=self.layers * self.steps,
            tasks_in_flight=float(self.layers),
            read_byte=read_byte,
            written_byte=written_byte,
        )

    def text(
        self, entry: State, round_: Round, answer: Callable[[State], Iterable[str]]
    ) -> Iterator[str]:
        """Yield the module, with the initial state `entry` and the lines of `answer` at the end."""
        yield f"\n// {self.remark}"
        yield f"module {self.name} ("
        yield "  input clock, input reset,"
        for port, width in self.inputs.items():
            yield f"  input [{width - 1}:0] {port},"
        yield "  output ready, output valid"
        for port, width in self.outputs.items():
            yield f"  , output [{width - 1}:0] {port}"
        yield ");"
        yield from self._control()
        last = {field: f"{field}_{self.layers}" for field in self.fields}
        for layer in range(1, self.layers + 1):
            for field, width in self.fields.items():
                yield f"  reg [{width - 1}:0] {field}_{layer};"
        yield from answer(last)
        state: State = last
        if not self.loads:
            state = yield from self._taken("entering", entry, last)
        for number in range(self.unroll):
            layer, rest = divmod((number + 1) * self.layers, self.unroll)
            yield f"\n  // Round {number + 1} of a pass."
            state = yield from round_(number, f"pass_{number * self.layers // self.unroll}", state)
            state = yield from self._named(f"after_{number}", state)
            if not rest:
                if self.loads:
                    state = yield from self._taken("following", entry, state)
                yield "  always @(posedge clock) begin"
                for field, width in self.fields.items():
                    next_ = f"reset ? {width}'d0 : {state[field]}" if self.cleared else state[field]
                    yield f"    {field}_{layer} <= {next_};"
                yield "  end"
                state = {field: f"{field}_{layer}" for field in self.fields}
        yield "endmodule"

    def _named(self, name: str, state: State) -> Generator[str, None, State]:
        """Yield a wire for each expression that cannot be cut into bits.  Return the names."""
        named = dict(state)
        for field, text in state.items():
            if not text.isidentifier():
                named[field] = f"{field}_{name}"
                yield f"  wire [{self.fields[field] - 1}:0] {named[field]} = {text};"
        return named

    def _taken(self, name: str, entry: State, other: State) -> Generator[str, None, State]:
        """Yield the multiplexers that take a new task.  Return their outputs."""
        for field, width in self.fields.items():
            taken = entry[field] if self.steps == 1 else f"ready ? {entry[field]} : {other[field]}"
            yield f"  wire [{width - 1}:0] {name}_{field} = {taken};"
        return {field: f"{name}_{field}" for field in self.fields}

    def _control(self) -> Iterator[str]:
        last, bits = self.layers, self.bits
        yield f"  reg [{last}:1] filled;"
        entered = "1'b1" if self.steps == 1 else f"ready | filled[{last}]"
        shifted = f"{{filled[{last - 1}:1], {entered}}}" if last > 1 else entered
        yield f"  always @(posedge clock) filled <= reset ? {last}'d0 : {shifted};"
        yield f"  assign valid = ready & filled[{last}];"
        if self.steps == 1:
            yield "  assign ready = 1'b1;"
            return
        final = f"{bits}'d{self.steps - 1}"
        begins = f"{bits}'d0" if self.begins == "0" else self.begins
        yield "  // The pass that a task is in goes with it from layer to layer."
        yield f"  reg [{bits - 1}:0] {', '.join(f'pass_{at}' for at in range(1, last + 1))};"
        yield f"  assign ready = pass_{last} == {final};"
        yield f"  wire [{bits - 1}:0] pass_0 = ready ? {begins} : pass_{last} + {bits}'d1;"
        yield "  always @(posedge clock) begin"
        for layer in range(1, last + 1):
            yield f"    pass_{layer} <= reset ? {final} : pass_{layer - 1};"
        yield "  end"

    @property
    def bits(self) -> int:
        """Return the width of the counter of passes, 0 for one pass."""
        return (self.steps - 1).bit_length()


def module_round(
    module: str, state_bit: int, constant_bit: int, number: int, which: str, state: State
) -> Generator[str, None, State]:
    """Yield a round that is an instance of a module: of the state, and a constant of the pass."""
    yield f"  wire [{constant_bit - 1}:0] constant_{number};"
    yield f"  constants_{number} choose_{number} ({which}, constant_{number});"
    yield f"  wire [{state_bit - 1}:0] state_of_{number};"
    ends = f"{state['state']}, constant_{number}, state_of_{number}"
    yield f"  {module} round_{number} ({ends});"
    return {**state, "state": f"state_of_{number}"}
