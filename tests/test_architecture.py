"""The house rules that can be read off the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from dse.schema import SECTIONS, Stage

ROOT = Path(__file__).parent.parent
SOURCES = {
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path
    for package in ("dse", "cores", "objectives")
    for path in (ROOT / package).rglob("*.py")
}
ONLY_USERS = {
    "importlib.metadata": {"dse.plugins", "dse.libraries", "dse.result", "dse.cli.app"},
    "matplotlib": {
        "dse.fit_plots",
        "dse.flip_plots",
        "dse.labels",
        "dse.plots",
        "dse.sheets",
        "dse.sheet_labels",
        "dse.sheet_scales",
    },
    "PIL": {"dse.sheets"},
    "SALib": {"dse.sensitivity"},
    "moocore": {"dse.front"},
    "packaging": {"dse.libraries"},
    "optuna": {"dse.search.optuna_methods"},
    "pandas": {"dse.result"},
    "pyarrow": {"dse.result"},
    "pymoo": {"dse.search.pymoo_methods"},
    "ruamel": {"dse.yaml_reader"},
    "typer": {module for module in SOURCES if module.startswith("dse.cli.")},
}


def imports(module: str) -> set[str]:
    """Return everything a module imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(SOURCES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def package(name: str) -> str:
    return name.partition(".")[0]


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_imports_follow_the_rule(module: str) -> None:
    for name in imports(module):
        if package(module) == "dse":
            assert package(name) not in ("cores", "objectives"), name
        elif package(name) == "dse":
            assert name.startswith("dse.contract"), name
        elif package(name) in ("cores", "objectives"):
            assert package(name) == package(module), name


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
    from dse import contract, plugins

    names = {name for kind in plugins.GROUPS for name in plugins.registered(kind)}
    # words of the study file and of the contract, which a quantity may share: `instances`
    names -= {key for model in (Stage, *SECTIONS.values()) for key in model.model_fields}
    names -= set(contract.CoreMetrics.__dataclass_fields__)
    assert {"des", "power_w", "gtx_titan"} <= names
    for module, path in SOURCES.items():
        if package(module) != "dse" or module == "dse.core_conformance":
            continue  # the kit compares residuals, whose names a core and a quantity share
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in names, f"{path}:{node.lineno}: {node.value!r}"
    assert contract.Core in plugins.GROUPS


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = {
        module: {name for name in imports(module) & set(SOURCES) if name != module}
        for module in SOURCES
        if package(module) == "dse"
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for name in graph.get(module, ()):
                visit(name, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


HEAVY = ("matplotlib", "optuna", "pandas", "pyarrow", "pymoo", "rich", "scipy")


@pytest.mark.parametrize("arguments", [["--help"], ["check", "studies/des_100gbps.yaml"]])
def test_light_commands_import_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys; sys.argv = ['dse', *sys.argv[1:]]\n"
        "from dse.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
