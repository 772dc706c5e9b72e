"""The seven implications, and the condition on C / L that section 2.3 draws from equation 11."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from dse.contract.papers import Claim, ClaimValue
from dse.objectives.catalogue.table5 import logca, rows
from dse.objectives.logca.implications import implications
from dse.objectives.logca.model import LogCA
from dse.objectives.paper_claim import always, asked, on_all, rounded

_claim = partial(Claim, paper="logca")
_TABLES = ("Table 5: table", "exponents, Table 4: table")
_FIXED = LogCA(latency=2, overhead=100, index=30, acceleration=10)
_EXACT = 1e-9
_PRECISION = "tolerance: that of the numbers, 1e-9"


def _doubling(implication: int, parameter: str, root: str, sign: int) -> list[Claim]:
    letter = {"break_even": "g_1", "half_acceleration": "g_A/2"}[root]
    claims = []
    for exponent, factor, printed in (
        (0.5, 4.0, rounded("4")),
        (1.0, 2.0, rounded("2")),
        (2.0, 2**0.5, None),
    ):
        before = replace(_FIXED, exponent=exponent)
        after = replace(before, **{parameter: 2 * getattr(before, parameter)})
        ratio = float(getattr(after, root)() / getattr(before, root)()) ** sign
        claims.append(
            _claim(
                name=f"logca-implication-{implication}-exponent-{exponent:g}",
                where=f"2.2, implication {implication}",
                statement=f"factor by which doubled {parameter} moves {letter}, "
                f"exponent {exponent:g}",
                printed=factor if printed is None else printed["printed"],
                ours=always(ratio),
                tolerance=_EXACT,
                reason=_PRECISION,
                inputs=("L = 2, o = 100, C = 30, A = 10: an example of ours",),
            )
        )
    return claims


def _implication(number: int, latency: str) -> str:
    """Return on how many devices of Table 5 with such a latency an implication holds."""
    found = {
        f"{device} {benchmark}": implications(logca(device, benchmark))[number - 1].holds
        for device, benchmark in rows
        if rows[device, benchmark]["latency_kind"] == latency
    }
    return on_all({name: holds for name, holds in found.items() if holds is not None})


def _holds(number: int, where: str, statement: str, printed: str, reason: str = "") -> Claim:
    return _claim(
        name=f"logca-implication-{number}",
        where=where,
        statement=f"{statement}; devices of Table 5",
        printed=printed,
        ours=asked(_implication, number, "fixed" if number <= 3 else "per_byte"),
        reason=reason,
        inputs=_TABLES,
    )


def _doubled_per_byte(number: int, statement: str, printed: str, reason: str) -> Claim:
    """Return implication 2 or 3 where latency is per byte, as far as the root exists."""
    return _claim(
        name=f"logca-implication-{number}-per-byte",
        where=f"2.2, implication {number}",
        statement=f"{statement}, latency per byte; devices of Table 5 that have one",
        printed=printed,
        ours=asked(_implication, number, "per_byte"),
        reason=f"{reason}; section 2.2 derives it for a fixed latency",
        inputs=_TABLES,
    )


_IMPLICATIONS = (
    _holds(
        1,
        "2.2, implication 1",
        "acceleration moves g_1 by at most a tenth against an infinite one, fixed latency",
        "on all 9",
        "'for large A': an acceleration of 10 moves g_1 of SHA by 11 %, one of 6 by 20 %",
    ),
    _holds(2, "2.2, implication 2", "doubling C divides g_1 by 2 ** (1 / exponent)", "on all 9"),
    _holds(
        3, "2.2, implication 3", "doubling A multiplies g_A/2 by 2 ** (1 / exponent)", "on all 9"
    ),
    _doubled_per_byte(
        2,
        "doubling C divides g_1 by 2 ** (1 / exponent)",
        "on all 6",
        "C / L doubles as well, so g_1 falls further, 4.1 instead of 1.8 times at most",
    ),
    _doubled_per_byte(
        3,
        "doubling A multiplies g_A/2 by 2 ** (1 / exponent)",
        "on all 5",
        "latency stays, so g_A/2 grows further, 45 instead of 2 times at most",
    ),
    _holds(
        4,
        "2.3, implication 4",
        "sub-linear kernels lose speedup again as granularity grows",
        "on all 4",
    ),
    _holds(5, "2.3, implication 5", "sub-linear kernels gain only with C / L above 1", "on all 4"),
    _holds(
        6,
        "2.3, implication 6",
        "sub-linear kernels reach A / 2 only with (C / A) / L above 1",
        "on all 4",
    ),
    _holds(
        7,
        "2.3, implication 7",
        "where A / 2 is out of reach, C / L bounds any larger acceleration",
        "on all 4",
    ),
)


def _condition(device: str, benchmark: str, printed: ClaimValue, reason: str) -> Claim:
    """Return what eq 11's condition C / L > 1 / exponent predicts of g_1, beside the root."""
    row = rows[device, benchmark]
    intensity = float(row["index_cycles_per_byte"]) / float(row["latency_cycles"])
    return _claim(
        name=f"logca-2.3-condition-{device}-{benchmark}".replace("_", "-"),
        where="2.3, 5.3, eq. 11",
        statement=f"g_1 exists when C / L = {intensity:.3g} is above 1 / exponent = "
        f"{1 / float(row['beta']):.3g}, and only then: {device}, {benchmark}",
        printed=printed,
        ours=lambda _: not np.isnan(logca(device, benchmark).break_even()),
        reason=reason,
        inputs=_TABLES,
    )


_SUPERLINEAR = "a super-linear kernel always breaks even from some granularity on"
_CONDITIONS = (
    _condition("discrete_gpu", "gemm", False, _SUPERLINEAR),
    _condition("apu", "gemm", False, _SUPERLINEAR),
    _condition("discrete_gpu", "fft", False, _SUPERLINEAR),
    _condition("apu", "fft", True, ""),
    _condition("apu", "radix_sort", True, ""),
    _condition(
        "apu",
        "binary_search",
        True,
        "the condition stems from one Newton step; exactly, the peak speedup must exceed 1",
    ),
    _claim(
        name="logca-5.3-search-condition",
        where="5.3",
        statement="C / L above which binary search should gain: 1 / 0.14",
        **rounded("7"),
        ours=always(1 / 0.14),
        inputs=("exponent, Table 4: table",),
    ),
)


claims = (
    *_doubling(2, "index", "break_even", -1),
    *_doubling(3, "acceleration", "half_acceleration", 1),
    *_IMPLICATIONS,
    *_CONDITIONS,
)
