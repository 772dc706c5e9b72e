"""Help in groups, options that all commands have, and faults as data."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from dse.cli.app import COMMAND_GROUPS, NAMES, application
from dse.reports import progress
from tests.conftest import STUDIES, run_dse

SETTOP = str(STUDIES / "settop_116mbps.yaml")


def every_command(group: Any, *names: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        yield " ".join((*names, name)), command
        if hasattr(command, "commands"):
            yield from every_command(command, *names, name)


PROGRAM = typer.main.get_command(application())


def test_help_shows_every_command_in_its_group_and_cuts_no_line(tmp_path: Path) -> None:
    told = run_dse("-h", cwd=tmp_path).stdout
    commands = told.partition("Use:")[2]
    assert "..." not in commands
    assert max(map(len, told.splitlines())) <= 80
    places = [told.index(f"\n{title}:\n") for title in COMMAND_GROUPS]
    assert places == sorted(places)
    assert {name for name, _ in every_command(PROGRAM) if " " not in name} == {*NAMES}


@pytest.mark.parametrize(("name", "command"), [*every_command(PROGRAM)])
def test_help_fits_one_line_and_each_option_has_its_sentence(name: str, command: Any) -> None:
    assert not command.get_short_help_str(63).endswith("..."), name
    assert ["--quiet", "-q"] in [option.opts for option in command.params]
    for option in command.params:
        assert option.help.endswith("."), f"{name} {option.name}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str) -> None:
    asked = {
        "bash": {"COMP_WORDS": "dse fl", "COMP_CWORD": "1"},
        "zsh": {"_TYPER_COMPLETE_ARGS": "dse fl"},
        "fish": {"_TYPER_COMPLETE_ARGS": "dse fl", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    done = subprocess.run(
        [Path(sys.executable).with_name("dse")],
        env=os.environ | asked | {"_DSE_COMPLETE": f"complete_{shell}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "flips" in done.stdout


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("run x --method gau", ["gaussian"]),
        ("answer x --prefer kn", ["knee"]),
        ("new study --from tls", ["tls_100gbps"]),
        ("list cores --provides aead", ["aead"]),
        ("list interf", ["interfaces"]),
        ("list dsa_b", ["dsa_batch"]),
        ("papers logca-1", ["logca-10", "logca-11"]),
    ],
)
def test_values_are_completed_where_help_says_what_lists_them(
    typed: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("COMP_WORDS", f"dse {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    monkeypatch.setenv("_DSE_COMPLETE", "complete_bash")
    with pytest.raises(SystemExit):
        application(typed.split()[0])(prog_name="dse")
    assert capsys.readouterr().out.split() == expected


@pytest.mark.parametrize("before", [True, False], ids=["before", "behind"])
def test_quiet_may_stand_before_a_command_and_behind_it(
    before: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[bool] = []
    monkeypatch.setattr(progress, "quieten", lambda: told.append(True))
    words = ("-q", "check", SETTOP) if before else ("check", SETTOP, "-q")
    assert run_dse(*words, cwd=tmp_path).returncode == 0
    assert told == [True]


def test_check_tells_faults_as_data(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        "workload: {rate: 1 Gbps}\nstages: [{core: dess}]\nobjectives: {powr: minimise}\n"
    )
    done = run_dse("check", "study.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert json.loads(done.stdout)["faults"] == [
        {
            "file": "study.yaml",
            "line": 2,
            "column": 11,
            "path": "stages.0.core",
            "written": "",
            "rule": "'dess' is not a known core",
            "remedy": "did you mean 'des' or 'des_asap7' or 'des_sky130'?",
        },
        {
            "file": "study.yaml",
            "line": 3,
            "column": 14,
            "path": "objectives.powr",
            "written": "'powr'",
            "rule": "this quantity is not known",
            "remedy": "did you mean 'power' or 'own_power' or 'host_power'?",
        },
    ]
    assert json.loads(run_dse("check", SETTOP, "--json", cwd=tmp_path).stdout)["faults"] == []


def test_list_and_show_tell_data(tmp_path: Path) -> None:
    listed = json.loads(run_dse("list", "methods", "--json", cwd=tmp_path).stdout)
    assert "nsga2" in [row["method"] for row in listed["methods"]]
    (shown,) = json.loads(run_dse("list", "sandy_bridge", "--json", cwd=tmp_path).stdout)
    assert (shown["kind"], shown["latency_cycles"]) == ("interface", 3.0)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_flips_keep_to_the_width_and_lose_no_letter(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("flips", SETTOP)
    facts = json.loads(run_dse(*command, "--json", cwd=tmp_path).stdout)
    monkeypatch.setenv("COLUMNS", str(width))
    told = run_dse(*command, cwd=tmp_path).stdout
    assert max(map(len, told.splitlines())) <= width
    for entry in facts["assumptions"]:
        whole = [entry["assumption"]] if width > 60 else re.split("[._]", entry["assumption"])
        assert all(part in told for part in whole)
