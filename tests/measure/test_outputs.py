"""What a program tells is read whole, in its unit, or refused with a reason."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.measure.evaluators import Declared, UnusableOutputError, read, values
from dse.workers.programs import OUTPUT_BYTE

OUTPUTS = {"area_m2": "um2", "power_w": "mW", "share": "%"}
LINES = "area = 12 um2\npower = 3\nshare = 50\n"


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        "info: synthesis\nAREA = 3\n  area=12\r\npower = 0.003 W\nshare = 50 %\nbye\n",
        '{"area": 12, "power": "3 mW", "share": "50 %"}',
        '\n{"area_m2": "12e-12 m2", "power_w": 3.0, "share": 50, "other": [1, {"area": 7}]}',
        '{"area": "12", "power": 3, "share": 5e1}',
        f"\ufeff{LINES}",
        '1\nshare = 50\n{"event": 7}\narea = 12\npower = 3\n',
    ],
)
def test_numbers_are_read_in_their_unit(text: str) -> None:
    assert values(text.encode(), OUTPUTS, "outputs") == {
        "area_m2": 12e-12,
        "power_w": 3e-3,
        "share": 0.5,
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "outputs is empty"),
        (b" \n", "outputs is empty"),
        (b"\xff\xfe\x00", "outputs is not text: byte 0 is not UTF-8"),
        (b"area = 1\0\n", "outputs is not text: it holds zero bytes"),
        (b"x" * (OUTPUT_BYTE + 1), "outputs has more than 1000000 bytes"),
        (
            b"area = 12 um2\npower = 3",
            "the last line of outputs does not end in a newline; was it cut? end every line with a "
            "newline",
        ),
        (b"area = 12 um2\nshare = 1\n", "outputs has no 'power'"),
        (b"Area = 12\npower = 3\nshare = 1\n", "outputs has no 'area'; did you mean 'Area'?"),
        (LINES.encode() + b"area_m2 = 3\n", "outputs has 'area_m2' twice"),
        (b'{"area": 1, "area": 2}', "outputs has 'area' twice"),
        (
            LINES.replace("12 um2", "12 mW").encode(),
            "outputs: area: a value in m2 is needed, not one in W",
        ),
        (LINES.replace("12 um2", "nan").encode(), "outputs: area: 'nan' is not a finite number"),
        (LINES.replace("12 um2", "1e-999").encode(), "1e-999 is beyond the range"),
        (LINES.replace("12 um2", "1e999").encode(), "1e999 is beyond the range"),
        (LINES.replace("12 um2", "12 um").encode(), "outputs: area: 'um' is not a known unit"),
        (LINES.replace("12 um2", "1,200").encode(), "a number has no commas"),
        (LINES.replace("12 um2", "12 parsec").encode(), "'parsec' is not a known unit"),
        (LINES.replace("12 um2", "").encode(), "outputs: area: '' is not a finite number"),
        (b'{"area": NaN, "power": 3, "share": 1}', "outputs: area: 'nan' is not a finite number"),
        (b'{"area": -Infinity, "power": 3, "share": 1}', "area: '-inf' is not a finite number"),
        (b'{"area": true, "power": 3, "share": 1}', "outputs: area: true is not a number"),
        (b'{"area": null, "power": 3, "share": 1}', "outputs: area: null is not a number"),
        (
            b'{"area": [1], "power": 3, "share": 1}',
            "outputs: area: a list or an object is not a number",
        ),
        (b'{"area": 12', "outputs:1:12 is not JSON: Expecting ',' delimiter"),
        (b'{"area": 12} x', "outputs:1:14 is not JSON: Extra data"),
        (b'{"area": ' + b"[" * 90_000, "is not JSON: it is nested too deeply"),
    ],
)
def test_what_cannot_be_used_is_told(text: bytes, reason: str) -> None:
    with pytest.raises(UnusableOutputError) as told:
        values(text, OUTPUTS, "outputs")
    assert reason in str(told.value)
    assert len(str(told.value)) < 300


@pytest.mark.parametrize(
    ("text", "value"), [("-3", -3e-9), ("3.", 3e-9), (".5", 5e-10), ("-3 s", -3.0)]
)
def test_a_number_alone_is_in_the_unit_that_is_declared(text: str, value: float) -> None:
    assert values(f"slack = {text}\n".encode(), {"slack_s": "ns"}, "x") == {"slack_s": value}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("-1 mm2", "-1 mm2; an area is not negative"),
        ("0 um2", "0 mm2; an area of 0 is an accident"),
        ("9e99 um2", "9e+93 mm2; 9e+93 mm2 is above 100000 mm2; is its unit right?"),
    ],
)
def test_a_number_that_cannot_be_is_refused_unless_it_is_stated(text: str, rule: str) -> None:
    written = f"finish__area = {text}\n".encode()
    with pytest.raises(UnusableOutputError) as caught:
        values(written, {"finish__area_m2": "um2"}, "x")
    assert str(caught.value).startswith(f"x: finish__area: {rule}")
    stated = Declared(stated=frozenset({"finish__area_m2"}))
    if text.startswith("0"):
        assert values(written, {"finish__area_m2": "um2"}, "x", stated) == {"finish__area_m2": 0.0}


def test_as_much_is_read_as_is_allowed(tmp_path: Path) -> None:
    line, path = "area = 3 um2\n", tmp_path / "outputs"
    path.write_text(line + "x" * (OUTPUT_BYTE - len(line) - 1) + "\n")
    assert values(read(path), {"area_m2": "um2"}, "outputs") == {"area_m2": 3e-12}
    with path.open("a") as file:
        file.write("and more\n")
    with pytest.raises(UnusableOutputError, match="outputs has more than 1000000 bytes"):
        values(read(path), {"area_m2": "um2"}, "outputs")


def test_of_long_names_the_beginning_is_shown() -> None:
    with pytest.raises(UnusableOutputError) as told:
        values(b"n" * 70 + b" = 3\n", {"area_m2": "um2"}, "x")
    assert str(told.value) == f"x has no 'area'; known: {'n' * 60}"


@given(
    st.floats(allow_nan=False, allow_infinity=False).filter(
        lambda x: x == 0 or 1e-290 < abs(x) < 1e30
    )
)
def test_a_number_in_si_is_read_exactly(number: float) -> None:
    assert values(f"slack_s = {number!r} s\n".encode(), {"slack_s": "ns"}, "x")["slack_s"] == number


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    with suppress(UnusableOutputError):
        assert values(text, {"area_m2": "um2"}, "x")


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "outputs")
    with pytest.raises(UnusableOutputError, match="there is no file outputs"):
        read(tmp_path / "outputs")
