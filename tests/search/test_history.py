"""How the front of a search grew, and what a run and its page keep of that."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.model.volume import APART, History, hypervolume, reference_point
from dse.runs.manifest import GROWTH

MIXED = """\
# Which of many?
workload: {rate: 10 Gbit/s}
stages: [{core: des, fleet: mixed, instances: {from: 0, to: 40}}]
objectives: {area: minimise, power: minimise}
"""


def test_few_fronts_are_kept_and_their_volumes_are_shares_of_the_last() -> None:
    random = np.random.default_rng(0)
    losses = random.random((20_000, 2)) + 0.5
    history = History()
    for evaluated in range(50, 20_001, 50):
        history.add(evaluated, losses[:evaluated])
    found = history.growth(20_000, losses)
    assert len(found) < 2 + math.log(20_000 / 50, APART)
    shares = [share for _, share in found]
    assert (found[-1], shares) == ((20_000, 1.0), sorted(shares))
    reference, ideal = reference_point(losses), losses.min(axis=0)
    whole = hypervolume(losses, reference, ideal=ideal).value
    some = hypervolume(losses[: found[3][0]], reference, ideal=ideal).value
    assert found[3][1] == pytest.approx(some / whole)
    assert History().growth(10, losses) == ()
    assert history.growth(20_000, np.full((1, 2), np.inf)) == ()


@pytest.mark.parametrize(
    ("search", "grows"), [("{method: random, budget: 400}", True), ("{}", False)]
)
def test_a_heuristic_run_keeps_its_convergence_and_its_page_has_it(
    search: str, grows: bool, tmp_path: Path
) -> None:
    dse.run(MIXED, out=tmp_path / "run", plots=False, overrides={"search": search})
    text = dse.report(tmp_path / "run").read_text(encoding="utf-8")
    (data,) = re.findall(r'id="data">(.*?)</script>', text)
    drawn = json.loads(data)["growth"]
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert drawn == manifest.get(GROWTH)
    assert (GROWTH in manifest) == grows
    if grows:
        assert manifest[GROWTH]["evaluations"][-1] == manifest["evaluated"] == 400
        assert manifest[GROWTH]["share"][-1] == 1.0
