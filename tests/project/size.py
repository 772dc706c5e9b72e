"""Sizes of the house, measured from its source: what CONTRIBUTING prints and `test_size` caps."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from tests.conftest import ROOT
from tests.project.test_architecture import SOURCES, imports, package, parsed

PAGE_FILES = (".js", ".css", ".html")
SMALL_FILE = 160
MOST_PARAMETERS = 7
MOST_COMPLEXITY = 15
SILENT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
)
BRANCHES = (ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.comprehension)
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(path: Path) -> int:
    """Return the lines of a file without docstrings, blank lines and comments."""
    text = path.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    shown: set[int] = set()
    for token in tokens:
        if token.type not in SILENT:
            shown.update(range(token.start[0], token.end[0] + 1))
    return len(shown - {*_docstrings(ast.parse(text))})


def _docstrings(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        for statement in getattr(node, "body", []) if isinstance(node, DOCUMENTED) else []:
            value = getattr(statement, "value", None)
            if isinstance(statement, ast.Expr) and isinstance(getattr(value, "value", None), str):
                yield from range(statement.lineno, (statement.end_lineno or 0) + 1)


@cache
def measures() -> dict[str, int]:
    """Return every measure by name: those of the house, then the lines of code of each package."""
    sizes = {f"lines of code of {name}": size for name, size in _packages().items()}
    return _house() | sizes


def _packages() -> dict[str, int]:
    """Return the lines of code of each package, modules directly in `dse` together."""
    found: Counter[str] = Counter()
    for name, path in SOURCES.items():
        own = package(name)
        found["dse alone" if path.parent == ROOT / "dse" else own] += code_lines(path)
    return dict(sorted(found.items()))


def _house() -> dict[str, int]:
    """Return the measures of the house other than the sizes of packages, by name."""
    functions, commands = [*_functions()], _commanding()
    return {
        "lines of code of source": sum(_packages().values()),
        "lines of code of tests": sum(map(code_lines, (ROOT / "tests").rglob("*.py"))),
        "lines of JS, CSS and HTML": _page_lines(),
        f"files below {SMALL_FILE} lines with one importer": _small_files(),
        "commands": len({name.partition(" ")[0] for name in _commands()}),
        "options": sum(_commands().values()),
        "fields of a study": _fields(),
        "public nouns of the contract": _nouns(),
        f"functions with more than {MOST_PARAMETERS} parameters": sum(
            _parameters(one) > MOST_PARAMETERS for one in functions if one not in commands
        ),
        f"functions of complexity above {MOST_COMPLEXITY}": sum(
            complexity(one) > MOST_COMPLEXITY for one in functions
        ),
        "imports inside functions": _inner_imports(),
        "constants that share a name": _shared_constants(),
        "entry points": _entry_points(),
    }


def _functions() -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of the source other than those that print for commands."""
    for module in SOURCES:
        if package(module) != "cli":
            nodes = ast.walk(parsed(SOURCES[module]))
            yield from (one for one in nodes if isinstance(one, FUNCTIONS))


def _commanding() -> set[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions that `dse/cli` registers commands with.

    Their parameters are the options of the command, which `options` counts.
    """
    from dse.cli.app import application
    from dse.cli.options import COMMANDS

    application()  # imports what registers
    places = [where.split(":") for entry in COMMANDS.values() for where in entry.functions]
    return {
        one
        for module, name in places
        for one in parsed(SOURCES[module]).body
        if isinstance(one, FUNCTIONS) and one.name == name
    }


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    taken = function.args
    return len([*taken.posonlyargs, *taken.args, *taken.kwonlyargs])


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return McCabe's number of a function: its decisions and one, those inside it counted too."""
    nodes = [*ast.walk(function)]
    operators = sum(len(one.values) - 1 for one in nodes if isinstance(one, ast.BoolOp))
    filters = sum(len(one.ifs) for one in nodes if isinstance(one, ast.comprehension))
    cases = sum(len(one.cases) for one in nodes if isinstance(one, ast.Match))
    return 1 + sum(isinstance(one, BRANCHES) for one in nodes) + operators + filters + cases


def _page_lines() -> int:
    files = [path for path in (ROOT / "dse").rglob("*") if path.suffix in PAGE_FILES]
    own = [path for path in files if "echarts" not in path.parts]
    return sum(bool(line.strip()) for path in own for line in path.read_text("utf-8").splitlines())


def _small_files() -> int:
    importers = Counter(name for module in SOURCES for name in imports(module) - {module})
    return sum(
        importers[name] == 1 and len(path.read_text("utf-8").splitlines()) < SMALL_FILE
        for name, path in SOURCES.items()
        if path.name != "__init__.py"
    )


@cache
def _commands() -> dict[str, int]:
    """Return how many options each command has, besides those of all commands."""
    import typer

    from dse.cli.app import application

    found: dict[str, int] = {}
    waiting = [("", typer.main.get_command(application()))]
    while waiting:
        name, one = waiting.pop()
        inner = getattr(one, "commands", {})
        waiting += [(f"{name} {key}".strip(), value) for key, value in inner.items()]
        if not inner:
            options = [each for each in one.params if each.param_type_name == "option"]
            found[name] = sum(each.name not in ("help", "quiet", "version") for each in options)
    return found


def _fields() -> int:
    from dse.study.schema import json_schema

    schema = json_schema()
    sections = [schema, *schema.get("$defs", {}).values()]
    return sum(len(section.get("properties", {})) for section in sections)


def _nouns() -> int:
    import dse.contract

    named = {name: noun for name, noun in vars(dse.contract).items() if name[0] != "_"}
    return sum(not isinstance(noun, ModuleType) for noun in named.values())


def _inner_imports() -> int:
    return sum(
        isinstance(node, ast.Import | ast.ImportFrom)
        for path in SOURCES.values()
        for function in ast.walk(parsed(path))
        if isinstance(function, FUNCTIONS)
        for node in ast.walk(function)
    )


def _shared_constants() -> int:
    names = Counter(
        target.id
        for path in SOURCES.values()
        for statement in parsed(path).body
        for target in _targets(statement)
        if isinstance(target, ast.Name) and re.fullmatch("[A-Z][A-Z0-9_]*", target.id)
    )
    return sum(count > 1 for count in names.values())


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign) else []


def _entry_points() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return sum(map(len, project["entry-points"].values()))
