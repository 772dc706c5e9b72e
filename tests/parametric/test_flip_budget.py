"""What would change an answer, looked at together: same edges, bounded work, and a budget."""

from __future__ import annotations

import json
import time
from functools import partial

import numpy as np
import pytest

import dse
from dse import search
from dse.answers import answer
from dse.cli.app import application
from dse.errors import ContractError, TooLargeError, UnitError
from dse.model.host import hosts_among, with_hosts
from dse.model.problem import Problem
from dse.parametric import breakpoints
from dse.parametric import flips as flip_search
from dse.parametric.breakpoints import Line, compare_lines
from dse.parametric.decision_map import find_map
from dse.parametric.flips import figures_of, find_flips
from dse.parametric.perturbed import PerturbedDesigns, PerturbedPart, widest
from dse.parametric.question import Question
from dse.search.exact.work import EffortError
from dse.search.settings import Budget
from dse.study import study
from dse.study.assumptions import MOST_RECORDS, assumptions_of
from tests.conftest import STUDIES
from tests.parametric.test_flips import BEHIND_INTERFACES, MIXED, prepared

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
    rows = np.vstack([rows, found.problem.hosts])
    parts = [PerturbedPart(entry, (entry.value, 2 * entry.value), rows) for entry in entries]
    together = PerturbedDesigns(found.problem, widest(found.problem, moved), parts).evaluate()
    alone = [p.evaluate(rows) for problem in moved for p in (found.problem, problem)]
    assert np.array_equal(together.loss, np.vstack([one.loss for one in alone]))
    assert np.array_equal(together.feasible, np.concatenate([one.feasible for one in alone]))


@pytest.mark.parametrize("size", [1, 3])
def test_nothing_depends_on_what_is_looked_at_together(size, write, monkeypatch) -> None:
    found = prepared(BEHIND_INTERFACES, write, 11)
    together = find_flips(found, factor=100.0)
    monkeypatch.setattr(flip_search, "TOGETHER", size)
    assert find_flips(found, factor=100.0) == together


def test_the_work_of_an_answer_is_bounded(monkeypatch) -> None:
    """83 assumptions of the crypto study: under 200 evaluations, no search of the space.

    Tracked one after the other they took 7100 evaluations, 15 searches and 2458 problems.
    """
    found = study.prepare(study.read_study(STUDIES / "crypto_interface_100gbps.yaml"))
    front = search.run_search(found.problem, found.settings).front_index
    calls = {"evaluate": 0, "built": 0, "rows": 0}
    evaluate, renumbered = Problem.evaluate, Problem.renumbered

    def counted(self, points, *args, draws=1, **kwargs):
        again = hosts_among(points) is not None  # they are evaluated once more, of the space
        if self.stages and not again:  # the host alone is a problem of none
            calls["evaluate"] += 1
            calls["rows"] += draws * len(points)
        return evaluate(self, points, *args, draws=draws, **kwargs)

    def alone(problem, found, rows, *args, **kwargs):  # hosts are no designs of the space
        calls["rows"] -= int((rows < 0).any(axis=1).sum())
        return with_hosts(problem, found, rows, *args, **kwargs)

    def built(self, *args, **changes):
        calls["built"] += 1
        return renumbered(self, *args, **changes)

    monkeypatch.setattr(Problem, "evaluate", counted)
    monkeypatch.setattr(Problem, "renumbered", built)
    monkeypatch.setattr("dse.parametric.perturbed.with_hosts", alone)
    monkeypatch.setattr("dse.search.run_search", refuse)
    flips = find_flips(found, factor=2.0, known=front)
    assert len(flips.found) == 83
    assert calls["evaluate"] < 200
    assert calls["built"] < 450
    assert calls["rows"] < 4 * found.problem.size  # two ends of each would be 176 times it


# Order and budget ---------------------------------------------------------------------------


