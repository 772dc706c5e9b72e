"""Liberty files: cells of a process at one corner."""

from __future__ import annotations

from dse.silicon.boolean import truth_table as truth_table
from dse.silicon.library import Arc as Arc
from dse.silicon.library import Cell as Cell
from dse.silicon.library import CellLibrary as CellLibrary
from dse.silicon.library import FlipFlop as FlipFlop
from dse.silicon.library import InternalPower as InternalPower
from dse.silicon.library import LookupTable as LookupTable
from dse.silicon.library import Pin as Pin
