"""What an architect installs: the wheel, and beside it packages made with `dse new`.

A clean virtual environment holds the wheel and what the documents say to install; the libraries
that both need, and nothing else, come from the environment of these tests.  No network.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.project.test_readme import commands

PAGES = ("CONTRIBUTING.md", "docs/plugins.md")
SOURCES = ("dse", "cores", "objectives", "pyproject.toml", "README.md")
GENERATED = shutil.ignore_patterns("__pycache__", "*.egg-info")


@dataclass(frozen=True)
class Clean:
    """A virtual environment, and a folder to work in whose path has a space."""

    venv: Path
    folder: Path

    def __call__(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as someone who has activated the environment."""
        programs = self.venv / ("Scripts" if os.name == "nt" else "bin")
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        env |= {"PIP_NO_INDEX": "1", "PYTHONNOUSERSITE": "1"}
        path = f"{programs}{os.pathsep}{env['PATH']}"
        program = shutil.which(command[0], path=path) or command[0]
        return subprocess.run(
            [program, *command[1:]],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=env | {"PATH": path, "VIRTUAL_ENV": str(self.venv)},
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy, so that nothing is left beside the sources."""
    source = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(
            ROOT / name, source / name, **({"ignore": GENERATED} if copy is shutil.copytree else {})
        )
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"],
        capture_output=True,
        text=True,
        cwd=source,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    (built,) = (source / "dist").iterdir()
    return built


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    home = tmp_path_factory.mktemp("clean")
    venv.create(home / "venv", with_pip=False, symlinks=os.name != "nt")
    made = Clean(home / "venv", home / "a folder")
    made.folder.mkdir()
    (python,) = made("python", "-c", "import sys; print(sys.executable)").stdout.splitlines()
    install = ["--python", python, "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)
    query = "import sysconfig; print(sysconfig.get_path('purelib'))"
    (packages,) = made("python", "-c", query).stdout.splitlines()
    libraries = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (Path(packages) / "libraries.pth").write_text("\n".join(libraries), encoding="utf-8")
    return made


def test_the_wheel_holds_everything(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    data = {
        path.relative_to(ROOT).as_posix()
        for package in ("dse", "cores", "objectives")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.name != ".DS_Store"
    }
    assert {
        "dse/py.typed",
        "dse/cores/tables/des.csv",
        "dse/installation/templates/core/MODULE.py.in",
    } <= data
    assert data <= held
    strangers = {name for name in held - data if ".dist-info/" not in name}
    assert not strangers


def test_the_wheel_is_what_runs(clean: Clean) -> None:
    code = "import dse, cores, objectives; print(dse.__file__, cores.__file__, objectives.__file__)"
    for path in clean("python", "-c", code).stdout.split(".py")[:3]:
        assert str(clean.venv) in path


@pytest.mark.parametrize("page", PAGES)
def test_a_new_package_installs_passes_and_answers(page: str, clean: Clean) -> None:
    """The path of the documents, command by command: new, install, conformance, study."""
    found = [shlex.split(command) for command in commands(page)]
    assert {command[:2][-1] for command in found} >= {"new", "-m", "run"}
    for command in found:
        offline = ["--no-build-isolation"] if "install" in command else []
        done = clean(*command, *offline)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_what_was_installed_is_seen(clean: Clean) -> None:
    done = clean("dse", "doctor")
    assert "dse-core-aes 0.1.0" in done.stdout
    assert "dse-objective-silicon-cost 0.1.0" in done.stdout
    assert clean("dse", "new", "core", "aes", "--out", "other").stderr == (
        "core 'aes': dse-core-aes 0.1.0 has one of this name; choose another name\n"
    )
    assert not (clean.folder / "other").exists()
