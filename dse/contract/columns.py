"""Columns, and the tuples of choices that columns index by position."""

from __future__ import annotations

from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
"""One float64 value per design point."""

Given = TypeVar("Given")

Rising = Annotated[Given, "Rising"]
"""An argument in which a function never falls: ``Rising[Column]``.  Proven, not assumed."""

Falling = Annotated[Given, "Falling"]
"""An argument in which a function never rises: ``Falling[Column]``.  Proven, not assumed."""

WAIT_MODES = ("sync", "sync_os", "async")
"""Wait modes of a host during an offload.  A column holds the position in this tuple."""

TRANSFERS = ("cut_through", "store_and_forward")
"""Computation during the transfer of an offload or after it.  A column holds the position."""

PCIE_LINKS = (
    "none",
    *(f"gen{number} x{lanes}" for number in range(1, 6) for lanes in (1, 2, 4, 8, 16)),
)
"""PCI Express links by generation and lanes.  A column holds the position in this tuple."""

ATTACHMENTS = ("look_aside", "inline")
"""Engine outside the path of the data or in it.  A column holds the position."""

PRECISIONS = ("single", "double")
"""Floating-point precisions of a platform's operations.  A column holds the position."""
