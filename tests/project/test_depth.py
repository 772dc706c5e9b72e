"""How deep imports go: what a reader has to follow from a module down to the ground."""

from __future__ import annotations

from functools import cache

import pytest

from tests.project.test_architecture import SOURCES, imports

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
