"""How sure an answer is, against a loop that answers every draw by itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dse
from dse import contract, search
from dse.plugins import registry
from dse.runs import runner
from dse.runs.runner import Options
from dse.sampling import draws
from dse.sampling.certainty import Certainty
from dse.search import SearchSettings
from dse.study import core_models, study
from tests.conftest import STUDIES, Write

TINY = """\
workload: {rate: 20 Gbit/s}
stages:
  - {core: des, designs: [u2, u8, u16], fleet: mixed}
objectives: {area: minimise, power: minimise}
"""
OFFLOAD = """\
workload: {rate: 20 Gbit/s, granularity: 4 KiB}
stages:
  - {core: des, designs: [u8, u16], instances: {from: 1, to: 3}}
interface: {in_flight: 2}
axes:
  interface.device: [sparc_t4_engine, sandy_bridge]
  budget.power_cap: [30 W, 60 W]
objectives: {total_power: minimise, offload_latency: minimise}
"""
DES = STUDIES / "des_100gbps.yaml"


def sure(
    path: Path, written: str | None = None, *, of: dict[str, float], samples: int, seed: int = 0
) -> Certainty:
    """Return how sure the answer of a study file is."""
    prepared = study.prepare(study.read_study(path))
    front = runner.solve_study(prepared, Options()).outcome.front_index
    preference, settings = prepared.preferring(written), prepared.settings
    drawn = draws.draw_study(prepared, of, samples, seed)
    ranked = front[preference.order(prepared.problem, front)]
    return draws.certainty(drawn, ranked, preference, settings)


def by_brute_force(
    path: Path, written: str | None, given: dict[str, float], count: int
) -> tuple[Counter[tuple[int, ...]], Counter[tuple[int, ...]], list[float]]:
    """Return in how many draws each design is on the front and the answer, and regrets."""
    prepared = study.prepare(study.read_study(path))
    drawn = draws.draw_study(prepared, given, count, 0)
    preference = prepared.preferring(written)
    every = SearchSettings(method="enumerate")
    nominal = search.run_search(prepared.problem, every).front_index
    first = nominal[preference.order(prepared.problem, nominal)[:1]]
    fronts, answers, regrets = Counter(), Counter(), []
    for draw in range(count):
        problem = drawn.at(draw)
        front = search.run_search(problem, every).front_index
        fronts.update(map(tuple, front.tolist()))
        if not len(front):
            continue
        best = front[preference.order(problem, front)[:1]]
        answers[tuple(best[0].tolist())] += 1
        if preference.is_quantity and problem.evaluate(first).feasible[0]:
            merits = [float(preference.merit(problem, row)[0]) for row in (first, best)]
            regrets.append(max(merits[0] - merits[1], 0.0))
    return fronts, answers, regrets


@pytest.mark.parametrize(
    ("text", "preferred", "given"),
    [
        (TINY, None, {"area": 0.1, "power": 0.2}),
        (TINY, "area * power", {"area": 0.1, "bandwidth": 0.2}),
        (f"{TINY}tolerance: 5 %\n", None, {"area": 0.1, "power": 0.2}),
        (TINY, "knee", {"power": 0.2, "rate": 0.2}),
        (OFFLOAD, None, {"interface.overhead": 0.5, "power": 0.3, "budget.power_cap": 0.0}),
    ],
)
def test_probabilities_are_those_of_answering_every_draw(
    write: Write, text: str, preferred: str | None, given: dict[str, float]
) -> None:
    given = {name: share for name, share in given.items() if share}
    path, count = write(text), 80
    found = sure(path, preferred, samples=count, of=given)
    fronts, answers, regrets = by_brute_force(path, preferred, given, count)
    assert {c.point: round(c.on_front * count) for c in found.candidates if c.on_front} == fronts
    assert {c.point: round(c.answer * count) for c in found.candidates if c.answer} == answers
    assert len(answers) > 1
    if preferred == "knee":
        assert found.pick.expected is None
    else:
        assert found.pick.expected == pytest.approx(np.mean(regrets), rel=1e-12)
        assert found.pick.worst == pytest.approx(max(regrets), rel=1e-12)


def test_a_mixed_fleet_may_have_what_any_draw_needs(write: Write) -> None:
    prepared = study.prepare(study.read_study(write(TINY)))
    drawn = draws.draw_study(prepared, {"bandwidth": 0.3, "rate": 0.3}, 200, 0)
    needed = []
    for problem in map(drawn.at, range(200)):
        rate = problem.space.constants["workload_rate_bit_per_s"]
        needed.append(np.ceil(rate / problem.stages[0].designs.bandwidth_bit_per_s))
    nominal = [size - 1 for size in prepared.problem.sizes]
    most = np.array(drawn.problem.sizes) - 1
    assert (most >= np.max(needed, axis=0)).all()
    assert (most > nominal).all()
    figures = draws.draw_study(prepared, {"area": 0.3}, 200, 0)
    assert figures.problem.sizes == prepared.problem.sizes


def test_a_seed_gives_the_same_numbers_in_parts_of_any_size(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, given = write(TINY), {"area": 0.1, "power": 0.1, "rate": 0.1}
    whole = sure(path, samples=333, of=given)
    monkeypatch.setattr(draws, "PART", 70)
    assert sure(path, samples=333, of=given).candidates == whole.candidates
    assert sure(path, samples=333, seed=1, of=given).candidates != whole.candidates


def test_factors_have_the_stated_spread_and_do_not_depend_on_what_else_is_drawn() -> None:
    entry = draws.Uncertain("des.area", "area_m2", np.array([0.1, 0.3]), stage=0)
    factors = entry.factors(200_000, 0)
    assert factors.mean(axis=0) == pytest.approx([1.0, 1.0], abs=0.003)
    assert factors.std(axis=0) == pytest.approx([0.1, 0.3], rel=0.02)
    assert (factors[:10] == entry.factors(10, 0)).all()


@pytest.mark.slow
def test_few_searches_find_what_many_draws_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """A space of millions: what the candidates lack is counted, and it does not move the answer."""
    given = {"area": 0.1, "power": 0.1}
    more = sure(DES, samples=500, of=given)
    monkeypatch.setattr(draws, "QUIET", 10)
    monkeypatch.setattr(draws, "CHECKS", 20)
    few = sure(DES, samples=500, of=given)
    assert few.searched < more.searched < 500
    assert few.checked == 20
    assert few.beyond_answer <= few.beyond < 10
    assert len(few.candidates) < len(more.candidates)
    assert few.pick.design == more.pick.design == "3 u16"
    assert few.pick.answer == pytest.approx(more.pick.answer, abs=0.01)


def test_samples_that_nothing_fits_are_named(write: Write) -> None:
    path = write(TINY + 'constraints: ["power <= 5.5 mW"]\n')
    found = sure(path, samples=200, of={"power": 0.2})
    assert found.pick.feasible < found.answered < 1.0
    assert sum(entry.answer for entry in found.candidates) == pytest.approx(found.answered)
    text = dse.uncertainty(path, samples=200, of={"power": "20 %"}).text()
    assert f"In {100 - 100 * found.answered:.1f} % of the samples no candidate is feasible" in text


def test_laws_are_as_sure_as_their_residuals_and_a_study_may_say_otherwise(write: Write) -> None:
    law = TINY.replace("designs: [u2, u8, u16]", "model: law, parameters: {unroll: [2, 8, 16]}")
    metrics = dse.load(write(law)).problem.stages[0].designs.uncertainty
    model = registry.get(contract.Core, "des").models["law"]
    _, table, said = model.residuals()["area_m2"]
    assert metrics["area_m2"] == pytest.approx(np.sqrt(np.mean((said / table - 1) ** 2)))
    assert 0.0 < core_models.residual_spread(model)["dynamic_power_w"] < 0.3
    stated = law.replace("mixed}", "mixed, uncertainty: {area: 7 %}}")
    metrics = dse.load(write(stated)).problem.stages[0].designs.uncertainty
    assert metrics["area_m2"] == pytest.approx(0.07)


def test_without_an_uncertainty_it_says_how_to_give_one(write: Write) -> None:
    text = dse.uncertainty(write(TINY)).text()
    assert "The study states no uncertainty" in text
    assert '--of "area=10 %"' in " ".join(text.split())
