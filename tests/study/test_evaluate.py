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


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            '"{style}"]',
            '"{stile}"]',
            ["study.yaml:6:48: evaluate.command.3: '{stile}' is no axis; did you mean 'style'?"],
        ),
        (
            "area: um2",
            "area: ",
            [
                "study.yaml:7:13: evaluate.outputs.area: nothing; an output has a unit; "
                "write for instance `area: um2`, or `area: 1` for a plain number"
            ],
        ),
        (
            "accuracy: 1",
            "accuracy: parsecs",
            ["study.yaml:7:35: evaluate.outputs.accuracy: 'parsecs' is not a known unit"],
        ),
        (
            "accuracy: 1",
            "accuracy: 1, unroll: um2",
            [
                "study.yaml:2:3: axes.unroll: 'unroll'; it is an output as well, and a name stands "
                "for one of them; rename the axis or the output"
            ],
        ),
        (
            "style: [slim, wide]",
            "style: [slim, wide]\n  area: [10, 20]",
            ["study.yaml:5:3: axes.area: 'area'; it is an output as well, and a name stands"],
        ),
        (
            "./synth.sh",
            "./sinth.sh",
            [
                "study.yaml:6:13: evaluate.command.0: there is no file 'sinth.sh'; "
                "did you mean 'synth.sh'?"
            ],
        ),
        (
            "./synth.sh",
            "./study.yaml",
            [
                "study.yaml:6:13: evaluate.command.0: 'study.yaml' is not executable; make it so: "
                "chmod +x study.yaml"
            ],
        ),
        (
            "./synth.sh",
            "no_such_tool",
            [
                "study.yaml:6:13: evaluate.command.0: no program 'no_such_tool' is found in PATH; "
                "install it, or write './no_such_tool' for one in its folder"
            ],
        ),
        (
            "  command:",
            "  function: nothing\n  command:",
            [
                "study.yaml:5:1: evaluate: designs are measured by one of `command`, `function`, "
                "or a function given to dse.run; remove one of command, function"
            ],
        ),
        (
            "[slim, wide]",
            "[slim, 3]",
            [
                "study.yaml:4:3: axes.style: 'slim' is not a finite number; "
                "write a number without a unit"
            ],
        ),
        (
            "200 MHz]\n",
            "200 mW]\n",
            [
                "study.yaml:3:3: axes.clock: the values have different kinds of "
                "unit; write all in one unit"
            ],
        ),
        (
            "evaluate:\n",
            "designs: table.csv\nevaluate:\n",
            [
                "study.yaml:1:1: axes: the rows of `designs` are all designs that there are; write "
                "it as columns of the table, or remove it",
                "study.yaml:5:1: designs: 'table.csv'; there is no file 'table.csv'",
            ],
        ),
    ],
)
def test_faults_say_what_to_write(
    faults: Callable[[str], list[str]], old: str, new: str, expected: list[str]
) -> None:
    found = faults(GOOD.replace(old, new, 1))
    assert [one[: len(text)] for one, text in zip(found, expected, strict=False)] == expected


def test_a_sweep_of_no_axis_says_where_and_what_to_add(write: Write) -> None:
    with pytest.raises(StudyError) as caught:
        dse.load(write(GOOD + "sweep: {corner: [1, 2]}\n"))
    assert "study.yaml:10:9: sweep.corner: a sweep is of an axis" in str(caught.value)
    assert str(caught.value).endswith("add it to `axes`, too, with its values: "
                                      "`axes: {corner: ...}`")  # fmt: skip


def test_outputs_are_missing(faults: Callable[[str], list[str]]) -> None:
    (found,) = faults(
        "axes: {u: [1, 2]}\nevaluate: {command: [./synth.sh]}\nobjectives: {area: min}\n"
    )[:1]
    assert found.endswith(
        "a measurement has at least one output; add for instance `outputs: {area: um2}`"
    )


def test_an_axis_that_no_argument_uses_is_noted_and_refutes_no_run(write: Write) -> None:
    path = write(GOOD.replace(', "{style}"', "").replace("[1, 2, 4]", "[1]"))
    program = "#!/bin/sh\necho area = 1 um2\necho power = 1 mW\necho accuracy = 1\n"
    (path.parent / "synth.sh").write_text(program)
    (path.parent / "synth.sh").chmod(0o755)
    note = dse.load(path).notes[0]
    assert note.startswith("no argument of the command uses style: the program")
    found = dse.run(path, out=path.parent / "run", plots=False)
    assert found.manifest["notes"] == [note]
    assert dse.verify(path.parent / "run").holds


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
    (said,) = faults(GOOD.replace("[100 MHz, 200 MHz]", "[100 MHzz, 200 MHzz]"))
    assert "MHzz" in said  # a unit, not a choice
