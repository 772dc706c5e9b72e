"""A proof is limited by work: what it may take, what is left when it ends, which way is taken."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dse
from dse import search
from dse.audit.verify import verify_run
from dse.errors import StudyError, TooLargeError, UnitError
from dse.parametric.breakpoints import TOO_MANY
from dse.parametric.flips import find_flips
from dse.search.exact import compose, partial, work
from dse.search.settings import budget_of
from dse.study import study
from tests.conftest import problem_of, solved
from tests.search.test_chains import offload_study
from tests.search.test_compose import accounted, front, random_problem, random_study, same_losses

LARGE = """\
workload: {granularity: 4 KiB, kernel: des, rate: 5 Gbit/s}
stages:
  - {core: des, name: s1, fleet: mixed, instances: {from: 0, to: 30}, clock: 1}
  - {core: des, name: s2, fleet: mixed, instances: {from: 0, to: 10}, clock: [0.25, 0.5, 1]}
interface: {wait: sync}
axes:
  interface.device: [sparc_t4_engine, sparc_t4_instruction, sandy_bridge]
objectives: {area: minimise, total_power: minimise, power: minimise}
search: {effort: 1 ms}
"""


def test_when_the_effort_ends_the_front_so_far_is_the_answer(write) -> None:
    found = solved(write(LARGE)).answers[0]
    outcome = found.outcome
    assert not outcome.exact
    assert outcome.certificate.way == "unfinished"
    assert (
        "the limit of 0.001 s of CPU time was reached (search.effort, --time)"
        in outcome.certificate.reason
    )
    assert len(outcome.front_index)
    assert outcome.feasible
    assert 0 < found.quality.at_least.value < 1
    assert found.study.problem.evaluate(outcome.front_index).feasible.all()


def test_a_proof_that_is_needed_is_no_partial_one(write) -> None:
    problem = problem_of(write(LARGE))
    with pytest.raises(TooLargeError, match="of CPU time was reached"):
        search.run_search(problem, search.SearchSettings(effort_s=1e-3))


def test_a_limit_around_a_proof_ends_what_set_it(write) -> None:
    """Flips within `--time` keep what they have found, and end; they once failed."""
    problem = problem_of(write(LARGE))
    with work.limited(seconds=1e-3), pytest.raises(work.EffortError):
        search.run_search(problem, search.SearchSettings(effort_s=60.0))


def test_an_unfinished_front_is_not_proven_for_its_quality_and_verifies(write, tmp_path) -> None:
    """It would take as much again; the space is small enough for heuristics to be compared."""
    small = LARGE.replace("to: 30", "to: 2").replace("to: 10", "to: 1")
    run = dse.run(write(small), out=tmp_path / "run")
    assert run.manifest["designs"] <= 10_000_000
    assert run.manifest["hypervolume_share_of_exact"] is None
    assert run.text().startswith("not proven: the limit of 0.001 s of CPU time was reached")
    assert verify_run(tmp_path / "run", trials=1000).holds


def test_an_answer_says_why_a_better_design_may_have_been_missed(write, tmp_path) -> None:
    run = dse.run(write(LARGE), out=tmp_path / "run")
    for source in (write(LARGE), run, tmp_path / "run"):
        answer = dse.answer(source, flips=False)
        (why,) = answer.to_dict()["answer"]["unfinished"]
        assert why.startswith("the limit of 0.001 s of CPU time was reached (search.effort")
        assert f"; a better one may have been missed: {why}." in " ".join(answer.text().split())


def test_a_sweep_says_how_many_of_its_proofs_are_unfinished(write) -> None:
    swept = "sweep: {workload.rate: [5 Gbit/s, 10 Gbit/s]}\n"
    run = dse.run(write(LARGE.replace(", rate: 5 Gbit/s", "") + swept))
    assert len(run.manifest["certificate"]["unfinished"]) == 2
    assert run.text().startswith("not proven: 2 values of the sweep, the first because the limit")


def test_a_flip_that_takes_too_much_ends_its_range(write) -> None:
    found = study.prepare(study.read_study(write(LARGE)))
    settings = search.SearchSettings(effort_s=1e-3, partial=True)
    known = search.run_search(found.problem, settings).front_index
    knee = found.preferring("knee")
    (rate,) = find_flips(found, preference=knee, only=["workload.rate"], known=known).found
    for edge in (rate.low, rate.high):
        assert (edge.holds_to, edge.limited) == (rate.nominal, TOO_MANY)


def test_memory_is_limited(write, monkeypatch: pytest.MonkeyPatch) -> None:
    grows = itertools.count(0, 2**20)
    monkeypatch.setattr(work, "_resident_byte", lambda: next(grows))
    settings = search.SearchSettings(memory_byte=2**20, partial=True)
    found = search.run_search(problem_of(write(LARGE)), settings)
    said = "the limit of 1 MiB of memory, beyond what was in use at the start, was reached"
    assert said in found.certificate.reason


@pytest.mark.parametrize("field", ["effort: 0 s", "effort: 5", "memory: 3 s", "memory: -1 MiB"])
def test_nonsense_is_a_fault(field: str, write) -> None:
    with pytest.raises(StudyError, match=re.escape(field.partition(":")[0])):
        study.prepare(study.read_study(write(LARGE.replace("effort: 1 ms", field))))


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 8), marks=pytest.mark.slow)])
@pytest.mark.parametrize("listed", [True, False])
def test_fronts_do_not_depend_on_how_many_designs_are_held(
    listed: bool, seeds: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compose, "TOGETHER", 7)
    monkeypatch.setattr(compose, "MOST_ROWS", 50)
    monkeypatch.setattr(compose, "FEW_ROWS", 30)
    if not listed:
        monkeypatch.setattr(compose.Composer, "drop_replaceable_fleets", lambda _, some: some)
    for seed in seeds:
        for kind in (random_study, offload_study):
            problem = random_problem(seed, tmp_path, kind)
            every, composed = front(problem, "enumerate"), front(problem, "compose")
            assert same_losses(composed, every), seed
            assert accounted(composed) == problem.whole_size


def test_less_memory_holds_less_at_once_and_proves_the_same_front(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded: list[int] = []
    bound = partial.Batch.bound

    def counted(batch: partial.Batch, rows, stages):
        bounded.append(len(rows))
        return bound(batch, rows, stages)

    monkeypatch.setattr(partial.Batch, "bound", counted)
    monkeypatch.setattr(work, "_resident_byte", lambda: 0)
    problem = random_problem(0, tmp_path, offload_study)
    found = []
    for byte in (2.0**30, 2.0**16):
        bounded.clear()
        outcome = search.run_search(
            problem, search.SearchSettings(method="compose", memory_byte=byte)
        )
        assert 0 < max(bounded) <= byte / (work.COPIES * work.BOUND_BYTE)
        found.append((max(bounded), outcome.front_index.tolist(), outcome.front_loss.tolist()))
    (most, *front_of_much), (fewer, *front_of_little) = found
    assert most > fewer
    assert front_of_much == front_of_little


GROWTH = """
import sys
from benchmarks import plausible
from dse import search
from dse.study import study

def status(key):
    lines = open("/proc/self/status", encoding="ascii")
    return int(next(line for line in lines if line.startswith(key)).split()[1]) * 1024

problem = study.prepare(study.read_study(plausible.text(int(sys.argv[1])))).problem
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
byte = int(sys.argv[2])
settings = search.SearchSettings(method="exact", partial=True, memory_byte=byte, effort_s=20)
search.run_search(problem, settings)
print(status("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no peak to reset")
@pytest.mark.parametrize("seed", [2, 3, 22, 36, 59])
@pytest.mark.parametrize("mib", [60, 150])
def test_a_proof_takes_at_most_a_tenth_more_memory_than_it_may(seed: int, mib: int) -> None:
    command = [sys.executable, "-c", GROWTH, str(seed), str(mib * 2**20)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1.1 * mib * 2**20


# A limit of time is written in seconds, minutes or hours


@pytest.mark.parametrize(("written", "seconds"), [("60 s", 60), ("5 min", 300), ("1.5 h", 5400)])
def test_times_of_any_length(written: str, seconds: float) -> None:
    assert budget_of(written).seconds == seconds


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(UnitError, match="time '5 mins'"):
        budget_of("5 mins")
