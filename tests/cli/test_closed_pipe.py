"""A pipe whose reader has gone: a run is written all the same, and the status tells it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dse
from tests.conftest import ROOT, STUDIES

UNREAD = 141
"""As a shell has it of what SIGPIPE ended."""


def unread(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program into a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "dse", *arguments]
        return subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    finally:
        os.close(writer)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_run_that_nobody_reads_is_written(tmp_path: Path, form: tuple[str, ...]) -> None:
    study, out = STUDIES / "settop_116mbps.yaml", tmp_path / "run"
    done = unread("run", str(study), "--out", str(out), "--no-plots", *form)
    assert (done.returncode, done.stderr) == (UNREAD, "")
    assert dse.verify(out, trials=10).holds


def test_an_answer_that_nobody_reads_is_no_refutation() -> None:
    done = unread("list", "methods")
    assert (done.returncode, done.stderr) == (UNREAD, "")
