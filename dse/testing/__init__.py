"""Conformance kit: the requirements of the engine on any plug-in.

Call `check_core`, `check_objective`, `check_requirement` and `check_method` from a test of your
package.  Each returns when the plug-in keeps its contract, and raises AssertionError naming the
plug-in, its behaviour and the required one.  Arguments are drawn at random from a fixed seed,
log-uniformly from a plausible range for the unit of their name.  If a declaration concerns the
computation of arguments, whole systems are drawn and all installed quantities computed.

May import `dse.search` and lower layers.
"""

from __future__ import annotations

from dse.testing.cores import check_core
from dse.testing.methods import check_method
from dse.testing.quantities import check_objective, check_requirement

__all__ = ["check_core", "check_method", "check_objective", "check_requirement"]
