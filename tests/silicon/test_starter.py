"""A study written from Verilog: complete but for what is marked, and for files of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import dse
from dse.silicon.yosys import found_yosys
from tests.conftest import run_dse
from tests.silicon.test_characterise import in_folder_of_hash
from tests.silicon.toy import TOY

pytestmark = pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")


def test_the_study_of_a_source_runs_once_it_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_folder_of_hash(tmp_path, monkeypatch)
    (tmp_path / "cells.lib").write_bytes(TOY.read_bytes())
    done = run_dse("new", "rtl", "hash.v", cwd=tmp_path)
    assert "complete what is marked EXAMPLE, then dse check ./hash.yaml" in done.stdout
    path = tmp_path / "hash.yaml"
    text = path.read_text()
    assert "  UNROLL: [1, 2]    # 1 in the source" in text
    assert "hash has input clk[1], input start[1], input word[16], output answer[16]." in text
    for old, new in (
        ("tb.v ", "vectors_{UNROLL}.csv "),
        ("    dut: tb.dut ", "    # dut: tb.dut "),
        ("task: 1 ", "task: 8 / UNROLL "),
        ("latency: 1 ", "latency: 8 / UNROLL "),
        ("target: [fastest, half, quarter]", "target: [half]"),
    ):
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    assert len(dse.run("hash.yaml", out="run").front) == 2
    again = run_dse("new", "rtl", "hash.v", cwd=tmp_path)
    assert again.returncode == 2
    assert "hash.yaml exists already; name another file" in again.stderr


def test_a_source_without_a_clock_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sum.v").write_text("module sum(input a, output b); assign b = a; endmodule\n")
    done = run_dse("new", "rtl", "sum.v", cwd=tmp_path)
    assert done.returncode == 2
    assert "none of the inputs of sum is called clk, clock" in done.stderr
    assert not (tmp_path / "sum.yaml").exists()
