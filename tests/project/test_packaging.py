"""What an architect installs: a wheel, an sdist or a checkout, and packages made with `dse new`.

Each is installed into a clean virtual environment, as the documents say; the libraries that it
needs, and nothing else, come from the environment of these tests.  No network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

IGNORED = (ROOT / ".gitignore").read_text("utf-8").split()


def tracked() -> set[str]:
    """Return the files that git has, and their folders; nothing where this is no checkout.

    Commands of the pages leave others beside them.
    """
    git = shutil.which("git")
    if git is None:
        return set()
    done = subprocess.run([git, "ls-files", "-z"], capture_output=True, text=True, cwd=ROOT)
    files = {Path(name) for name in done.stdout.split("\0") if name}
    return {path.as_posix() for file in files for path in (file, *file.parents)}


TRACKED = tracked()


def is_left(path: Path) -> bool:
    """Tell what a command or an editor left in a checkout."""
    return bool(TRACKED) and path.relative_to(ROOT).as_posix() not in TRACKED


def generated(folder: str, names: list[str]) -> set[str]:
    """Return which names in a folder of the repository are not sources, as git has it."""
    if TRACKED:
        return {name for name in names if is_left(Path(folder, name))}
    top = Path(folder) == ROOT
    patterns = [name.strip("/") for name in IGNORED if top or not name.startswith("/")]
    own = {".git", "PKG-INFO", "setup.cfg"} if top else set()  # the last two are an sdist's
    return shutil.ignore_patterns(*patterns)(folder, names) | (own & {*names})


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

    def printed(self, *command: str) -> str:
        """Run a command that has to end well, and return what it prints."""
        done = self(*command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the repository, links as links, so that nothing is left beside it."""
    source = tmp_path_factory.mktemp("source") / "checkout"
    return shutil.copytree(ROOT, source, ignore=generated, symlinks=True)


