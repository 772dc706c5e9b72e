"""Limits of this package, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

ENUMERABLE = 10_000_000
"""Largest space in which a heuristic's front is compared with the exact one."""

OPEN_CELLS = 50_000
"""Most open cells of a bound, for a time of about a second."""

EVALUATIONS_ROWS = 120_000
"""Most designs in the file of evaluations, a uniform sample of more."""

ROW_BYTE, FILE_BYTE = 1 << 16, 1 << 30
"""Longest row of evaluations, and most bytes of a file, unpacked: a row has some 100 numbers of up
to 24 bytes."""

SO_FAR_DESIGNS = 1_000_000
"""Most designs of a front so far, if a measurement serves several."""

BOUND_TOLERANCE = 1e-9
"""Relative tolerance of written numbers."""

CAUSES, CAUSE_DESIGNS = 8, 3
"""Most causes of failures in a message, and designs of each."""

STATUS_ROWS = 5
"""Most designs and causes in a section of a status."""

PLAUSIBLE_INSTANCES = 1e4
"""The largest processors have some thousand cores."""

PLAUSIBLE: Mapping[str, float] = {"m2": 1e-2, "w": 1e4}
"""Limits by unit: a dozen of the largest dies (a reticle is 858 mm2), the power of a rack."""

FIGURES, FIGURE_MATTERS = 4, 0.25
"""Most numbers to check in a message, and the least effect of half of one."""
