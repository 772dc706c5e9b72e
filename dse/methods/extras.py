"""What a method needs beyond what is always installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dse.errors import MissingLibraryError


@contextmanager
def from_extra(method: str, library: str) -> Iterator[None]:
    """Import what a method needs inside, from the libraries of the extra `search`.

    Raises
    ------
    MissingLibraryError
        When it is not installed; exact search needs none.
    """
    try:
        yield
    except ImportError as error:
        what, instead = f"search method {method}", ", or search with method: exact"
        raise MissingLibraryError(what, library, "search", instead) from error
