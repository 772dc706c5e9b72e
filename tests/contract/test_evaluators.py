"""Under which key a measurement is kept."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dse.contract.evaluators import Measurement, key


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
