"""ECP5: cells against Yosys's models, our blocks against a model in Python, a recorded report."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dse.contract.generators import Bits, Design, Vectors, bits_of, numbers_of
from dse.errors import StudyError
from dse.silicon.descriptions.source_simulation import netlist_answers
from dse.silicon.figures import Conditions
from dse.silicon.fpga import place_and_route
from dse.silicon.fpga.device_chain import FAMILIES
from dse.silicon.fpga.devices import device_called, read_device_netlist, with_plain_tables
from dse.silicon.fpga.ecp5 import ECP5
from dse.silicon.netlists.answers import Answers, settled_answers
from dse.silicon.programs import Output
from dse.silicon.yosys import chosen_yosys, found_yosys, run_yosys
from tests.silicon.test_devices import Run, run  # noqa: F401

yosys = pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")
real = pytest.mark.skipif(
    not place_and_route.found_command("nextpnr-ecp5"), reason="needs nextpnr-ecp5"
)
SMALL = device_called("ecp5:25k", FAMILIES)

REPORT = """{"fmax": {"$glbnet$clk": {"achieved": 352.6093, "constraint": 12.0}}, "utilization": {
"DCCA": {"available": 56, "used": 1}, "DP16KD": {"available": 56, "used": 1},
"MULT18X18D": {"available": 28, "used": 1}, "TRELLIS_COMB": {"available": 24288, "used": 32},
"TRELLIS_FF": {"available": 24288, "used": 94}, "TRELLIS_RAMW": {"available": 3036, "used": 1}}}"""
"""Of nextpnr-ecp5 0.11.1."""


def test_what_a_report_says() -> None:
    """A write port of distributed memory takes two look-up tables; 61 bits have a register."""
    found = place_and_route._reported(REPORT, SMALL, 61)
    assert found.clock_hz == pytest.approx(352.6093e6)
    assert found.counted == {
        "look_up_tables": 34,
        "flip_flops": 33,
        "block_rams": 1,
        "multipliers": 1,
    }
    assert found.logic_cells == 34
    assert place_and_route._reported(REPORT, SMALL, 10).logic_cells == 84


def test_a_device_that_is_too_small() -> None:
    log = "Info: \t TRELLIS_FF:   24300/  24288   100%\nInfo: \t DP16KD:      57/     56   101%\n"
    log += "Info: \t TRELLIS_COMB:       9/  24288     0%\nERROR: Unable to place cell 'f10006'\n"
    with pytest.raises(StudyError) as raised:
        place_and_route._raise_too_large(Output(log, {}), SMALL)
    assert str(raised.value).splitlines() == [
        "flip_flops: 24300 flip flops, registers at its ports included; ecp5:25k has 24288; "
        "take a larger device, or leave this design out",
        "block_rams: 57 block rams; ecp5:25k has 56; "
        "take a larger device, or leave this design out",
    ]


def test_a_device_that_there_is_not() -> None:
    assert device_called("ecp5:85k-8", FAMILIES).family is ECP5
    with pytest.raises(StudyError) as raised:
        device_called("ecp5:25", FAMILIES)
    assert str(raised.value) == (
        "device: 'ecp5:25'; no known device has this name; "
        "did you mean 'ecp5:25k' or 'ecp5:25k-8' or 'ecp5:25k-7'?"
    )


def mapped(verilog: str) -> str:
    script = ["read_verilog top.v", *SMALL.synthesis("top", "  memory \n"), "setundef -zero"]
    script += ["opt_clean -purge", "write_json mapped.json"]
    return run_yosys(chosen_yosys(), script, {"top.v": verilog}).files["mapped.json"]


def by_models(written: str, stimulus: dict[str, Bits], **widths: int) -> Answers:
    """Return the answers of a netlist by the models of its cells in Verilog."""
    cycles = len(next(iter(stimulus.values())))
    vectors = Vectors(
        stimulus=stimulus,
        expected={port: np.zeros((cycles, width), bool) for port, width in widths.items()},
        known={port: np.ones(cycles, bool) for port in widths},
        warm_up=1,
        tasks=1,
    )
    design = Design(**{**dict.fromkeys(Design.__annotations__, 1), "top": "top", "clock": "clk"})
    plain = with_plain_tables(written, ECP5, top="top")
    return netlist_answers(plain, ECP5, vectors, design, Conditions())


def kinds_of(written: str) -> Counter[str]:
    return Counter(cell["type"] for cell in json.loads(written)["modules"]["top"]["cells"].values())


FLIP_FLOPS = [
    (enable, local, mode, value)
    for enable in ("1", "CE", "INV")
    for local in ("LSR", "INV")
    for mode in ("ASYNC", "LSR_OVER_CE")
    for value in ("SET", "RESET")
]


@yosys
def test_cells_compute_what_the_models_of_yosys_do() -> None:
    lines = ["module top (input clk, e, r, input [7:0] d, output [23:0] q, output reg [8:0] sum,"]
    lines += ["  output [1:0] wide);"]
    for place, (enable, local, mode, value) in enumerate(FLIP_FLOPS):
        set_to = f'.CEMUX("{enable}"), .LSRMUX("{local}"), .SRMODE("{mode}"), .REGSET("{value}")'
        pins = f".CLK(clk), .DI(d[0]), .LSR(r), .Q(q[{place}])" + ", .CE(e)" * (enable != "1")
        lines.append(f'  TRELLIS_FF #({set_to}, .CLKMUX("CLK")) f{place} ({pins});')
    lines.append("  always @(posedge clk) sum <= e ? d + {d[3:0], d[7:4]} : d - {d[0], d[7:1]};")
    lines.append("  wire [63:0] drawn = 64'h5b1d_08e7_9ac3_f642;")
    lines.append("  assign wide = {^(d & {8{e}}), drawn[d[5:0]]};\nendmodule\n")
    written = mapped("\n".join(lines))
    assert {"CCU2C", "PFUMX", "L6MUX21", "LUT4", "TRELLIS_FF"} <= {*kinds_of(written)}
    draw = np.random.default_rng(4)
    stimulus = {"d": bits_of(draw.integers(0, 256, 200), 8)}
    stimulus |= {"e": draw.random((200, 1)) < 0.5, "r": draw.random((200, 1)) < 0.5}
    netlist, library = read_device_netlist(written, ECP5, top="top")
    found = settled_answers(netlist, library, clock="clk", stimulus=stimulus)
    models = by_models(written, stimulus, q=24, sum=9, wide=2)
    for port, known in found.known.items():
        assert known[20:].all(), port
        assert (found.outputs[port] == models.outputs[port])[known].all(), port


MEMORIES = """
module top (input clk, input [3:0] we, input [9:0] a, b, input [31:0] d,
  output reg [31:0] q, output reg [3:0] n, m, output [35:0] p);
  reg [31:0] words [0:511];
  (* no_rw_check *) reg [3:0] nibbles [0:1023];
  integer i;
  initial for (i = 0; i < 512; i = i + 1) words[i] = i * 40503;
  always @(posedge clk) begin
    for (i = 0; i < 4; i = i + 1) if (we[i]) words[a[8:0]][8*i+:8] <= d[8*i+:8];
    q <= words[b[8:0]];
  end
  always @(posedge clk) if (we[0]) nibbles[a] <= d[3:0]; else n <= nibbles[a];
  always @(posedge clk) if (we[1]) nibbles[b] <= d[7:4]; else m <= nibbles[b];
  assign p = $signed(d[17:0]) * $signed(d[31:14]);
