"""The roofs over recommended designs as a page draws them: in SI, with axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from dse.algebra import units
from dse.page.columns import unit_facts
from dse.reports.text import in_words
from dse.study.scenario import field_path


def drawn(roofs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of roofs with words and units, and axes where they bend."""
    name = roofs["quantity"]
    found = dict(roofs) | {"words": in_words(name), "unit": unit_facts(name)}
    if not roofs["places"]:
        return found
    return found | {
        "across": axis(roofs["column"], min(roofs["places"]), max(roofs["places"])),
        "along": axis(name, *roofs["span"]),
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
