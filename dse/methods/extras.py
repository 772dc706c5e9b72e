"""Code of a method with libraries beyond those that are always installed."""

from __future__ import annotations

from typing import Any

from dse.errors import extra_module


def adapter(method: str, library: str) -> Any:
    """Import and return the module of the program that searches with a library.

    Raises
    ------
    MissingLibraryError
        It is not installed.  Exact search needs no extra.
    """
    module, instead = f"dse.search.heuristic.{library}", ", or search with method: exact"
    return extra_module(module, f"search method {method}", library, "search", instead)
