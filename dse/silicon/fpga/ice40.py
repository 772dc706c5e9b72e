"""Lattice iCE40 through ``synth_ice40`` of Yosys and ``nextpnr-ice40``.

Functions of the cells are those of `cells_sim.v` of Yosys; delays are those of nextpnr
(Project IceStorm).
"""

from __future__ import annotations

from collections.abc import Iterator

from dse.silicon.cells.library import Cell, FlipFlop
from dse.silicon.fpga.devices import (
    DeviceBlock,
    DeviceFamily,
    LogicPart,
    LookUpTable,
    Primitive,
    cell_of,
)

_DEVICES = ("lp384", "lp1k", "lp4k", "lp8k", "hx1k", "hx4k", "hx8k", "up3k", "up5k")

_SETS = {
    "": ("D", None, None),
    "SR": ("D !R", None, None),
    "SS": ("(D + S)", None, None),
    "R": ("D", "R", None),
    "S": ("D", None, "S"),
}
"""Next state, clear and preset, by what stands behind SB_DFF; ``E`` before it is an enable."""


def _flip_flops() -> Iterator[Cell]:
    for falling in ("", "N"):
        for enable in ("", "E"):
            for ending, (taken, clear, preset) in _SETS.items():
                name = f"SB_DFF{falling}{enable}{ending}"
                state = FlipFlop(
                    state="IQ",
                    inverted="IQN",
                    next_state=f"E {taken} + !E IQ" if enable else taken,
                    clocked_on="!C" if falling else "C",
                    clear=clear,
                    preset=preset,
                )
                yield cell_of(name, ["C", "D", *enable, *ending[-1:]], {"Q": "IQ"}, state)


_CARRY = cell_of("SB_CARRY", ("I0", "I1", "CI"), {"CO": "I0 I1 + I0 CI + I1 CI"})
# nextpnr takes a register whose logic has no input for a constant, which has no timing.
_HOLD = {"I0": "port", "I1": "0", "I2": "0", "I3": "0", "O": "logic"}
_PASS = Primitive("SB_LUT4", {"LUT_INIT": "10" * 8}, _HOLD, "O")

ICE40 = DeviceFamily(
    name="ice40",
    devices={name: (f"--{name}",) for name in _DEVICES},
    logic=(LogicPart("logic_cells", ("ICESTORM_LC",), of_port=1),),
    cells={cell.name: cell for cell in (_CARRY, *_flip_flops())},
    table=LookUpTable("SB_LUT4", "LUT_INIT", ("I0", "I1", "I2", "I3"), "O"),
    blocks={
        "SB_RAM40_4K": DeviceBlock(("RCLK", "WCLK"), "ICESTORM_RAM", "block_rams"),
        "SB_MAC16": DeviceBlock(("CLK",), "ICESTORM_DSP", "multipliers"),
    },
    models="+/ice40/cells_sim.v",
    multipliers={"up3k": " -dsp", "up5k": " -dsp"},
    launch=(_PASS, Primitive("SB_DFF", {}, {"C": "clock", "D": "logic", "Q": "port"}, "Q")),
    capture=(_PASS, Primitive("SB_DFF", {}, {"C": "clock", "D": "logic", "Q": "state"}, "Q")),
)
"""Larger memories of single ports (``SB_SPRAM256KA``) and other hard functions are omitted."""
