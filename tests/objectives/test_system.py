"""The quantities of a system say what they are where they are defined."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from dse.algebra import units
from dse.contract import Guard, Objective, Requirement
from dse.objectives.system.power import power_w
from dse.plugins import registry

QUANTITIES = registry.records(Objective)


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_quantity_states_its_equation_unit_and_reference(name: str) -> None:
    quantity = QUANTITIES[name]
    text = inspect.getdoc(quantity.function) or ""
    about = text.partition("\n")[2].partition("\nReferences\n")[0].partition("\nParameters\n")[0]
    unit = units.label(name)
    assert f", in {unit}" in about.replace("\n", " ") if unit else about.strip()
    papers = re.search(r"IPDPS|ISCA|ASPLOS|Battle", quantity.source)
    assert not papers or "References\n----------\n" in text


def test_a_record_is_called_like_its_function() -> None:
    given = {"base_power_w": np.array([2.0]), "clocked_power_w": np.array([1.0])}
    assert power_w(**given) == power_w.function(**given) == 3.0
    assert (power_w.name, power_w.summary) == ("power_w", "Power of fleet and buffers.")
    with pytest.raises(TypeError, match="clocked_power_w"):
        power_w(base_power_w=given["base_power_w"])


def test_every_record_is_made_beside_its_function() -> None:
    """The function is what the module would define under the same name."""
    for kind in (Objective, Requirement, Guard):
        for plugin in registry.plugins(kind):
            record = registry.get(kind, plugin.name)
            assert plugin.entry_point.value == f"{record.function.__module__}:{record.name}"
