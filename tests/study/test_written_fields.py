"""A field that is not written is a search: no value written into it gives a better design."""

from __future__ import annotations

import numpy as np
import pytest

from dse import contract
from dse.contract import Interface
from dse.errors import StudyError
from dse.plugins import registry
from dse.study import study
from dse.study.assumptions import assumptions_of
from dse.study.schema import PATHS
from tests.conftest import Write, everything, problem_of, run_dse

RANDOM = 60
GOALS = {
    "area": "minimise",
    "power": "minimise",
    "total_power": "minimise",
    "energy": "minimise",
    "throughput": "maximise",
    "offload_latency": "minimise",
    "offload_latency_p99": "minimise",
    "host_cores": "minimise",
}
BEHIND = ("offload_latency", "host_cores")
FRACTIONS = "[0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1]"


def random_study(rng: np.random.Generator) -> tuple[str, list[str]]:
    """Return a study of up to three stages, of every kind, and which leave their clock open."""
    cores = [str(rng.choice(["des", "fft", "jacobi"])) for _ in range(rng.integers(1, 4))]
    behind, demanded = rng.random() < 0.85, rng.random() < 0.85
    varying = behind and demanded and rng.random() < 0.4
    workload = [f"rate: {rng.choice([0.5, 2, 5, 10, 20]):g} Gbit/s"] if demanded else []
    mix = varying and rng.random() < 0.5
    size = "{64 B: 7/12, 576 B: 4/12, 1500 B: 1/12}"
    size = size if mix else f"{rng.choice([64, 1500, 65536])} B"
    workload += [f"granularity: {size}", "kernel: des"]
    if varying and not mix:
        workload.append(f"arrivals: {rng.choice(['poisson', '{cv2: 4}'])}")
    if not varying and rng.random() < 0.2:
        workload += ["chained: true", f"streams: {rng.choice([1, 4, 16])}"]
    lines = [f"workload: {{{', '.join(workload)}}}", "stages:"]
    open_clocks = []
    for number, core in enumerate(cores):
        name, most = f"s{number}", int(rng.integers(2, 5))
        clock = str(rng.choice(["", "", ", clock: 1", ", clock: meet", ", clock: 0.5"]))
        clock = "" if "meet" in clock and (varying or not demanded) else clock
        open_clocks += [] if clock else [name]
        idle = rng.choice(["gated", "clocked"])
        fleet = f"instances: {{from: 1, to: {most}}}, idle: {idle}{clock}"
        lines.append(f"  - {{core: {core}, name: {name}, designs: [{DESIGN[core]}], {fleet}}}")
    goals = ["area", "power", "energy"] + ["total_power"] * behind
    if behind:
        lines += ["interface:", f"  in_flight: {rng.choice([1, 2, 8])}"]
        lines += [f"  wait: {rng.choice(['sync', 'async', 'sync_os'])}", "  host_cores: 64"]
        lines += [f"  transfer: {rng.choice(['cut_through', 'store_and_forward'])}"]
        lines += ["  overhead: 20 ns", "  latency: 100 ns", "  host_power: 100 W"]
        link = rng.choice(["link: 4 GB/s", "link: 32 GB/s", "pcie: gen4 x8, round_trip: 500 ns"])
        lines += [f"  {part}" for part in str(link).split(", ")]
        goals += [*BEHIND, *["offload_latency_p99"] * ("arrivals" in lines[0])]
    goals += ["throughput"] * (not demanded)
    chosen = rng.choice(goals, size=min(len(goals), rng.integers(2, 4)), replace=False)
    lines += ["objectives:", *(f"  {name}: {GOALS[name]}" for name in chosen)]
    return "\n".join(lines) + "\n", open_clocks


DESIGN = {"des": "u1, u16", "fft": "r4", "jacobi": "n2, n4"}


def feasible_losses(write: Write, text: str) -> np.ndarray:
    found = everything(problem_of(write(text)))
    return found.loss[found.feasible]


def better(loss: np.ndarray, than: np.ndarray) -> np.ndarray:
    """Tell which losses are better than one of others by more than rounding, and no worse."""
    slack = 1e-9 * np.abs(than)
    no_worse = (loss[:, None] <= than + slack).all(axis=2)
    return np.asarray((no_worse & (loss[:, None] < than - slack).any(axis=2)).any(axis=1))


