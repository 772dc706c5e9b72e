"""Golden values of the paper that the cores come from."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

GOLDEN = Path(__file__).parent.parent / "golden" / "battle_hempstead_tables.yaml"


@pytest.fixture(scope="session")
def agrees() -> Callable[[str, Mapping[str, float]], None]:
    """Compare values by design with the golden entry of that name, within its tolerance."""
    entries = YAML(typ="safe", pure=True).load(GOLDEN)

    def check(name: str, found: Mapping[str, float]) -> None:
        entry = entries[name]
        for design, expected in entry["values"].items():
            assert np.isclose(found[design], expected, rtol=0, atol=entry["tolerance"]), (
                f"{name}, {design}: {found[design]} against {expected} ({entry['where']})"
            )

    return check
