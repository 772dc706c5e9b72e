"""Running tests with a mutant in the place of a module: one forked process each.

Nothing is written: the broken module comes out of an import hook.  Python and the libraries are
imported once, before the forks; the program and its tests are imported in each.
"""

from __future__ import annotations

import ast
import importlib
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType

import pytest
from hypothesis import Phase, settings

LIBRARIES = (
    "hypothesis.extra.numpy",
    "matplotlib.pyplot",
    "moocore",
    "optuna",
    "pandas",
    "pyarrow.parquet",
    "pydantic",
    "pymoo.algorithms.moo.nsga2",
    "rich.table",
    "ruamel.yaml",
    "scipy.optimize",
    "typer",
)
"""Imported before the forks, as this takes longer than most tests."""

PATIENCE, LEAST_S = 4, 10
"""A mutant may take so many times the processor time of the unbroken code, and so many seconds."""

MOST_BYTE = 6 * 2**30
"""A mutant that asks for more memory than this fails."""


class Repeatable:
    """Lets Hypothesis try the same examples in every run, and show none that fails."""

    def pytest_configure(self) -> None:
        settings.register_profile(
            "mutants",
            settings.get_profile("any machine"),
            derandomize=True,
            database=None,
            phases=(Phase.explicit, Phase.generate),
        )
        settings.load_profile("mutants")


class Broken(SourceFileLoader):
    """Loads a module from a tree in the place of its file."""

    def __init__(self, name: str, path: str, tree: Callable[[], ast.Module]) -> None:
        super().__init__(name, path)
        self.tree = tree

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.tree(), self.path, "exec")


class Hook(MetaPathFinder):
    """Finds one module broken; Python finds all others."""

    def __init__(self, root: Path, path: str, tree: Callable[[], ast.Module]) -> None:
        inside = path if path.startswith("dse/") else f"dse/{path}"
        self.module = inside.removesuffix(".py").replace("/", ".")
        self.loader = Broken(self.module, str(root / inside), tree)

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        return spec_from_file_location(fullname, self.loader.path, loader=self.loader)


def prepare() -> None:
    """Import what all runs share."""
    for name in LIBRARIES:
        importlib.import_module(name)
    loaded = [name for name in sys.modules if name.partition(".")[0] == "dse"]
    if loaded:
        raise RuntimeError(f"{loaded[0]} is loaded already; its mutants would not be")


def run(tests: Sequence[str], hook: Hook | None, limit_s: int = 0) -> tuple[bool, float]:
    """Return whether tests pass, and the processor time that they took, in s."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if not child:
            _pytest(tests, hook, limit_s, folder)
        _, status, used = os.wait4(child, 0)
    return status == 0, used.ru_utime + used.ru_stime


def limit_of(took_s: float) -> int:
    """Return how many seconds of processor time a mutant may take."""
    return max(LEAST_S, round(PATIENCE * took_s))


def _pytest(tests: Sequence[str], hook: Hook | None, limit_s: int, folder: str) -> None:
    status = 1
    try:
        if limit_s:
            resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))
            resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTE, MOST_BYTE))
            signal.alarm(10 * limit_s)  # for one that waits forever
        if hook:
            sys.meta_path.insert(0, hook)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2) if hook else (0,):
            os.dup2(nowhere, stream)
        plain = ["--assert=plain", "--exitfirst", "--no-header", "-p", "no:cacheprovider"]
        options = [*plain, f"--basetemp={folder}/t", *tests]
        status = int(pytest.main(options, plugins=[Repeatable()]))
    finally:
        os._exit(status)
