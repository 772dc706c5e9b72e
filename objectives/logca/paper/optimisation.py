"""Optimisation regions from 16 B to 32 MB: sections 3.2 and 5.4, figures 5, 6, 10 and 11.

The letters of a region name the parameters whose tenfold improvement pays there: L, o, C, A.
The figures are drawn at powers of two, so our cut-off is the power of two next above the exact
one.
"""

from __future__ import annotations

from itertools import pairwise

from dse.contract.claim_table import ClaimFunctions
from dse.contract.papers import DOES_NOT_EXIST
from dse.objectives.catalogue.table5 import logca
from dse.objectives.logca.paper.devices import SAMPLES
from dse.objectives.logca.regions import PARAMETERS, Regions, regions

functions = ClaimFunctions()

_SPARC = ("ultrasparc_t2", "sparc_t3", "sparc_t4_engine", "sparc_t4_instruction")
"""From the loosest coupling to the tightest."""


def _regions(device: str, benchmark: str) -> Regions:
    return regions(logca(device, benchmark), SAMPLES)


def _samples_with(device: str, benchmark: str, letter: str) -> int:
    """Return at how many granularities improving a parameter pays."""
    return sum(letter in label for label in _regions(device, benchmark).labels)


@functions
def region(device: str, benchmark: str, letters: str) -> str:
    """Return where a region lies."""
    labels = _regions(device, benchmark).labels
    inside = [int(g) for g, found in zip(SAMPLES, labels, strict=True) if found == letters]
    # A region ends at the sample at which the next one starts, or at the last sample.
    end = min(2 * inside[-1], int(SAMPLES[-1])) if inside else 0
    return f"{inside[0]} to {end} B" if inside else DOES_NOT_EXIST


@functions
def number_of_regions(device: str, benchmark: str) -> float:
    """Return how many regions there are."""
    labels = _regions(device, benchmark).labels
    return float(sum(label != before for before, label in pairwise(("", *labels))))


@functions
def never_pays(device: str, benchmark: str, letter: str) -> bool:
    """Return whether improving a parameter pays nowhere."""
    return not _samples_with(device, benchmark, letter)


@functions
def mostly_pays(device: str, benchmark: str, letter: str) -> bool:
    """Return whether improving a parameter pays over most of the range."""
    return _samples_with(device, benchmark, letter) > len(SAMPLES) / 2


@functions
def pays_most_widely(device: str, benchmark: str, letter: str) -> bool:
    """Return whether a parameter pays over a wider range than any other."""
    wide = _samples_with(device, benchmark, letter)
    others = {*PARAMETERS.values()} - {letter}
    return all(wide > _samples_with(device, benchmark, other) for other in others)


@functions
def pays_from(parameter: str, device: str, benchmark: str) -> float | str:
    """Return where a parameter starts to be a bottleneck."""
    return _cutoff(parameter, device, benchmark, 0)


@functions
def pays_up_to(parameter: str, device: str, benchmark: str) -> float | str:
    """Return where a parameter ceases to be a bottleneck."""
    return _cutoff(parameter, device, benchmark, 1)


def _cutoff(parameter: str, device: str, benchmark: str, end: int) -> float | str:
    intervals = _regions(device, benchmark).power_of_two_cutoffs[parameter]
    return float(intervals[0][end]) if intervals else DOES_NOT_EXIST


@functions
def reach_falls(parameter: str) -> bool:
    """Return whether a parameter pays up to less from each SPARC device to the next."""
    return _falls(parameter, 1)


@functions
def start_falls(parameter: str) -> bool:
    """Return whether a parameter pays from less on, from each SPARC device to the next."""
    return _falls(parameter, 0)


def _falls(parameter: str, end: int) -> bool:
    ends = [_regions(device, "aes").cutoffs[parameter][0][end] for device in _SPARC]
    return all(later < earlier for earlier, later in pairwise(ends))
