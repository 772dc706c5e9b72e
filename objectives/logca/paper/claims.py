"""Claims of Altaf and Wood on LogCA, compared with our model: `claims.csv`.

ISCA 2017, with CAL for the letter of 2014.  Functions of optimisation regions from 16 B to 32 MB
are here: sections 3.2 and 5.4, figures 5, 6, 10 and 11.  The letters of a region name the
parameters whose tenfold improvement pays there: L, o, C, A.  The paper draws them at powers of two.
Our cut-offs are the exact ones.
"""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise

from dse.contract.claim_table import ClaimFunctions, read_claims
from dse.contract.papers import DOES_NOT_EXIST, PrintedNumbers, on_all
from dse.objectives.logca.paper import devices
from dse.objectives.logca.paper.devices import SAMPLES, device_with
from dse.objectives.logca.paper.regions import PARAMETERS, cutoffs, labels

functions = ClaimFunctions()

SPARC = ("ultrasparc_t2", "sparc_t3", "sparc_t4_engine", "sparc_t4_instruction")
"""Devices from the loosest coupling to the tightest."""
_ENDS = {"first": 0, "last": 1}
"""Ends of the granularities at which a parameter pays."""


def _labels(printed: PrintedNumbers, device: str, benchmark: str) -> tuple[str, ...]:
    return labels(device_with(printed, device, benchmark), SAMPLES)


def _samples_with(printed: PrintedNumbers, device: str, benchmark: str, letter: str) -> int:
    """Return at how many granularities improving a parameter pays."""
    return sum(letter in label for label in _labels(printed, device, benchmark))


@functions
def region(printed: PrintedNumbers, device: str, benchmark: str, letters: str) -> str:
    """Return the range of a region."""
    found = zip(SAMPLES, _labels(printed, device, benchmark), strict=True)
    inside = [int(g) for g, label in found if label == letters]
    # A region ends at the first sample of the next one, or at the last sample.
    end = min(2 * inside[-1], int(SAMPLES[-1])) if inside else 0
    return f"{inside[0]} to {end} B" if inside else DOES_NOT_EXIST


@functions
def number_of_regions(printed: PrintedNumbers, device: str, benchmark: str) -> float:
    """Return how many regions there are."""
    found = ("", *_labels(printed, device, benchmark))
    return float(sum(label != before for before, label in pairwise(found)))


@functions
def never_pays(printed: PrintedNumbers, letter: str, benchmark: str, *devices: str) -> str:
    """Return the devices, of some, on which improving a parameter never pays."""
    return on_all({name: not _samples_with(printed, name, benchmark, letter) for name in devices})


@functions
def pays_somewhere(printed: PrintedNumbers, letter: str, benchmark: str, device: str) -> bool:
    """Return whether improving a parameter pays anywhere."""
    return _samples_with(printed, device, benchmark, letter) > 0


@functions
def mostly_pays(printed: PrintedNumbers, device: str, benchmark: str, letter: str) -> bool:
    """Return whether improving a parameter pays over most of the range."""
    return _samples_with(printed, device, benchmark, letter) > len(SAMPLES) / 2


@functions
def pays_most_widely(printed: PrintedNumbers, device: str, benchmark: str, letter: str) -> bool:
    """Return whether a parameter pays over a wider range than any other."""
    wide = _samples_with(printed, device, benchmark, letter)
    others = {*PARAMETERS.values()} - {letter}
    return all(wide > _samples_with(printed, device, benchmark, other) for other in others)


@functions
def cutoff(
    printed: PrintedNumbers, parameter: str, device: str, benchmark: str, end: str
) -> float | str:
    """Return the ``first`` or the ``last`` granularity with a parameter as bottleneck."""
    intervals, at = cutoffs(device_with(printed, device, benchmark))[parameter], _ENDS[end]
    # An end that no granularity reaches counts as the next sample beyond the plotted range.
    beyond = (float(SAMPLES[0] / 2), float(SAMPLES[-1] * 2))
    if not intervals:
        return DOES_NOT_EXIST
    return min(max(intervals[0][at], beyond[0]), beyond[1])


@functions
def cutoff_falls(printed: PrintedNumbers, parameter: str, end: str) -> bool:
    """Return whether an end of a parameter's range is lower on each next SPARC device."""
    devices = (device_with(printed, name, "aes") for name in SPARC)
    ends = [cutoffs(device)[parameter][0][_ENDS[end]] for device in devices]
    return all(later < earlier for earlier, later in pairwise(ends))


claims = read_claims(
    files("dse.objectives.logca.paper") / "claims.csv", devices.functions | functions
)
