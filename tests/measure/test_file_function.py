"""A function of a file beside the study measures its designs; a check imports nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import dse
from dse.errors import DseError, StudyError
from dse.serve.session import Session

MODEL = """
import pathlib
from beside import FACTOR

pathlib.Path(__file__).with_name("imported").touch()


def figures(unroll, style, *, scale=1):
    if (unroll, style) == (8, "slim"):
        raise ValueError("no timing")
    return {"area": FACTOR * unroll * scale + (style == "wide"), "time": f"{800 / unroll} ns"}
"""
STUDY = """
axes: {unroll: [1, 2, 4, 8], style: [slim, wide]}
evaluate:
  function: model.py:figures
  outputs: {area: um2, time: ns}
objectives: {area: minimise, time: minimise}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a study beside its file, which imports another one."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "beside.py").write_text("FACTOR = 100\n", encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    return tmp_path / "study.yaml"


def test_a_check_and_a_finished_run_import_nothing(place: Path) -> None:
    mark = place.with_name("imported")
    assert "function" in dse.load(place).summary()
    assert not mark.exists()
    dse.run(place, out=place.with_name("run"), plots=False)
    mark.unlink()
    dse.answer(place.with_name("run"))
    assert dse.verify(place.with_name("run")).holds
    assert not mark.exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_function_of_a_file_measures_in_any_process(place: Path, workers: int) -> None:
    found = dse.run(place, workers=workers)
    assert found.front["area_m2"].tolist() == pytest.approx([1e-10, 2e-10, 4e-10, 8.01e-10])
    assert found.manifest["measured"]["failed"] == 1
    (cause,) = found.manifest["measured"]["causes"]
    assert cause == "ValueError: no timing"


def test_other_content_of_the_file_is_measured_again(place: Path) -> None:
    run, model = place.with_name("run"), place.with_name("model.py")
    dse.run(place, out=run, plots=False)
    model.write_text(MODEL.replace("800 / unroll", "80 / unroll"), encoding="utf-8")
    again = dse.run(place, out=place.with_name("again"), reuse=[run], plots=False)
    assert again.manifest["measured"]["measured_anew"] == 8
    assert again.front["time_s"].min() == pytest.approx(10e-9)


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ("figures", "figurs", "no function 'figurs'; did you mean 'figures'"),
        ("model.py", "other.py", "other.py cannot be read: No such file or directory"),
        ("unroll:", "u:", "figures is called with u, style, by name, and it takes unroll, style"),
        (
            "model.py:figures",
            "model:figures",
            "a function is written as its file and its name; write for inst",
        ),
    ],
)
def test_a_fault_says_what_to_write(place: Path, was: str, now: str, message: str) -> None:
    place.write_text(STUDY.replace(was, now), encoding="utf-8")
    with pytest.raises(StudyError, match=message):
        dse.load(place)


def test_a_function_of_a_file_has_limits_and_dies_alone(place: Path) -> None:
    model = place.with_name("model.py")
    ends = "__import__('os').abort() if style == 'slim' else __import__('time').sleep(99)"
    bad = f"    if unroll == 4:\n        {ends}\n"
    model.write_text(MODEL.replace("    return", f"{bad}    return"), encoding="utf-8")
    place.write_text(STUDY.replace("  outputs", "  timeout: 3 s\n  outputs"), encoding="utf-8")
    causes = dse.run(place, workers=2, overrides={"evaluate.retries": "0"}).manifest["measured"][
        "causes"
    ]
    signal = "it was ended by SIGABRT (Aborted)"
    assert {*causes} == {signal, "it took longer than 3 s", "ValueError: no timing"}


def test_a_file_that_cannot_be_imported_ends_the_run(place: Path) -> None:
    model = place.with_name("model.py")
    model.write_text(f"import nothing_of_this_name{MODEL}", encoding="utf-8")
    with pytest.raises(DseError, match=r"model\.py cannot be imported: ModuleNotFoundError"):
        dse.run(place)


def test_a_page_imports_it_only_where_that_is_allowed(place: Path) -> None:
    with pytest.raises(DseError, match="--allow-run lets the page run it"):
        Session(place, allow_run=False, time="10 s")
    assert not place.with_name("imported").exists()
