"""What Battle and Hempstead find of their cores, asked of ours: `by_synthesis.csv`."""

from __future__ import annotations

from importlib.resources import files

from dse.contract.claim_table import read_claims
from dse.contract.papers import SynthesisClaim
from dse.cores.battle_hempstead import fleets_of_cores, single_cores

claims = tuple(
    SynthesisClaim(**vars(claim))
    for claim in read_claims(
        files("dse.cores.battle_hempstead") / "by_synthesis.csv",
        single_cores.functions | fleets_of_cores.functions,
    )
)
