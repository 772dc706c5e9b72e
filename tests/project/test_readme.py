"""Every command and every study in the documents works as printed."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from warnings import catch_warnings, simplefilter

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
INFEASIBLE = "constraints=[offload_latency_p99 <= 600 ns]"
"""Of the tutorial, the one command that finds no design."""

SHOWN = {
    "docs/answers.md": [
        (0, "answer --all studies/des_100gbps.yaml"),
        (
            3,
            "run studies/settop_116mbps.yaml --set 'workload.rate=100 Gbit/s' "
            "--set workload.chained=true",
        ),
    ],
    "docs/tutorial.md": [(3, f"run studies/tls_100gbps.yaml --set '{INFEASIBLE}'")],
}
"""Pages whose blocks of text are what their commands print, or these, and their exit status."""

PYTHON = ("README.md", "docs/api.md", "docs/faults.md")
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
    own, _ = blocks("README.md", "yaml")
    first, _ = blocks("docs/tutorial.md", "yaml")
    (path / "my_aes.csv").write_text(table, encoding="utf-8")
    (path / "my_study.yaml").write_text(own, encoding="utf-8")
    (path / "first.yaml").write_text(first, encoding="utf-8")
    return path


@cache
def printed_by(folder: Path, *arguments: str) -> str:
    """Run a command, once however many pages show it, and return what it prints."""
    done = run_dse(*arguments, cwd=folder)
    assert done.returncode == 0, f"{arguments}\n{done.stderr}"
    return done.stdout


def quick(command: str) -> str:
    """Return a command with a tenth of the samples and fewer offloads, which are time only.

    Flips are looked for only where they are what is shown.
    """
    less = re.sub(r"(--samples \d+)0\b", r"\1", command)
    return re.sub(r"(dse simulate \S+)$", r"\1 --offloads 20000", less)


def made(target: str, variable: str = "") -> list[str]:
    """Return the arguments of the program in a target of the Makefile; none in ``make test``."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    if target != "run":
        return []
    default = re.findall(r"^STUDY \?= (.+)$", makefile, re.MULTILINE)
    study = variable.partition("STUDY=")[2] or default[0]
    return ["run", study, "--out", f"runs/{Path(study).stem}"]


def printed(page: str, folder: Path, change: Callable[[str], str] = quick) -> list[str]:
    """Run the commands of a page; return what those of the program print."""
    told = []
    for command in commands(page):
        program, *arguments = shlex.split(change(command))
        if program == "make":
            program, arguments = "dse", made(*arguments)
        assert program in ("dse", ".venv/bin/dse")
        if not arguments or INFEASIBLE in arguments:
            continue
        told.append(printed_by(folder, *arguments))
    assert told
    return told


@pytest.mark.parametrize("page", sorted({*PAGES} - {*SHOWN, "README.md"}))
def test_commands_run(page: str, folder: Path) -> None:
    printed(page, folder)


def shown(page: str, told: list[str], folder: Path) -> list[str]:
    """Return the blocks of a page that no command of it prints, nor any that its text names."""
    for status, command in SHOWN.get(page, ()):
        done = run_dse(*shlex.split(command), cwd=folder)
        assert done.returncode == status
        told.append(done.stderr if status else done.stdout)
    found = [block.strip("\n") for block in blocks(page, "text")]
    return [block for block in found if not any(block in one for one in told)]


@pytest.mark.slow
@pytest.mark.parametrize("page", SHOWN)
def test_what_a_page_shows_is_what_the_program_prints(page: str, folder: Path) -> None:
    assert not shown(page, printed(page, folder, change=str), folder)


@pytest.mark.parametrize(
    ("page", "name"), [("docs/tutorial.md", "tls_100gbps"), ("README.md", "settop_116mbps")]
)
def test_the_study_of_a_page_is_the_shipped_one(page: str, name: str) -> None:
    _, text = blocks(page, "yaml")
    shown = study.read_study(text).data
    assert shown == study.read_study(ROOT / "studies" / f"{name}.yaml").data


def python(code: str, folder: Path) -> str:
    """Run code of a page, in this process, and return what it prints."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), catch_warnings():
        simplefilter("ignore")
        patch.chdir(folder)
        exec(compile(code, "page.py", "exec"), {"__name__": "__main__"})  # noqa: S102
    return out.getvalue()


@pytest.mark.parametrize("page", PYTHON)
def test_python_runs(page: str, folder: Path) -> None:
    found = blocks(page, "python")
    for code in found:
        assert python(code, folder)
    assert found


def test_python_of_the_page_on_answers_runs(folder: Path) -> None:
    code, _ = blocks("docs/answers.md", "python")  # the other asks about a study of the reader
    less = code.replace("samples=1000", "samples=100")
    printed = python(less.replace('"1 %")', '"1 %", flips=False)'), folder)
    assert printed.startswith("Which mix of DES cores carries 100 Gbit/s through")
    assert "\nTake 3 u16.\n" in printed


def test_the_readme_shows_what_the_program_prints(folder: Path) -> None:
    assert not shown("README.md", printed("README.md", folder), folder)


def test_the_readme_is_short() -> None:
    text = BLOCK.sub("", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(text.split()) <= 900


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
