"""The mutants of `make mutants` are what the page says, and the page lists none that is gone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.mutants.__main__ import PAGE, groups, interval
from tests.mutants.operators import mutants

SOURCE = '''\
"""Text is left alone."""
LIMIT: int | None = 3
def least(a: float | None, b=0.5):
    """Return 1."""
    if not a < b:
        raise ValueError(f"{a} is {1 + 1}")
    return np.where(a > 0, np.minimum(a, b), -np.inf)
'''
CHANGES = [
    "module: `3` → `4`",
    "least: `0.5` → `1.0`",
    "least: `not a < b` → `a < b`",
    "least: `a < b` → `a <= b`",
    "least: `a < b` → `a >= b`",
    "least: `return np.where(a > 0, np.minimum(a, b), -np.inf)` → "
    "`return np.where(a > 0, -np.inf, np.minimum(a, b))`",
    "least: `a > 0` → `a >= 0`",
    "least: `a > 0` → `a <= 0`",
    "least: `a > 0` → `a > 1`",
    "least: `np.where(a > 0, np.minimum(a, b), -np.inf)` → `np.where(a > 0, a, -np.inf)`",
    "least: `np.where(a > 0, np.minimum(a, b), -np.inf)` → `np.where(a > 0, b, -np.inf)`",
    "least: `np.minimum(a, b)` → `np.maximum(a, b)`",
    "least: `np.where(a > 0, np.minimum(a, b), -np.inf)` → "
    "`np.where(a > 0, np.minimum(a, b), np.inf)`",
    "least: `-np.inf` → `-0.0`",
]


def test_a_source_has_these_mutants(tmp_path: Path) -> None:
    (tmp_path / "source.py").write_text(SOURCE)
    found = [mutant.label.removeprefix("source.py ") for mutant in mutants(tmp_path, "source.py")]
    assert sorted(found) == sorted(CHANGES)


def test_every_mutant_has_a_label_of_its_own_and_the_page_lists_only_such() -> None:
    labels = [
        mutant.label
        for group in groups()
        for path in group.sources
        for mutant in mutants(ROOT, path)
    ]
    assert len(set(labels)) == len(labels)
    text = PAGE.read_text(encoding="utf-8").partition("## Equivalent")[2]
    told = re.findall(r"^- (.*):$", text, re.MULTILINE)
    assert told
    assert set(told) <= set(labels)


def test_groups_name_what_there_is() -> None:
    for group in groups():
        assert all((ROOT / path).exists() for path in (*group.sources, *group.tests)), group
        assert 0.85 <= group.wanted <= 1.0


@pytest.mark.slow
def test_a_mutant_that_ignores_the_link_is_killed() -> None:
    """In a process of its own, as the program must not be loaded before it is broken."""
    text = "bound: `np.minimum(link_limit_bit_per_s, memory_limit_bit_per_s)`"
    command = [sys.executable, "-m", "tests.mutants", "--match", text, "rates"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\| rates \| \d+ \| 3 \| 3 \| 0 \| 0 \| 100.0 % \|", done.stdout)


def test_the_interval_of_a_share() -> None:
    low, high = interval(0.9, 40)
    assert (low, high) == pytest.approx((0.769, 0.960), abs=0.001)
