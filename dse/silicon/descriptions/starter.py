"""A study to start from, written from Verilog: ``dse new rtl core.v``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dse.errors import Fault, StudyError
from dse.silicon.descriptions.description import reading, run_description
from dse.silicon.descriptions.sources import sources_of
from dse.silicon.yosys import chosen_yosys

_CLOCKS = ("clk", "clock", "clk_i", "i_clk", "aclk")
_TEXT = """\
# Which configuration of {top}, mapped for which clock?
#
# Written from the source; complete what is marked, docs/characterise.md says how.
# {top} has {ports}.
axes:
{axes}
evaluate:
  using: characterise
  files: [{files}]
  settings:
    top: {top}
    clock_port: {clock}
    library: cells.lib    # EXAMPLE: the library of cells
    check: tb.v    # EXAMPLE: a testbench, waves that it recorded (.vcd), or a table (.csv)
    dut: tb.dut    # EXAMPLE: the design in testbench or waves; a table needs none
    payload: {payload} bit    # EXAMPLE: of one task
    cycles_per_task: 1    # EXAMPLE: from task to task, a number or an expression over the axes
    latency: 1    # EXAMPLE: cycles from input to answer
objectives: {{area: minimise, task_energy: minimise, throughput: maximise}}
"""


def starting_study(files: Sequence[Path], folder: Path, top: str | None = None) -> str:
    """Return a study, to be written to a folder, over the parameters of the outermost module.

    Whole numbers become axes with their value and twice that; texts stay as they are.

    Raises
    ------
    StudyError
        What Yosys says of the files, or that no input is known to be a clock.
    MissingLibraryError
        There is no Yosys.
    """
    name, module = _outermost(files, top)
    ports: Mapping[str, Any] = module["ports"]
    inputs = {key: len(one["bits"]) for key, one in ports.items() if one["direction"] == "input"}
    clock = next((one for one in inputs if one.lower() in _CLOCKS), None)
    if clock is None:
        rule = f"none of the inputs of {name} is called {', '.join(_CLOCKS)}"
        raise StudyError([Fault("", "", rule, "rename the clock so")])
    data = [bits for key, bits in inputs.items() if key != clock]
    shown = (f"{one['direction']} {key}[{len(one['bits'])}]" for key, one in ports.items())
    return _TEXT.format(
        top=name,
        ports=", ".join(shown),
        axes="\n".join(_axes(module.get("parameter_default_values", {}))),
        files=", ".join(os.path.relpath(one, folder) for one in files),
        clock=clock,
        payload=max(data, default=1),
    )


def _outermost(files: Sequence[Path], top: str | None) -> tuple[str, Mapping[str, Any]]:
    """Return name and description of the outermost module."""
    chosen = f"-top {top}" if top else "-auto-top"
    script = [f"hierarchy -check {chosen}", "proc", "write_json module.json"]
    yosys = chosen_yosys()
    ways = reading(sources_of([*map(str, files)]), yosys, top or "")
    output = run_description(
        yosys,
        replace(ways, ways=ways.ways[::-1]),  # slang does not say what parameters there are
        script,
        done="module.json",
    ).output
    modules: Mapping[str, Any] = json.loads(output.files["module.json"])["modules"]
    return next(
        (name.removeprefix("\\"), one)
        for name, one in modules.items()
        if "top" in one["attributes"]
    )


def _axes(parameters: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each whole number above 0, and one for the clock."""
    for name, bits in parameters.items():
        value = int(bits, 2) if set(bits) <= {"0", "1"} else 0
        if 0 < value < 1 << 20:
            yield f"  {name}: [{value}, {2 * value}]    # {value} in the source"
    yield "  target: [fastest, half, quarter]"
