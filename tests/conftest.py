"""What several test files use."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

import dse
from dse.cli import main
from dse.errors import StudyError
from dse.model.evaluation import Evaluation
from dse.model.problem import Problem
from dse.parametric.infeasible import require_any_feasible
from dse.plugins import registry
from dse.reports import plots
from dse.runs.runner import Options, Run, run_study
from dse.study import study

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")  # a busy machine misses deadlines that say nothing of the code

CACHE = tempfile.TemporaryDirectory(prefix="dse-tests-")  # not the user's own
os.environ["XDG_CACHE_HOME"] = CACHE.name
PROGRAMS = str(Path(sys.executable).parent)  # first, or `env python3` of a test's program may be a
os.environ["PATH"] = os.pathsep.join((PROGRAMS, os.environ["PATH"]))  # script that looks for one
os.environ.pop("COLUMNS", None)  # of processes that share tests
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each process that tests start compiles all
os.environ.pop("PYTHONUNBUFFERED", None)  # programs have to flush their output themselves

ROOT = Path(__file__).parent.parent
STUDIES = ROOT / "studies"
Write = Callable[..., Path]
"""What the fixture `write` gives."""
DRAW_FRONT = plots.draw_front


@pytest.fixture(scope="module", autouse=True)
def undrawn(request: pytest.FixtureRequest) -> Iterator[None]:
    """Draw no fronts for tests that do not look at them: it takes longest."""
    with pytest.MonkeyPatch.context() as patch:
        if not getattr(request.module, "LOOKS_AT_PICTURES", False):
            patch.setattr(plots, "draw_front", lambda view, folder: ())
        yield


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw fronts for one test."""
    monkeypatch.setattr(plots, "draw_front", DRAW_FRONT)


@pytest.fixture(scope="session")
def shipped() -> Callable[..., pd.DataFrame]:
    """Return a function that runs a shipped study and returns its front."""
    kept: dict[tuple[str, ...], pd.DataFrame] = {}

    def front(name: str, **overrides: str) -> pd.DataFrame:
        key = (name, *map(str, overrides.items()))
        if key not in kept:
            fields = {path.replace("__", "."): value for path, value in overrides.items()}
            kept[key] = dse.run(STUDIES / f"{name}.yaml", overrides=fields).front
        return kept[key]

    return front


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Return where a Dask scheduler with two workers answers; they work also while they wait."""
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    dask = pytest.importorskip("dask")
    seldom = {"worker.profile.enabled": False, "admin.tick.interval": "1s"}
    with (
        dask.config.set({f"distributed.{name}": value for name, value in seldom.items()}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
            silence_logs="CRITICAL",
        ) as started,
    ):  # fmt: skip
        yield started.scheduler_address


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a study file."""

    def to_file(text: str, name: str = "study.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return to_file


def problem_of(source: Path | str, *overrides: tuple[str, str]) -> Problem:
    """Return the problem of a study file, or of its text."""
    return study.prepare(study.read_study(source, overrides)).problem


def first_design(source: Path | str, *overrides: tuple[str, str]) -> dict[str, np.ndarray]:
    """Return every quantity of the first design of a study."""
    problem = problem_of(source, *overrides)
    return dict(problem.describe(np.zeros((1, len(problem.sizes)), dtype=np.int64)))


def faults(path: Path, *overrides: tuple[str, str]) -> list[str]:
    """Return what is wrong with a study file, each fault without the folder."""
    with pytest.raises(StudyError) as caught:
        study.prepare(study.read_study(path, overrides))
    return [str(fault).replace(f"{path.parent}/", "") for fault in caught.value.faults]


def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds; after a minute it never will."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def everything(problem: Problem) -> Evaluation:
    """Evaluate every design of a small space."""
    grid = np.indices(problem.sizes).reshape(len(problem.sizes), -1).T
    return problem.evaluate(np.ascontiguousarray(grid, dtype=np.int64))


def solved(path: Path, *overrides: tuple[str, str], **options: object) -> Run:
    """Run a study file without writing anything."""
    found = run_study(study.read_study(path, overrides), Options(**options))  # type: ignore[arg-type]
    require_any_feasible(found)
    return found


def run_dse(
    *arguments: str, cwd: Path | None = None, site: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the program in this process, which takes a tenth of the time of a fresh one.

    `site` is a folder of installed packages that it has besides.  For tests that are not about
    the process itself: its environment, its encodings, or what it imports.
    """
    out, err, status = io.StringIO(), io.StringIO(), 0
    with (
        pytest.MonkeyPatch.context() as patch,
        installed(site) if site else nullcontext(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["dse", *arguments])
        patch.chdir(cwd or Path.cwd())
        try:
            main()
        except SystemExit as left:
            status = int(left.code or 0)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


def stranger(folder: Path, points: str, module: str) -> Path:
    """Write a package as pip leaves it: its module and its entry points; return its `site`."""
    metadata = folder / "site" / "stranger-1.0.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(points)
    (folder / "site" / "stranger.py").write_text(module)
    return folder / "site"


@contextmanager
def installed(site: Path) -> Iterator[None]:
    """Have the packages in a folder, as if pip had put them there, and lose them again."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_every_point", "_in_order", "_read_metadata", "_loaded"):
            patch.setattr(registry, name, cache(getattr(registry, name).__wrapped__))
        patch.syspath_prepend(site)  # which also makes Python look into folders again
        try:
            yield
        finally:
            for name, module in [*sys.modules.items()]:
                if (vars(module).get("__file__") or "").startswith(f"{site}"):
                    del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that hides libraries, also what of them was imported before."""

    def hide(*libraries: str) -> None:
        for name in [*sys.modules]:
            if name.partition(".")[0] in libraries or name.startswith("dse.search.heuristic."):
                monkeypatch.delitem(sys.modules, name)
        for library in libraries:
            monkeypatch.setitem(sys.modules, library, None)

    return hide
