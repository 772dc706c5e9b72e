"""Every removed name is answered with its remedy, wherever it is written."""

from __future__ import annotations

import re
from typing import Any

import pytest

import dse
from dse.cli.app import application
from dse.errors import DseError, UnknownPluginError
from dse.plugins.registry import GROUPS, get, kinds_of
from dse.removed import RULE, removed
from tests.conftest import STUDIES, run_dse

REMOVED = removed()
SMALL = STUDIES / "settop_116mbps.yaml"
FIELDS = [name for kind, name in REMOVED if kind == "field"]
ARGUMENTS = [name for kind, name in REMOVED if kind == "argument"]
COMMANDS = [name for kind, name in REMOVED if kind == "command"]
PLUGINS = [name for kind, name in REMOVED if kind == "plugin"]
VALUES = [name for kind, name in REMOVED if kind == "value"]


def written(field: str) -> tuple[str, str]:
    """Return an override that writes a field: the path and its value."""
    section, *rest = field.split(".")
    if section == "axes":
        return "axes", f"{{x: {{{rest[0]}: 1}}}}"
    if field == "stages.core":
        return "stages.0.core", "{command: [a]}"
    if section == "stages":
        return f"stages.0.{rest[0]}", f"{{{rest[1]}: 1}}" if rest[1:] else "1"
    if section in ("evaluate", "search"):
        rest = [part for key in rest for part in ([key, "area"] if key == "outputs" else [key])]
        inner = "1"
        for key in reversed(rest):
            inner = f"{{{key}: {inner}}}"
        return section, inner
    return field, "1"


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_is_refused_at_its_place(field: str) -> None:
    path, value = written(field)
    with pytest.raises(DseError) as refused:
        dse.load(SMALL, overrides={path: value})
    remedy = f"{RULE}; {REMOVED['field', field]}"
    assert remedy in str(refused.value)


def commands() -> dict[str, Any]:
    import typer

    return typer.main.get_command(application()).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_and_its_function_are_refused(command: str, monkeypatch) -> None:
    sentence = f"{RULE}; {REMOVED['command', command]}"
    done = run_dse(command, "anything")
    assert (done.returncode, done.stderr) == (2, f"dse {command}: {sentence}\n")
    monkeypatch.delattr(dse, "measure", raising=False)  # the package, where one imported it
    if command != "reproduce":  # the function stays: `papers` is the package
        with pytest.raises(AttributeError, match=re.escape(sentence)):
            dse.fit.platform if command == "fit platform" else getattr(dse, command)


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_an_argument_and_its_option_are_refused(argument: str) -> None:
    name, key = argument.split(".")
    sentence = f"{RULE}; {REMOVED['argument', argument]}"
    option = f"--{key.replace('_', '-')}"
    command = commands().get(name)
    if command and option not in {word for one in command.params for word in one.opts}:
        done = run_dse(name, f"{option}=1")
        assert (done.returncode, done.stderr) == (2, f"{option}: {sentence}\n")
    if hasattr(dse, name):
        with pytest.raises(DseError) as refused:
            getattr(dse, name)(**{key: 1})
        assert str(refused.value) == f"{key}: {sentence}"


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_plug_in_is_refused_by_its_name(plugin: str) -> None:
    word, name = plugin.split(".")
    (kind,) = (one for one in kinds_of(GROUPS) if one.__name__.lower() == word)
    with pytest.raises(UnknownPluginError) as refused:
        get(kind, name)
    assert str(refused.value) == f"{word} {name!r} was {RULE}; {REMOVED['plugin', plugin]}"


@pytest.mark.parametrize("value", [one for one in VALUES if one.startswith("stages.")])
def test_a_value_is_refused_at_its_field(value: str) -> None:
    field, name = value.split("=")
    done = run_dse("check", str(SMALL), "--set", f"{field.replace('stages.', 'stages.0.')}={name}")
    assert done.returncode == 2
    assert f"{RULE}; {REMOVED['value', value]}" in done.stderr
