"""What Choi et al. claim in the text of IPDPS 2014, each beside our energy roofline.

Every answer follows from Table I: sustained rates, single precision.
"""

from __future__ import annotations

from dse.objectives.roofline.paper import model, platforms, scenarios

claims = (
    *scenarios.claims,
    *model.claims,
    *platforms.claims,
)
