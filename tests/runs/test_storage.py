"""Runs that share their trials through a storage of Optuna: one process after another."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse
from dse.errors import DseError, StoreError
from dse.runs.sharing import SharingError
from tests.conftest import STUDIES
from tests.runs.test_measuring import figures, study

optuna = pytest.importorskip("optuna", reason="the extra search is not installed")

from sqlalchemy import event  # noqa: E402
from sqlalchemy.exc import IntegrityError  # noqa: E402

from dse.search.shared import storage  # noqa: E402


def journal(folder: Path) -> str:
    return f"journal:///{folder / 'trials.log'}"


Tool = Callable[[float, float], Mapping[str, float | str]]


def tool_in(folder: Path, *failing: tuple[float, float], pause_s: float = 0.0) -> Tool:
    """Return what measures, and writes what it is called with to a file."""

    def tool(unroll: float, clock: float) -> Mapping[str, float | str]:
        with (folder / "calls").open("a") as stream:
            stream.write(f"{unroll:g} {clock:g}\n")
        time.sleep(pause_s)
        if (unroll, clock) in failing:
            raise ValueError(f"no timing at {clock / 1e6:g} MHz")
        return figures(unroll, clock)

    return tool


def calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def trials(url: str, name: str = "study") -> Any:
    place = url.removeprefix("journal:///")
    backend = optuna.storages.journal.JournalFileBackend(place)
    storage = optuna.storages.JournalStorage(backend)
    return optuna.load_study(study_name=name, storage=storage)


def test_a_storage_holds_names_values_constraints_and_failures(tmp_path: Path) -> None:
    url, tool = journal(tmp_path), tool_in(tmp_path, (2, 2e8))
    result = dse.run(
        study(), method="tpe", budget=15, evaluate=tool, storage=url, out=tmp_path / "run",
        plots=False,
    )  # fmt: skip
    assert dse.verify(tmp_path / "run", trials=100).holds
    assert len(calls(tmp_path)) == len({*calls(tmp_path)}) == 15
    assert result.manifest["evaluated"] == 14
    shared = trials(url)
    assert shared.metric_names == ["area_m2", "delay_s"]
    done = [trial for trial in shared.trials if trial.state.name == "COMPLETE"]
    assert {trial.params["unroll"] for trial in done} == {"1", "2", "4", "8", "16"}
    assert {trial.params["clock"] for trial in done} == {"100000000", "200000000", "400000000"}
    one = next(trial for trial in done if trial.params["unroll"] == "16")
    assert one.constraints.keys() == {"the design is measured", "power <= 30 mW"}
    failed = next(trial for trial in shared.trials if trial.params.get("unroll") == "2"
                  and trial.params["clock"] == "200000000")  # fmt: skip
    assert failed.state.name == "FAIL"
    assert failed.user_attrs["cause"] == "ValueError: no timing at 200 MHz"
    best = {tuple(trial.values) for trial in shared.best_trials}
    rows = result.front[["area_m2", "delay_s"]].itertuples(index=False)
    assert np.allclose(sorted(best), sorted(map(tuple, rows)), rtol=1e-9, atol=0)


def test_a_second_run_takes_what_is_there_and_measures_the_rest(tmp_path: Path) -> None:
    url, tool = journal(tmp_path), tool_in(tmp_path)
    dse.run(study(), method="random", evaluate=tool, storage=url, budget=6)
    assert len(calls(tmp_path)) == 6
    result = dse.run(study(), method="tpe", evaluate=tool, storage=url, budget=9)
    assert len(calls(tmp_path)) == len({*calls(tmp_path)}) == result.manifest["evaluated"] == 9
    assert result.manifest["storage"]["by_others"] == 6


def test_numbers_of_models_are_computed_again(tmp_path: Path) -> None:
    url, path = journal(tmp_path), STUDIES / "settop_116mbps.yaml"
    first = dse.run(path, method="tpe", budget=12, storage=url)
    shared = trials(url, path.stem)
    frozen = next(trial for trial in shared.trials if trial.state.name == "COMPLETE")
    lines = Path(url.removeprefix("journal:///")).read_text().splitlines()
    text = json.dumps(frozen.values)[1:-1].replace(" ", "")
    assert any(text in line for line in lines)
    doubled = ",".join(repr(2 * value) for value in frozen.values)
    changed = "\n".join(line.replace(text, doubled) for line in lines) + "\n"
    Path(url.removeprefix("journal:///")).write_text(changed)
    second = dse.run(path, method="random", budget=12, storage=url)
    assert second.front.equals(first.front)
    assert int(second.manifest["storage"]["differing"]) >= 1
    assert any("other numbers than the models here" in note for note in second.manifest["notes"])


def test_a_trial_that_somebody_told_by_hand_does_not_count(tmp_path: Path) -> None:
    url, tool = journal(tmp_path), tool_in(tmp_path)
    told = study(search={"method": "random", "budget": 4, "warm_start": False})
    told |= {"constraints": []}
    dse.run(told, evaluate=tool, storage=url)
    shared = trials(url)
    known = shared.trials[0]
    shared.add_trial(optuna.create_trial(
        params=known.params, distributions=known.distributions, values=[0.0, 0.0]
    ))  # fmt: skip
    result = dse.run(told, evaluate=tool, storage=url)
    assert len(calls(tmp_path)) == 4
    assert result.front["area_m2"].min() > 0
    assert result.manifest["storage"]["without_measurement"] == 1


def test_another_study_of_the_same_name_is_refused_field_by_field(tmp_path: Path) -> None:
    url = journal(tmp_path)
    told, tool = study(search={"method": "random", "budget": 9}), tool_in(tmp_path)
    dse.run(told, evaluate=tool, storage=url)
    other: Mapping[str, Any] = {
        **told,
        "axes": {**told["axes"], "unroll": [1, 2]},
        "objectives": {"area": "minimise", "delay": "maximise"},
    }
    with pytest.raises(SharingError) as refused:
        dse.run({**other}, evaluate=tool, storage=url)
    assert str(refused.value) == (
        f"{url} holds a study 'study' that asks for something else (there -> here):\n"
        '  axes.unroll: ["1", "2", "4", "8", "16"] -> ["1", "2"]\n'
        "  objectives.delay_s: minimise -> maximise\n"
        "name another storage, or make the studies the same"
    )


@pytest.mark.parametrize("constraints", [["power <= 30 mW"], []])
def test_no_connection_stays_open(
    constraints: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where the study is refused; drivers complain of what is left to the collector."""
    url, connections = f"sqlite:///{tmp_path / 'a.db'}", Counter[str]()
    opened, told = storage.open_storage, study(search={"method": "random", "budget": 4})

    def counted(url: str) -> Any:
        found: Any = opened(url)
        found.engine.dispose()  # what was opened before it is listened to
        for change in ("connect", "close"):
            event.listen(found.engine, change, lambda *_, to=change: connections.update([to]))
        return found

    dse.run(told, evaluate=tool_in(tmp_path), storage=url)
    monkeypatch.setattr(storage, "open_storage", counted)
    with suppress(SharingError):
        dse.run({**told, "constraints": constraints}, evaluate=tool_in(tmp_path), storage=url)
    assert connections["connect"] == connections["close"] > 0


