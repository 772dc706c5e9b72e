"""Kernels of other complexities on the GPUs: sections 5.1 to 5.4, figure 9."""

from __future__ import annotations

from dse.objectives.catalogue.table5 import logca
from dse.objectives.logca.paper.claim import (
    OFF_CHIP,
    SAMPLES,
    absent,
    bound_of,
    exists,
    intensity,
    most_speedup,
    says,
)
from dse.objectives.paper_claim import asked


def _gemm_above(device: str, other: str) -> bool:
    return most_speedup(device, "gemm") > most_speedup(device, other)


def _later_half(kernel: str) -> bool:
    """Whether g_A/2 exists on discrete GPU and APU, and is higher on the GPU."""
    gpu, apu = (logca(device, kernel).half_acceleration() for device in OFF_CHIP)
    return bool(gpu > apu)


def _falls_again(device: str) -> bool:
    kernel = "binary_search"
    return bool(logca(device, kernel).speedup(SAMPLES[-1]) < most_speedup(device, kernel))


_SORT_ON_GPU = "as printed, 3000 cycles of latency per byte outweigh 290 cycles of work"
_SORT = (
    exists("discrete_gpu", "radix_sort", "break_even", "5.1, fig. 9a", _SORT_ON_GPU),
    exists("discrete_gpu", "radix_sort", "half_acceleration", "5.1, fig. 9a", _SORT_ON_GPU),
    exists("apu", "radix_sort", "break_even", "5.1, fig. 9a"),
    exists(
        "apu",
        "radix_sort",
        "half_acceleration",
        "5.1, fig. 9a",
        "the speedup peaks at 3.1, below 3.5: latency per byte outgrows the sub-linear work",
    ),
    says(
        "5.1-sort-half-gpu-above-apu",
        "5.1, fig. 9a",
        "g_A/2 of the discrete GPU is higher than that of the APU: radix_sort",
        True,
        asked(_later_half, "radix_sort"),
        "by Table 5 neither has one",
    ),
)

_SUPERLINEAR = (
    *(
        says(
            f"5.2-{device}-gemm-above-{other}",
            "5.2, figs 9a to c",
            f"gemm reaches higher speedup than {other} up to 32 MB: {device}",
            True,
            asked(_gemm_above, device, other),
        )
        for device in OFF_CHIP
        for other in ("radix_sort", "fft")
    ),
    *(
        absent(device, "fft", "half_acceleration", "5.2, fig. 9c", reason)
        for device, reason in (
            (
                "discrete_gpu",
                "a super-linear kernel always gets there: at 2.9 TB, far off the plot",
            ),
            ("apu", "676 kB with the C = 290 and L = 15 of Table 5"),
        )
    ),
    *(
        says(
            f"5.2-{device}-fft-intensity",
            "5.2, eq. 12",
            f"C / L is below A / 1.2: {device}, fft",
            f"< {acceleration}",
            asked(intensity, device, "fft"),
            reason,
        )
        for device, acceleration, reason in (
            ("discrete_gpu", "25", ""),
            ("apu", "5.83", "290 / 15 with Table 5"),
        )
    ),
    *(
        says(
            f"5.4-{device}-gemm-bound",
            "5.4, 3.1",
            f"what limits speedup: {device}, gemm",
            "compute-bound",
            asked(bound_of, device, "gemm"),
        )
        for device in OFF_CHIP
    ),
)

_SEARCH = tuple(
    each
    for device, reason in (("discrete_gpu", ""), ("apu", "116 / 15 with Table 5"))
    for each in (
        absent(device, "binary_search", "break_even", "5.3, fig. 9d"),
        says(
            f"5.3-{device}-search-intensity",
            "5.3, fig. 9d",
            f"C / L is below 1: {device}, binary_search",
            "< 1",
            asked(intensity, device, "binary_search"),
            reason,
        ),
        says(
            f"5.3-{device}-search-falls",
            "5.3, fig. 9d",
            f"speedup falls again at large granularities: {device}, binary_search",
            True,
            asked(_falls_again, device),
        ),
    )
)

claims = (*_SORT, *_SUPERLINEAR, *_SEARCH)
