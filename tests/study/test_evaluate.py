"""Studies whose designs are measured: what they are, and what a user reads of their faults."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dse
from dse.errors import StudyError
from dse.study import study
from tests.conftest import Write

GOOD = """\
axes:
  unroll: [1, 2, 4]
  clock: [100 MHz, 200 MHz]
  style: [slim, wide]
evaluate:
  command: [./synth.sh, "{unroll}", "{clock}", "{style}"]
  outputs: {area: um2, power: mW, accuracy: 1}
objectives: {area: minimise, power: minimise}
constraints: [accuracy >= 0.9, "style == 'slim'", clock <= 200 MHz]
"""


@pytest.fixture
def faults(write: Write) -> Callable[[str], list[str]]:
    """Return a function that returns the faults of a study beside a program `synth.sh`."""

    def of(text: str) -> list[str]:
        path = write(text)
        program = path.parent / "synth.sh"
        if not program.exists():
            program.write_text("#!/bin/sh\nexit 9\n")
            program.chmod(0o755)
        try:
            study.prepare(study.read_study(path))
        except StudyError as error:
            return [str(one).replace(f"{path.parent}/", "") for one in error.faults]
        return []

    return of


def test_nothing_is_measured_by_surprise(faults: Callable[[str], list[str]], write: Write) -> None:
    assert faults(GOOD) == []
    problem = dse.load(write(GOOD)).problem
    index = np.array([[0, 0, 0], [2, 1, 1]])
    assert not problem.evaluate(index).feasible.any()  # and nothing was started
    assert problem.measured is not None
    assert problem.measured.setup.seen == {}


def test_other_content_is_another_evaluator(
    faults: Callable[[str], list[str]], write: Write
) -> None:
    assert faults(GOOD) == []
    path = write(GOOD)

    def identity(text: str = GOOD) -> str:
        measured = dse.load(write(text)).problem.measured
        assert measured is not None
        return measured.setup.evaluator.identity

    first = identity()
    assert identity() == first
    assert identity(GOOD.replace("outputs", "version: 2\n  outputs")) != first
    assert identity(GOOD.replace("outputs", "timeout: 2 min\n  outputs")) == first
    (path.parent / "synth.sh").write_text("#!/bin/sh\nexit 8\n")
    assert identity() != first


def test_choices_may_begin_like_numbers(write: Write, faults: Callable[[str], list[str]]) -> None:
    study_text = GOOD.replace("[slim, wide]", "[-O2, +x, ./a.json, .5x5, 8b10b]")
    study_text = study_text.replace(", \"style == 'slim'\"", "")
    assert faults(study_text) == []
    problem = study.prepare(study.read_study(write(study_text))).problem
    (style,) = (axis for axis in problem.space.axes if axis.name == "style")
    assert (style.labels, style.ordered) == (("-O2", "+x", "./a.json", ".5x5", "8b10b"), False)
