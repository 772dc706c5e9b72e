"""A latency that is assumed decides no rate: in a chained mode it is a fault, else a note."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse import contract
from dse.model.designs import AREAS, BLOCKS
from dse.plugins import registry
from dse.testing import check_core
from tests.conftest import faults

RECORD = """core:
  name: mine
  parameters: {n: {low: 1, high: 8, integer: true}}
  laws:
    area: {form: affine, over: [n], coefficients: [100 um2, 50 um2]}
    clock: 1 GHz
    payload: 64 bit
    dynamic_power: 1 mW
    cycles_per_task: {form: power, over: [n], coefficients: [16 cycles/task, -1]}
"""
STUDY = """workload: {rate: 1 Gbit/s}
stages: [{core: mine.yaml, parameters: {n: [1, 2, 8]}}]
objectives: {area: minimise}
"""
CHAINED = {"workload.chained": "true"}


def told(path, **overrides: str) -> list[str]:
    return faults(path, *overrides.items())


@pytest.mark.parametrize("axis", [False, True])
def test_a_law_of_ones_own_needs_a_latency_in_a_chained_mode(write, axis) -> None:
    write(RECORD, "mine.yaml")
    path = write(STUDY + ("axes: {workload.chained: [false, true]}\n" if axis else ""))
    assert told(path, **({} if axis else CHAINED)) == [
        "study.yaml:2:11: stages.0.core: 'mine.yaml'; core 'mine' assumes its latency, which "
        "decides the rate in a chained mode; add core.laws.latency to the record, or "
        "core.laws.tasks_in_flight"
    ]


@pytest.mark.parametrize("law", ["latency: 20 cycles", "tasks_in_flight: 2"])
def test_a_law_that_tells_it_is_enough(write, law) -> None:
    write(RECORD + f"    {law}\n", "mine.yaml")
    found = dse.load(write(STUDY), overrides=CHAINED)
    assert not [note for note in found.notes if "assumed for every design" in note]


def test_without_chaining_it_is_a_note(write) -> None:
    write(RECORD, "mine.yaml")
    assert "core mine: assumed for every design: latency" in dse.load(write(STUDY)).notes


@pytest.mark.parametrize(("column", "known"), [("", False), (",latency_cycles", True)])
def test_a_fitted_law_knows_the_latency_that_its_table_tells(write, tmp_path, column, known):
    """Also one that is what would be assumed: as many cycles as a task takes."""
    head = f"n,area_um2,clock_mhz,cycles_per_task,payload_bit,power_mw{column}\n"
    rows = [(n, 100 * n, 500, 32 // n, 128, 2 * n, *[32 // n] * known) for n in (1, 2, 4, 8)]
    write(head + "".join(",".join(map(str, row)) + "\n" for row in rows), "cores.csv")
    dse.fit.core(tmp_path / "cores.csv", over=["n"], out=tmp_path / "mine.yaml")
    path = write(STUDY)
    if known:
        assert dse.load(path, overrides=CHAINED).problem.size == 3
    else:
        assert "assumes its latency" in told(path, **CHAINED)[0]


def package(assumed: tuple[str, ...]) -> contract.Core:
    """Return a core of a package."""

    def table() -> contract.CoreMetrics:
        """One design."""
        one = np.ones(1)
        figures = dict.fromkeys(contract.CoreMetrics.__dataclass_fields__, one)
        figures |= dict.fromkeys((*AREAS[1:], *BLOCKS), one * np.nan) | {"extrapolated": one * 0}
        return contract.CoreMetrics(**figures)

    model = contract.Model(function=table, designs=("a",), source="made up", assumed=assumed)
    return contract.Core(name="made_up", summary="made up", models={"table": model})


def test_a_package_may_declare_what_it_assumes(write, monkeypatch) -> None:
    check_core(package(("latency_cycles",)))
    with pytest.raises(AssertionError, match="latncy"):
        check_core(package(("latncy",)))
    found = registry.get
    monkeypatch.setattr(
        registry,
        "get",
        lambda kind, name: package(("latency_cycles",)) if name == "made_up" else found(kind, name),
    )
    path = write(STUDY.replace("mine.yaml, parameters: {n: [1, 2, 8]}", "made_up"))
    assert "core made_up: assumed for every design: latency" in dse.load(path).notes
    (message,) = told(path, **CHAINED)
    assert "core 'made_up' assumes its latency" in message
    assert message.endswith("choose a core or a model whose latency is known")
