"""Conformance kit: what the engine relies on in any plug-in, whoever wrote it.

Call `check_core`, `check_objective`, `check_requirement` and `check_method` from a test of your
own.  Each returns when the plug-in keeps its contract, and raises AssertionError naming the
plug-in, what it does and what it should do.  Arguments are drawn at random from a fixed seed,
log-uniformly from a plausible range for the unit of their name; where a declaration speaks of how
they are made, whole systems are drawn and the quantities of everything installed computed.

May import `dse.search` and lower floors.
"""

from __future__ import annotations

from dse.testing.cores import check_core
from dse.testing.methods import check_method
from dse.testing.quantities import check_objective, check_requirement

__all__ = ["check_core", "check_method", "check_objective", "check_requirement"]
