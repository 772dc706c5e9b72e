"""Search methods as plug-ins: what is known without them, options, and methods of a user's own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.contract import Method, Option
from dse.contract import method as record
from dse.errors import StudyError
from dse.plugins import registry
from dse.search import SearchSettings
from dse.search.archive import Archive
from dse.search.settings import option_faults
from dse.testing import check_method
from tests.conftest import installed, run_dse, stranger

METHODS = registry.names(Method)

STUDY = """\
# Which fleet?
workload: {rate: 20 Gbit/s}
stages: [{core: des, fleet: mixed}]
objectives: {area: minimise, power: minimise}
search: {method: my-nsga, budget: 900, options: {eta: 10}}
"""


@pytest.mark.parametrize("name", METHODS)
def test_registered_method(name: str) -> None:
    check_method(registry.get(Method, name))


def test_what_a_method_is_is_known_without_the_engine_that_runs_it() -> None:
    code = (
        "import sys\nfrom dse.contract import Method\nfrom dse.plugins import registry\n"
        "found = registry.records(Method)\n"
        "print(len([(m.description, m.budget, m.population, m.options) for m in found.values()]))\n"
        "engine = ('dse.search', 'dse.model', 'pymoo', 'optuna')\n"
        "print([name for name in sys.modules if name.startswith(engine)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{len(METHODS)}\n[]\n"


# Options ------------------------------------------------------------------------------------


@record(
    description="none",
    budget=10,
    options=(
        Option(name="eta", description="a number", default=20.0, low=1, high=100),
        Option(name="elite", description="a whole number", default=3, low=1),
        Option(name="archive", description="a switch", default=True),
        Option(name="kernel", description="a text", default="rbf", choices=("rbf", "matern")),
    ),
)
def told(search, *, seed, population, **options):
    """Say what it is given."""
    TOLD.append(options)
    search.evaluate(search.unseen(np.random.default_rng(seed), 1))


TOLD: list[dict[str, object]] = []


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("eta", 0.5, "eta is a number from 1 to 100; write for instance 20.0"),
        ("eta", float("nan"), "eta is a number from 1 to 100; write for instance 20.0"),
        ("eta", True, "eta is a number from 1 to 100; write for instance 20.0"),
        ("elite", 1.5, "elite is a whole number from 1; write for instance 3"),
        ("archive", 1, "archive is true or false; write for instance true"),
        ("kernel", "lbf", "kernel is one of rbf, matern; write for instance rbf"),
        ("ets", 3, "told has no such option; did you mean 'eta' or 'elite'?"),
    ],
)
def test_an_option_that_cannot_be(name: str, value: object, text: str) -> None:
    assert ["; ".join(pair) for pair in option_faults(told, name, value)] == [text]
    if name == "eta":
        assert not list(option_faults(told, name, 7))


def test_settings_refuse_options_that_their_method_lacks() -> None:
    with pytest.raises(StudyError, match=r"search\.options\.eta: 0; eta is a number from 1 to"):
        SearchSettings(method="nsga2", options={"eta": 0})
    with pytest.raises(StudyError, match="exact has no such option; remove it"):
        SearchSettings(options={"eta": 10})


# Of a user's own ----------------------------------------------------------------------------

OWN = {
    "my-nsga": '''
from dse.contract import Option, method

@method(
    description="an algorithm of pymoo",
    budget=500,
    population=40,
    options=(Option(name="eta", description="of mutations", default=20.0, low=1.0, high=100.0),),
)
def my_nsga(search, *, seed, population, eta):
    """Search with NSGA-II that prunes crowded designs one by one (Kukkonen and Deb 2006)."""
    from functools import partial
    from dse.search.heuristic.pymoo import evolve
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.operators.survival.rank_and_crowding import RankAndCrowding
    create = partial(NSGA2, survival=RankAndCrowding(crowding_func="pcd"))
    evolve(search, create, seed=seed, population=population, eta=eta)
''',
    "my-sampler": '''
from dse.contract import Option, method

@method(
    description="a sampler of optuna",
    budget=200,
    options=(Option(name="parents", description="designs of a generation", default=10, low=2),),
)
def my_sampler(search, *, seed, population, parents):
    """Search with NSGA-II of optuna."""
    from dse.search.heuristic.optuna import ask_and_tell
    from optuna.samplers import NSGAIISampler
    sampler = NSGAIISampler(seed=seed, population_size=parents)
    ask_and_tell(search, sampler, seed=seed, population=population)
''',
}


@pytest.fixture
def install(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs a command with a method of a user's own installed."""

    def run(name: str, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        point = f"[dse.methods]\n{name} = stranger:{name.replace('-', '_')}\n"
        return run_dse(*arguments, cwd=tmp_path, site=stranger(tmp_path, point, module))

    return run


@pytest.mark.parametrize("name", OWN)
def test_a_method_of_a_users_own_is_as_good_as_a_built_in_one(
    name: str, install: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    option = {"my-nsga": "eta: 10", "my-sampler": "parents: 50"}[name]
    study = STUDY.replace("my-nsga", name).replace("eta: 10", option)
    (tmp_path / "study.yaml").write_text(study)
    manifests, fronts = [], []
    for run, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        command = ("run", "study.yaml", "--out", run, "--seed", seed)
        done = install(name, OWN[name], *command)
        assert (done.returncode, done.stderr) == (0, "")
        manifests.append(json.loads((tmp_path / run / "manifest.json").read_text()))
        fronts.append((tmp_path / run / "evaluations.parquet").read_bytes())
    assert fronts[0] == fronts[1] != fronts[2]
    first = manifests[0]
    assert (first["method"], first["evaluated"]) == (name, 900)
    assert first["options"] == {"my-nsga": {"eta": 10}, "my-sampler": {"parents": 50}}[name]
    assert 0 < first["hypervolume_share_of_exact"] <= 1
    with installed(tmp_path / "site"):
        check_method(registry.get(Method, name))
    shown = install(name, OWN[name], "list", name).stdout
    assert f"method {name}  (stranger 1.0)" in shown
    assert option.partition(":")[0] in shown
    assert name in install(name, OWN[name], "list", "methods").stdout


def test_faults_of_options_stand_where_they_are_written(
    install: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY.replace("eta: 10", "eta: 0, etta: 3"))
    done = install("my-nsga", OWN["my-nsga"], "check", "study.yaml")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "study.yaml:5:50: search.options.eta: 0; eta is a number from 1 to 100; write for instance "
        "20.0",
        "study.yaml:5:58: search.options.etta: 3; my-nsga has no such option; did you mean 'eta'?",
    ]


# Methods that break their contract -----------------------------------------------------------


def broken(function: Callable[..., None]) -> Method:
    function.__doc__ = "Break the contract."
    return Method(function, description="broken", budget=10)


def fails(search, *, seed, population):
    raise ZeroDivisionError("by a careless author")


def negative(search, *, seed, population):
    search.evaluate(np.full((1, len(search.sizes)), -1))


def idle(search, *, seed, population):
    pass


def stubborn(search, *, seed, population):
    while search.room:
        search.evaluate(np.zeros((1, len(search.sizes)), dtype=np.int64))


def unseeded(search, *, seed, population):
    rows = [np.random.randint(0, search.sizes) for _ in range(search.room)]  # noqa: NPY002
    search.evaluate(np.array(rows, dtype=np.int64))


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (broken(fails), "fails: ZeroDivisionError: by a careless author"),
        (broken(negative), "positions are from 0"),
        (broken(idle), "evaluated nothing"),
        (broken(stubborn), "and does not come to an end; ask for designs that are not `seen`"),
        (broken(unseeded), "chooses other designs in a second search with the same seed"),
        (replace(broken(idle), description=" "), "no description; write one line"),
        (replace(broken(idle), budget=0), "a budget of 0; give at least 1"),
        (replace(broken(idle), population=1), "a population of 1; give 2 or more"),
        (
            replace(broken(idle), options=(Option(name="eta", description="x", default=1.0),)),
            r"takes \(search, seed, population\); write \(search, \*, seed, population, eta",
        ),
        (
            replace(told, options=(*told.options, Option(name="x", description="x", default=1))),
            r"takes \(search, seed, population, options\); write",
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Method) else "",
)
def test_a_broken_method_is_caught(method: Method, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_method(method)


def test_a_default_outside_its_own_range_is_caught() -> None:
    def ranged(search, *, seed, population, eta):
        """Draw."""
        search.evaluate(search.unseen(np.random.default_rng(seed), search.room))

    good = Option(name="eta", description="x", default=1.0, high=2.0)
    method = Method(ranged, description="x", budget=10, options=(good,))
    check_method(method)
    with pytest.raises(
        AssertionError, match=r"option 'eta' defaults to 3\.0, and is a number to 2"
    ):
        check_method(replace(method, options=(replace(good, default=3.0),)))
    with pytest.raises(AssertionError, match="option 'eta' has no description"):
        check_method(replace(method, options=(replace(good, description=""),)))


def test_a_proof_that_is_none_is_caught() -> None:
    def half(problem, progress, *, budget, limit):
        """Look at half of the space."""
        kept = Archive(problem, total=problem.size)
        kept.evaluate(np.zeros((1, len(problem.sizes)), dtype=np.int64))
        return kept.outcome()

    with pytest.raises(AssertionError, match="its front is not the front of all designs"):
        check_method(Method(half, description="x", budget=10, proves=True))
