"""The findings of `dse doctor` in an installation that is whole, or lacks something.

Plug-ins that cannot be used are in test_plugins.py.
"""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version

import pytest
from typer.testing import CliRunner, Result

from dse import contract
from dse.cli.app import application
from dse.installation import doctor
from dse.plugins import registry


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application(), ["doctor", *arguments], catch_exceptions=False)


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return versions that pass for the installed ones; none for ``""``."""
    pretended: dict[str, str] = {}
    real = doctor.version

    def version(name: str) -> str:
        found = pretended[name] if name in pretended else real(name)
        if not found:
            raise PackageNotFoundError(name)
        return found

    monkeypatch.setattr(doctor, "version", version)
    return pretended


def test_an_installation_that_is_well() -> None:
    done = run()
    assert done.exit_code == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[-1] == ["nothing", "is", "broken"]
    for name, library in {one.name: one for one in doctor.libraries()[""]}.items():
        assert [name, library.installed] in [line[:2] for line in lines]
    cores = str(len(registry.names(contract.Core)))
    assert ["core", "accel-dse", version("accel-dse"), cores] in [line[:4] for line in lines]


def test_a_library_that_is_missing_or_too_old(versions: dict[str, str]) -> None:
    versions |= {"moocore": "", "numpy": "1.26.4", "scipy": "99.0rc1"}
    done = run()
    assert done.exit_code == 1
    assert done.stdout.rstrip().splitlines()[-3:] == [
        "broken (2)",
        "library numpy is 1.26.4, and accel-dse needs numpy>=2.0; run: "
        'python -m pip install "numpy>=2.0"',
        "library moocore is not installed, and accel-dse needs moocore>=0.3; run: "
        'python -m pip install "moocore>=0.3"',
    ]


def test_an_extra_that_is_missing_breaks_nothing(versions: dict[str, str]) -> None:
    """An extra that takes in another one lacks what that one lacks."""
    versions |= {"hypothesis": "", "ortools": "9.10", "platypus-opt": "1.3"}
    done = run("--json")
    assert done.exit_code == 0
    extras = json.loads(done.stdout)["extras"]
    assert extras["test"]["missing"] == ["hypothesis>=6.100"]
    assert "hypothesis>=6.100" in extras["dev"]["missing"]  # which takes in `test`
    command = 'to add an extra: python -m pip install "accel-dse[EXTRA]"'
    assert command in run().stdout.splitlines()
