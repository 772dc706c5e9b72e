"""Constraint expressions: what they mean, and that nothing else gets through."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.algebra.expression import LENGTH_LIMIT, parse_expression
from dse.errors import ExpressionError

NAMES = ("power_w", "area_m2", "rate_bit_per_s", "energy_j", "energy_j_per_bit", "instances")
COLUMNS = {
    "power_w": np.array([0.015, 0.030, 0.060]),
    "area_m2": np.array([1e-7, 2e-7, 4e-7]),
    "rate_bit_per_s": np.array([1e9, 1e10, 1e11]),
    "energy_j": np.array([0.0, -1.0, np.nan]),
    "instances": np.array([1.0, 2.0, 3.0]),
}


def violation(text):
    return parse_expression(text, NAMES).violation(COLUMNS)


def error(text):
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text, NAMES).violation(COLUMNS)
    return str(caught.value)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda number: number == 0 or abs(number) > 1e-280  # below, the tolerance is no number
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("power <= 30 mW", [-0.5, 0.0, 1.0]),
        ("power_w <= 30 mW", [-0.5, 0.0, 1.0]),
        ("30 mW >= power", [-0.5, 0.0, 1.0]),
        ("power <= '30 mW'", [-0.5, 0.0, 1.0]),
        ("2 * power <= 60mW", [-0.5, 0.0, 1.0]),
        ("power ** 2 <= 9e-4", [-0.75, 0.0, 3.0]),
        ("rate >= 10 Gbps", [0.9, 0.0, -9.0]),
        ("instances <= 200 %", [-0.5, 0.0, 0.5]),
        ("instances == 2", [0.5, 0.0, 0.5]),
        ("0.1 mm2 <= area <= 0.2 mm2", [0.0, 0.0, 1.0]),
        ("power <= 30 mW and area <= 0.1 mm2", [0.0, 1.0, 3.0]),
        ("power <= 30 mW or area <= 0.1 mm2", [-0.5, 0.0, 1.0]),
        ("(power <= 15 mW or power >= 60 mW) and instances <= 3", [0.0, 0.5, 0.0]),
        ("max(power, 20 mW) <= 30 mW", [-1 / 3, 0.0, 1.0]),
        ("power <= '15 mW' * instances", [0.0, 0.0, 1 / 3]),
        ("instances >= 0", [-1.0, -2.0, -3.0]),
    ],
)
def test_violation_is_relative_to_the_bound(text, expected):
    np.testing.assert_allclose(violation(text), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("operator", "holds"),
    [
        ("<", np.less),
        ("<=", np.less_equal),
        (">", np.greater),
        (">=", np.greater_equal),
        ("==", np.equal),
        ("!=", np.not_equal),
    ],
)
@given(
    left=NUMBERS,
    right=NUMBERS,
)
def test_a_violation_is_at_most_zero_exactly_where_the_comparison_holds(
    operator, holds, left, right
):
    """Also at equality, next to it, at the ends of the range, and for literal bounds.

    Numbers that differ by a rounding, or by 1e-12 of their size, are equal.
    """
    for other in (left, right, math.nextafter(left, math.inf), left * (1 + 1e-13), left * 1.001):
        columns = {"a": np.array([left]), "b": np.array([other])}
        if not math.isfinite(other):
            continue
        apart = abs(Fraction(left) - Fraction(other))
        equal = apart <= max(abs(Fraction(left)), abs(Fraction(other))) / 10**12
        expected = bool(holds(0.0, 0.0) if equal else holds(left, other))
        for text in (f"a {operator} b", f"a {operator} {float(other)!r}"):
            missed = parse_expression(text, ("a", "b")).violation(columns)[0]
            assert (missed <= 0) == expected, (text, left, other, missed)


def test_nan_is_missed_by_infinity_whatever_the_operator():
    for operator in ("<", "<=", ">", ">=", "==", "!="):
        assert violation(f"energy_j {operator} 0")[2] == np.inf
    assert violation("energy_j <= 0 or power <= 1 W")[2] < 0
    assert violation("1 / energy_j <= 0 or energy_j ** 0.5 <= 0").tolist() == [0, -1, np.inf]


def test_value_computes_a_derived_quantity():
    derived = parse_expression("area * max(power, 20 mW) / abs(-instances) + floor(0.5)", NAMES)
    assert not derived.is_constraint
    assert derived.names == {"area_m2", "power_w", "instances"}
    np.testing.assert_allclose(derived.value(COLUMNS), [2e-9, 3e-9, 8e-9], rtol=1e-12)
    assert parse_expression("sqrt(instances) - log2(instances)", NAMES).value(COLUMNS)[0] == 1.0
    assert np.isnan(parse_expression("energy_j * 2", NAMES).value(COLUMNS)[2])


def test_a_constant_column_gives_one_row_and_broadcasts():
    columns = COLUMNS | {"instances": np.array([2.0])}
    assert parse_expression("instances <= 1", NAMES).violation(columns).tolist() == [1.0]
    assert parse_expression("instances <= 1 and power < 1 W", NAMES).violation(columns).shape == (
        3,
    )


def test_a_comparison_is_no_quantity():
    with pytest.raises(ExpressionError, match="is a comparison; a quantity needs arithmetic"):
        parse_expression("power <= 3 W", NAMES).value(COLUMNS)


def test_the_tolerance_is_that_of_the_terms_compared():
    """Areas are small numbers in m2: a difference of two of them is not equal to 0 for that."""
    columns = {"area_m2": np.array([3e-13, 3e-13]), "power_w": np.array([1.0, 1.0])}
    names = {"area_m2", "power_w"}
    found = parse_expression("area - '0.2 um2' <= 0", names).violation(columns)
    assert (found > 0).all()
    found = parse_expression("area - '0.3 um2' <= 0", names).violation(columns)
    assert (found <= 0).all()


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9 <= power",
        "9**9**9**9 * power",
        "power <= " + "9" * 900,
        "__import__('os').system('true') <= power",
        "().__class__ <= power",
        "[x for x in power] <= 1",
        "(lambda: power)() <= 1",
        "(x := power) <= 1",
        "f'{power}' <= 1",
        "power[0] <= 1",
        "power if power else power",
        "power @ power <= 1",
        "power is power",
        "power <= True",
        "power <= 1j",
        "power <= b'3'",
        "max(*power) <= 1",
        "abs(x=power) <= 1",
        "await power",
        "not power <= 1",
        "power <= 1; power",
        "power <= 1 # W",
        "\uff50ower <= 1",
        "power\0 <= 1",
        "power <= \ud800",
        "",
        " ",
        "'",
        "'30 mW'",
        "(" * 10_000 + "power" + ")" * 10_000,
        "(" * 450 + "power" + ")" * 450,
        "-" * 900 + "power <= 1",
        "+".join(["power"] * 150) + " <= 1",
        "power" + ".a" * 400 + " <= 1",
        "power" + " < power" * 100 + " < __import__",
        "x" * (LENGTH_LIMIT + 1),
    ],
    ids=lambda text: repr(text[:25]),
)
def test_hostile_text_is_refused_at_once(text):
    start = time.process_time()
    error(text)
    assert time.process_time() - start < 0.5


PIECES = ["power", "area", "30 mW", "1e9", "9", "**", "<=", "<", "==", "and", "or", "not", "("]
PIECES += [")", ",", "min", "lambda", ":", ":=", ".", "[", "]", "'", '"', "if", "else", "\\", "-"]
PIECES += ["for", "in", "is", "*", "/", "%", " ", "\n", "\0", "f'", "{", "}", "_", "é", "µ", "1_"]


@settings(max_examples=300)
@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_any_text_is_an_expression_or_an_expression_error(text):
    try:
        expression = parse_expression(text, NAMES)
    except ExpressionError:
        return
    columns = COLUMNS | {"energy_j_per_bit": np.zeros(3)}
    result = expression.violation if expression.is_constraint else expression.value
    assert result(columns).shape == (3,)


@pytest.mark.parametrize(
    ("before", "inside"),
    [("", 0), ("power + ", 1), ("power * ", 1), ("power <= 1 W and ", 2), ("power <= ", 1)],
)
@pytest.mark.parametrize(("call", "deeper"), [("{}", 0), ("abs({})", 1), ("max({}, '1 W')", 1)])
def test_an_expression_is_as_deep_as_the_message_says(before, inside, call, deeper):
    after = " <= 1 W" if "and" in before else ""
    for depth, fits in ((60, True), (61, False)):
        signs = "-" * (depth - inside - deeper)
        text = before + call.format(f"{signs}power") + after
        if fits:
            parse_expression(text, NAMES)
        else:
            with pytest.raises(ExpressionError, match="nested more than 60 deep"):
                parse_expression(text, NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bound == 'link'", [True, False, False]),
        ("'link' == bound", [True, False, False]),
        ("bound != 'link'", [False, True, True]),
        ("'none' != bound", [True, True, False]),
    ],
)
def test_a_text_is_compared_from_either_side(text, expected):
    labels, columns = {"bound": ("compute", "link", "none")}, {"bound": np.array([1.0, 0.0, 2.0])}
    missed = parse_expression(text, NAMES, labels).violation(columns)
    assert ((missed <= 0) == expected).all()


def test_texts_are_cut_and_refused_beyond_their_limits():
    long = "power <= 1 W" + " " * LENGTH_LIMIT
    assert parse_expression(long[:LENGTH_LIMIT], NAMES).is_constraint
    assert error(long[: LENGTH_LIMIT + 1]) == (
        "an expression of 1001 characters is too long; "
        "use at most 1000 characters, or several constraints"
    )
    whole, cut = "'" + "x" * 59, "'" + "x" * 60
    assert error(whole).startswith(f"{whole!r} is not an expression")
    assert error(cut).startswith(repr("'" + "x" * 56 + "...") + " is not an expression")
