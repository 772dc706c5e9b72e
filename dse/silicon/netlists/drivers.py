"""Signals with several drivers, which Yosys counts but simulates without end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dse.errors import Fault
from dse.reports.text import listed
from dse.silicon.netlists.netlist import placed

CHECK = "tee -q -o undriven check"
"""Looks for them in the flat design, and for what has no driver."""


def driven_twice(checked: str) -> dict[str, list[str]]:
    """Return the drivers, cells and inputs, of each signal that the command ``check`` reports."""
    pattern = r"conflicting drivers for \S*?\.\\?([^\s\[:]+).*\n((?:    .*\n?)*)"
    found: dict[str, list[str]] = {}
    for signal, drivers in re.findall(pattern, checked):
        names = re.findall(r"of cell (\S+) \(|module (input [^\s\[]+)", drivers)
        found.setdefault(signal, []).extend(cell or port for cell, port in names)
    return {signal: [*dict.fromkeys(drivers)] for signal, drivers in found.items()}


def dumping_drivers(script: Sequence[str], checked: str) -> list[str]:
    """Return a script as far as it checks, but with a file ``place`` of the cells that drive."""
    names = [name for drivers in driven_twice(checked).values() for name in drivers]
    # selections are patterns, in which a backslash or a bracket is no letter
    cells = " ".join("c:" + re.sub(r"[\\\[\]]", "?", one) for one in names if " " not in one)
    return [*script[: script.index(CHECK)], f"tee -q -o place dump {cells}"] if cells else []


def driver_faults(checked: str, dumped: str) -> Iterator[Fault]:
    """Yield a fault for each signal with several drivers, at the first that has a place."""
    cells = re.findall(r"((?:^ *attribute .*\n)*)^ *cell \S+ (\S+)$", dumped, re.M)
    sources = {name: re.search(r'\\src "([^"|]+)', text) for text, name in cells}
    for signal, drivers in driven_twice(checked).items():
        by = [found[1] if (found := sources.get(one)) else one for one in drivers]
        by.sort(key=lambda one: (" " in one, len(one), one))
        shown = listed([re.sub(r"(:\d+)\.[\d.-]+$", r"\1", one) for one in by])
        rule, remedy = f"{shown} drive it", "let one process or assignment do so"
        yield placed(Fault(signal, "", rule, remedy), by[0])