@pytest.fixture(scope="module")
def built(checkout: Path) -> Path:
    """Build the sdist, and the wheel from it."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=checkout)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return checkout / "dist"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Clean]:
    """Return a function that installs into a clean environment."""

    def install(*what: str) -> Clean:
        home = tmp_path_factory.mktemp("clean")
        venv.create(home / "venv", with_pip=False, symlinks=os.name != "nt")
        made = Clean(home / "venv", home / "a folder")
        made.folder.mkdir()
        (python,) = made("python", "-c", "import sys; print(sys.executable)").stdout.splitlines()
        options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
        query = "import sysconfig; print(sysconfig.get_path('purelib'))"
        (packages,) = made("python", "-c", query).stdout.splitlines()
        # only the libraries: what is installed of this project in editable mode adds its path
        libraries = [
            path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")
        ]
        (Path(packages) / "libraries.pth").write_text("\n".join(libraries), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "--python", python, "install", *options, *what]
        subprocess.run(command, check=True)
        return made

    return install


@pytest.fixture(scope="module")
def clean(built: Path, installed: Callable[..., Clean]) -> Clean:
    """Install the wheel."""
    (wheel,) = built.glob("*.whl")
    return installed(str(wheel))


def sources() -> set[str]:
    """Return every file of the program by its path when it is installed."""
    inside = {"dse": "dse"} | {name: f"dse/{name}" for name in ("cores", "objectives", "studies")}
    return {
        f"{place}/{path.relative_to(ROOT / name).as_posix()}"
        for name, place in inside.items()
        for path in (ROOT / name).rglob("*")
        if path.is_file()
        and not is_left(path)
        and not {"__pycache__", ".DS_Store"} & {*path.parts}
        and not (name == "dse" and path.relative_to(ROOT).parts[1] in inside)
    }


def test_the_wheel_holds_everything_under_one_name(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    template = "dse/installation/templates/study.yaml.in"
    assert {"dse/py.typed", "dse/cores/tables/des.csv", template} <= held
    assert held == sources()


def test_text_files_in_place_of_links_make_the_same_wheel(
    checkout: Path, built: Path, tmp_path: Path
) -> None:
    """As git leaves them where links are not allowed, on Windows for instance."""
    ignored = shutil.ignore_patterns("dist", "build", "*.egg-info")
    copy = shutil.copytree(checkout, tmp_path / "copy", symlinks=True, ignore=ignored)
    for name in ("cores", "objectives", "studies"):
        link = copy / "dse" / name
        if not link.is_symlink():
            pytest.skip("an sdist has folders in place of links")
        link.unlink()
        link.write_text(f"../{name}", encoding="utf-8")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=copy)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    wheels = [*built.glob("*.whl"), *copy.glob("dist/*.whl")]
    one, other = ({*zipfile.ZipFile(wheel).namelist()} for wheel in wheels)
    assert one == other


def test_the_sdist_holds_everything(built: Path) -> None:
    """The repository, so that its tests run, and what the wheel is made of."""
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    files = (
        path for path in built.parent.rglob("*") if path.is_file() and built not in path.parents
    )
    every = {path.relative_to(built.parent).as_posix() for path in files}
    left_out = {name for name in sources() | every if "egg-info/" not in name} - held
    assert not left_out


def test_the_metadata_says_what_an_index_shows(clean: Clean) -> None:
    (found,) = clean.venv.rglob("accel_dse-*.dist-info")
    stated = PathDistribution(found).metadata
    assert stated["License-Expression"] == "Apache-2.0"
    assert stated["Author"] == "the dse developers"
    assert stated.get_all("License-File") == ["LICENSE"]
    assert not stated.get_all("Project-URL")
    links = re.findall(r"\]\(|<img|https?:", stated.get_payload())
    assert not links, "an index shows no picture of the repository, and follows no link into it"


def test_the_wheel_is_what_runs(clean: Clean) -> None:
    code = "import dse.cores, dse.objectives; print(dse.cores.__file__, dse.objectives.__file__)"
    for path in clean.printed("python", "-c", code).split():
        assert path.startswith(str(clean.venv))


NAMESAKES = {
    "objectives.py": "raise SystemExit('the objectives of somebody else')\n",
    "cores/__init__.py": "raise SystemExit('the cores of somebody else')\n",
    "script.py": "import dse\nprint(len(dse.run('study.yaml').front))\n",
}


@pytest.mark.parametrize("way", ["script", "module", "cell"])
def test_folders_of_the_same_name_do_no_harm(way: str, clean: Clean, tmp_path: Path) -> None:
    """`objectives.py` and `cores/` beside a script, a notebook, and where `python -m dse` runs."""
    for name, text in NAMESAKES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "studies" / "settop_116mbps.yaml", tmp_path / "study.yaml")
    here = Clean(clean.venv, tmp_path)
    commands = {
        "script": ("python", "script.py"),
        "module": ("python", "-m", "dse", "run", "study.yaml", "--out", "run"),
        "cell": ("python", "-c", NAMESAKES["script.py"]),  # the folder is on the path, as there
    }
    assert here.printed(*commands[way])


def test_a_checkout_is_installed_as_it_stands(
    checkout: Path, installed: Callable[..., Clean], tmp_path: Path
) -> None:
    """Editable: a new file is importable at once, and mypy follows the imports."""
    own = shutil.copytree(checkout, tmp_path / "checkout", symlinks=True)  # others see no new file
    editable = installed("--editable", str(own))
    cores = own / "dse" / "cores"  # a link, but in an sdist
    assert not cores.is_symlink() or cores.samefile(own / "cores")
    (cores / "fresh.py").write_text("NUMBER: int = 42\n", encoding="utf-8")
    (editable.folder / "use.py").write_text(
        "from dse.cores.des import core\nfrom dse.cores.fresh import NUMBER\n"
        "reveal_type(core)\nreveal_type(NUMBER)\n",
        encoding="utf-8",
    )
    code = "from dse.cores.fresh import NUMBER; print(NUMBER)"
    assert editable.printed("python", "-c", code) == "42\n"
    (python,) = editable.printed("python", "-c", "import sys; print(sys.executable)").splitlines()
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "use.py"]
    command.append(f"--cache-dir={os.devnull}")
    done = subprocess.run(command, capture_output=True, text=True, cwd=editable.folder)
    assert done.returncode == 0, done.stdout
    assert '"dse.contract.Core"' in done.stdout
    assert 'int"' in done.stdout
