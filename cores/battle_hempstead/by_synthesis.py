"""What Battle and Hempstead find of their cores, checked on ours: `by_synthesis.csv`.

Functions of today are held to what the paper finds of unrolling: `unrolling.csv`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from dse.contract.claim_table import read_claims
from dse.contract.papers import Claim, MadeCores, SynthesisClaims, Tables
from dse.contract.published import read_published
from dse.cores._table import TABLES
from dse.cores.battle_hempstead.fleets_of_cores import functions
from dse.cores.characterised import FAMILIES, LIBRARIES

_MADE = {
    "des": MadeCores(
        generator="des",
        over={"structure": "pipelined,two_stage", "unroll": "1,2,4,8,16"},
        tasks=200,
    ),
    "fft": MadeCores(generator="fft", over={"radix": "2,4,8", "width": "8"}, tasks=200),
    "jacobi": MadeCores(generator="jacobi", over={"side": "1,2,3,4"}, tasks=2000),
}


_TODAY = (
    *("aes128", "aes256", "aes128_xts", "sha2_256", "sha3_256"),
    *("ascon_aead", "ascon_hash", "chacha20", "crc32"),
)
"""Functions that are unrolled; of CRC-32 it is the bits of a word."""


def claims_of(tables: Tables) -> tuple[Claim, ...]:
    """Return the claims, with a reading for each library that has the cores."""
    papers = {library: {name: named[name] for name in _MADE} for library, named in tables.items()}
    found = [*_claims_in("by_synthesis.csv", papers)]
    for core in _TODAY:
        title = FAMILIES[core].summary.partition(":")[0]
        having = {
            library: {"core": named[core]}
            for library, named in tables.items()
            if core in named and _has_line(named[core])
        }
        found += [
            replace(one, name=f"{one.name}-{core}", statement=f"{title}: {one.statement}")
            for one in _claims_in("unrolling.csv", having)
        ]
    return tuple(found)


def _has_line(table: Path) -> bool:
    """Return whether three designs differ in nothing but their rounds: two are on any line."""
    return sum(name[1:].isdigit() for name in read_published(table).designs) > 2


def _claims_in(file: str, tables: Tables) -> Iterator[Claim]:
    """Yield the claims of a file; `tables` has for each library those that its cores stand for."""
    table = files("dse.cores.battle_hempstead") / file
    by_library = [read_claims(table, functions, named) for named in tables.values()]
    for same in zip(*by_library, strict=True):
        readings = {library: one.ours for library, one in zip(tables, same, strict=True)}
        yield replace(same[0], ours=None, readings=readings)


def _shipped(library: str) -> Mapping[str, Path]:
    paths = {name: Path(str(TABLES / f"{name}_{library}.csv")) for name in (*_MADE, *_TODAY)}
    return {name: path for name, path in paths.items() if path.is_file()}


claims = SynthesisClaims(
    name="cores",
    made=_MADE,
    shipped={library: _shipped(library) for library in LIBRARIES},
    claims=claims_of,
)
