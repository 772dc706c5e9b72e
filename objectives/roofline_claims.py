"""What Choi et al. claim in the text of IPDPS 2014, each beside our energy roofline.

Every answer follows from Table I: sustained rates, single precision.
"""

from __future__ import annotations

from objectives import (
    roofline_claims_model,
    roofline_claims_platforms,
    roofline_claims_scenarios,
)

claims = (
    *roofline_claims_scenarios.claims,
    *roofline_claims_model.claims,
    *roofline_claims_platforms.claims,
)
