"""Lattice ECP5 through ``synth_ecp5`` of Yosys and ``nextpnr-ecp5``.

Functions of the cells are those of `cells_sim.v` of Yosys; delays are those of nextpnr
(Project Trellis).  Block RAM and multipliers are black boxes there, so that these are written here:
they compute what the rules by which Yosys maps to them (`brams_16kd.txt`, `brams_map_16kd.v`,
`dsp_map_18x18.v`) say.  That holds a netlist to its answers, not these rules to what Lattice made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from dse.silicon.cells.library import Cell, FlipFlop
from dse.silicon.fpga.devices import (
    DeviceBlock,
    DeviceFamily,
    LogicPart,
    LookUpTable,
    Primitive,
    cell_of,
    sum_of_products,
)


def _carry(name: str, parameters: Mapping[str, str]) -> Cell:
    """Return two tables and two stages of a carry, which a stage need not add to its sum."""
    functions, carry = {}, "CIN"
    for place in "01":
        inputs = [f"{pin}{place}" for pin in "ABCD"]
        written = parameters[f"INIT{place}"].zfill(16)
        table, adds = sum_of_products(written, inputs), parameters[f"INJECT1_{place}"] == "NO"
        made = sum_of_products(written[-4:], inputs[:2]) if adds else "0"
        functions[f"S{place}"] = f"({table}) ^ ({carry if adds else '0'})"
        carry = f"!({table}) ({made}) + ({table}) ({carry})"
    pins = ("CIN", *(f"{pin}{place}" for place in "01" for pin in "ABCD"))
    return cell_of(name, pins, {**functions, "COUT": carry})


def _flip_flop(name: str, parameters: Mapping[str, str]) -> Cell:
    """Return a flip-flop; a set or reset that waits for the clock does not wait for the enable."""
    enable = {"1": "1", "0": "0", "INV": "!CE"}.get(parameters["CEMUX"], "CE")
    acts = "!LSR" if parameters["LSRMUX"] == "INV" else "LSR"
    taken, sets = f"({enable} DI + !({enable}) IQ)", parameters["REGSET"] == "SET"
    at_once = parameters.get("SRMODE") == "ASYNC"
    state = FlipFlop(
        state="IQ",
        inverted="IQN",
        next_state=taken if at_once else f"{acts} + {taken}" if sets else f"!({acts}) {taken}",
        clocked_on="!CLK" if parameters["CLKMUX"] == "INV" else "CLK",
        clear=acts if at_once and not sets else None,
        preset=acts if at_once and sets else None,
    )
    pins = ("CLK", "DI", "LSR", *["CE"] * ("CE" in enable))
    return cell_of(name, pins, {"Q": "IQ"}, state)


_BLOCKS = """
module MULT18X18D (input <A:18>, <B:18>, <C:18>, SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, output <P:36>);
  wire signed [18:0] a = {SIGNEDA & A17, <A:18>}, b = {SIGNEDB & B17, <B:18>};
  assign {<P:36>} = a * b;
endmodule

// Bits of a word of 36 which a port writes and reads; the ninth of a byte only with the others.
module PORT_OF_DP16KD #(parameter WIDTH = 18, MODE = "NORMAL", RESETS = "SYNC") (
  input clock, enable, write, reset, input [13:0] address, input [35:0] given, before,
  output writes, output [35:0] taken, shifted, output reg [35:0] read
);
  wire [5:0] low = (WIDTH < 36 ? 18 * address[4] : 0) + (WIDTH < 18 ? 9 * address[3] : 0)
    + (WIDTH < 9 ? 4 * address[2] : 0) + (WIDTH < 4 ? 2 * address[1] : 0)
    + (WIDTH < 2 ? address[0] : 0);
  wire [35:0] bytes = {{9{address[3]}}, {9{address[2]}}, {9{address[1]}}, {9{address[0]}}};
  wire [35:0] bits = WIDTH < 18 ? (1 << WIDTH) - 1 : WIDTH < 36 ? bytes[17:0] : bytes;
  wire synchronous = reset && RESETS == "SYNC", at_once = reset && RESETS == "ASYNC";
  assign writes = enable && write && !synchronous;
  assign taken = bits << low;
  assign shifted = given << low;
  wire [35:0] after = MODE == "WRITETHROUGH" ? shifted & taken | before & ~taken : before;
  initial read = 0;
  always @(posedge clock, posedge at_once)
    if (at_once) read <= 0;
    else if (synchronous) read <= 0;
    else if (enable && !(write && MODE == "NORMAL")) read <= (write ? after : before) >> low;
endmodule

