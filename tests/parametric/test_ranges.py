"""Good ranges against every design with each value."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse import search
from dse.errors import UnitError
from dse.parametric.ranges import ranges_section
from dse.search.settings import Budget
from dse.study import study
from tests.conftest import STUDIES, everything
from tests.parametric.test_flips import BEHIND_INTERFACES, MIXED


@pytest.mark.parametrize(("text", "share"), [(MIXED, 0.1), (BEHIND_INTERFACES, 0.02)])
def test_ranges_are_those_of_every_design(text, share, write) -> None:
    found = study.prepare(study.read_study(write(text)))
    problem, every = found.problem, everything(found.problem)
    front = search.run_search(problem, found.settings).front_index
    section = ranges_section(found, front, found.preference, share, exact=True, budget=Budget())
    column = found.preference.column(problem)
    merit = np.where(every.feasible, every.loss[:, column], np.inf)
    near = every.points[merit <= merit.min() * (1 + share)]
    axes = [(place, axis) for place, axis in enumerate(problem.space.axes) if axis.size > 1]
    assert len(section.facts["ranges"]) == len(axes)
    for (place, axis), entry in zip(axes, section.facts["ranges"], strict=True):
        assert entry["good"] == [axis.labels[k] for k in np.unique(near[:, place])], axis.name
        assert entry["answer"] in entry["good"]


def test_it_is_said_when_only_the_host_alone_is_so_near() -> None:
    path = STUDIES / "storage_xts_100gbps.yaml"
    found = dse.answer(path, all=False, flips=False, within="5 %")
    assert "least total power:\nThe host alone is so near, and no other design." in found.text()
    assert {entry["answer"] for entry in found.to_dict()["within"]["ranges"]} == {"host"}
    found = dse.answer(STUDIES / "settop_116mbps.yaml", all=False, flips=False, within="1e-6 %")
    assert "  no other value of any choice." in found.text()


def test_what_the_time_ends_is_said(write) -> None:
    found = study.prepare(study.read_study(write(MIXED)))
    front = search.run_search(found.problem, found.settings).front_index
    budget = Budget(seconds=1e-9)
    section = ranges_section(found, front, found.preference, 0.1, exact=True, budget=budget)
    assert section.facts["ranges"][0]["good"]
    assert "Other values may be good too: no CPU time was left" in section.facts["note"]


def test_an_answer_tells_them_and_nonsense_is_refused() -> None:
    path = STUDIES / "des_100gbps.yaml"
    told = dse.answer(path, all=False, flips=False, within="5 %").text()
    assert "Within 5 % of the least power:" in told
    assert "des.u16: 2 to 3 (now 3)." in told
    with pytest.raises(UnitError, match="within '5': a share of the best value is needed"):
        dse.answer(path, within="5")
    with pytest.raises(UnitError, match="prefer one: area_m2 or power_w"):
        dse.answer(path, within="5 %", prefer="knee")
    with pytest.raises(UnitError, match="within asks about one answer"):
        dse.answer(STUDIES / "des_fft_sweep.yaml", within="5 %")
