"""Netlists: reading, and every fault at once."""

from __future__ import annotations

import json

import pytest

from dse.errors import StudyError
from dse.silicon.netlist import (
    CONSTANT_0,
    CONSTANT_1,
    Instance,
    Netlist,
    check_netlist,
    read_netlist,
)
from tests.silicon.toy import netlist, toy, yosys_json


def test_a_netlist() -> None:
    written = yosys_json(("clk", "d"), ("q",), {"ff": "DFF CK=clk D=d Q=q", "t": "INV A=1 Y=n"})
    expected = Netlist(
        top="top",
        inputs={"clk": (2,), "d": (3,)},
        outputs={"q": (4,)},
        instances=(
            Instance("ff", "DFF", {"CK": 2, "D": 3, "Q": 4}),
            Instance("t", "INV", {"A": CONSTANT_1, "Y": 5}),
        ),
        net_count=6,
        net_names={2: "clk", 3: "d", 4: "q", 5: "n"},
    )
    assert read_netlist(written, top="top") == expected
    check_netlist(expected, toy())


def test_ports_of_several_bits() -> None:
    document = json.loads(yosys_json(("a",), (), {}))
    module = document["modules"]["top"]
    module["ports"] = {
        "a": {"direction": "input", "bits": [7, 8]},
        "y": {"direction": "output", "bits": [8, "0", "1"]},
    }
    module["netnames"] = {
        "_made_": {"hide_name": 1, "bits": [7]},
        "a": {"hide_name": 0, "bits": [7, 8]},
    }
    found = read_netlist(json.dumps(document), top="top")
    assert found.inputs == {"a": (7, 8)}
    assert found.outputs == {"y": (8, CONSTANT_0, CONSTANT_1)}
    assert (found.net_count, found.named(7), found.named(6)) == (9, "a[0]", "net 6")


def test_every_fault_of_the_text_at_once() -> None:
    cells = {
        "and": "$_AND_ A=a B=b Y=c",
        "or": "$_AND_ A=a B=c Y=e",
        "hold": "$_DLATCH_P_ D=e E=a Q=f",
        "ram": "$mem_v2 A=a",
        "ff": "DFF CK=a D=x Q=q",
    }
    document = json.loads(yosys_json(("a", "b"), ("q",), cells))
    module = document["modules"]["top"]
    module["ports"]["pad"] = {"direction": "inout", "bits": [40]}
    module["cells"]["sub"] = {"type": "part", "connections": {"p": [41, 42]}}
    document["modules"]["part"] = {"ports": {}, "cells": {}, "netnames": {}}
    with pytest.raises(StudyError) as caught:
        read_netlist(json.dumps(document), top="top")
    assert str(caught.value).splitlines() == [
        "and and 1 more: $_AND_; a generic cell, which no library has; "
        "map it: 'dfflibmap' for flip-flops, 'abc' for logic",
        "hold: $_DLATCH_P_; a latch, which has no clock; "
        "assign the signal on every path through its process",
        "ram: $mem_v2; a memory that is not mapped; run 'memory_map'",
        "sub: part; a module, not a cell; flatten the netlist",
        "pad: inout; a port is an input or an output; split it into one of each",
        "ff.D: 'x'; a bit without a value that nothing drives; drive it, or run 'setundef -zero'",
        "sub.p: a pin has one bit, not 2; map to cells of a library",
    ]


def test_cells_that_the_library_lacks() -> None:
    wrong = netlist(
        ("a",),
        ("y",),
        {
            "one": "NAND3 A=a B=a Y=b",
            "two": "NAND3 A=a B=a Y=c",
            "hold": "LATCH D=a G=b Q=d",
            "pin": "INV I=a Y=y",
        },
    )
    with pytest.raises(StudyError) as caught:
        check_netlist(wrong, toy())
    assert str(caught.value).splitlines() == [
        "one and 1 more: NAND3; no cell of toy; did you mean 'NAND2' or 'AND2'?",
        "hold: LATCH; a latch, which has no clock; "
        "assign the signal on every path through its process",
        "pin.I: INV has no such pin; known: A, Y",
        "pin.A: an input that nothing drives; connect it",
    ]


def test_drivers() -> None:
    wrong = netlist(
        ("a",),
        ("y", "z"),
        {"one": "INV A=a Y=y", "two": "INV A=n Y=y", "back": "INV A=y Y=a", "tie": "INV A=a Y=0"},
    )
    with pytest.raises(StudyError) as caught:
        check_netlist(wrong, toy())
    assert str(caught.value).splitlines() == [
        "y: one.Y and two.Y; two drivers of one net; keep one",
        "a: input a and back.Y; two drivers of one net; keep one",
        "net 0: the constant 0 and tie.Y; two drivers of one net; keep one",
        "n: read by two.A; a net that nothing drives; drive it, or tie it to a constant",
        "z: read by output z; a net that nothing drives; drive it, or tie it to a constant",
    ]
