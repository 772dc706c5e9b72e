"""Colours: beginnings of lines, on terminals alone."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dse
from dse.cli.options import coloured, complain
from tests.conftest import ROOT, STUDIES


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("holds  files: each", "\x1b[32mholds\x1b[0m  files: each"),
        ("▸ 7 u16  1 W", "\x1b[1m▸ 7 u16  1 W\x1b[0m"),
        ("the design holds: 3", "the design holds: 3"),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    text: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert coloured(text, Terminal()) == shown
    assert coloured(text, io.StringIO()) == text
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured(text, Terminal()) == text


def test_a_fault_fits_a_terminal_and_is_one_line_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = "a.yaml:2:12: granularity: '102 4 MiB' is no size; write the value with its unit"
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    for stream, lines in ((Terminal(), 2), (io.StringIO(), 1)):
        monkeypatch.setattr("sys.stderr", stream)
        complain(fault)
        shown = stream.getvalue().splitlines()
        assert len(shown) == lines
        assert max(map(len, shown)) <= (40 if lines > 1 else len(fault))
        assert " ".join(map(str.strip, shown)) == fault


# A pipe whose reader has gone: a run is written all the same, and the status tells it


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


@pytest.mark.parametrize(
    ("call", "status"),
    [
        ("answer settop.yaml >&-", 0),
        ("list cores >&- <&-", 0),
        ("answer settop.yaml 2>&- >&- <&-", 0),
        ("answer nothing.yaml 2>&-", 2),
        (f"answer {'a' * 300}", 2),
        (f"run settop.yaml --out {'a' * 300}", 2),
    ],
)
def test_closed_streams_and_long_names_end_in_order(call: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "settop.yaml").write_bytes((STUDIES / "settop_116mbps.yaml").read_bytes())
    line = f"{sys.executable} -m dse {call}"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (status, False)
    assert b"File name too long" in done.stderr or "aaa" not in call


def test_commands_work_without_docstrings(tmp_path: Path) -> None:
    call = [sys.executable, "-OO", "-m", "dse", "check", str(STUDIES / "settop_116mbps.yaml")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
