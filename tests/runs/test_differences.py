"""What a run is, beside what it was."""

from __future__ import annotations

from dse.runs.measurements import changed_fields

STUDY = {
    "axes": {"unroll": [1, 2], "clock": ["100 MHz"]},
    "stages": [{"core": "des", "count": 2}, {"core": "aes", "count": 1}],
    "search": {"method": "gaussian", "budget": 100},
    "constraints": ["power <= 30 mW"],
}


def test_equal_studies_differ_in_nothing() -> None:
    assert changed_fields(STUDY, {**STUDY, "axes": {**STUDY["axes"]}}) == []
    assert changed_fields({"seed": 1}, {"seed": 1.0}) == []


def test_each_field_is_told_with_old_and_new() -> None:
    after = {
        "axes": {"unroll": [1, 2, 4], "memory": ["sram"]},
        "stages": [{"core": "des", "count": 3}, {"core": "aes", "count": 1}],
        "search": {"method": "gaussian", "budget": 200},
        "constraints": ["power <= 20 mW"],
        "evaluate": {"retries": True},
    }
    assert changed_fields(STUDY, after) == [
        "axes.unroll: [1, 2] -> [1, 2, 4]",
        "axes.clock: [100 MHz] -> not set",
        "axes.memory: not set -> [sram]",
        "stages.1.count: 2 -> 3",
        "search.budget: 100 -> 200",
        "constraints: [power <= 30 mW] -> [power <= 20 mW]",
        "evaluate: not set -> {retries: true}",
    ]


def test_a_flag_is_no_number() -> None:
    assert changed_fields({"a": 1}, {"a": True}) == ["a: 1 -> true"]


def test_long_values_are_shown_from_where_they_differ() -> None:
    old, new = ([*range(100), last] for last in ("sram", "dram"))
    (line,) = changed_fields({"a": old}, {"a": new})
    assert line == "a: ...95, 96, 97, 98, 99, sram] -> ...95, 96, 97, 98, 99, dram]"


def test_signs_that_steer_a_terminal_are_written_out() -> None:
    assert changed_fields({"a": "x"}, {"a": "\x1b[2J"}) == ["a: x -> \\x1b[2J"]
