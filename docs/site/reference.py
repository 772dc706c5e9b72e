"""The reference, generated: commands, fields of a study, what it can name, Python, the contract."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import typer.cli
import typer.main

import dse
from dse import contract
from dse.algebra import units
from dse.cli.app import application
from dse.installation import inventory
from dse.plugins import registry
from dse.study.field_kinds import Unit
from dse.study.schema import DECLARED, json_schema


def commands() -> dict[str, str]:
    """Return the page of all commands, "", and the help of each by its name, in order of use."""
    program = typer.main.get_command(application())
    _say_in_full(program)
    text = typer.cli.get_docs_for_click(
        obj=program, ctx=typer.Context(program, info_name="dse"), name="dse", title="Commands"
    )
    first, *others = f"\n{text}".split("\n## `dse ")
    listed = re.sub(r"^\* `(\w+)`:", r"* [`\1`](\1.md):", first, flags=re.MULTILINE)
    found = {"": listed.strip()}
    for one in others:
        found[one.partition("`")[0]] = f"# `dse {one}"
    return found


def _say_in_full(command: Any) -> None:
    """Show first lines of help in lists of commands whole, not cut for a terminal."""
    for one in getattr(command, "commands", {}).values():
        one.short_help = (one.help or "").partition("\n\n")[0]
        _say_in_full(one)


def fields() -> str:
    """Return the sections and fields of a study, from its schema."""
    schema = json_schema()
    lines = [
        "# Fields of a study",
        "",
        "The tables of `dse check --schema`. [Studies](../studies.md) explains them. A field of",
        "`workload`, `interface` or `budget` may also be set in `axes`, in `sweep` and with",
        "`--set`, in the unit shown or with any prefix of it.",
    ]
    whole = {name: one for name, one in schema["properties"].items() if not _section(one)}
    lines += ["", "## At the top", "", *_table(_field_rows(whole), _FIELD)]
    for name, one in schema["properties"].items():
        if section := _section(one):
            lines += ["", f"## {name}", *_fields_of(schema["$defs"][section], name)]
    named = {_section(one) for one in schema["properties"].values()}
    for section in sorted({*schema["$defs"]} - named):
        title = section.removesuffix("Section").lower()
        lines += ["", f"## A {title} in place", *_fields_of(schema["$defs"][section])]
    return "\n".join(lines)


def catalogue() -> str:
    """Return all that a study can name, with sources."""
    lines = [
        "# Catalogue",
        "",
        "The tables of `dse list KIND`. `dse list NAME` prints one entry with its values.",
    ]
    for kind in inventory.LISTED_KINDS:
        headers, rows = inventory.table_of(kind)
        lines += ["", f"## {kind.capitalize()}", "", *_table(rows, headers)]
    return "\n".join(lines)


def quantities() -> str:
    """Return every quantity with its equation and sources, as its docstring has them."""
    lines = [
        "# Quantities",
        "",
        "The quantities of the models, in SI. [Models](../models.md) explains their composition.",
    ]
    for name, record in registry.records(contract.Objective).items():
        unit = units.label(units.suffix(name)) or "a number"
        summary, _, text = (inspect.getdoc(record.function) or "").partition("\n")
        lines += ["", f"## {name}", "", f"{summary} Unit: {unit}. Source: {record.source}."]
        lines += ["", "```text", *text.strip().splitlines(), "```"] if text.strip() else []
    return "\n".join(lines)


def python() -> str:
    """Return the page of the functions and classes that `import dse` gives."""
    lines = [
        "# Python",
        "",
        "The functions and classes of `import dse`. [From Python](../api.md) has examples.",
    ]
    found = {name: module for module, names in dse._FROM.items() for name in names}
    functions = sorted(name for name in found if name.islower())
    for title, names in (
        ("Functions", functions),
        ("Classes", sorted({*found} - {*functions})),
    ):
        lines += ["", f"## {title}"]
        for name in names:
            lines += _documented(f"{found[name]}.{name}")
    lines += ["", "## dse.fit", *_documented("dse.api.fit"), "", "## dse.errors"]
    return "\n".join([*lines, *_documented("dse.errors")])


def contract_of_plug_ins() -> str:
    """Return the page of what a plug-in provides."""
    lines = [
        "# Contract of plug-ins",
        "",
        "The names of `dse.contract`. [Plug-ins](../plugins.md) has examples.",
    ]
    here = vars(contract)
    public = sorted(
        name
        for name, one in here.items()
        if not name.startswith("_")
        and getattr(one, "__module__", "").startswith("dse.contract")
        and getattr(one, "__name__", "") == name
    )
    for name in public:
        lines += _documented(f"{here[name].__module__}.{name}")
    return "\n".join(lines)


PAGES: Mapping[str, Callable[[], str]] = {
    "fields": fields,
    "catalogue": catalogue,
    "quantities": quantities,
    "python": python,
    "contract": contract_of_plug_ins,
}
"""What makes each page but `commands`."""

_FIELD = ("field", "meaning", "otherwise", "for instance")


def _documented(name: str) -> list[str]:
    return ["", f"::: {name}"]


def _section(written: Mapping[str, Any]) -> str:
    """Return the definition that a field is a section of, if it is one."""
    places = (
        written,
        written.get("items", {}),
        *written.get("anyOf", ()),
        *written.get("oneOf", ()),
    )
    found = (place["$ref"].rpartition("/")[2] for place in places if "$ref" in place)
    return next(found, "")


def _fields_of(section: Mapping[str, Any], name: str = "") -> list[str]:
    rows = _field_rows(section["properties"], name)
    return ["", section.get("description", ""), "", *_table(rows, _FIELD)]


def _field_rows(properties: Mapping[str, Any], section: str = "") -> Iterator[Sequence[str]]:
    for name, one in properties.items():
        default = one.get("default")
        otherwise = f"`{str(default).lower()}`" if default not in (None, [], {}, "") else ""
        otherwise = otherwise or _assumed(f"{section}.{name}")
        examples = ", ".join(f"`{example}`" for example in one.get("examples", ()))
        yield f"`{name}`", one.get("description", ""), otherwise, examples


def _assumed(path: str) -> str:
    """Return what a field counts as where no study and no record gives it."""
    declared = DECLARED.get(path)
    if not isinstance(declared, Unit):
        return ""
    shown = [declared.unwritten]
    known = declared.usual if declared.usual is not None else declared.neutral
    if not declared.unwritten and known and math.isfinite(known):
        shown.append(units.show(known, declared.columns[0]))
    if declared.neutral or declared.usual:
        owners = (one for one in declared.belongs_to if DECLARED[f"interface.{one}"] != declared)
        shown += [f"with `{owner}` only" for owner in owners]
    return "; ".join(filter(None, shown))


def _table(
    rows: Iterator[Sequence[str]] | Sequence[Sequence[str]], headers: Sequence[str]
) -> list[str]:
    """Return a table as Markdown."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    body = [f"| {' | '.join(row)} |" for row in (headers, ["---"] * len(headers), *cells)]
    return list(body)
