"""Quantities of one stage, named in objectives and constraints: ``des.area``."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse.model.front import nondominated
from dse.study import study
from tests.conftest import Write, everything, faults

STUDY = """\
workload: {rate: 10 Gbit/s, granularity: 4 KiB, kernel: des}
stages:
  - {core: des, fleet: mixed, instances: {from: 0, to: 1}}
  - {core: fft, instances: {from: 1, to: 3}}
INTERFACE
objectives: {fft.area: minimise, total_power: minimise, des.leakage_power: minimise}
constraints: [des.area <= 0.05 mm2, "fft.area * 2 >= des.area or fft.dynamic_power < 4 mW"]
"""
HOST = "interface: {overhead: 3 us, link: 9 GB/s, host_cores: 90, host_power: 100 W}"


@pytest.mark.parametrize(("interface", "hosts"), [("", 0), (HOST, 1)])
def test_fronts_of_single_stages_are_those_of_all_designs(interface: str, hosts: int) -> None:
    """By brute force; the host alone has none of any stage."""
    text = STUDY.replace("INTERFACE", interface)
    problem = study.prepare(study.read_study(text)).problem
    one, other = everything(problem), problem.evaluate(problem.hosts)
    terms = problem.terms(np.zeros((1, len(problem.sizes)), dtype=np.int64))
    assert terms["fft.area_m2"] == terms["stage_area_m2"][1] > 0
    assert other.feasible.tolist() == [True] * hosts
    assert not problem.describe(problem.hosts)["des.area_m2"].any()
    losses = np.concatenate([one.loss[one.feasible], other.loss])
    best = {tuple(row) for row in np.float32(losses[nondominated(losses)])}
    run = dse.run(text, method="exact")
    assert {tuple(row) for row in np.float32(run.front[[*run.manifest["objectives"]]])} == best


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[des.area", "[dse.area", "there is no stage 'dse'; did you mean 'des'?"),
        ("{fft.area", "{fff.area", "there is no stage 'fff'; did you mean 'fft'?"),
        ("[des.area", "[des.aera", "no quantity 'des.aera'; did you mean 'des.area' or"),
        ("[des.area", "[des.area_ge", "des.area_ge needs area in GE, of which a stage has no"),
        ("rate: 10", "rat: 10", "did you mean 'rate'?"),
    ],
)
def test_a_misspelled_stage_is_told(write: Write, old: str, new: str, said: str) -> None:
    (found,) = faults(write(STUDY.replace("INTERFACE", "").replace(old, new)))
    assert said in found
