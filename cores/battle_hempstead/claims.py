"""What Battle and Hempstead claim of accelerator cores, each beside our models: `claims.csv`."""

from __future__ import annotations

from importlib.resources import files

from dse.contract.claim_table import read_claims
from dse.cores.battle_hempstead.fleets_of_cores import functions

claims = read_claims(files("dse.cores.battle_hempstead") / "claims.csv", functions)
