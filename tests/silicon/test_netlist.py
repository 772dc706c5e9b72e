"""Netlists: reading, and every fault at once."""

from __future__ import annotations

import json

import pytest

from dse.errors import StudyError
from dse.silicon.netlist import (
    CONSTANT_0,
    CONSTANT_1,
    cell_faults,
    read_netlist,
)
from tests.silicon.toy import netlist, toy, yosys_json


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
        "load": "$_ALDFF_PP_ D=e C=a Q=f",
    }
    document = json.loads(yosys_json(("a", "b"), (), cells))
    module = document["modules"]["top"]
    module["ports"]["pad"] = {"direction": "inout", "bits": [40]}
    module["ports"]["y"] = {"direction": "output", "bits": [3, "x"]}
    module["cells"]["sub"] = {"type": "part", "connections": {"p": [41]}}
    document["modules"]["part"] = {"ports": {}, "cells": {}, "netnames": {}}
    with pytest.raises(StudyError) as caught:
        read_netlist(json.dumps(document), top="top")
    assert str(caught.value).splitlines() == [
        "and and 1 more: $_AND_; a generic cell, which no library has; "
        "map it: 'dfflibmap' for flip-flops, 'abc' for logic",
        "load: $_ALDFF_PP_; a flip-flop that takes its data without the clock; "
        "load it at an edge of the clock, or reset it to a constant",
        "sub: part; a module, not a cell; flatten the netlist",
        "pad: inout; a port is an input or an output; split it into one of each",
        "y: 'x'; a bit without a value that nothing drives; drive it",
    ]


def test_cells_that_a_description_names_itself() -> None:
    cells = {"one": "NAND3 A=a B=a Y=b", "hold": "LATCH D=a G=b Q=d", "pin": "INV I=a Y=y"}
    assert [str(fault) for fault in cell_faults(netlist(("a",), ("y",), cells), toy())] == [
        "one: NAND3; no cell of toy; did you mean 'NAND2' or 'AND2'?",
        "hold: LATCH; a latch, which has no clock; use a flip-flop",
        "pin.A: INV; a cell has its own pins, with all inputs driven; connect A, Y",
    ]