module DP16KD (
  input <DIA:18>, <ADA:14>, CEA, OCEA, CLKA, WEA, RSTA, <CSA:3>, output <DOA:18>,
  input <DIB:18>, <ADB:14>, CEB, OCEB, CLKB, WEB, RSTB, <CSB:3>, output <DOB:18>
);
  parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18, CLKAMUX = "CLKA", CLKBMUX = "CLKB";
  parameter WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL", RESETMODE = "SYNC";
  parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", ASYNC_RESET_RELEASE = "SYNC";
  parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000", GSR = "AUTO";
  parameter [319:0] <INITVAL_:64 = 0>;
  wire [20479:0] first = {<INITVAL_:64>};
  reg [35:0] words [0:511];
  wire clock_a = CLKA ^ (CLKAMUX == "INV"), clock_b = CLKB ^ (CLKBMUX == "INV");
  wire [13:0] at_a = {<ADA:14>}, at_b = {<ADB:14>};
  wire writes_a, writes_b;
  wire [35:0] taken_a, taken_b, shifted_a, shifted_b, read_a, read_b;
  wire [17:0] low_b = {<DIB:18>};
  wire [35:0] given_a = {DATA_WIDTH_A == 36 ? low_b : 18'd0, <DIA:18>};
  PORT_OF_DP16KD #(DATA_WIDTH_A, WRITEMODE_A, RESETMODE) a (clock_a, CEA, WEA, RSTA, at_a,
    given_a, words[at_a[13:5]], writes_a, taken_a, shifted_a, read_a);
  PORT_OF_DP16KD #(DATA_WIDTH_B, WRITEMODE_B, RESETMODE) b (clock_b, CEB, WEB, RSTB, at_b,
    {18'd0, low_b}, words[at_b[13:5]], writes_b, taken_b, shifted_b, read_b);
  integer i;
  initial for (i = 0; i < 512; i = i + 1) words[i] = {first[40*i+20+:18], first[40*i+:18]};
  localparam STEP_A = DATA_WIDTH_A < 9 ? 1 : 9, STEP_B = DATA_WIDTH_B < 9 ? 1 : 9;
  always @(posedge clock_a) for (i = 0; i < 36; i = i + STEP_A)
    if (writes_a && taken_a[i]) words[at_a[13:5]][i+:STEP_A] <= shifted_a[i+:STEP_A];
  always @(posedge clock_b) for (i = 0; i < 36; i = i + STEP_B)
    if (writes_b && taken_b[i]) words[at_b[13:5]][i+:STEP_B] <= shifted_b[i+:STEP_B];
  assign {<DOA:18>} = DATA_WIDTH_B == 36 ? read_b[17:0] : read_a[17:0];
  assign {<DOB:18>} = DATA_WIDTH_B == 36 ? read_b[35:18] : read_b[17:0];
endmodule
"""
"""Written with ``<A:18>`` for ``A17, ..., A0``."""


def _spelt(found: re.Match[str]) -> str:
    """Return names that end in a number, the highest first, as Lattice has them."""
    name, count = found[1], int(found[2])
    form = "{}{:02X}{}" if name == "INITVAL_" else "{}{}{}"
    return ", ".join(form.format(name, place, found[3]) for place in reversed(range(count)))


_REGISTER = Primitive(
    "TRELLIS_FF",
    {"GSR": "DISABLED", "CEMUX": "1 ", "CLKMUX": "CLK", "LSRMUX": "LSR", "REGSET": "RESET"},
    {"CLK": "clock", "DI": "port", "Q": "port"},
    "Q",
)

ECP5 = DeviceFamily(
    name="ecp5",
    devices={  # without a grade it is the slowest, 6
        size + grade: (f"--{size}", "--speed", grade[1:] or "6", "--package", "CABGA381")
        for size in ("25k", "45k", "85k")
        for grade in ("", "-6", "-7", "-8")
    },
    logic=(
        LogicPart("look_up_tables", ("TRELLIS_COMB", "TRELLIS_RAMW"), of_port=0),
        LogicPart("flip_flops", ("TRELLIS_FF",), of_port=1),
    ),
    cells={
        "PFUMX": cell_of("PFUMX", ("ALUT", "BLUT", "C0"), {"Z": "C0 ALUT + !C0 BLUT"}),
        "L6MUX21": cell_of("L6MUX21", ("D0", "D1", "SD"), {"Z": "SD D1 + !SD D0"}),
    },
    by_parameters={"CCU2C": _carry, "TRELLIS_FF": _flip_flop},
    table=LookUpTable("LUT4", "INIT", ("A", "B", "C", "D"), "Z"),
    blocks={
        "DP16KD": DeviceBlock(("CLKA", "CLKB"), "DP16KD", "block_rams"),
        "MULT18X18D": DeviceBlock((), "MULT18X18D", "multipliers"),
        "TRELLIS_DPR16X4": DeviceBlock(("WCK",)),
    },
    models="-D NO_INCLUDES +/ecp5/cells_sim.v",  # else what it includes defines cells twice
    own_models=re.sub(r"<(\w+):(\d+)(.*?)>", _spelt, _BLOCKS),
    multipliers={},
    launch=(_REGISTER,),
    capture=(replace(_REGISTER, nets={**_REGISTER.nets, "Q": "state"}),),
)
"""Its transceivers, sums behind multipliers (``ALU54B``) and other hard functions are omitted."""
