"""Cut-off granularities that sections 3.2 and 5.4 name, figures 6, 10 and 11.

The figures are drawn at powers of two, so ours is the power of two next above the exact cut-off.
"""

from __future__ import annotations

from dse.contract.papers import Claim, ClaimValue
from dse.objectives.catalogue.table5 import logca
from dse.objectives.logca.paper.claim import SAMPLES, claim
from dse.objectives.logca.regions import regions
from dse.objectives.paper_claim import NONE, asked

_FIRST, _LAST = 0, 1


def cutoff(device: str, benchmark: str, parameter: str, end: int) -> float | str:
    """Return where a parameter starts (0) or ceases (1) to be a bottleneck, in bytes."""
    intervals = regions(logca(device, benchmark), SAMPLES).power_of_two_cutoffs[parameter]
    return float(intervals[0][end]) if intervals else NONE


def _cutoff(
    device: str, benchmark: str, parameter: str, end: int, where: str, printed: int, reason: str
) -> Claim:
    verb = ("pays from", "pays up to")[end]
    return claim(
        name=f"logca-{where.split(',')[0]}-{device}-{benchmark}-{parameter}-cutoff".replace(
            "_", "-"
        ),
        where=where,
        statement=f"improving {parameter} {verb}: {device}, {benchmark}",
        printed=float(printed),
        unit="B",
        ours=asked(cutoff, device, benchmark, parameter, end),
        reason=reason,
    )


_CUTOFFS = tuple(
    _cutoff(*row)
    for row in (
        ("ultrasparc_t2", "aes", "overhead", _LAST, "3.2, 5.4, fig. 6", 32768, ""),
        ("ultrasparc_t2", "aes", "index", _LAST, "3.2, fig. 6", 32768, ""),
        ("ultrasparc_t2", "aes", "acceleration", _FIRST, "3.2, 5.4, fig. 6", 2048, ""),
        ("sparc_t4_engine", "aes", "overhead", _LAST, "5.4, fig. 10d", 512, ""),
        (
            "sparc_t4_engine",
            "aes",
            "acceleration",
            _FIRST,
            "5.4, fig. 10d",
            32,
            "the gain reaches 20 % at 76.3 B; at 32 B it is 8 %",
        ),
        (
            "sparc_t4_instruction",
            "aes",
            "overhead",
            _LAST,
            "5.4, fig. 10e",
            128,
            "the gain falls below 20 % at 172.5 B",
        ),
        ("sparc_t4_instruction", "aes", "acceleration", _FIRST, "5.4, fig. 10e", 16, ""),
        (
            "discrete_gpu",
            "gemm",
            "overhead",
            _LAST,
            "5.4, fig. 11a",
            32768,
            "258.1 kB exactly; the printed latency cannot be what the figure was drawn with",
        ),
        (
            "discrete_gpu",
            "gemm",
            "acceleration",
            _FIRST,
            "5.4, fig. 11a",
            262144,
            "619.0 kB exactly; the printed latency cannot be what the figure was drawn with",
        ),
        (
            "apu",
            "gemm",
            "latency",
            _LAST,
            "5.4, fig. 11b",
            524288,
            "with the printed 15 cycles per byte latency never gives 20 %",
        ),
        ("apu", "gemm", "acceleration", _FIRST, "5.4, fig. 11b", 65536, "100.6 kB exactly"),
    )
)


def _unchecked(name: str, where: str, statement: str, printed: ClaimValue, device: str) -> Claim:
    return Claim(
        name=f"logca-{name}",
        paper="logca",
        where=where,
        statement=statement,
        printed=printed,
        unit="B" if isinstance(printed, float) else "",
        ours=None,
        reason=f"Table 5 has no parameters of the {device}",
        inputs=("none",),
    )


_CARD, _HSA = "PCIe crypto card", "GPU with HSA"
_NOT_GIVEN = (
    _unchecked(
        "5.4-card-overhead-cutoff",
        "5.4, fig. 10a",
        f"overhead pays up to: {_CARD}",
        262144.0,
        _CARD,
    ),
    _unchecked(
        "5.4-card-latency-and-overhead",
        "5.4, fig. 10a",
        f"overhead and latency pay over most of the range: {_CARD}",
        True,
        _CARD,
    ),
    _unchecked(
        "5.1-card-break-even", "5.1, fig. 7", f"granularity of break-even: {_CARD}", NONE, _CARD
    ),
    _unchecked("5.4-hsa-regions", "5.4, fig. 11c", f"three regions: {_HSA}", True, _HSA),
    _unchecked("5.4-hsa-latency", "5.4, fig. 11c", f"latency never pays: {_HSA}", True, _HSA),
    _unchecked("5.4-hsa-overhead", "5.4, fig. 11c", f"overhead pays up to: {_HSA}", 8192.0, _HSA),
    _unchecked(
        "5.4-hsa-acceleration", "5.4, fig. 11c", f"acceleration pays from: {_HSA}", 2048.0, _HSA
    ),
)

claims = (*_CUTOFFS, *_NOT_GIVEN)
