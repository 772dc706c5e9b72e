"""Plug-ins as a user installs them: found by entry point, and four different errors when not.

A package is a module and its metadata in a folder on the path, which is what pip leaves.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

STUDY = """\
workload: {rate: 1 Gbit/s}
stages: [{core: des, instances: least}]
objectives: {area: minimise, power: minimise}
"""

OBJECTIVE = """
from dse.contract import Objective


def {name}(*, power_w, area_m2):
    \"\"\"A quantity of this test.\"\"\"
    return {value}


record = Objective(function={name}, source="a test"{more})
"""

Install = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Return a function that installs a plug-in and runs a command with it."""

    def run(group: str, entry: str, module: str, *arguments: str) -> subprocess.CompletedProcess:
        site = tmp_path / "site"
        metadata = site / "stranger-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
        (site / "stranger.py").write_text(module)
        (tmp_path / "study.yaml").write_text(STUDY)
        return subprocess.run(
            [sys.executable, "-m", "dse", *(arguments or ("run", "study.yaml", "--out", "out"))],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(site)},
        )

    return run


def test_a_new_quantity_is_reported(install: Install, tmp_path: Path) -> None:
    module = OBJECTIVE.format(name="density_w_per_m2", value="power_w / area_m2", more="")
    done = install("dse.objectives", "density = stranger:record", module)
    assert (done.returncode, done.stderr) == (0, "")
    header = (tmp_path / "out" / "front.csv").read_text().splitlines()[0]
    assert "density_w_per_m2" in header.split(",")


CASES = {
    "duplicate": (
        ("dse.cores", "other = stranger:record", "from dse.cores.des import core as record"),
        "two plug-ins are called 'des': dse.cores: des = dse.cores.des:core of accel-dse",
    ),
    "broken": (
        ("dse.cores", "aes = stranger:record", "import a_module_that_is_not_there"),
        "plug-in dse.cores: aes = stranger:record fails to load: ModuleNotFoundError",
    ),
    "leaving": (
        ("dse.cores", "aes = stranger:record", "raise SystemExit(0)"),
        "plug-in dse.cores: aes = stranger:record fails to load: SystemExit",
    ),
    "nameless": (
        (
            "dse.objectives",
            "x = stranger:record",
            "from functools import partial\nfrom dse.contract import Objective\n"
            "record = Objective(function=partial(max), source='a test')",
        ),
        "plug-in dse.objectives: x = stranger:record has no name; name its record",
    ),
    "wrong type": (
        ("dse.cores", "aes = stranger:record", "record = 3"),
        "plug-in dse.cores: aes = stranger:record is a int; the group asks for a dse.contract.Core",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_plug_in_that_cannot_be_used(case: str, install: Install, tmp_path: Path) -> None:
    (group, entry, module), message = CASES[case]
    done = install(group, entry, module)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("case", CASES)
def test_doctor_shows_what_cannot_be_used_and_goes_on(case: str, install: Install) -> None:
    (group, entry, module), message = CASES[case]
    done = install(group, entry, module, "doctor", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    facts = json.loads(done.stdout)
    (finding,) = facts["findings"]
    assert finding.startswith(message)
    (installed,) = (name for name in facts["plug_ins"]["core"] if name.startswith("accel-dse"))
    assert "des" in facts["plug_ins"]["core"][installed]


OWN_CORE = """
from dataclasses import replace
from dse.cores.des import core
record = replace(core, name="aes")
"""


def test_an_installed_core_is_used_and_named_when_misspelled(install: Install) -> None:
    entry = ("dse.cores", "aes = stranger:record", OWN_CORE)
    done = install(*entry, "check", "study.yaml", "--set", "des.core=aess")
    assert done.returncode == 2
    assert "'aess' is not a known core; did you mean 'aes' or 'des'?" in done.stderr
    assert done.stderr.count("\n") == 1


def test_doctor_names_the_distribution(install: Install) -> None:
    done = install("dse.cores", "aes = stranger:record", OWN_CORE, "doctor", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["plug_ins"]["core"]["stranger 1.0"] == ["aes"]


def test_a_plug_in_that_is_not_there(install: Install) -> None:
    done = install("dse.cores", "", "", "check", "study.yaml", "--set", "des.core=aes")
    assert done.returncode == 2
    assert "'aes' is not a known core; did you mean 'des'?" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "more", "message"),
    [
        ("debt_w", "-power_w", "", "implausible: debt_w is -"),
        ("flat_m2", "0 * area_m2", ", grows_with_instances=True", "implausible: flat_m2 is 0 and"),
        ("lost_w", "power_w / 0 * 0", "", "implausible: lost_w is nan"),
        ("rash_w", "1 // 0", "", "rash_w fails: ZeroDivisionError"),
    ],
)
def test_a_broken_model_stops_the_run(
    name: str, value: str, more: str, message: str, install: Install, tmp_path: Path
) -> None:
    module = OBJECTIVE.format(name=name, value=value, more=more)
    done = install("dse.objectives", f"{name} = stranger:record", module)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