def test_the_answer_is_told_before_anything_else_is_looked_for(monkeypatch) -> None:
    """The design is printed, beside its alternatives, before the first flip is searched."""
    events: list[str] = []

    def noted(name, function):
        def call(*args, **kwargs):
            events.append(name)
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(
        "dse.answers.answer.alternatives",
        noted("alternatives", answer.alternatives),
    )
    monkeypatch.setattr(flip_search, "find_flips", noted("flips", flip_search.find_flips))
    found = dse.answer(SETTOP, callback=lambda text: events.append(text))
    told = [event for event in events if event not in ("alternatives", "flips")]
    assert "\n\n".join(told) == found.text(all=True)
    assert [event if event in ("alternatives", "flips") else "text" for event in events] == [
        *("text", "alternatives", "text", "text", "flips", "text"),
        *["text"] * (len(told) - 4),
    ]
    assert "Take " in events[0]
    assert "Any other des design" in events[3]
    assert events[5].startswith(LOOKED_FOR)
    events.clear()
    dse.answer(SETTOP, all=False, callback=lambda text: events.append(text))
    assert "Take " in events[0]
    assert events[1] == "alternatives"  # beside the design
    assert "Bottleneck: " in events[2]
    assert events[3] == "flips"


@pytest.mark.parametrize(
    ("asked", "last"), [((), "Bottleneck: "), (("--all",), "Any other des")], ids=["screen", "all"]
)
def test_the_command_flushes_the_answer_first(asked, last, monkeypatch, capsys) -> None:
    seen: list[str] = []

    def looked(*_, **__) -> None:
        seen.append(capsys.readouterr().out)

    monkeypatch.setattr("dse.api.answers.flips_section", looked)
    application()(["answer", str(SETTOP), *asked], standalone_mode=False)
    assert "Take " in seen[0]
    assert last in seen[0]
    assert "Take " not in capsys.readouterr().out  # what comes after it does not tell it again
    monkeypatch.undo()
    application()(["answer", str(SETTOP), "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["flips"]["not_checked"] == []


def test_a_budget_ends_with_the_rest_named(monkeypatch) -> None:
    """Time stands still but for a second each time that it is asked for."""
    clock = iter(range(1_000_000))
    found = study.prepare(study.read_study(SETTOP))
    front = search.run_search(found.problem, found.settings).front_index
    whole = find_flips(found, factor=2.0, known=front)
    monkeypatch.setattr(flip_search, "TOGETHER", 1)
    monkeypatch.setattr(time, "process_time", lambda: float(next(clock)))
    some = find_flips(found, factor=2.0, known=front, budget=Budget(seconds=3.0))
    assert 0 < len(some.found) < len(whole.found)
    known = {entry.name: entry for entry in whole.found}
    assert all(entry == known[entry.name] for entry in some.found)  # it depends on no other
    assert {*some.unchecked, *(entry.name for entry in some.found)} == known.keys()
    told = " ".join(some.text().split())
    assert f"Not checked (3 s of CPU time used; raise --time): {some.unchecked[0]}" in told
    assert "How far these reach depends on the machine" in told
    assert some.to_dict()["not_checked"] == list(some.unchecked)


def test_what_matters_comes_first_and_no_flip_is_said_without_it() -> None:
    """Rate, sizes, caps and bounds; then what moves the answer's objective or headroom most."""
    seen: list[str] = []
    path = STUDIES / "crypto_interface_100gbps.yaml"
    found = study.prepare(study.read_study(path))
    front = search.run_search(found.problem, found.settings).front_index
    find_flips(found, factor=1.001, known=front, progress=lambda name, *_: seen.append(name))
    assert len(seen) == len(figures_of(found, front))
    first = {entry.name for entry in figures_of(found, front) if flip_search.is_first(entry)}
    assert "workload.rate" in first
    some = find_flips(found, factor=1.001, budget=Budget(seconds=1e-9), known=front)
    assert not some.found
    (brief,) = some.section(full=False).brief or ()
    assert "No flip" not in brief
    assert "workload.rate" in brief


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("10", "time '10': a value in s needs its unit; write the value with its unit"),
        ("0 s", "time '0 s': it must be positive; write for instance 60 s"),
        ("-1 s", "time '-1 s': it must be positive"),
        ("5 W", "time '5 W': a value in s is needed, not one in W"),
    ],
)
def test_a_budget_is_a_time(written: str, told: str) -> None:
    for ask in (dse.answer, dse.flips, partial(dse.decision_map, range_="rate=1..2Gbps")):
        with pytest.raises(UnitError) as error:
            ask(SETTOP, time=written)
        assert str(error.value).startswith(told)


