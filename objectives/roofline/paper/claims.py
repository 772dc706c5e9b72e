"""What Choi et al. claim in the text of IPDPS 2014, beside our energy roofline: `claims.csv`."""

from __future__ import annotations

from importlib.resources import files

from dse.contract.claim_table import read_claims
from dse.objectives.roofline.paper import platforms

claims = read_claims(files("dse.objectives.roofline.paper") / "claims.csv", platforms.functions)
