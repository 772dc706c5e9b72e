"""Optimisation regions from 16 B to 32 MB: sections 3.2 and 5.4, figures 5, 6, 10 and 11."""

from __future__ import annotations

from itertools import pairwise

from dse.objectives.catalogue.table5 import logca
from dse.objectives.logca.paper.claim import SAMPLES, says
from dse.objectives.logca.regions import regions
from dse.objectives.paper_claim import NONE, Ours, asked

_FIRST, _LAST = 0, 1
_ON_CHIP = ("ultrasparc_t2", "sparc_t3", "sparc_t4_engine", "sparc_t4_instruction")


def labels(device: str, benchmark: str) -> list[str]:
    """Return the labels of the regions from 16 B to 32 MB, in order."""
    named = regions(logca(device, benchmark), SAMPLES).labels
    return [label for before, label in zip(("", *named), named, strict=False) if label != before]


def _samples_with(device: str, benchmark: str, letter: str) -> list[float]:
    named = regions(logca(device, benchmark), SAMPLES).labels
    return [float(g) for g, label in zip(SAMPLES, named, strict=True) if letter in label]


def _region(device: str, benchmark: str, label: str) -> str:
    named = regions(logca(device, benchmark), SAMPLES).labels
    inside = [int(g) for g, found in zip(SAMPLES, named, strict=True) if found == label]
    # A region ends at the sample at which the next one starts, or at the last sample.
    end = min(2 * inside[-1], int(SAMPLES[-1])) if inside else 0
    return f"{inside[0]} to {end} B" if inside else NONE


def _count(device: str, benchmark: str) -> Ours:
    return lambda _: float(len(labels(device, benchmark)))


def _most_of(device: str, benchmark: str, letter: str) -> Ours:
    return lambda _: len(_samples_with(device, benchmark, letter)) > len(SAMPLES) / 2


def _without_latency(device: str) -> bool:
    return not _samples_with(device, "aes", "L")


def _falling(parameter: str, end: int) -> bool:
    """Whether the exact cut-off falls from each on-chip device to the next."""
    ends = [
        regions(logca(device, "aes"), SAMPLES).cutoffs[parameter][0][end] for device in _ON_CHIP
    ]
    return all(later < earlier for earlier, later in pairwise(ends))


claims = (
    says(
        "3.2-t2-region-oc",
        "3.2, fig. 6",
        "region of the T2 where only overhead and index pay",
        "16 to 2048 B",
        lambda _: _region("ultrasparc_t2", "aes", "oC"),
    ),
    says(
        "3.2-t2-region-a",
        "3.2, fig. 6",
        "region of the T2 where only acceleration pays",
        "32768 to 33554432 B",
        lambda _: _region("ultrasparc_t2", "aes", "A"),
    ),
    *(
        says(
            f"5.4-{device}-no-latency".replace("_", "-"),
            where,
            f"improving latency never pays: {device}, aes",
            True,
            asked(_without_latency, device),
            reason,
        )
        for device, where, reason in (
            ("ultrasparc_t2", "3.2, 5.4, figs 5a, 6", ""),
            ("sparc_t3", "5.4, fig. 10c", ""),
            (
                "sparc_t4_engine",
                "5.4, fig. 10d",
                "500 cycles of latency beside 435 of overhead: it pays up to 621 B",
            ),
            ("sparc_t4_instruction", "5.4, fig. 10e", ""),
        )
    ),
    says(
        "5.4-t4-engine-regions",
        "5.4, fig. 10d",
        "number of regions: sparc_t4_engine, aes",
        3.0,
        _count("sparc_t4_engine", "aes"),
        "LoC, LoCA, LCA, CA, A: latency and overhead are comparable",
    ),
    says(
        "5.4-t4-instruction-regions",
        "5.4, fig. 10e",
        "number of regions: sparc_t4_instruction, aes",
        2.0,
        _count("sparc_t4_instruction", "aes"),
    ),
    *(
        says(
            f"5.4-{word}",
            "5.4, fig. 10",
            statement,
            True,
            asked(_falling, parameter, end),
        )
        for word, statement, parameter, end in (
            ("overhead-shrinks", "overhead's cut-off falls from T2 to T4", "overhead", _LAST),
            (
                "acceleration-grows",
                "acceleration's cut-off falls from T2 to T4",
                "acceleration",
                _FIRST,
            ),
        )
    ),
    says(
        "5.4-t4-instruction-mostly-acceleration",
        "5.4, fig. 10e",
        "acceleration pays over the widest range: sparc_t4_instruction, aes",
        True,
        lambda _: all(
            len(_samples_with("sparc_t4_instruction", "aes", "A"))
            > len(_samples_with("sparc_t4_instruction", "aes", letter))
            for letter in "LoC"
        ),
    ),
    *(
        says(f"5.4-{device}-gemm-{what}".replace("_", "-"), where, statement, printed, ours, reason)
        for device, what, where, statement, printed, ours, reason in (
            (
                "discrete_gpu",
                "regions",
                "5.4, fig. 11a",
                "number of regions: discrete_gpu, gemm",
                4.0,
                _count("discrete_gpu", "gemm"),
                "",
            ),
            (
                "apu",
                "regions",
                "5.4, fig. 11b",
                "number of regions: apu, gemm",
                4.0,
                _count("apu", "gemm"),
                "oC, oCA and A: latency is no bottleneck with the printed 15 cycles per byte",
            ),
            (
                "discrete_gpu",
                "latency-dominates",
                "5.4, fig. 11a",
                "latency pays over most of 16 B to 32 MB: discrete_gpu, gemm",
                True,
                _most_of("discrete_gpu", "gemm", "L"),
                "",
            ),
            (
                "discrete_gpu",
                "index-dominates",
                "5.4, fig. 11",
                "index pays over most of 16 B to 32 MB: discrete_gpu, gemm",
                True,
                _most_of("discrete_gpu", "gemm", "C"),
                "",
            ),
            (
                "apu",
                "index-dominates",
                "5.4, fig. 11",
                "index pays over most of 16 B to 32 MB: apu, gemm",
                True,
                _most_of("apu", "gemm", "C"),
                "",
            ),
        )
    ),
)
