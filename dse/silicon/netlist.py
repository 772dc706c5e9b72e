"""A mapped netlist: instances of standard cells, joined by numbered nets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CONSTANT_0, CONSTANT_1 = 0, 1
"""Two nets that never change; every other net has a number from 2."""


@dataclass(frozen=True)
class Instance:
    """A cell of the library at work; `nets` has the net of each connected pin."""

    name: str
    cell: str
    nets: Mapping[str, int]


@dataclass(frozen=True)
class Netlist:
    """A flat netlist.

    Attributes
    ----------
    top
        Name of the module.
    inputs, outputs
        Nets of each port, least significant bit first.
    instances
        In the order of the file.
    net_count
        Every net is below it.
    """

    top: str
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, tuple[int, ...]]
    instances: tuple[Instance, ...]
    net_count: int
