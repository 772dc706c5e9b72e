"""Starters: a package with a core, an objective or a method of one's own, and a study.

They are the files of ``templates`` with names filled in, and work before anything is changed.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from dse import contract
from dse.algebra import units
from dse.errors import NewNameError, OutputError
from dse.files.json import is_regular, json_text
from dse.files.whole_folders import new_folder
from dse.installation.inventory import shipped_records, shipped_study
from dse.plugins import registry
from dse.study.schema import json_schema
from dse.study.workload_interface_budget import SECTIONS
from dse.study.written import EDITORS
from dse.testing.probe import check_units

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_LONGEST = 40
_MARK = ".in"
"""Ends the names of templates, so that no tool takes them for sources of this project."""

FOR_EDITORS = "dse.schema.json"
"""What editors read of studies, beside a starter."""

_MODULE = "MODULE"
"""Stands for the name of the module in the names of templates."""


KINDS: Mapping[str, type] = {
    "core": contract.Core,
    "objective": contract.Objective,
    "method": contract.Method,
}


def new_package(kind: str, name: str, out: Path | None) -> Path:
    """Write a package with one of `KINDS` to `out`, by default a folder of its name.

    That of an objective ends in its unit; that of a method may have hyphens.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    NewNameError
        When a plug-in cannot have this name, or another has it.
    OutputError
        When the folder exists already, or cannot be written.
    """
    name = name.replace("-", "_") if kind == "method" else name
    module = f"{name}_{kind}"
    called = name.replace("_", "-") if kind == "method" else name
    _check_name(kind, name, called, module)
    target = out or Path(called)
    try:
        free = not target.exists() or (target.is_dir() and not any(target.iterdir()))
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror}") from error
    if not free:
        raise OutputError(f"{target} exists already, and nothing is replaced; name another folder")
    values = {
        "name": name,
        "called": called,
        "module": module,
        "distribution": f"dse-{kind}-{name.replace('_', '-')}",
        "engine": registry.DISTRIBUTION,
        **(_quantity(name) if kind == "objective" else {}),
    }
    with new_folder(target, ()) as folder:
        for path, text in _filled(files("dse.installation") / "templates" / kind, values):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
    return target


def new_study(path: Path, start: str = "") -> tuple[Path, ...]:
    """Write a study that runs as it is; the path gets ``.yaml`` when it has no suffix.

    It is a commented starter, or a copy of the study `start` that comes with the program, with the
    record files that this names.  Its first line names the schema beside it to editors.

    Returns
    -------
    tuple of Path
        The files that were written, the study first; a record that is there already stays.

    Raises
    ------
    OutputError
        When a file exists already with another content, cannot be written, or the study does not
        end in ``.yaml``; then nothing is written.
    UnknownPluginError
        When no study `start` comes with the program.
    """
    target = path if path.suffix else path.with_name(f"{path.name}.yaml")
    if target.suffix not in (".yaml", ".yml"):
        raise OutputError(f"{target} does not end in .yaml; name the study so")
    text = shipped_study(start) if start else _starter(target.name)
    beside = {FOR_EDITORS: json_text(json_schema())} | (shipped_records(text) if start else {})
    text = f"{EDITORS} $schema={FOR_EDITORS}\n{text}"
    records = {target.parent / name: record for name, record in beside.items()}
    written: list[Path] = []
    try:
        for file, content in ({target: text} | records).items():
            if file != target and is_regular(file) and file.read_bytes() == content.encode():
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            mode = "w" if file.name == FOR_EDITORS else "x"  # of what is installed now
            with file.open(mode, encoding="utf-8", newline="\n") as stream:
                written.append(file)
                stream.write(content)
    except OSError as error:
        for file in written:
            file.unlink()
        if isinstance(error, FileExistsError):
            beside_it = Path(error.filename) in records
            remedy = "write the study to another folder" if beside_it else "name another file"
            raise OutputError(f"{error.filename} exists already; {remedy}") from error
        raise OutputError(f"{target} cannot be written: {error.strerror}") from error
    return tuple(written)


def _starter(file: str) -> str:
    template = files("dse.installation") / "templates" / "study" / f"study.yaml{_MARK}"
    return Template(template.read_text(encoding="utf-8")).substitute(file=file)


def _quantity(name: str) -> dict[str, str]:
    return {
        "stem": units.stem(name).replace("_", " ") or name,
        "unit": units.label(name) or "a number without unit",
    }


def _filled(folder: Traversable, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every template in a folder, with `values` filled in."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from ((f"{entry.name}/{path}", text) for path, text in _filled(entry, values))
        elif entry.name.endswith(_MARK):
            name = entry.name.removesuffix(_MARK).replace(_MODULE, values["module"])
            yield name, Template(entry.read_text(encoding="utf-8")).substitute(values)


def _check_name(kind: str, name: str, called: str, module: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise NewNameError(
            f"{kind} {name!r}: a name is at most {_LONGEST} lower-case letters, digits and single "
            f"underscores, from a letter on; {_suggestion(name)}"
        )
    if keyword.iskeyword(name) or name in ("true", "false", "null"):
        raise NewNameError(f"{kind} {name!r}: Python or YAML has this word; choose another name")
    if kind != "method":
        _check_column(kind, name)
    for plugin in registry.plugins(KINDS[kind]):
        if plugin.name == called:
            raise NewNameError(
                f"{kind} {called!r}: {plugin.distribution} has one of this name; choose another "
                "name"
            )
    if importlib.util.find_spec(module) is not None:
        raise NewNameError(
            f"{kind} {name!r}: a module called {module!r} is installed; choose another name"
        )


def _check_column(kind: str, name: str) -> None:
    """Refuse a name that columns of a study could not have."""
    first = name if kind == "core" else name.partition("_")[0]
    if first in (*SECTIONS, "stage"):
        raise NewNameError(
            f"{kind} {name!r}: {first!r} is a part of every study, and columns of both would mix; "
            "choose another name"
        )
    if kind == "objective":
        try:
            check_units((name,), kind)
        except AssertionError as error:
            raise NewNameError(str(error)) from error


def _suggestion(name: str) -> str:
    words = re.findall(r"[a-z0-9]+", name.lower())
    found = "_".join(words).lstrip("0123456789_")[:_LONGEST].rstrip("_")
    return f"write for instance {found!r}" if _NAME.fullmatch(found) else "choose another name"