@pytest.mark.parametrize("method", ["exact", "nsga2", "gaussian"])
def test_methods_that_decide_on_designs_together_are_refused(method: str, tmp_path: Path) -> None:
    with pytest.raises(SharingError) as refused:
        dse.run(STUDIES / "settop_116mbps.yaml", method=method, storage=journal(tmp_path))
    assert str(refused.value) == (
        f"method {method} cannot share trials through a storage; search with --method "
        "nsga2-optuna, random or tpe, or leave --storage out: --workers and --dask go with every "
        "method"
    )
    assert not [*tmp_path.iterdir()]


def test_a_sweep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SharingError, match=r"a storage holds one study, and this one sweeps "):
        dse.run(STUDIES / "des_fft_sweep.yaml", method="tpe", storage=journal(tmp_path))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("trials.log", "the storage trials.log is no URL; write for instance journal:///trials.log"),
        ("journal:a.log", "the storage journal:a.log is no URL; write for instance journal:///a.log"),
        ("sqlite://a.db", "the storage sqlite://a.db is no URL; write for instance sqlite:///a.db"),
        ("sqlite:////no/such/a.db", "the storage sqlite:////no/such/a.db cannot be used: "),
        ("journal:////no/such/a.log", "the storage journal:////no/such/a.log cannot be used: "),
        ("nothing://me:secret@host/a", "the storage nothing://me:***@host/a cannot be used: "),
    ],
)  # fmt: skip
def test_a_storage_that_cannot_be_used_is_told_without_its_password(url: str, said: str) -> None:
    with pytest.raises(StoreError) as told:
        dse.run(STUDIES / "settop_116mbps.yaml", method="tpe", storage=url)
    assert str(told.value).startswith(said)
    assert "secret" not in str(told.value)


def test_a_driver_that_is_missing_is_told_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    url = "postgresql+psycopg2://me:secret@host/trials"
    with pytest.raises(StoreError) as told:
        dse.run(STUDIES / "settop_116mbps.yaml", method="tpe", storage=url)
    assert str(told.value) == (
        "the storage postgresql+psycopg2://me:***@host/trials needs psycopg2, which is not "
        'installed; pip install "psycopg2-binary"'
    )


