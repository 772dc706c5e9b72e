"""Limits of this package, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

ENUMERABLE = 10_000_000
"""A heuristic's front is held against the exact one on spaces up to this size."""

OPEN_CELLS = 50_000
"""Cells of a bound that stay open at once: what bounds the time, to about a second."""

EVALUATIONS_ROWS = 120_000
"""Most designs in the file of evaluations; of more, a uniform sample is kept."""

ROW_BYTE, EVALUATIONS_BYTE = 1 << 16, 1 << 30
"""The longest row of evaluations and all of them, unpacked: a row has some 100 numbers of up to 24
bytes.  What a run says of its rows sets the limit, for a file of few bytes may unpack to any
length."""

SO_FAR_DESIGNS, SO_FAR_BATCH = 1_000_000, 50_000
"""Most designs that a front so far is of, where a measurement is one of several designs, and how
many are evaluated at a time."""

BOUND_TOLERANCE = 1e-9
"""Relative difference between a written number and its value that is forgiven."""

WATCH_PERIOD_S = 0.5
"""What is measured right now is written at most so often."""

CAUSES, CAUSE_DESIGNS = 8, 3
"""Causes of failures that a message tells, and designs of each."""

ALIKE_CHARACTERS = 40
"""Two values that begin with more equal signs are not shown from their beginning."""

STATUS_ROWS = 5
"""Designs of the front so far, running ones, and causes of failures that a status shows."""

PLAUSIBLE_INSTANCES = 1e4
"""The largest processors have some thousand cores."""

PLAUSIBLE: Mapping[str, float] = {"m2": 1e-2, "w": 1e4}
"""By unit: a dozen of the largest dies (a reticle is 858 mm2), and the power of a rack."""

FIGURES, FIGURE_MATTERS = 4, 0.25
"""Figures to check that a message names; one matters where its half changes the result by this
share."""
