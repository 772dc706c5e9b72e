"""What simulate_gates counts, says and refuses, on netlists drawn by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dse.errors import ArgumentError, StudyError
from dse.silicon import simulation
from dse.silicon.netlist import Instance, Netlist
from dse.silicon.simulation import Activity, simulate_gates
from dse.silicon.timing import Delay, Timing
from tests.silicon.netlists import LIBRARY

CLOCK, A, B = 2, 3, 4
PS = 1e-12


def netlist(*instances: tuple[str, dict[str, int]], ports: Sequence[str] = "ab") -> Netlist:
    placed = tuple(Instance(f"i{k}", cell, nets) for k, (cell, nets) in enumerate(instances))
    count = 1 + max([B, *(net for _, nets in instances for net in nets.values())])
    inputs = {"clk": (CLOCK,), **dict(zip(ports, ((A,), (B,)), strict=False))}
    return Netlist("top", inputs, {"z": (count - 1,)}, placed, count)


def timing(drawn: Netlist, delays: Sequence[float], period_ps: float = 100.0) -> Timing:
    """Return a timing with one delay (ps) for each instance."""
    found = {}
    for k, (instance, delay) in enumerate(zip(drawn.instances, delays, strict=True)):
        for cause in instance.nets:
            for pin in instance.nets:
                found[k, cause, pin] = Delay(delay * PS, delay * PS)
    none = np.zeros(0)
    return Timing(period_ps * PS, found, none, none, none)


def run(drawn: Netlist, delays: Sequence[float], warm_up: int = 1, **options: object) -> Activity:
    """Simulate with inputs that change in every cycle."""
    period = options.pop("period_ps", 100.0)
    cycles = options.pop("cycles", 5)
    bits = (np.arange(cycles) % 2 == 1)[:, None]
    stimulus = {port: bits for port in drawn.inputs if port != "clk"}
    return simulate_gates(
        drawn,
        LIBRARY,
        timing(drawn, delays, period),
        clock="clk",
        stimulus={**stimulus, **options.pop("stimulus", {})},
        warm_up=warm_up,
        **options,
    )


def hazard(inverter_ps: float, xor_ps: float) -> Activity:
    """Return the activity of A ^ !A: with the second input late, a pulse as long as it is."""
    drawn = netlist(("inv", {"A": A, "Y": 5}), ("xor", {"A": A, "B": 5, "Y": 6}), ports="a")
    return run(drawn, [inverter_ps, xor_ps])


@pytest.mark.parametrize(("xor_ps", "toggles"), [(9.999, 8), (10.0, 8), (10.001, 0)])
def test_a_pulse_passes_if_it_is_as_long_as_the_delay(xor_ps: float, toggles: int) -> None:
    """IEEE 1364-2005, 6.1.3: a change before its predecessor has propagated takes it back."""
    found = hazard(10.0, xor_ps)
    assert found.cycles == 4
    assert found.toggles[6] == toggles
    assert found.settled[6] == 0
    low = 10.0 * 4 / (4 * 100.0) if toggles else 0.0
    assert found.high[6] == pytest.approx(1 - low, rel=1e-12)


def test_a_state_that_nothing_sets_stays_unknown() -> None:
    """A flip-flop that halves the clock begins anywhere; three values follow it to the output."""
    drawn = netlist(
        ("dff", {"D": 6, "K": CLOCK, "Q": 5, "N": 6}),
        ("nand", {"A": A, "B": 5, "Y": 7}),
        ports="a",
    )
    found = run(drawn, [1.0, 1.0], cycles=7, warm_up=3)
    assert found.known["z"].ravel().tolist() == [True, False] * 3 + [True]
    assert found.notes == (
        "unknown after the warm-up, taken for 0: flip-flops i0",
        "outputs depend on them in 2 of 4 cycles",
    )


def test_a_reset_makes_states_known_and_is_refused_later() -> None:
    drawn = netlist(
        ("inv", {"A": 5, "Y": 6}),
        ("dffr", {"D": 6, "K": CLOCK, "R": A, "Q": 5}),
        ports="r",
    )
    low = np.arange(8)[:, None] >= 2
    found = run(drawn, [1.0, 1.0], cycles=8, warm_up=3, stimulus={"r": low})
    assert found.known["z"].all()
    assert found.toggles[5] == 5
    with pytest.raises(StudyError) as error:
        run(
            drawn,
            [1.0, 1.0],
            cycles=8,
            warm_up=3,
            stimulus={"r": low & (np.arange(8)[:, None] < 5)},
        )
    assert str(error.value) == (
        "cycle 2 after the warm-up: clears and presets act only during the warm-up; make it longer"
    )


def chain(stages: int) -> tuple[Netlist, list[float]]:
    """Return xor gates of which each sees its predecessor twice, the second time late."""
    instances, net = [], A
    for stage in range(stages):
        first = 5 + 3 * stage
        instances += [("inv", {"A": net, "Y": first}), ("inv", {"A": first, "Y": first + 1})]
        instances += [("xor", {"A": net, "B": first + 1, "Y": first + 2})]
        net = first + 2
    delays = [
        delay
        for stage in range(stages)
        for delay in (3.0 ** (stages - stage), 3.0 ** (stages - stage), 0.1)
    ]
    return netlist(*instances, ports="a"), delays


def test_a_limit_of_work_says_where_it_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, delays = chain(5)
    whole = run(drawn, delays, period_ps=2000.0)
    assert whole.toggles[[7, 10, 13, 16, 19]].tolist() == [8, 16, 32, 64, 128]
    monkeypatch.setattr(simulation, "MOST_WORK", 1)
    short = run(drawn, delays, period_ps=2000.0)
    assert (short.cycles, len(short.outputs["z"])) == (1, 5)
    assert short.toggles[19] == 32
    assert short.notes == (
        "transitions are counted in the first 1 of 4 cycles only: "
        "inputs of gates changed 124 times, and 1 is the most",
    )


def test_a_path_that_ends_after_the_period_is_told() -> None:
    inverter, flip_flop = ("inv", {"A": A, "Y": 5}), ("dff", {"D": 5, "K": CLOCK, "Q": 6})
    note = (
        "paths of the simulation are up to 0.1% longer than the period: a delay is the worst "
        "of both edges of its input"
    )
    for drawn, delays in (
        (netlist(inverter, ports="a"), [100.1]),
        (netlist(inverter, flip_flop, ports="a"), [100.1, 1.0]),
    ):
        found = run(drawn, delays)
        assert found.toggles[5] == 4
        assert note in found.notes
    assert note not in run(drawn, [100.0, 1.0]).notes


def test_a_netlist_must_have_one_clock_and_delays() -> None:
    faulty = {
        "every flip-flop is clocked by 'clk'": netlist(("dff", {"D": A, "K": B, "Q": 5})),
        "a clock drives flip-flops only": netlist(("inv", {"A": CLOCK, "Y": 5})),
    }
    for rule, drawn in faulty.items():
        with pytest.raises(StudyError, match=rule):
            run(drawn, [1.0] * len(drawn.instances))
    with pytest.raises(StudyError) as error:
        run(netlist(("nand", {"A": A, "B": B, "Y": 5})), [-1.0])
    assert str(error.value).splitlines() == [
        f"i0 (nand): from {pin} to Y; no delay of 0 or more; analyse the timing of this netlist"
        for pin in "AB"
    ]


@pytest.mark.parametrize("bits", [(4, 2), (3, 1)])
def test_a_stimulus_that_does_not_fit_is_refused(bits: tuple[int, int]) -> None:
    drawn = netlist(("nand", {"A": A, "B": B, "Y": 5}))
    given = {"a": np.zeros((4, 1), bool), "b": np.zeros(bits, bool)}
    with pytest.raises(ArgumentError) as error:
        run(drawn, [1.0], stimulus=given)
    assert str(error.value) == (
        f"stimulus of b: shape {bits}; it has a row for each cycle and a column for each bit, "
        "(4, 1); correct the generator"
    )
