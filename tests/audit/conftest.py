"""Runs of these tests have no pictures: nothing here looks at them, and drawing takes longest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dse.reports import plots


@pytest.fixture(scope="package", autouse=True)
def no_pictures() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "draw_front", lambda view, folder: ())
        yield
