"""The house rules that can be read off the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import dse
from dse.study.schema import SECTIONS, StageSection
from tests.conftest import ROOT

FLOORS = (
    ("errors", "removed"),
    ("contract",),
    ("workers",),
    ("algebra", "plugins"),
    ("files", "model"),
    ("search",),
    ("methods", "testing", "study", "reports"),
    ("runs", "fitting", "installation"),
    ("parametric",),
    ("answers", "audit", "page"),
    ("sampling", "simulation"),
    ("api",),
    ("serve", "silicon", "papers", "measure"),
    ("cli",),
    ("__init__", "__main__"),
)
"""The packages and modules of `dse`, lowest floor first: each imports itself and lower floors."""

FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names}
WINGS = {
    "measure": ("dse.measure",),
    "silicon": ("dse.silicon", "dse.cores.rtl"),
    "papers": (
        *("dse.papers", "dse.cores.battle_hempstead"),
        *("dse.objectives.logca.paper", "dse.objectives.roofline.paper"),
    ),
}
"""Packages that only the registry and the command line reach, by names in texts."""

MODELS = ("cores", "objectives")
"""Built-in plug-ins: packages at the top of the repository, installed inside `dse`."""


def sources() -> dict[str, Path]:
    """Return every module of the distribution by the name under which it is imported."""
    found = {}
    for name in ("dse", *MODELS):
        for path in (ROOT / name).rglob("*.py"):
            inside = path.relative_to(ROOT).with_suffix("")
            parts = inside.parts[:-1] if path.stem == "__init__" else inside.parts
            if name == "dse" and parts[1:2] and parts[1] in MODELS:
                continue  # a link to the folder at the top
            found[".".join(parts if name == "dse" else ("dse", *parts))] = path
    return found


SOURCES = sources()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(module: str) -> set[str]:
    """Return every module that a module imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(parsed(SOURCES[module])):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inside & set(SOURCES)) or {node.module}
    return found


