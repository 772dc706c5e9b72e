"""Evaluations to 95 % of the hypervolume with cheaper levels and without, on our own RTL.

    python -m benchmarks.fidelities DIR --library sky130=FILE --library asap7=FILE,FILE ...

The libraries of `SPACES` are other people's and not part of this project.  Each space is mapped
once, by `dse characterise`, and kept in DIR as a table; searches then run on the tables.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.expensive import Table, needed_text, trial
from dse.silicon.chain import Characteriser
from dse.silicon.characterisation import characterise_all
from dse.silicon.descriptions.description import Reading, elaborating, run_description
from dse.silicon.figures import Conditions
from dse.silicon.requests import Request
from dse.silicon.targets import Target
from dse.silicon.tasks import DesignTask
from dse.silicon.yosys import chosen_yosys

FLIP_FLOP_GATES = 6
FLIP_FLOP_LEVELS = 5
"""What a flip-flop counts for in area and energy, and in the period, in NANDs."""

COST_SHARE = 0.1
BUDGET = 40


@dataclass(frozen=True)
class Space:
    """Designs of a generator: all its parameters, libraries and clocks that it is mapped for."""

    parameters: dict[str, tuple[int | str, ...]]
    libraries: tuple[str, ...]
    targets_mhz: tuple[float, ...]


SPACES = {
    "crc32": Space(
        {"word_bit": (8, 16, 32, 64, 128, 256, 512)},
        ("gf180_5v0", "sg13g2", "sg13g2_1v5", "sky130"),
        (50, 150, 300, 450, 600, 900),
    ),
    "des": Space(
        {
            "unroll": (1, 2, 4, 8),
            "structure": ("pipelined", "chained", "two_stage"),
            "key_schedule": ("rotate", "select"),
        },
        ("sky130", "asap7"),
        (200, 2000),
    ),
    "jacobi": Space(
        {"side": (1, 2, 3, 4), "cell_bit": (8, 16, 32)},
        ("sky130", "sg13g2", "asap7"),
        (100, 600, 3000),
    ),
}
GOALS = {"energy, throughput": [1, 2], "area, energy, throughput": [0, 1, 2]}
LEVELS = ("without", "generic", "mapped", "shuffled")


def generic(task: DesignTask) -> tuple[int, int]:
    """Return the gates and the levels of logic of a design in generic cells."""
    top = task.design.top
    script = [*elaborating(top), f"synth -flatten -top {top}"]
    script += ["abc -g AND,OR,XOR,MUX,NAND,NOR,XNOR", "opt_clean -purge", "ltp -noff"]
    reads = Reading.of_text(task.design.verilog)
    script += ["write_json netlist.json"]
    found = run_description(chosen_yosys(), reads, script, done="netlist.json").output
    cells = json.loads(found.files["netlist.json"])["modules"][top]["cells"].values()
    gates = sum(FLIP_FLOP_GATES if "DFF" in cell["type"] else 1 for cell in cells)
    return gates, int(found.log.split("length=")[1].split(")")[0]) + FLIP_FLOP_LEVELS


def nand(library: Characteriser) -> tuple[float, float, float]:
    """Return area (m2), energy (J) and delay with a fan-out of four (s) of the smallest NAND."""
    if library.gate is None:
        raise SystemExit(f"{library.library.name} has no NAND of two inputs")
    name, area = library.gate
    pins = library.library.cells[name].pins.values()
    load = np.mean([pin.capacitance_f for pin in pins if pin.direction == "input"])
    arcs = [arc for pin in pins for arc in pin.arcs]

    def mean(*tables: str, slew: float) -> float:
        found = [getattr(arc, one).at(slew, 4 * load) for arc in arcs for one in tables]
        return float(np.mean(found))

    slew = 20e-12
    for _ in range(20):
        slew = mean("rise_transition", "fall_transition", slew=slew)
    delay = mean("cell_rise", "cell_fall", slew=slew)
    return area, float(load) * library.library.voltage_v**2, delay


def mapped(name: str, space: Space, files: dict[str, list[str]]) -> Iterator[list[float]]:
    """Yield each design: its place on each axis, its losses, and those of two cheaper levels."""
    logic: dict[tuple[int, ...], tuple[int, int]] = {}
    for at, library in enumerate(space.libraries):
        paths = tuple(files[library])
        characteriser = Characteriser(library_files=paths, conditions=Conditions(), kept=None)
        area, energy, delay = nand(characteriser)
        for place in itertools.product(*(range(len(one)) for one in space.parameters.values())):
            pairs = zip(space.parameters.items(), place, strict=True)
            over = {key: str(values[one]) for (key, values), one in pairs}
            tasks = Request(hardware=name, over=over, tasks=200, seed=1).design_tasks(3600)
            if place not in logic:
                logic[place] = generic(tasks[0])
            gates, depth = logic[place]
            targets = [Target(clock_hz=1e6 * one) for one in space.targets_mhz]
            table = characterise_all(name, tasks, characteriser, jobs=1, targets=targets)
            for target, one in zip(space.targets_mhz, table.designs, strict=True):
                found = one.figures
                cycles, payload = found["cycles_per_task"], found["payload_bit"]
                rate = found["clock_hz"] / cycles * payload
                yield [
                    *(
                        float(v[p]) if _ordered(v) else p
                        for v, p in zip(space.parameters.values(), place, strict=True)
                    ),
                    *(at, target, found["area_m2"], found["energy_j"], 1 / rate),
                    *(gates * area, gates * energy * cycles, cycles * depth * delay / payload),
                    *(found["area_m2"], found["area_m2"] * energy / area * cycles, 1 / rate),
                ]


def _ordered(values: tuple[Any, ...]) -> bool:
    return not isinstance(values[0], str)


def table_of(space: Space, rows: np.ndarray, goals: list[int], level: str) -> Table:
    """Return a space with one cheaper level."""
    axes = len(space.parameters) + 2
    true, low, high = (rows[:, axes + at : axes + at + 3][:, goals] for at in (0, 3, 6))
    ordered = [*map(_ordered, space.parameters.values()), False, True]
    choices = tuple(np.flatnonzero(~np.array(ordered)).tolist())
    found = Table(rows[:, :axes], true, np.ones(len(rows), dtype=bool), choices)
    shuffled = np.random.default_rng(0).permutation(true)
    cheap = {"generic": low, "mapped": high, "shuffled": shuffled}
    return found if level == "without" else replace(found, cheaper=((COST_SHARE, cheap[level]),))


def main() -> None:
    """Map what is not mapped yet, search, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the tables")
    parser.add_argument("--library", action="append", default=[], help="NAME=FILE[,FILE...]")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=list(SPACES), help="names of spaces")
    given = parser.parse_args()
    pairs = (one.partition("=") for one in given.library)
    files = {name: paths.split(",") for name, _, paths in pairs}
    print("| space | objectives |", " | ".join(LEVELS), "|")
    print("|---" * (2 + len(LEVELS)) + "|")
    for name in given.only:
        space, kept = SPACES[name], given.folder / f"{name}.csv"
        if not kept.is_file():
            np.savetxt(kept, [*mapped(name, space, files)], delimiter=",")
        rows = np.loadtxt(kept, delimiter=",")
        for text, goals in GOALS.items():
            cells = []
            for level in LEVELS:
                table = table_of(space, rows, goals, level)
                curves = [
                    trial(table, "gaussian", one, BUDGET)["curve"] for one in range(given.seeds)
                ]
                cells.append(needed_text(curves, 0.95))
            print(f"| {name}, {len(rows)} | {text} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
