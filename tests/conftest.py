"""What several test files use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dse
from dse.infeasible.explanation import require_any_feasible
from dse.model.problem import Evaluation, Problem
from dse.runs.runner import Options, Run, run_study
from dse.study import study

ROOT = Path(__file__).parent.parent
STUDIES = ROOT / "studies"


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


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a study file."""

    def to_file(text: str, name: str = "study.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return to_file


def problem_of(path: Path, *overrides: tuple[str, str]) -> Problem:
    """Return the problem of a study file."""
    return study.prepare(study.read_study(path, overrides)).problem


def everything(problem: Problem) -> Evaluation:
    """Evaluate every design of a small space."""
    grid = np.indices(problem.sizes).reshape(len(problem.sizes), -1).T
    return problem.evaluate(np.ascontiguousarray(grid, dtype=np.int64))


def solved(path: Path, *overrides: tuple[str, str], **options: object) -> Run:
    """Run a study file without writing anything."""
    found = run_study(study.read_study(path, overrides), Options(**options))  # type: ignore[arg-type]
    require_any_feasible(found)
    return found