def package(module: str) -> str:
    """Return the part of `dse` that a module belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def test_a_module_imports_only_lower_floors() -> None:
    wrong = [
        f"{module} imports {name}"
        for module in SOURCES
        for name in imports(module)
        if name.startswith("dse") and not _may_import(package(module), package(name))
    ]
    assert not wrong, "\n".join(wrong)


def _may_import(own: str, other: str) -> bool:
    if own in MODELS:
        return other in (own, "contract")
    if other == own:
        return True
    lower = other not in MODELS and FLOOR[other] < FLOOR[own]
    return lower and (
        other not in ("api", "cli") or own in ("serve", *WINGS, "cli", "__init__", "__main__")
    )


def wing(module: str) -> str:
    """Return the wing that a module stands in, or nothing."""
    inside = (
        name for name, roots in WINGS.items() for one in roots if f"{module}.".startswith(f"{one}.")
    )
    return next(inside, "")


def test_nothing_but_commands_and_the_front_door_imports_a_wing() -> None:
    """`dse` shows their public names to type checkers alone, and looks them up by text."""
    wrong = [
        f"{module} imports {name}"
        for module in SOURCES
        for name in imports(module)
        if wing(name) not in ("", wing(module)) and package(module) not in ("cli", "__init__")
    ]
    assert not wrong, "\n".join(wrong)
    door = [node for node in parsed(SOURCES["dse"]).body if isinstance(node, ast.ImportFrom)]
    assert not any(wing(str(node.module)) for node in door)


def test_no_module_has_more_than_800_lines() -> None:
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in SOURCES.items()}
    assert [name for name, count in lines.items() if count > 800] == []


def test_every_package_says_what_lives_there() -> None:
    assert {package(module) for module in SOURCES} - {*MODELS} == set(FLOOR)
    for path in (path for path in SOURCES.values() if path.name == "__init__.py"):
        docstring = ast.get_docstring(parsed(path)) or ""
        assert "May import" in docstring or path == ROOT / "dse" / path.name, path


def test_no_package_hides_a_public_function() -> None:
    """Importing `dse.run` would replace the function `dse.run` by the package."""
    hidden = {name for name in dse.__all__ if name in FLOOR} - {"errors"}
    assert not hidden


def test_a_public_name_means_one_thing() -> None:
    """Classes and functions, but for commands, which are called like what they run."""
    places: dict[str, list[str]] = {}
    for module, path in SOURCES.items():
        kinds = ast.ClassDef if package(module) == "cli" else ast.ClassDef | ast.FunctionDef
        for node in parsed(path).body:
            if isinstance(node, kinds) and not node.name.startswith("_"):
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                places.setdefault(node.name, []).append(place)
    twice = [f"{name}: {' and '.join(found)}" for name, found in places.items() if found[1:]]
    assert not twice, "give each a name of its own, or a leading underscore\n" + "\n".join(twice)


ONLY_USERS = {
    "importlib.metadata": {
        "dse.plugins.registry",
        "dse",
        "dse.installation.doctor",
        "dse.runs.manifest",
        "dse.cli.app",
    },
    "matplotlib": {
        "dse.parametric.plots",
        "dse.sampling.plots",
        "dse.reports.drawing",
        "dse.reports.plots",
        "dse.simulation.plots",
        "dse.papers.sheets",
        "dse.contract.papers",
        "dse.cores.battle_hempstead.figures",
        "dse.objectives.logca.paper.figures",
        "dse.objectives.roofline.paper.figures",
    },
    "SALib": {"dse.sampling.sobol"},
    "distributed": {"dse.measure.attempts"},
    "concurrent": {"dse.workers"},
    "mcp": {"dse.serve.agents"},
    "moocore": {"dse.model.front", "dse.model.volume"},
    "multiprocessing": {"dse.workers", "dse.measure.attempts"},
    "packaging": {"dse.installation.doctor"},
    "optuna": {
        "dse.search.heuristic.optuna",
        "dse.methods.samplers",
    },
    "pandas": {"dse.runs.result"},
    "pyarrow": {"dse.runs.record"},
    "pymoo": {"dse.search.heuristic.pymoo", "dse.methods.genetic"},
    "sqlite3": {"dse.measure.store"},
    "ruamel": {"dse.files.yaml"},
    "typer": {module for module in SOURCES if package(module) == "cli"},
}


@pytest.mark.parametrize("library", sorted(ONLY_USERS))
def test_a_library_has_one_user(library: str) -> None:
    users = {
        module
        for module in SOURCES
        for name in imports(module)
        if name == library or name.startswith(library + ".")
    }
    assert users <= ONLY_USERS[library]


def test_the_engine_names_no_plug_in() -> None:
    """No core, interface, platform or quantity is mentioned by name in the engine's code."""
    from dse import contract
    from dse.plugins import registry

    kinds = set(registry.kinds_of(registry.GROUPS)) - {
        contract.Method,  # the default of a study is called `exact`
        contract.Function,  # words of the field: files have their `sha256`
    }
    names = {name for kind in kinds for name in registry.names(kind)}
    # words of the study file and of the contract, which a quantity may share: `instances`
    names -= {key for model in (StageSection, *SECTIONS.values()) for key in model.model_fields}
    names -= set(contract.CoreMetrics.__dataclass_fields__)
    assert {"des", "power_w", "gtx_titan"} <= names
    for module, path in SOURCES.items():
        if package(module) in MODELS or module == "dse.testing.cores":
            continue  # the kit compares residuals, whose names a core and a quantity share
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in names, f"{path}:{node.lineno}: {node.value!r}"
    assert contract.Core in registry.kinds_of(registry.GROUPS)


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = {module: imports(module) & set(SOURCES) - {module} for module in SOURCES}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for name in graph[module]:
                visit(name, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


NEEDED_BY_FEW = ("matplotlib", "optuna", "pandas", "pymoo", "scipy")
DRAWN = (
    *NEEDED_BY_FEW,
    "multiprocessing",
    "dse.search.exact.compose",
    "dse.parametric.infeasible",
)
SEARCHED = (*DRAWN, "pyarrow", "moocore", "dse.search.archive")
RECORDS = ("dse.contract.papers", "dse.study.record_file")
CHECKED = (*SEARCHED, *RECORDS, "rich", "dse.runs", "dse.study.tables")
LEFT_OUT = {
    "--help": (*CHECKED, "numpy", "pydantic", "ruamel"),
    "list cores": (*SEARCHED, "dse.study.schema"),
    "check studies/des_100gbps.yaml": CHECKED,
    "explain studies/settop_116mbps.yaml --design u1": (*DRAWN, *RECORDS, "dse.measure"),
    "run studies/settop_116mbps.yaml --no-plots --out {out}": DRAWN,
}
"""Modules that a command does not import, for each takes longer than the command may."""


@pytest.mark.parametrize("command", LEFT_OUT)
def test_a_command_imports_only_what_it_needs(command: str, tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['dse', *sys.argv[1:]]\n"
        "from dse.cli import main\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert not left.code, left\n"
        f"print([name for name in {LEFT_OUT[command]!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command.format(out=tmp_path / "run").split()],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


# How deep imports go: what a reader has to follow from a module down to the ground


LONGEST = 25
"""Modules on the longest chain of imports."""

INSIDE = {"dse.study": 8}
"""Floors inside a package at most."""


@cache
def below(module: str, inside: str) -> tuple[str, ...]:
    """Return the longest chain of imports from a module down, itself first."""
    names = (imports(module) & SOURCES.keys()) - {module}
    chains = (below(name, inside) for name in sorted(names) if name.startswith(inside))
    return (module, *max(chains, key=len, default=()))


@pytest.mark.parametrize(("inside", "most"), [("dse", LONGEST), *INSIDE.items()])
def test_imports_do_not_go_deeper(inside: str, most: int) -> None:
    longest = max((below(one, inside) for one in SOURCES if one.startswith(inside)), key=len)
    assert len(longest) <= most, " -> ".join(longest)
