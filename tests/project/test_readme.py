"""Every command and every study in the documents works as printed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from dse.study import study
from tests.conftest import ROOT, run_dse

PAGES = (
    "README.md",
    "docs/tutorial.md",
    "docs/studies.md",
    "docs/answers.md",
    "docs/simulation.md",
    "docs/report.md",
)
PYTHON = ("README.md", "docs/api.md", "docs/reliability.md")
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
    (table,) = blocks("README.md", "csv")
    _, own = blocks("README.md", "yaml")
    (path / "my_aes.csv").write_text(table, encoding="utf-8")
    (path / "my_study.yaml").write_text(own, encoding="utf-8")
    return path


@cache
def printed_by(folder: Path, *arguments: str) -> str:
    """Run a command, once however many pages show it, and return what it prints."""
    done = run_dse(*arguments, cwd=folder)
    assert done.returncode == 0, f"{arguments}\n{done.stderr}"
    return done.stdout


def printed(page: str, folder: Path) -> list[str]:
    """Run the commands of a page; return what those of the program print."""
    told = []
    for command in commands(page):
        # a tenth of the samples, and flips only where they are what is shown: both are time only
        less = re.sub(r"(?<!--no-flips )(--samples \d+)0\b", r"\1 --no-flips", command)
        program, *arguments = shlex.split(less)
        if program == "make":
            targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert arguments[0] in targets
            continue
        assert program == "dse"
        if INFEASIBLE in arguments:
            continue
        told.append(printed_by(folder, *arguments))
    assert told
    return told


@pytest.mark.parametrize("page", PAGES)
def test_commands_run(page: str, folder: Path) -> None:
    printed(page, folder)


def test_what_the_page_on_answers_shows_is_what_the_program_prints(folder: Path) -> None:
    told = printed("docs/answers.md", folder)
    told.append(printed_by(folder, "answer", "--all", "studies/des_100gbps.yaml"))
    rate, chained = "workload.rate=100 Gbit/s", "workload.chained=true"
    nothing = ("run", "studies/settop_116mbps.yaml", "--set", rate, "--set", chained)
    told.append(run_dse(*nothing, cwd=folder).stderr)
    for shown in blocks("docs/answers.md", "text"):
        assert any(shown.strip() in one for one in told), shown


INFEASIBLE = "interface.device=pcie_gen4_x8"
"""Of the tutorial, the one command that finds no design."""


def test_what_the_tutorial_shows_is_what_the_program_prints(folder: Path) -> None:
    told = printed("docs/tutorial.md", folder)
    study = "studies/nic_crypto_100gbps.yaml"
    nothing = run_dse("run", study, "--set", INFEASIBLE, cwd=folder)
    assert nothing.returncode == 3
    told.append(nothing.stderr)
    for shown in blocks("docs/tutorial.md", "text"):
        assert any(shown.strip("\n") in one for one in told), shown


def test_the_study_of_the_tutorial_is_the_shipped_one() -> None:
    (text,) = blocks("docs/tutorial.md", "yaml")
    shown = study.read_study(text).data
    assert shown == study.read_study(ROOT / "studies" / "nic_crypto_100gbps.yaml").data


@pytest.mark.parametrize("page", PYTHON)
def test_python_runs(page: str, folder: Path) -> None:
    found = blocks(page, "python")
    for code in found:
        command = [sys.executable, "-W", "ignore", "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, f"{code}\n{done.stderr}"
        assert done.stdout
    assert found


def test_python_of_the_page_on_answers_runs(folder: Path) -> None:
    code, _ = blocks("docs/answers.md", "python")  # the other asks about a study of the reader
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Which mix of DES cores carries 100 Gbit/s through")
    assert "\nTake 3 u16.\n" in done.stdout


def test_the_study_of_the_readme_is_the_shipped_one() -> None:
    text, _ = blocks("README.md", "yaml")
    shown = study.read_study(text).data
    assert shown == study.read_study(ROOT / "studies" / "settop_116mbps.yaml").data


def test_the_answer_of_the_readme_is_what_the_program_prints(folder: Path) -> None:
    front, told, *_ = blocks("README.md", "text")
    out = printed_by(folder, "run", "studies/des_100gbps.yaml", "--out", "runs/readme")
    assert front.strip() in out
    out = printed_by(folder, "answer", "studies/crypto_interface_100gbps.yaml")
    assert told.strip() in out


def test_own_cores_of_the_readme_get_the_front_and_the_answer_shown(folder: Path) -> None:
    *_, front, answer = blocks("README.md", "text")
    assert front.strip() in printed_by(folder, "run", "my_study.yaml", "--out", "runs/own")
    assert answer.strip() in printed_by(folder, "answer", "runs/own")


def test_the_answer_for_own_cores_is_what_a_hand_calculates(folder: Path) -> None:
    out = printed_by(folder, "answer", "my_study.yaml", "--json")
    worth = json.loads(out)["answer"]["quantities"]
    rate, clock, block, size = 40e9, 1e9, 128, 8 * 16384  # pipe10 takes a block per cycle
    share = rate / (clock * block)
    # overhead, latency, one cycle to fill, then the payload at the top clock
    offload = 1e-6 + 0.9e-6 + 1 / clock + size / (clock * block)
    busy = rate / size * 1e-6  # the overhead alone keeps a core busy
    buffers = 2 * 8 * size  # bits of eight offloads, in and out
    power = 96e-3 * share + buffers * 20e-12
    assert worth["area_m2"] == pytest.approx(231000e-12 + buffers * 0.285e-12)
    assert worth["clock_hz"] == pytest.approx(clock)
    assert worth["power_w"] == pytest.approx(power)
    assert worth["host_cores"] == pytest.approx(busy)
    assert worth["offload_latency_s"] == pytest.approx(offload)
    assert worth["total_power_w"] == pytest.approx(power + busy * 120 / 16)
    assert worth["throughput_bit_per_s"] == pytest.approx(rate)
