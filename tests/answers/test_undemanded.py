"""An end of the front that is the answer only because nothing is demanded is told so."""

from __future__ import annotations

import dse
from tests.conftest import STUDIES

JACOBI = STUDIES / "jacobi_bandwidth.yaml"
KNEED = """
# Which of these?
designs: rows.csv
objectives: {power: minimise, speed: maximise}
"""
ROWS = "design,power_mw,speed\nsmall,1,1\nbent,2,10\nlarge,10,12\n"


def others(source: object, **options: object) -> dict[str, str]:
    facts = dse.answer(source, flips=False, all=False, **options).to_dict()
    return {words: other["design"] for words, other in facts.get("undemanded", {}).items()}


def test_the_smallest_engine_is_told_to_be_the_least_of_all() -> None:
    text = " ".join(dse.answer(JACOBI, prefer="power", flips=False, all=False).text().split())
    assert "Nothing is demanded, so the least total power alone decides" in text
    assert "Ask with --prefer throughput or --rate." in text
    assert others(JACOBI, prefer="power") == {"most throughput": "1 n4"}


def test_the_knee_is_offered_where_there_is_one(write) -> None:
    write(ROWS, "rows.csv")
    study = write(KNEED)
    assert others(study) == {"most speed": "large", "knee": "bent"}
    text = dse.answer(study, flips=False, all=False).text()
    assert "Ask with --prefer speed or --prefer knee." in text  # a table has no rate
    assert others(study, prefer="speed") == {}


def test_a_demand_a_bound_or_a_preference_leaves_nothing_to_tell() -> None:
    assert others(JACOBI) == {}  # the study prefers energy
    assert others(JACOBI, prefer="power", rate="20 Gbps") == {}
    bounded = {"constraints": "[throughput >= 20 Gbit/s]"}
    assert others(JACOBI, prefer="power", overrides=bounded) == {}