def test_a_sweep_says_up_to_where_it_is_settled(monkeypatch) -> None:
    """The time is over after two intervals."""
    end_of, calls = breakpoints.follow, iter(range(9))
    document = study.read_study(SETTOP)
    whole = find_map(document, ["rate=0.1..60Gbps"], counts=True)

    def end(*given):
        if next(calls) < 2:
            return end_of(*given)
        raise EffortError("the limit of 1e+06 s of CPU time was reached (search.effort, --time)")

    monkeypatch.setattr(breakpoints, "follow", end)
    some = find_map(document, ["rate=0.1..60Gbps"], counts=True)
    last = some.intervals[-1]
    assert len(some.intervals) == 2
    assert last.name == whole.intervals[1].name
    assert some.intervals[0].high == whole.intervals[0].high
    assert last.high == whole.intervals[1].high
    assert "above it the limit of 1e+06 s of CPU time was reached" in some.text()
    assert some.to_dict()["intervals"][-1]["to_bit_per_s"] == last.high


def test_a_sweep_without_time_is_refused() -> None:
    document = study.read_study(SETTOP)
    with pytest.raises(TooLargeError, match="not even the answer at one end is known"):
        find_map(document, ["rate=0.1..60Gbps"], budget=Budget(seconds=1e-9))


def test_what_cannot_be_evaluated_disturbs_nothing_that_is_evaluated_with_it(write, monkeypatch):
    found = prepared(MIXED, write, 11)
    question, settings = Question(found.preference), search.SearchSettings()
    moved = assumptions_of(found)[0]
    one, other = (Line(moved, question, settings, (1e9, k)) for k in (2e9, 3e9))

    def together(problem, space, asks):
        if any(3e9 in ask.values for ask in asks):
            raise ContractError("it fails")
        return [ask.values for ask in asks]

    monkeypatch.setattr("dse.parametric.breakpoints.compare_together", together)
    seen, failed = compare_lines([(line, line.pool, line.limits) for line in (one, other)])
    assert seen == (1e9, 2e9)
    assert str(failed) == "it fails"


CORES = """
workload: {rate: 1 Gbps}
stages: [{name: core, table: many.csv, values: {payload: 64 bit, clock: 1 GHz}, instances: 1}]
"""


@pytest.mark.parametrize(
    ("source", "axis", "figures", "others"),
    [
        ("designs: many.csv", "design", ("area", "power", "bandwidth"), ()),
        (CORES, "core.design", ("area", "dynamic_power", "clock"), ("workload.rate",)),
    ],
)
def test_a_large_table_makes_no_assumption_of_each_of_its_figures(
    write, source, axis, figures, others
) -> None:
    """Of designs beside the front nothing is varied, and that is said."""
    path = write(f"{source}\nobjectives: {{area: minimise, power: minimise}}\n")
    rows = [f"d{k},{1000 + k},{1 + (k - 3) ** 2},9" for k in range(MOST_RECORDS + 1)]
    header = "design,area_um2,power_nw,bandwidth_gbps"
    (path.parent / "many.csv").write_text("\n".join([header, *rows]))
    found = study.prepare(study.read_study(path))
    front = search.run_search(found.problem, found.settings).front_index
    names = {entry.name for entry in figures_of(found, front)}
    stage = axis.removesuffix("design")
    assert names == {*others, *(f"{stage}d{k}.{name}" for k in range(4) for name in figures)}
    text = " ".join(find_flips(found, known=front).text().split())
    assert (
        f"Of the {MOST_RECORDS + 1} choices of {axis} those on the front were varied alone." in text
    )
