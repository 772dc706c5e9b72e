"""The roofs over recommended designs as a page draws them: in SI, with axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from dse.algebra import units
from dse.page.columns import unit_facts
from dse.reports.text import in_words
from dse.study.scenario import field_path

ABOVE = 3.0
"""The axis ends so far above the highest roof where the design is."""


def drawn(roofs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of roofs with words and units, and axes where they bend."""
    name, limits, lift = roofs["quantity"], roofs["limits"], roofs["lift"]
    found = dict(roofs) | {"words": in_words(name), "unit": unit_facts(name)}
    if not roofs["places"]:
        return found
    heights = [*roofs["heights"].values(), *([lift["height"]] if lift else [])]
    high = ABOVE * max(roofs["reached"], *(one["value"] for one in limits))
    low = min(value for height in heights for value in height if value > 0)
    return found | {
        "across": axis(roofs["column"], min(roofs["places"]), max(roofs["places"])),
        "along": axis(name, max(low, high / 1e6), high),
    }


def axis(name: str, low: float, high: float) -> dict[str, Any]:
    """Return a logarithmic axis from `low` to `high`, which are in SI."""
    factor, unit = units.scale([math.sqrt(low * high)], name)
    words = in_words(field_path(name))
    facts = {"words": words, "label": f"{words} [{unit}]", "unit": unit_facts(name)}
    return facts | {"factor": factor, "low": low / factor, "high": high / factor, "log": True}


def of_answers(names: Iterable[str], found: Iterable[Iterable[Any]]) -> list[dict[str, Any]]:
    """Return the roofs that the sections of answers have, by the names of their runs."""
    return [
        {"run": name} | drawn(roofs)
        for name, sections in zip(names, found, strict=True)
        for section in sections
        if section.key == "roofs"
        for roofs in section.facts or ()
    ]
