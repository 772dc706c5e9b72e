"""What Battle and Hempstead find of their cores, asked of ours: `by_synthesis.csv`."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from dse.contract.claim_table import read_claims
from dse.contract.papers import Claim, MadeCores, SynthesisClaims, Tables
from dse.cores._families import LIBRARIES
from dse.cores.battle_hempstead import fleets_of_cores, single_cores

_MADE = {
    "des": MadeCores(
        generator="des",
        over={"structure": "pipelined,two_stage", "unroll": "1,2,4,8,16"},
        tasks=200,
    ),
    "fft": MadeCores(generator="fft", over={"radix": "2,4,8", "width": "8"}, tasks=200),
    "jacobi": MadeCores(generator="jacobi", over={"side": "1,2,3,4"}, tasks=2000),
}


def claims_of(tables: Tables) -> tuple[Claim, ...]:
    """Return the claims, with a reading for each library."""
    table = files("dse.cores.battle_hempstead") / "by_synthesis.csv"
    functions = single_cores.functions | fleets_of_cores.functions
    asked = [
        read_claims(table, functions, {name: named[name] for name in _MADE})
        for named in tables.values()
    ]
    return tuple(
        replace(
            same[0],
            ours=None,
            readings={library: one.ours for library, one in zip(tables, same, strict=True)},
        )
        for same in zip(*asked, strict=True)
    )


claims = SynthesisClaims(
    name="cores",
    made=_MADE,
    shipped={
        library: {
            name: Path(str(files("dse.cores") / "tables" / f"{name}_{library}.csv"))
            for name in _MADE
        }
        for library in LIBRARIES
    },
    claims=claims_of,
)
