"""Runs of these tests have no pictures where nothing looks at them: drawing takes longest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dse.reports import plots


@pytest.fixture(scope="module", autouse=True)
def no_pictures(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if not request.module.__name__.endswith("test_tampering"):
            patch.setattr(plots, "draw_front", lambda view, folder: ())
        yield