endmodule
"""


@pytest.mark.slow
@yosys
def test_block_ram_and_multipliers_compute_what_a_description_says() -> None:
    """Bytes, initial values, two ports that write, words of 36 and of 4 bits, signs."""
    written = mapped(MEMORIES)
    assert {"DP16KD": 2, "MULT18X18D": 1}.items() <= kinds_of(written).items()
    cycles, draw = 200, np.random.default_rng(6)
    a, b, d = (draw.integers(0, high, cycles) for high in (8, 8, 1 << 32))
    we = np.where(a == b, 0, draw.integers(0, 16, cycles))  # two writes of one word are undefined
    stimulus = {"we": bits_of(we, 4), "a": bits_of(a, 10), "b": bits_of(b, 10)}
    found = by_models(written, {**stimulus, "d": bits_of(d, 32)}, q=32, n=4, m=4, p=36).outputs
    words, nibbles = [i * 40503 for i in range(512)], [None] * 1024
    now = SimpleNamespace(q=None, n=None, m=None)
    for cycle in range(cycles):
        for port, value in vars(now).items():
            got = numbers_of(found[port][cycle])
            assert value in (None, got), (cycle, port, value, got)
        x, y = ((int(d[cycle]) >> low) % (1 << 18) for low in (0, 14))
        product = (x - (x >> 17 << 18)) * (y - (y >> 17 << 18)) % (1 << 36)
        assert numbers_of(found["p"][cycle]) == product
        here, there, data = int(a[cycle]), int(b[cycle]), int(d[cycle])
        now.q = words[there]
        now.n = now.n if we[cycle] & 1 else nibbles[here]
        now.m = now.m if we[cycle] & 2 else nibbles[there]
        taken = sum(255 << 8 * i for i in range(4) if we[cycle] >> i & 1)
        words[here] = words[here] & ~taken | data & taken
        nibbles[here] = data & 15 if we[cycle] & 1 else nibbles[here]
        nibbles[there] = data >> 4 & 15 if we[cycle] & 2 else nibbles[there]


@real
@yosys
def test_nextpnr_places_and_counts(run: Run) -> None:  # noqa: F811
    (slow,) = run(device="ecp5:25k", placements=1).designs
    (fast,) = run(device="ecp5:25k-8", placements=1, out="hash.csv").designs
    assert slow.figures["flip_flops"] == 16
    assert slow.figures["area_lc"] == slow.figures["look_up_tables"] >= 16
    assert slow.figures["clock_hz"] < fast.figures["clock_hz"] < 1e9
    table = Path("hash.csv").read_text()
    assert "# area_lc: logic cells, the larger of look_up_tables and flip_flops, without" in table
