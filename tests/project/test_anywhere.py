"""Where files lie, how their lines end and what the locale is: nothing of it changes an answer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from dse.errors import Position
from dse.files import yaml

TABLE = """\
design,lanes,area_um2,dynamic_power_mw,leakage_power_mw,bandwidth_gbit_per_s,clock_mhz
x1,1,5226.5,0.93,0.09,2.58,645
x2,2,9690,1.74,0.22,5.16,645
x4,4,22498,4.34,0.28,10.32,645
x8,8,34154,5.55,0.63,20.64,645
"""

STUDY = """\
# Which cores carry 40 Gbit/s?
workload: {rate: 40.5 Gbit/s}
stages:
  - name: aes
    table: my cores.csv
    values: {payload: 128 bit}
    parameters: {lanes: [1, 2, 4, 8]}
    fleet: mixed
objectives: {area: minimise, power: minimise}
constraints: ["power <= 12.5 mW"]
"""

ONE = [f"aes.{design}={count}" for design, count in {"x1": 0, "x2": 0, "x4": 0, "x8": 2}.items()]

LAUNCH = """\
import json, locale, sys
locale.setlocale(locale.LC_ALL, "")  # what a program with windows does, and a library may
from dse.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["dse", *arguments]
    try:
        main()
    except SystemExit as left:
        assert not left.code, arguments
"""


@dataclass(frozen=True)
class Done:
    """What the commands left and printed in one place."""

    folder: Path
    text: str

    def law(self) -> object:
        """The fitted law, without where it comes from."""
        text = (self.folder / "law.yaml").read_text(encoding="utf-8")
        return yaml.YamlReader(text, Position(1, 1, "")).document()["core"]["laws"]


def work(folder: Path, cwd: Path, start: str, end: str, **env: str) -> Done:
    """Read, explain, run and fit in `folder`, and start something new, from `cwd`."""
    folder.mkdir()
    for name, text in {"my cores.csv": TABLE, "study.yaml": STUDY}.items():
        whole = start + text.replace("\n", end)
        (folder / name).write_text(whole, encoding="utf-8", newline="")

    def at(name: str) -> str:
        return os.path.relpath(folder / name, cwd)

    fit = ["--over", "lanes", "--set", "values.payload=128 bit", "--out", at("law.yaml")]
    commands = [
        ["check", at("study.yaml")],
        ["explain", at("study.yaml"), *(f"--design={one}" for one in ONE)],
        ["run", at("study.yaml"), "--out", at("run")],
        ["fit", "core", at("my cores.csv"), *fit],
        ["new", "study", at("starter")],
        ["run", at("starter.yaml"), "--no-plots", "--out", at("started")],
        ["doctor"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, json.dumps(commands)],
        capture_output=True,
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name[:2] != "LC"} | env,
    )
    assert done.returncode == 0, done.stderr.decode("latin-1")
    printed = done.stdout.decode("latin-1" if "LOCPATH" in env else "utf-8")
    unwrapped = " ".join(printed.split())  # how long it took decides where lines are wrapped
    return Done(folder, re.sub(r"\(exact, .*?\)", "(exact)", unwrapped))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("plain") / "here"
    return work(folder, folder.parent, "", "\n", LC_ALL="C.UTF-8")


@pytest.fixture(scope="module")
def decimal_comma(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a German locale, in an encoding without lines and arrows."""
    if not shutil.which("localedef"):
        pytest.skip("no localedef on this machine to make a locale with")
    folder = tmp_path_factory.mktemp("locales")
    name = "de_DE.ISO-8859-1"
    command = ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(folder / name)]
    made = subprocess.run(command, capture_output=True, text=True)
    if not (folder / name).exists():
        pytest.skip(f"no decimal comma on this machine: {made.stderr.strip()}")
    env = {"LOCPATH": str(folder), "LC_ALL": name}
    code = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.str(1.5))"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | env
    )
    assert said.stdout.strip() == "1,5"
    return env


def same(one: Done, other: Done) -> None:
    for path in ("run/front.csv", "started/front.csv", "starter.yaml"):
        assert (one.folder / path).read_bytes() == (other.folder / path).read_bytes()
    assert one.law() == other.law()


def test_spaces_another_folder_crlf_and_a_byte_order_mark(plain: Done, tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    same(plain, work(tmp_path / "my studies", elsewhere, "\ufeff", "\r\n", LC_ALL="C.UTF-8"))


def test_a_locale_with_a_decimal_comma(
    plain: Done, decimal_comma: dict[str, str], tmp_path: Path
) -> None:
    there = work(tmp_path / "here", tmp_path, "", "\n", **decimal_comma)
    same(plain, there)
    assert there.text == plain.text.replace("\u2500", "-").replace("\u25b8", ">")
