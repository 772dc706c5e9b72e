"""The notebook of the documents runs on a kernel, and shows what it did when it was stored."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
NEEDS = "needs nbclient and ipykernel, of the extra `dev`"
TIME = re.compile(r"[\d.]+ (ms|us|s)\b")


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return the code cells after they ran, one after the other, in an empty folder."""
    pytest.importorskip("ipykernel", reason=NEEDS)
    client = pytest.importorskip("nbclient", reason=NEEDS)
    nbformat = pytest.importorskip("nbformat", reason=NEEDS)
    found = nbformat.read(NOTEBOOK, 4)
    place = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    client.NotebookClient(found, timeout=300, resources=place).execute()
    return [cell for cell in found.cells if cell.cell_type == "code"]


def texts(cell: dict[str, Any]) -> list[str]:
    """Return what each output says, as HTML where it has that; times are left out."""
    data = [one.get("data") or {"text/plain": one["text"]} for one in cell["outputs"]]
    joined = "".join
    said = [joined(one.get("text/html") or one["text/plain"]) for one in data]
    return [TIME.sub("...", one) for one in said]


@pytest.mark.filterwarnings("ignore")  # those of the kernel's libraries are not ours
def test_it_runs_and_shows_what_is_stored(executed: list[dict[str, Any]]) -> None:
    stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    stored = [cell for cell in stored if cell["cell_type"] == "code"]
    for then, now in zip(stored, executed, strict=True):
        assert "".join(texts(now)) == "".join(texts(then)), now["source"]


@pytest.mark.filterwarnings("ignore")
def test_nothing_comes_loose(executed: list[dict[str, Any]]) -> None:
    """A table that was displayed while it was told would be an output of its own."""
    for cell in executed:
        kinds = {one["output_type"] for one in cell["outputs"]}
        assert kinds <= {"execute_result"} or kinds == {"stream"}, cell["source"]
        assert kinds == {"stream"} or len(cell["outputs"]) <= 1, cell["source"]
    assert [
        one for cell in executed for one in cell["outputs"] if "image/png" in one.get("data", {})
    ]
