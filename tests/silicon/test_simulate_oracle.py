"""Activity against a simulation event by event, written apart."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.silicon.simulation import Activity, simulate_gates
from tests.silicon.netlists import LIBRARY, Case, Events, made

WARM_UP = 3
cases = st.builds(
    made,
    st.integers(0, 2**32),
    gates=st.integers(1, 40),
    flip_flops=st.integers(0, 5),
    slowest=st.sampled_from((0, 2, 5, 1000)),
    cycles=st.integers(WARM_UP + 1, 12),
)


def activity(case: Case) -> Activity:
    return simulate_gates(
        case.netlist,
        LIBRARY,
        case.timing,
        clock="clk",
        stimulus={"a": case.stimulus},
        warm_up=WARM_UP,
    )


def by_events(case: Case, first: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    flip_flops = [k for k, own in enumerate(case.netlist.instances) if own.cell == "dff"]
    outputs, toggles, high = Events(case, dict.fromkeys(flip_flops, first)).run(WARM_UP)
    nets = range(case.netlist.net_count)
    return (
        np.array(outputs),
        np.array([toggles[n] for n in nets]),
        np.array([float(high[n]) for n in nets]),
    )


@settings(max_examples=150, deadline=None)
@given(cases)
def test_outputs_and_transitions_are_those_of_the_events(case: Case) -> None:
    found = activity(case)
    outputs, toggles, high = by_events(case)
    clock = case.netlist.inputs["clk"][0]
    toggles[clock], high[clock] = 2 * found.cycles, found.cycles * case.period / 2
    assert found.outputs["z"][WARM_UP:].astype(int).tolist() == outputs.tolist()
    assert found.toggles.tolist() == toggles.tolist()
    np.testing.assert_allclose(found.high, high / (found.cycles * case.period), rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_what_is_called_known_does_not_depend_on_the_first_state(case: Case) -> None:
    found = activity(case)
    other, _, _ = by_events(case, first=1)
    known = found.known["z"][WARM_UP:]
    assert (found.outputs["z"][WARM_UP:] == other)[known].all()
