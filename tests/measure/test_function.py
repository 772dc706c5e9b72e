"""A function of the user's own: what it returns is read, and what it raises is a cause."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dse.contract.evaluators import Measurement, key
from dse.measure.evaluators import FunctionEvaluator, code_identity
from tests.measure.evaluators import never


def measured(returned: object) -> Measurement:
    evaluator = FunctionEvaluator(
        function=lambda number: returned,  # type: ignore[arg-type,return-value]
        outputs={"power_w": "mW"},
        identity="test",
    )
    assert hash(evaluator) == hash(evaluator)
    return evaluator.measure({"number": 1.0}, Path(), never)


class Item:
    """A number that some other library keeps."""

    def item(self) -> float:
        return 3.0


@pytest.mark.parametrize(
    "value", [3, 3.0, "3", "3 mW", np.float64(3), np.int64(3), np.array([3.0]), Item()]
)
def test_a_number_of_any_library_is_read(value: object) -> None:
    found = measured({"power": value})
    assert found == Measurement(values={"power_w": 3e-3}, seconds=found.seconds)


@pytest.mark.parametrize(
    ("returned", "cause"),
    [
        (3.0, "the function returns a float, not a dict of its outputs"),
        ({"power": [3]}, "what it returns: power: a list or an object is not a number"),
        ({"power": np.ones(2)}, "what it returns: power: a list or an object is not a number"),
        ({"power": True}, "what it returns: power: true is not a number"),
        ({"power": None}, "what it returns: power: null is not a number"),
        (
            {"power": float("nan")},
            "what it returns: power: 'nan' is not a finite number with its unit",
        ),
        ({"power": "1 ns"}, "what it returns: power: a value in W is needed, not one in s"),
        ({"powr": 3.0}, "what it returns has no 'power'; did you mean 'powr'?"),
    ],
)
def test_what_is_no_number_is_told(returned: object, cause: str) -> None:
    found = measured(returned)
    assert (found.kind, found.cause, found.values) == ("output", cause, {})


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit("x"), MemoryError("x")])
def test_what_a_function_raises_is_a_cause_but_for_too_little_memory(error: BaseException) -> None:
    def raising(**design: Any) -> Any:
        raise error

    evaluator = FunctionEvaluator(function=raising, outputs={}, identity="")
    if isinstance(error, MemoryError):
        with pytest.raises(MemoryError):
            evaluator.measure({}, Path(), never)
        return
    found = evaluator.measure({}, Path(), never)
    assert (found.kind, found.cause) == ("exit", f"{type(error).__name__}: x")


def test_a_function_is_known_by_its_name_and_text() -> None:
    name, text = code_identity(measured).split()
    assert (name, len(text)) == (f"{__name__}.measured", 64)
    assert code_identity(Item()) == code_identity(Item)  # type: ignore[arg-type]
    assert code_identity(Item()).startswith(f"{__name__}.Item ")  # type: ignore[arg-type]
    assert code_identity(len) == "builtins.len"


# Under which key a measurement is kept


def test_a_key_is_that_of_canonical_json() -> None:
    canonical = '["synth 1",{"clock":200000000.0,"style":"fast","unroll":4.0}]'
    expected = hashlib.sha256(canonical.encode()).hexdigest()
    design = {"unroll": 4, "style": "fast", "clock": 2e8}
    assert key("synth 1", design) == expected
    assert key("synth 1", {"clock": 2e8, "unroll": np.float64(4), "style": "fast"}) == expected
    assert key("synth 2", design) != expected
    assert key("synth 1", design | {"unroll": "4"}) != expected
    assert key("", {"x": 0.0}) == key("", {"x": -0.0})
    assert key("", {"x": 0.1 + 0.2}) != key("", {"x": 0.3})
    with pytest.raises(ValueError, match="not JSON compliant"):
        key("", {"x": float("nan")})


def test_what_has_a_cause_failed() -> None:
    assert not Measurement(values={"area_m2": 1e-6}).failed
    assert Measurement(values={}, kind="exit", cause="it ended with exit status 3").failed