def test_tables_that_another_process_makes_at_the_same_time_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What PostgreSQL says to the later of two processes that begin at once."""
    opened, refusals = storage.RDBStorage, [1, 1]

    def refused(*arguments: Any, **options: Any) -> Any:
        if refusals:
            refusals.pop()
            raise IntegrityError("CREATE TABLE", {}, Exception("duplicate key value"))
        return opened(*arguments, **options)

    monkeypatch.setattr(storage, "RDBStorage", refused)
    assert isinstance(storage.open_storage(f"sqlite:///{tmp_path / 'a.db'}"), opened)
    assert not refusals


def test_workers_and_a_cluster_exclude_each_other() -> None:
    with pytest.raises(DseError) as told:
        dse.run(study(), evaluate=figures, workers=2, dask="tcp://127.0.0.1:9")
    assert str(told.value) == (
        "workers and dask: a Dask cluster has workers of its own; give --workers to measure on "
        "this machine or --dask to measure on the cluster (`workers` or `dask` in Python), not both"
    )


def test_running_trials_of_others_keep_their_part_of_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dse.search.shared import trials as shared_trials

    monkeypatch.setattr(shared_trials, "PATIENCE_S", 0.0)
    url, tool = journal(tmp_path), tool_in(tmp_path)
    dse.run(study(), method="random", evaluate=tool, storage=url, budget=6)
    other = trials(url)
    known = [trial.params for trial in other.trials]
    new = next(
        {"unroll": unroll, "clock": clock}
        for unroll in ("1", "2", "4")
        for clock in ("100000000", "200000000", "400000000")
        if {"unroll": unroll, "clock": clock} not in known
    )
    other.enqueue_trial(new)
    other.ask(other.trials[0].distributions)
    result = dse.run(study(), method="random", evaluate=tool, storage=url, budget=8)
    assert result.manifest["evaluated"] == len(calls(tmp_path)) == 7
    assert result.manifest["storage"]["not_waited_for"] == 1
    assert any("a journal cannot tell" in note for note in result.manifest["notes"])


@pytest.mark.parametrize("then", ["it is decided before", "it is decided", "it is given up"])
def test_a_design_that_waited_is_left_to_who_began_it_meanwhile(
    then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its trial runs late, under a low number, when one of a higher number has its design.

    The other would yield if it saw this one, and is waited for until it decides or gives up.
    """
    from dse.search.shared import trials as shared_trials

    url, tool, holder = journal(tmp_path), tool_in(tmp_path), "claim of elsewhere 1"
    dse.run(study(), method="random", evaluate=tool, storage=url, budget=3)
    shared, before = trials(url), {*calls(tmp_path)}
    unroll = next(u for u in (1, 2, 4, 8, 16) if f"{u} 1e+08" not in before)
    design = {"unroll": f"{unroll}", "clock": "100000000"}
    claim = {"machine": "elsewhere", "process": 1, "first": 99}
    shared.enqueue_trial(design)
    shared.add_trial(
        optuna.trial.create_trial(
            state=optuna.trial.TrialState.RUNNING,
            params=design,
            distributions=shared.trials[0].distributions,
            user_attrs={holder: claim | {"decided": then == "it is decided before"}},
        )
    )
    number = shared.trials[-1].number
    other = shared.trials[-1]._trial_id

    clock = [0.0]

    def meanwhile(seconds: float) -> None:
        clock[0] += seconds
        if then == "it is decided":
            shared._storage.set_trial_user_attr(other, holder, claim | {"decided": True})
        elif then == "it is given up" and shared.trials[number].state.name == "RUNNING":
            shared.tell(number, state=optuna.trial.TrialState.FAIL)

    monkeypatch.setattr(shared_trials, "PATIENCE_S", 0.5)
    monkeypatch.setattr(time, "sleep", meanwhile)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    found = dse.run(study(), method="random", evaluate=tool, storage=url, budget=6)
    given_up = then == "it is given up"
    assert calls(tmp_path).count(f"{unroll} 1e+08") == given_up
    assert len(calls(tmp_path)) == found.manifest["evaluated"] == 5 + given_up
    assert found.manifest["storage"]["not_waited_for"] == (not given_up)


def test_a_trial_that_two_processes_began_is_left_to_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite hands a trial that waited to both of two processes that ask at once."""
    from dse.search.shared import trials as shared_trials

    url, tool, holder = journal(tmp_path), tool_in(tmp_path), "claim of elsewhere 1"
    dse.run(study(), method="random", evaluate=tool, storage=url, budget=3)
    shared, before = trials(url), {*calls(tmp_path)}
    unroll = next(u for u in (1, 2, 4, 8, 16) if f"{u} 1e+08" not in before)
    claim = {"machine": "elsewhere", "process": 1, "first": 0, "decided": False}
    shared.enqueue_trial({"unroll": f"{unroll}", "clock": "100000000"}, user_attrs={holder: claim})
    number = len(shared.trials) - 1
    monkeypatch.setattr(shared_trials, "PATIENCE_S", 0.5)
    dse.run(study(), method="random", evaluate=tool, storage=url, budget=6)
    left = shared.trials[number]
    assert left.state.name == "RUNNING"
    assert [*left.user_attrs.values()] == [claim, None]
    assert f"{unroll} 1e+08" not in calls(tmp_path)
    assert len(calls(tmp_path)) == 5