def beaten(loss: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Tell which losses another one is as good as."""
    slack = 1e-9 * np.abs(loss)
    return np.asarray((by[None, :] <= (loss + slack)[:, None]).all(axis=2).any(axis=1))


@pytest.mark.parametrize("seed", range(RANDOM))
def test_no_written_clock_is_better_than_one_that_is_not_written(seed: int, write: Write) -> None:
    """Fractions trade power for time, or for a rate that is not demanded: only ends are tried."""
    text, names = random_study(np.random.default_rng(seed))
    best = feasible_losses(write, text)
    for name in names:
        (line,) = (line for line in text.splitlines() if f"name: {name}," in line)
        free = "gated" in line and "rate:" in text
        values = ["meet", "1", *([FRACTIONS] if free else [])]
        for value in values:
            written = text.replace(line, f"{line[:-1]}, clock: {value}}}")
            try:
                tried = feasible_losses(write, written)
            except StudyError:  # nothing to meet, or offloads vary
                assert value == "meet"
                continue
            assert not len(tried) or len(best), written
            assert not len(tried) or beaten(tried, best).all(), written


# A field is declared once: what it sets, what stands for it, what it belongs to


PLAIN = """
workload: {rate: 1 Gbit/s, granularity: 4 KiB}
stages: [{core: des, designs: [u16], instances: 2, clock: 1}]
interface: {overhead: 1 us, latency: 1 us, in_flight: 4}
objectives: {area: minimise}
"""


def test_every_figure_of_a_record_is_that_of_a_field() -> None:
    texts = {"name", "label", "host", "includes", "source", "sources", "note"}
    figures = contract.Interface.__dataclass_fields__.keys() - texts
    figures -= contract.Sureness.__dataclass_fields__.keys()
    assert {f"interface_{name}" for name in figures} == {
        column for column in PATHS if column.startswith("interface_")
    }


def test_a_field_of_what_no_interface_has_is_refused_at_its_place() -> None:
    text = PLAIN.replace("in_flight: 4", "in_flight: 4, segment: 1 kB, batch: 2")
    with pytest.raises(StudyError) as error:
        study.ready(study.read_study(text))
    assert str(error.value).splitlines() == [
        "study:4:58: interface.segment: '1 kB'; it describes segments that are sent again, and no "
        "interface of the study has any; add for instance `retransmit_share: 1 %` to `interface`",
        "study:4:73: interface.batch: 2; it describes a PCI Express link, and no interface of the "
        "study has one; add for instance `pcie: gen4 x8` to `interface`",
    ]


def test_an_axis_at_a_value_without_effect_is_no_assumption() -> None:
    found = study.ready(study.read_study(f"{PLAIN}axes: {{interface.round_trip: [0 s]}}\n"))
    names = [one.name for one in assumptions_of(found)]
    assert "interface.overhead" in names
    assert "interface.round_trip" not in names


# Interfaces of one axis are those that they are alone, each in time of its own host


OF_AN_AXIS = """
workload: {rate: 100 Mbit/s, granularity: 4 KiB}
stages: [{core: des, designs: [u16], instances: [2, 4]}]
axes: {interface.device: [DEVICES]}
objectives: {area: minimise, total_power: minimise, offload_latency: minimise, transfer: minimise}
"""


def test_all_shipped_interfaces_stand_in_one_axis(write: Write):
    names = [*registry.records(Interface)]
    together = everything(problem_of(write(OF_AN_AXIS.replace("DEVICES", ", ".join(names)))))
    loss = together.loss.reshape(2, len(names), -1)
    feasible = (together.violation <= 0).all(axis=1).reshape(2, len(names))
    for row, name in enumerate(names):
        alone = everything(problem_of(write(OF_AN_AXIS.replace("DEVICES", name))))
        assert loss[:, row].tolist() == alone.loss.tolist(), name
        assert feasible[:, row].tolist() == (alone.violation <= 0).all(axis=1).tolist(), name


def test_cycles_without_a_clock_are_refused_where_they_are_named(write: Write):
    write("interface: {name: mine, overhead: 100 cycles, latency: 1 us}\n", "mine.yaml")
    path = write(OF_AN_AXIS.replace("DEVICES", "dsa_batch, mine.yaml"))
    found = run_dse("check", path.name, cwd=path.parent)
    assert found.returncode == 2
    assert found.stderr.startswith(
        "study.yaml:4:38: axes.interface.device.1: 'mine.yaml'; overhead"
    )
    path = write(
        "interface: {latency: 1 us}\n"
        + OF_AN_AXIS.replace("device", "overhead").replace("DEVICES", "10 cycles")
    )
    found = run_dse("check", path.name, cwd=path.parent)
    assert "overhead is in cycles of a host whose clock is unknown" in found.stderr
