"""What would change an answer, looked at together: same edges, bounded work, and a budget."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import dse
from dse import search
from dse.answers import alternatives
from dse.cli import application
from dse.errors import TooLargeError, UnitError
from dse.model.problem import Problem
from dse.stability import deadline, flip_search, sweep_search
from dse.stability.flip_search import find_flips
from dse.stability.holding import Holding
from dse.stability.moved import MovedDesigns, MovedPart, widest
from dse.stability.sweep_search import find_crossovers
from dse.study import study
from dse.study.assumptions import assumptions_of
from tests.conftest import STUDIES
from tests.stability.test_flips import BEHIND_INTERFACES, MIXED, prepared

SETTOP = STUDIES / "settop_116mbps.yaml"
LOOKED_FOR = "What would change it"


def refuse(*_, **__) -> None:
    raise AssertionError


@pytest.mark.parametrize("text", [MIXED, BEHIND_INTERFACES], ids=["mixed", "interfaces"])
def test_designs_each_at_its_own_value_are_those_of_the_moved_problem(text, write) -> None:
    """One evaluation of all assumptions at once, against a problem built for each value."""
    found = prepared(text, write)
    entries = assumptions_of(found)
    moved = [entry.at(2 * entry.value) for entry in entries]
    sizes = np.min([found.problem.sizes, *(problem.sizes for problem in moved)], axis=0)
    rows = np.random.default_rng(3).integers(0, sizes, (9, len(sizes)))
    parts = [MovedPart(entry, (entry.value, 2 * entry.value), rows) for entry in entries]
    together = MovedDesigns(found.problem, widest(found.problem, moved), parts).evaluate()
    alone = [p.evaluate(rows) for problem in moved for p in (found.problem, problem)]
    assert np.array_equal(together.loss, np.vstack([one.loss for one in alone]))
    assert np.array_equal(together.feasible, np.concatenate([one.feasible for one in alone]))


@pytest.mark.parametrize("text", [MIXED, BEHIND_INTERFACES], ids=["mixed", "interfaces"])
def test_edges_are_those_of_tracking_one_number_alone(text, write, monkeypatch) -> None:
    found = prepared(text, write, 11)
    together = find_flips(found, factor=2.0).to_dict()["assumptions"]
    monkeypatch.setattr(Holding, "alone", False)
    alone = find_flips(found, factor=2.0).to_dict()["assumptions"]
    assert len(together) == len(alone) > 10
    by_name = {entry["assumption"]: entry for entry in alone}
    for entry in together:
        other = by_name[entry["assumption"]]
        for side in ("below", "above"):
            assert entry[side]["becomes"] == other[side]["becomes"], entry["assumption"]
            for key, value in entry[side].items():
                if isinstance(value, float):
                    assert value == pytest.approx(other[side][key], rel=3e-7), key


@pytest.mark.parametrize("size", [1, 3])
def test_nothing_depends_on_what_is_looked_at_together(size, write, monkeypatch) -> None:
    found = prepared(BEHIND_INTERFACES, write, 11)
    together = find_flips(found, factor=100.0)
    monkeypatch.setattr(flip_search, "TOGETHER", size)
    assert find_flips(found, factor=100.0) == together


def test_the_work_of_an_answer_is_bounded(monkeypatch) -> None:
    """84 assumptions of the crypto study: a few hundred evaluations, no search of the space.

    Tracked one after the other they took 7100 evaluations, 15 searches and 2458 problems.
    """
    found = study.prepare(study.read_study(STUDIES / "crypto_interface_100gbps.yaml"))
    front = search.run_search(found.problem, found.settings).front_index
    calls = {"evaluate": 0, "built": 0, "rows": 0}
    evaluate, renumbered = Problem.evaluate, Problem.renumbered

    def counted(self, points, *args, draws=1, **kwargs):
        calls["evaluate"] += 1
        calls["rows"] += draws * len(points)
        return evaluate(self, points, *args, draws=draws, **kwargs)

    def built(self, **changes):
        calls["built"] += 1
        return renumbered(self, **changes)

    monkeypatch.setattr(Problem, "evaluate", counted)
    monkeypatch.setattr(Problem, "renumbered", built)
    monkeypatch.setattr("dse.search.run_search", refuse)
    flips = find_flips(found, factor=2.0, known=front)
    assert len(flips.found) == 84
    assert calls["evaluate"] < 500
    assert calls["built"] < 1200
    assert calls["rows"] < 4 * found.problem.size  # two ends of each would be 176 times it


# Order and budget ---------------------------------------------------------------------------


def test_the_answer_is_told_before_anything_else_is_looked_for(monkeypatch) -> None:
    """The design comes before the search of its alternatives, these before the first flip."""
    events: list[str] = []

    def noted(name, function):
        def call(*args, **kwargs):
            events.append(name)
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(
        "dse.answers.answer.alternatives",
        noted("alternatives", alternatives.alternatives),
    )
    monkeypatch.setattr(flip_search, "find_flips", noted("flips", flip_search.find_flips))
    answer = dse.answer(SETTOP, told=lambda text: events.append(text))
    told = [event for event in events if event not in ("alternatives", "flips")]
    assert "\n\n".join(told) == answer.text(all=True)
    assert [event if event in ("alternatives", "flips") else "text" for event in events] == [
        *("text", "alternatives", "text", "flips", "text"),
        *["text"] * (len(told) - 3),
    ]
    assert "Take " in events[0]
    assert "Runner-up" in events[2]
    assert events[4].startswith(LOOKED_FOR)
    events.clear()
    dse.answer(SETTOP, all=False, told=lambda text: events.append(text))
    assert "Take " in events[0]
    assert "bottleneck" in events[0]
    assert events[1] == "flips"  # one screen has no alternatives to wait for
    assert "alternatives" not in events


@pytest.mark.parametrize(
    ("asked", "last"), [((), "The bottleneck"), (("--all",), "Runner-up")], ids=["screen", "all"]
)
def test_the_command_flushes_the_answer_first(asked, last, monkeypatch, capsys) -> None:
    seen: list[str] = []

    def looked(*_, **__) -> None:
        seen.append(capsys.readouterr().out)

    monkeypatch.setattr(flip_search, "flips_section", looked)
    application()(["answer", str(SETTOP), *asked], standalone_mode=False)
    assert "Take " in seen[0]
    assert last in seen[0]
    assert "Take " not in capsys.readouterr().out  # what comes after it does not tell it again
    monkeypatch.undo()
    application()(["answer", str(SETTOP), "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["flips"]["not_looked_at"] == []


def test_a_budget_ends_with_the_rest_named(monkeypatch) -> None:
    """Time stands still but for a second each group: three of the settop study's are looked at."""
    clock = iter(range(1_000_000))
    found = study.prepare(study.read_study(SETTOP))
    front = search.run_search(found.problem, found.settings).front_index
    whole = find_flips(found, factor=2.0, known=front)
    monkeypatch.setattr(flip_search, "TOGETHER", 1)
    monkeypatch.setattr(time, "process_time", lambda: float(next(clock)))
    some = find_flips(found, factor=2.0, known=front, until=deadline.Deadline(25.0))
    assert 0 < len(some.found) < len(whole.found)
    known = {entry.name: entry for entry in whole.found}
    assert all(entry == known[entry.name] for entry in some.found)  # it depends on no other
    assert {*some.unlooked, *(entry.name for entry in some.found)} == known.keys()
    told = " ".join(some.text().split())
    assert f"Not looked at, for 25 s of CPU time were over: {some.unlooked[0]}" in told
    assert "depends on the machine; --budget gives more time" in told
    assert some.to_dict()["not_looked_at"] == list(some.unlooked)


