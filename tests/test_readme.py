"""Every command and every study in the documents works as printed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dse import study
from tests.conftest import ROOT

PAGES = ("README.md", "docs/studies.md", "docs/answers.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [body for kind, body in BLOCK.findall(text) if kind == language]


def joined(block: str) -> list[str]:
    """Return the lines of a block, those that end with a backslash joined to the next."""
    return block.replace("\\\n", " ").splitlines()


def commands(page: str) -> list[str]:
    lines = [line for block in blocks(page, "console") for line in joined(block)]
    return [line.partition("#")[0].strip() for line in lines]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "studies", path / "studies")
    return path


@pytest.mark.parametrize("page", PAGES)
def test_commands_run(page: str, folder: Path) -> None:
    found = commands(page)
    assert found
    for command in found:
        program, *arguments = shlex.split(command)
        if program == "make":
            targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert arguments[0] in targets
            continue
        assert program == "dse"
        done = subprocess.run(
            [sys.executable, "-m", "dse", *arguments], capture_output=True, text=True, cwd=folder
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"


def test_python_of_the_readme_runs(folder: Path) -> None:
    (code,) = blocks("README.md", "python")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=True
    )
    assert "compute" in done.stdout


def test_the_study_of_the_readme_is_the_shipped_one() -> None:
    (text,) = blocks("README.md", "yaml")
    shown = study.document.parse(text, "README").data
    assert shown == study.read(ROOT / "studies" / "settop_116mbps.yaml").data


def test_the_answer_of_the_readme_is_what_the_program_prints(folder: Path) -> None:
    (printed,) = blocks("README.md", "text")
    arguments = ["run", "studies/des_100gbps.yaml", "--out", "runs/readme"]
    done = subprocess.run(
        [sys.executable, "-m", "dse", *arguments], capture_output=True, text=True, cwd=folder
    )
    assert printed.strip() in done.stdout
