"""Columns, and the tuples into which columns of choices hold positions."""

from __future__ import annotations

from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
"""One float64 value per design point."""

Given = TypeVar("Given")

Rising = Annotated[Given, "Rising"]
"""An argument in which a function never falls: ``Rising[Column]``.  Proven, not hoped."""

Falling = Annotated[Given, "Falling"]
"""An argument in which a function never rises: ``Falling[Column]``.  Proven, not hoped."""

WAIT_MODES = ("sync", "sync_os", "async")
"""How a host waits for an offload; a column holds the position in this tuple."""

TRANSFERS = ("cut_through", "store_and_forward")
"""Whether an offload is computed while it is transferred, or after; a column holds the position."""

PCIE_LINKS = (
    "none",
    *(f"gen{number} x{lanes}" for number in range(1, 6) for lanes in (1, 2, 4, 8, 16)),
)
"""PCI Express links by generation and lanes; a column holds the position in this tuple."""

ATTACHMENTS = ("look_aside", "inline")
"""Whether an engine is beside the data or on their way; a column holds the position."""

PRECISIONS = ("single", "double")
"""Floating-point precision of a platform's operations; a column holds the position."""
