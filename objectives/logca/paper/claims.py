"""Claims of Altaf and Wood on LogCA, compared with our model: `claims.csv`.

ISCA 2017, with CAL for the letter of 2014.
"""

from __future__ import annotations

from importlib.resources import files

from dse.contract.claim_table import read_claims
from dse.objectives.logca.paper import devices, optimisation

claims = read_claims(
    files("dse.objectives.logca.paper") / "claims.csv", devices.functions | optimisation.functions
)
