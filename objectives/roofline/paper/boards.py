"""Arndale GPUs beside the GTX Titan, one and many, and under power bounds: sections I and V-D."""

from __future__ import annotations

from scipy.optimize import brentq

from dse.contract.claim_table import ClaimFunctions
from dse.contract.papers import PrintedNumbers
from dse.objectives.catalogue import vendor_peak
from dse.objectives.roofline.model import EnergyRoofline
from dse.objectives.roofline.paper.platforms import platform_within

functions = ClaimFunctions()


def _both(printed: PrintedNumbers) -> tuple[EnergyRoofline, EnergyRoofline]:
    """Return the Titan and one Arndale GPU."""
    return platform_within(printed, "gtx_titan"), platform_within(printed, "arndale_gpu")


@functions
def boards_over_titan(
    printed: PrintedNumbers, count: float, intensity: float, divisor: float = 1.0
) -> float:
    """Return performance of some Arndale GPUs over that of one Titan, its cap divided."""
    titan, board = _both(printed)
    boards = board.times(count).performance(intensity)
    return float(boards / titan.capped(divisor).performance(intensity))


@functions
def bounding_favours_boards(printed: PrintedNumbers, intensity: float) -> bool:
    """Return whether 23 boards gain more on a capped Titan than 47 on one with its full cap."""
    bounded = boards_over_titan(printed, 23, intensity, 8)
    return bounded > boards_over_titan(printed, 47, intensity)


@functions
def one_board_is_slower(printed: PrintedNumbers) -> bool:
    """Return whether one Arndale GPU is slower at every intensity from 1/8 to 512 flop/B."""
    return all(boards_over_titan(printed, 1, 2.0**power) < 1 for power in range(-3, 10))


@functions
def boards_of_titans_power(printed: PrintedNumbers) -> float:
    """Return how many Arndale GPUs draw the Titan's most power."""
    titan, board = _both(printed)
    return float(board.match_power(titan))


@functions
def power_over_most(printed: PrintedNumbers, power_w: float, platform: str) -> float:
    """Return some watts over the most power of a platform."""
    return power_w / float(platform_within(printed, platform).peak_power)


@functions
def efficiencies_match(printed: PrintedNumbers, least: float, share: float) -> bool:
    """Return whether operations per joule of both are within a share up to some intensity.

    From where the two are equally efficient on, the Titan is ahead by ever more.
    """
    titan, board = _both(printed)

    def behind(intensity: float) -> float:
        return float(board.efficiency(intensity) / titan.efficiency(intensity)) - (1 - share)

    return float(brentq(behind, 0.5, 32.0)) >= least


@functions
def titan_peak_efficiency_over_board(printed: PrintedNumbers) -> float:
    """Return peak operations per joule of the Titan over those of the Arndale GPU."""
    titan, board = _both(printed)
    return float(titan.peak_efficiency / board.peak_efficiency)


@functions
def printed_ratio(printed: PrintedNumbers, over: str, under: str) -> float:
    """Return the ratio of two numbers printed in the text, written ``16 Gflop/J``."""
    first, second = (printed.read(cell, cell.split()[0]) for cell in (over, under))
    return first / second


@functions
def specified_efficiency_over_board(titan_w: float, board_w: float) -> float:
    """Return flop/s per W of the Titan over the Arndale GPU's, by the vendors' peak rates."""
    card, phone = vendor_peak("gtx_titan"), vendor_peak("arndale_gpu")
    return (card.single_op_per_s or 0) / titan_w / ((phone.single_op_per_s or 1.0) / board_w)
