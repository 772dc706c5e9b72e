"""Every field of an interface changes what is simulated, is refused, or is said not to matter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.simulation import first
from dse.errors import UnitError
from dse.model.space import constant
from dse.simulation.pipeline import Traffic
from dse.simulation.traffic import traffic_of
from dse.study import study
from dse.study.schema import CHOICES, PATHS

STUDY = """
workload: {rate: 1 Gbit/s, granularity: 16 KiB}
stages: [{core: des, designs: [u16], instances: 2, clock: 1}]
interface: {host_clock: 1 GHz, overhead: 100 cycles, latency: 1 us, switch: 100 cycles,
  wait: sync_os, attachment: inline,
  pcie: gen1 x1, round_trip: 1 us, retransmit_share: 1 %, in_flight: 4, host_cores: 8,
  host_power: 80 W, idle_power: 1 W}
objectives: {area: minimise}
"""

OTHERWISE = {
    "interface.max_in_flight": "a bound on in_flight, which is simulated",
    "interface.buffer_area": "an area, and nothing that happens in time",
    "interface.attachment_area": "an area, and nothing that happens in time",
    "interface.acceleration": "of a whole accelerator without stages, which is not simulated",
    "interface.max_read_request": "inline, requests have their direction to themselves",
    "interface.overhead_share": "a part of a sum that is not simulated",
}


def simulated(prepared: study.Study, **columns: float) -> Traffic | str:
    """Return what is simulated with other columns, or why nothing is."""
    space = prepared.problem.space
    constants = {name: constant(value) for name, value in columns.items()}
    changed = replace(space, constants={**space.constants, **constants})
    other = replace(prepared, problem=replace(prepared.problem, space=changed))
    try:
        return traffic_of(other, first(other.problem))
    except UnitError as error:
        return error.rule


@pytest.mark.parametrize("column", [one for one in PATHS if one.startswith("interface_")])
def test_a_field_is_simulated_or_refused(column: str) -> None:
    prepared = study.ready(study.read_study(STUDY))
    today = float(prepared.problem.space.constants.get(column, constant(0.0))[0])
    other = (today + 1.0) % len(CHOICES.get(column, "12")) if column in CHOICES else 2.0 * today
    if today in (0.0, float("inf")):
        other = 1.0 if column in CHOICES else (1e-6 if today == 0.0 else 0.1)
    same = simulated(prepared, **{column: other}) == simulated(prepared)
    assert same == (PATHS[column] in OTHERWISE), "use it in dse/simulation, or say why not"


def test_nothing_comes_back_from_an_engine_inline() -> None:
    """The model and the simulation have one offload: a doorbell, a descriptor, one passage."""
    prepared = study.ready(study.read_study(STUDY))
    inline, beside = (simulated(prepared, interface_attachment=code) for code in (1.0, 0.0))
    assert isinstance(inline, Traffic)
    assert isinstance(beside, Traffic)
    assert beside.busy_s.keys() - inline.busy_s.keys() == {"link out", "last write"}
    told = prepared.problem.describe(first(prepared.problem))
    once = inline.pipelines[0].stations[0].busy_s
    assert inline.busy_s["link in"] / once == pytest.approx(1 + told["reread_ratio"][0], rel=1e-12)
    (alone,) = {pipeline.alone_s for pipeline in inline.pipelines}
    assert alone == pytest.approx(float(told["offload_latency_s"][0]), rel=1e-12)
    assert told["round_trips_s"][0] == pytest.approx(2.5e-6)
    assert told["link_cv2"][0] == told["reread_cv2"][0] == pytest.approx(inline.service_cv2)
