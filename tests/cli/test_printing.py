"""Colours: beginnings of lines, on terminals alone."""

from __future__ import annotations

import io

import pytest

from dse.cli.options import coloured, complain


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("holds  files: each", "\x1b[32mholds\x1b[0m  files: each"),
        ("Trade-off: 7 u16", "\x1b[1mTrade-off:\x1b[0m 7 u16"),
        ("a.yaml:2:12: x: 'y'", "\x1b[1ma.yaml:2:12:\x1b[0m x: 'y'"),
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
