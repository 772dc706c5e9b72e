"""What bounds need at least, and the nearest design, against every design."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse.errors import InfeasibleError
from dse.parametric.infeasible import needed_by
from dse.reports.designs import described
from dse.study import study
from tests.conftest import everything

TIGHT = """
workload: {rate: 100 Gbit/s}
stages: [{core: des, fleet: mixed, designs: [u4, u8, u16]}]
objectives: {area: minimise, power: minimise}
constraints: ["area <= 0.1 mm2", "20 mW >= power", "utilisation >= 0.97"]
"""


def test_bounds_need_what_all_designs_say(write) -> None:
    path = write(TIGHT)
    problem = study.prepare(study.read_study(path)).problem
    _, best, _ = needed_by(problem)
    every = everything(problem)
    first = len(problem.constraint_names) - len(problem.constraints)
    carry = every.points[(every.violation[:, :first] <= 0).all(axis=1)]
    columns = problem.describe(carry)
    values = [columns[name] for name in ("area_m2", "power_w", "utilisation")]
    assert best == pytest.approx([values[0].min(), values[1].min(), values[2].max()])
    over = [values[0] / 1e-7 - 1, values[1] / 0.02 - 1, 1 - values[2] / 0.97]
    excess = np.maximum(np.column_stack(over), 0)
    nearest = carry[[excess.sum(axis=1).argmin()]]
    with pytest.raises(InfeasibleError) as caught:
        dse.run(path)
    assert caught.value.facts["nearest_design"] == described(problem, nearest)[0]


def test_what_is_needed_comes_first(write) -> None:
    text = TIGHT.replace(', "utilisation >= 0.97"', "")
    with pytest.raises(InfeasibleError) as caught:
        dse.run(write(text))
    said = str(caught.value).splitlines()
    assert said[1].startswith("without these bounds the study takes at least 0.1497 mm2 of area")
    assert said[2].startswith("  each") or "each on its own (proven)" in said[1]
    assert caught.value.facts["needed"] == {
        "area <= 0.1 mm2": pytest.approx(149690e-12, rel=1e-3),
        "20 mW >= power": pytest.approx(25.25e-3, rel=1e-3),
    }