def test_numbers_of_the_answer_come_first() -> None:
    """Then those of other designs of the front, then the rest, each as the study names them."""
    asked: list[str] = []
    found = study.prepare(study.read_study(STUDIES / "des_100gbps.yaml"))
    front = search.run_search(found.problem, found.settings).front_index
    find_flips(
        found,
        factor=1.001,
        known=front,
        until=deadline.Deadline(1e9),
        progress=lambda name, *_: asked.append(name),
    )
    entries = assumptions_of(found)
    answer = front[found.preference.order(found.problem, front)[:1]]
    first = [entry.name for entry in entries if entry.concerns(answer)]
    then = [entry.name for entry in entries if entry.concerns(front)]
    assert asked[0] == first[0] == "workload.rate"
    assert {name.split(".")[1] for name in first} == {"rate", "u16"}
    assert {name.split(".")[1] for name in then} == {"rate", "u16", "u8"}


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("10", "budget '10': a value in s needs its unit; write the value with its unit"),
        ("0 s", "budget '0 s': it must be more than 0; write for instance 10 s"),
        ("-1 s", "budget '-1 s': it must be more than 0"),
        ("5 W", "budget '5 W': a value in s is needed, not one in W"),
    ],
)
def test_a_budget_is_a_time(written: str, told: str) -> None:
    with pytest.raises(UnitError) as error:
        dse.answer(SETTOP, flips_budget=written)
    assert str(error.value).startswith(f"flips {told}")
    for ask in (dse.flips, dse.sweep):
        with pytest.raises(UnitError) as error:
            ask(SETTOP, time_budget=written)
        assert str(error.value).startswith(told)


@pytest.mark.parametrize("known", [True, False])
def test_a_sweep_says_up_to_where_it_is_settled(known: bool, monkeypatch) -> None:
    """The time is over after two intervals, when the answer is `known` that begins the third."""
    edge_of, calls = sweep_search._edge, iter(range(9))
    document = study.read_study(SETTOP)
    whole = find_crossovers(document, "rate=0.1..60Gbps", counts=True)

    def edge(searched, start, *rest):
        if next(calls) < 2:
            return edge_of(searched, start, *rest)
        return searched.answer(start) and None if known else None

    monkeypatch.setattr(sweep_search, "_edge", edge)
    until = deadline.Deadline(1e6)
    some = find_crossovers(document, "rate=0.1..60Gbps", counts=True, until=until)
    last = some.intervals[-1]
    assert len(some.intervals) == 2 + known
    assert last.designs == whole.intervals[1 + known].designs
    assert some.intervals[0] == whole.intervals[0]
    assert last.high == (whole.intervals[2].low if known else whole.intervals[1].high)
    assert "1e+06 s of CPU time did not suffice (--budget): the range ends" in some.text()
    assert some.to_dict()["settled_to_bit_per_s"] == last.high


def test_a_sweep_without_time_is_refused() -> None:
    document = study.read_study(SETTOP)
    with pytest.raises(TooLargeError, match="not even the answer at one end is known"):
        find_crossovers(document, "rate=0.1..60Gbps", until=deadline.Deadline(1e-9))
