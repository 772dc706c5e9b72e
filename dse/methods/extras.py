"""Libraries of a method beyond the ones that are always installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dse.errors import MissingLibraryError


@contextmanager
def from_extra(method: str, library: str) -> Iterator[None]:
    """Import the libraries of a method inside, from the extra `search`.

    Raises
    ------
    MissingLibraryError
        One is not installed.  Exact search needs no extra.
    """
    try:
        yield
    except ImportError as error:
        what, instead = f"search method {method}", ", or search with method: exact"
        raise MissingLibraryError(what, library, "search", instead) from error
