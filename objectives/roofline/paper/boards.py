"""Arndale GPUs beside the GTX Titan, one and many, and under power bounds: sections I and V-D."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from dse.contract.claim_table import ClaimFunctions
from dse.objectives.catalogue import vendor_peak
from dse.objectives.roofline.paper.platforms import PLATFORMS

functions = ClaimFunctions()

_TITAN, _ARNDALE = PLATFORMS["gtx_titan"], PLATFORMS["arndale_gpu"]


@functions
def boards_over_titan(count: float, intensity: float) -> float:
    """Return performance of some Arndale GPUs over that of one Titan."""
    return float(_ARNDALE.times(count).performance(intensity) / _TITAN.performance(intensity))


@functions
def boards_over_capped_titan(count: float, intensity: float) -> float:
    """Return performance of some Arndale GPUs over that of a Titan with an eighth of its cap."""
    titan = _TITAN.capped(8).performance(intensity)
    return float(_ARNDALE.times(count).performance(intensity) / titan)


@functions
def bounding_favours_boards(intensity: float) -> bool:
    """Return whether 23 boards gain more on a capped Titan than 47 on one with its full cap."""
    return boards_over_capped_titan(23, intensity) > boards_over_titan(47, intensity)


@functions
def one_board_is_slower() -> bool:
    """Return whether one Arndale GPU is slower at every intensity from 1/8 to 512 flop/B."""
    return all(boards_over_titan(1, 2.0**power) < 1 for power in range(-3, 10))


@functions
def boards_of_titans_power() -> float:
    """Return how many Arndale GPUs draw the Titan's most power."""
    return float(_ARNDALE.match_power(_TITAN))


@functions
def power_over_most(power_w: float, platform: str) -> float:
    """Return some watts over the most power of a platform."""
    return power_w / float(PLATFORMS[platform].peak_power)


@functions
def board_efficiency_over_titan(intensity: float) -> float:
    """Return operations per joule of the Arndale GPU over those of the Titan."""
    return float(_ARNDALE.efficiency(intensity) / _TITAN.efficiency(intensity))


@functions
def titan_peak_efficiency_over_board() -> float:
    """Return peak operations per joule of the Titan over those of the Arndale GPU."""
    return float(_TITAN.peak_efficiency / _ARNDALE.peak_efficiency)


@functions
def equally_efficient_at() -> float:
    """Return the intensity at which Titan and Arndale GPU are equally efficient."""

    def ahead(intensity: float) -> float:
        return float(_ARNDALE.efficiency(intensity) - _TITAN.efficiency(intensity))

    return float(brentq(ahead, 0.5, 8.0))


@functions
def specified_efficiency_over_board(titan_w: float, board_w: float) -> float:
    """Return flop/s per W of the Titan over the Arndale GPU's, by the vendors' peak rates."""
    card, phone = vendor_peak("gtx_titan"), vendor_peak("arndale_gpu")
    return (card.single_op_per_s or 0) / titan_w / ((phone.single_op_per_s or np.inf) / board_w)
