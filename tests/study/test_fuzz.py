"""Whatever stands in a study: it runs, or every fault is told; nothing else ever happens."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.errors import DseError
from dse.files import document
from dse.study import study
from dse.study.overrides import at_value, sweep_of
from tests.conftest import STUDIES

SHIPPED = [study.read_study(path).data for path in sorted(STUDIES.glob("*.yaml"))]
VALUES: list[Any] = [
    *(None, [], {}, -1, 0, 1e300, 1.5, True, "", "x", 10**30, [[1]], {"a": 1}),
    *("100 Gbit/s", "0 bit/s", "1 W", "least", "meet", "mixed", "law", "u16"),
    *({"from": 1, "to": 3}, {"from": 3}, {"from": 0.1, "to": 1, "points": 3}, [1, 2, "x"]),
    *({"unroll": [1, 2.5]}, {"unroll": {"from": 1, "to": 40}}, {"u16": 2}, ["power <= 1"]),
    *({"budget.platform": ["gtx_titan"]}, {"interface.wait": ["sync"]}, {"area": "maximise"}),
]
KEYS = ["counts", "clock", "parameters", "interface", "budget", "axes", "sweep", "constraints"]


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every container and key inside plain data."""
    for key in data if isinstance(data, dict) else range(len(data)):
        yield data, key
        if isinstance(data[key], dict | list):
            yield from places(data[key])


@settings(max_examples=300)
@given(data=st.data())
def test_a_mutated_study_runs_or_is_told_what_is_wrong(data: st.DataObject) -> None:
    mutated = copy.deepcopy(data.draw(st.sampled_from(SHIPPED)))
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(list(places(mutated))))
        if isinstance(container, dict) and data.draw(st.booleans()):
            key = data.draw(st.sampled_from([key, *KEYS]))
        container[key] = copy.deepcopy(data.draw(st.sampled_from(VALUES)))
    with contextlib.suppress(DseError):
        found = document.parse_document(json.dumps(mutated), "study.yaml")
        sweep = sweep_of(found)
        problem = study.prepare(at_value(found, sweep, 0) if sweep else found).problem
        problem.evaluate(np.zeros((1, len(problem.sizes)), dtype=np.int64))
