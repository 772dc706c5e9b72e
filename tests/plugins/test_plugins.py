"""Plug-ins as a user installs them: found by name, and errors of their own when they are broken.

A package is a module and its metadata in a folder on the path, which is what pip leaves.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from dse.contract import Core, Objective
from dse.plugins import registry
from tests.conftest import ROOT, STUDIES, run_dse, stranger

STUDY = """\
workload: {rate: 1 Gbit/s}
stages: [{core: des, instances: least}]
objectives: {area: minimise, power: minimise}
"""

OBJECTIVE = """
from dse.contract import objective


@objective(source="a test"{more})
def {name}(*, power_w, area_m2):
    \"\"\"A quantity of this test.\"\"\"
    return {value}
"""

RUN = ("run", "study.yaml", "--out", "out")

Install = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Return a function that installs a plug-in and runs a command with it."""

    def run(
        group: str, entry: str, module: str, *arguments: str, study: str = STUDY
    ) -> subprocess.CompletedProcess[str]:
        site = stranger(tmp_path, f"[{group}]\n{entry}\n", module)
        (tmp_path / "study.yaml").write_text(study)
        return run_dse(*(arguments or RUN), cwd=tmp_path, site=site)

    return run


CORE, QUANTITY, PROVIDER = "dse.cores", "dse.objectives", "dse.providers"
GOLDEN = YAML(typ="safe", pure=True).load(ROOT / "tests" / "golden" / "plug_ins.yaml")
CASES: dict[str, list[str]] = GOLDEN["unusable"]
LOST: dict[str, list[str]] = GOLDEN["lost"]


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_used_stops_a_study_that_names_it(case: str, install: Install) -> None:
    group, entry, module, message = CASES[case]
    provided = "des" if "duplicate" in case else "aes"
    name = provided if group == PROVIDER else entry.partition(" ")[0]
    study, place = STUDY.replace("core: des", f"core: {name}"), "2:11: stages.0.core"
    if group == QUANTITY:
        study, place = STUDY.replace("power:", f"{name}:"), f"3:30: objectives.{name}"
    done = install(group, entry, module, study=study)
    assert done.returncode == 2
    assert done.stderr.startswith(f"study.yaml:{place}: '{name}'; {message}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("case", LOST)
def test_a_name_that_a_lost_provider_may_have_names_it(case: str, install: Install) -> None:
    group, entry, module, message = LOST[case]
    done = install(group, entry, module, study=STUDY.replace("core: des", "core: aes"))
    assert done.returncode == 2
    assert f"'aes' is not a known core; did you mean 'des'?; {message}" in done.stderr


@pytest.mark.parametrize("case", [case for case in CASES | LOST if "duplicate" not in case])
def test_what_cannot_be_used_stops_no_other_study(
    case: str, install: Install, tmp_path: Path
) -> None:
    group, entry, module, _ = (CASES | LOST)[case]
    done = install(group, entry, module)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["notes"] == []


@pytest.mark.parametrize("case", CASES | LOST)
def test_doctor_shows_what_cannot_be_used_and_goes_on(case: str, install: Install) -> None:
    group, entry, module, message = (CASES | LOST)[case]
    done = install(group, entry, module, "doctor", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    facts = json.loads(done.stdout)
    (finding,) = facts["findings"]
    assert finding.startswith(message)
    (installed,) = (name for name in facts["plug_ins"]["core"] if name.startswith("accel-dse"))
    assert "fft" in facts["plug_ins"]["core"][installed]


@pytest.mark.parametrize("case", ["broken", "broken, of a provider", *LOST])
def test_a_list_says_what_it_leaves_out(case: str, install: Install) -> None:
    group, entry, module, message = (CASES | LOST)[case]
    done = install(group, entry, module, "list", "cores")
    assert done.returncode == 0
    assert "des" in done.stdout
    assert done.stderr.startswith(f"omitted: {message}")


TAKES_A_BROKEN_ONE = """
import sys
from dse.contract import objective

@objective(source="a test")
def whole_w(*, power_w, debt_w{default}):
    \"\"\"A quantity of this test.\"\"\"
    return power_w + debt_w

def __getattr__(name):
    raise AttributeError("it was never written")
"""


@pytest.mark.parametrize("default", ["", "=0.0"])
def test_what_takes_a_broken_quantity_is_as_broken(
    default: str, install: Install, tmp_path: Path
) -> None:
    """Without what it takes, even where that has a default, it would be another quantity."""
    entries = "whole_w = stranger:whole_w\ndebt_w = stranger:debt_w"
    module = TAKES_A_BROKEN_ONE.format(default=default)
    overrides = ("--set", "objectives={whole: minimise, area: minimise}")
    done = install(QUANTITY, entries, module, "check", "study.yaml", *overrides)
    assert done.returncode == 2
    assert "objectives.whole: 'whole'; plug-in dse.objectives: debt_w = " in done.stderr
    assert run_dse(*RUN, cwd=tmp_path, site=tmp_path / "site").returncode == 0
    header = (tmp_path / "out" / "front.csv").read_text().splitlines()[0]
    assert not {"whole_w", "debt_w"} & set(header.split(","))


RULE = """
from dse.contract import {kind}

@{kind}(rule="it stays small")
def stays_small(*, area_m2):
    \"\"\"Return by how much it is too large.\"\"\"
    return area_m2 / {bound} - 1.0
"""


@pytest.mark.parametrize("kind", ["requirement", "guard"])
def test_a_rule_of_another_package_is_applied(kind: str, install: Install) -> None:
    module = RULE.format(kind=kind, bound=1e-12)
    done = install(f"dse.{kind}s", "stays_small = stranger:stays_small", module)
    assert done.returncode == {"requirement": 3, "guard": 2}[kind]
    assert "it stays small" in done.stderr


@pytest.mark.parametrize("kind", ["requirement", "guard"])
@pytest.mark.parametrize("command", ["check", "answer", "explain"])
def test_a_broken_rule_of_another_package_is_a_note_and_a_finding(
    kind: str, command: str, install: Install, tmp_path: Path
) -> None:
    entry = (f"dse.{kind}s", "stays_small = stranger:stays_small", "1 / 0")
    one = ("--design", "des.design=u16") if command == "explain" else ()
    done = install(*entry, command, "study.yaml", *one)
    assert (done.returncode, done.stderr) == (0, "")
    told = " ".join(done.stdout.split())
    assert f"note: {kind} stays_small of stranger 1.0 cannot be used and is not checked" in told
    doctor = run_dse("doctor", cwd=tmp_path, site=tmp_path / "site")
    assert doctor.returncode == 1
    assert "stays_small = stranger:stays_small of stranger 1.0 fails to load" in doctor.stdout


def test_a_rule_that_takes_a_broken_quantity_is_a_note(install: Install, tmp_path: Path) -> None:
    module = RULE.format(kind="requirement", bound=1e-12).replace("area_m2", "debt_w")
    entries = "stays_small = stranger:stays_small\n[dse.objectives]\ndebt_w = stranger:debt_w"
    done = install("dse.requirements", entries, module)
    assert done.returncode == 0
    (note,) = json.loads((tmp_path / "out" / "manifest.json").read_text())["notes"]
    assert note.startswith("requirement stays_small cannot be used and is not checked: plug-in dse")


OWN_CORE = """
from dataclasses import replace
from dse.cores.des import core
aes = replace(core, name="aes")
cores = {"stranger:called": "aes"}
called = {"aes": aes}.get
"""
WAYS = [(CORE, "aes = stranger:aes", OWN_CORE), (PROVIDER, "cores = stranger:cores", OWN_CORE)]


@pytest.mark.parametrize("way", WAYS, ids=[CORE, PROVIDER])
def test_an_installed_core_is_used_and_named_when_misspelled(
    way: tuple[str, ...], install: Install, tmp_path: Path
) -> None:
    done = install(*way, "check", "study.yaml", "--set", "des.core=aess")
    assert done.returncode == 2
    assert "'aess' is not a known core; did you mean 'aes' or " in done.stderr
    assert done.stderr.count("\n") == 1
    named = ("--set", "stages.0.core=aes")
    assert run_dse("check", "study.yaml", *named, cwd=tmp_path, site=tmp_path / "site").stdout


@pytest.mark.parametrize(
    ("name", "value", "more", "message"),
    GOLDEN["broken"],
)
def test_a_broken_model_stops_the_run(
    name: str, value: str, more: str, message: str, install: Install, tmp_path: Path
) -> None:
    module = OBJECTIVE.format(name=name, value=value, more=more)
    done = install(QUANTITY, f"{name} = stranger:{name}", module)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


# Only what is named is imported -------------------------------------------------------------

LOADED = """
import sys
from dse.cli import main
sys.argv = ["dse", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print([name for name in sys.modules if name.startswith(("dse.cores.", "dse.objectives."))])
"""


def loaded(study: Path, *arguments: str) -> set[str]:
    command = [sys.executable, "-c", LOADED, "check", str(study), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name.strip("[]'") for name in done.stdout.splitlines()[-1].split(", ")}


def test_a_study_imports_what_it_names_and_what_that_takes() -> None:
    modules = loaded(STUDIES / "settop_116mbps.yaml")
    assert {"dse.cores.des", "dse.objectives.system.fleet"} <= modules
    others = {"dse.cores.fft", "dse.objectives.catalogue", "dse.objectives.logca.roots"}
    others |= {"dse.objectives.system.platform_limits", "dse.objectives.logca.paper.claims"}
    others |= {"dse.cores.characterised", "dse.cores.published"}
    assert not modules & others


def test_names_are_known_before_more_than_their_provider_is_imported() -> None:
    code = (
        "import sys\nfrom dse.contract import Core, Objective, Platform\n"
        "from dse.plugins import registry\n"
        "print(len(registry.names(Core)), len(registry.names(Objective)))\n"
        "print([name for name in sys.modules if name.startswith(('dse.cores', 'dse.objectives'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    cores, objectives = len(registry.names(Core)), len(registry.names(Objective))
    assert done.stdout == f"{cores} {objectives}\n['dse.cores', 'dse.cores.provided']\n"


def test_quantities_come_by_module_and_as_it_lists_them() -> None:
    names = list(registry.records(Objective))
    assert names[:3] == ["instances", "fleet_area_m2", "area_m2"]
    assert names.index("offload_latency_s") < names.index("overhead_s") < names.index("power_w")
