"""The twelve platforms of Table I, one by one, ranked, and under a lower power cap.

A *quantity* is one of `_QUANTITIES`; those of a platform at an operational intensity take it in
flop/B.  Unless a function says so, rates are sustained ones in single precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dse.contract import Column
from dse.contract.claim_table import ClaimFunctions
from dse.contract.papers import DOES_NOT_EXIST, on_all
from dse.objectives.catalogue import idle_power_w, memory_levels, platforms, vendor_peak
from dse.objectives.roofline.model import EnergyRoofline

functions = ClaimFunctions()

PLATFORMS = {platform.name: EnergyRoofline.of(platform) for platform in platforms}
_PLOTTED: Column = 2.0 ** np.arange(-3.0, 10.0)
"""Intensities of the figures, in flop/B."""


def _existing(intensity: float) -> float | str:
    return DOES_NOT_EXIST if np.isinf(intensity) else intensity


def _streamed_pj(of: EnergyRoofline) -> float:
    return float(of.energy_per_traffic(0.0)) * 1e12


def _constant_share(of: EnergyRoofline) -> float:
    return float(of.constant_power / (of.constant_power + of.power_cap))


_QUANTITIES: Mapping[str, Callable[..., float]] = {
    "gflop_per_j": lambda of: float(of.peak_efficiency / 1e9),
    "mflop_per_j": lambda of: float(of.peak_efficiency / 1e6),
    "most_power": lambda of: float(of.peak_power),
    "energy_per_byte": lambda of: float(of.energy_per_byte),
    "streamed_pj_per_byte": _streamed_pj,
    "streamed_nj_per_byte": lambda of: _streamed_pj(of) / 1e3,
    "streamed_gb_per_j": lambda of: 1e3 / _streamed_pj(of),
    "constant_pj_per_byte": lambda of: float(of.constant_power * of.time(0, 1)) * 1e12,
    "most_power_with_eighth_of_cap": lambda of: float(of.capped(8).peak_power),
    "power_saved_by_eighth_of_cap": lambda of: float(of.peak_power / of.capped(8).peak_power),
    "performance_left_by_eighth_of_cap": lambda of, intensity: float(
        of.capped(8).performance(intensity) / of.performance(intensity)
    ),
    "efficiency_lost_by_eighth_of_cap": lambda of, intensity: float(
        of.efficiency(intensity) / of.capped(8).efficiency(intensity)
    ),
}


@functions
def platform_value(platform: str, quantity: str, *intensity: float) -> float:
    """Return a quantity of a platform."""
    return _QUANTITIES[quantity](PLATFORMS[platform], *intensity)


@functions
def platform_with_most(quantity: str, *intensity: float) -> str:
    """Return the platform with the most of a quantity."""
    return max(PLATFORMS, key=lambda name: platform_value(name, quantity, *intensity))


@functions
def platform_with_least(quantity: str, *intensity: float) -> str:
    """Return the platform with the least of a quantity."""
    return min(PLATFORMS, key=lambda name: platform_value(name, quantity, *intensity))


@functions
def three_platforms_with_least(quantity: str) -> str:
    """Return the names of the three platforms with the least of a quantity, sorted."""
    rising = sorted(PLATFORMS, key=lambda name: platform_value(name, quantity))
    return ", ".join(sorted(rising[:3]))


@functions
def platforms_rising(quantity: str, *names: str) -> str:
    """Return some platforms, the one with the least of a quantity first."""
    return ", ".join(sorted(names, key=lambda name: platform_value(name, quantity)))


@functions
def number_of_platforms() -> float:
    """Return how many platforms there are."""
    return float(len(PLATFORMS))


@functions
def draws_most(platform: str, part: str) -> bool:
    """Return whether ``operations`` or ``memory`` draw more power at full rate than the other."""
    of = PLATFORMS[platform]
    more, less = of.op_power, of.memory_power
    return bool(more > less if part == "operations" else less > more)


@functions
def vendor_rate(platform: str, unit: float) -> float:
    """Return the vendor's peak rate in units of some flop/s."""
    return (vendor_peak(platform).single_op_per_s or 0) / unit


@functions
def vendor_streamed_pj_per_byte(platform: str) -> float:
    """Return the energy of a streamed byte by the vendor's peak rates."""
    return _streamed_pj(EnergyRoofline.of(vendor_peak(platform)))


@functions
def platforms_below_idle() -> str:
    """Return the platforms whose fitted constant power is below their idle power."""
    return ", ".join(
        sorted(name for name, of in PLATFORMS.items() if of.constant_power < idle_power_w[name])
    )


def _energies(platform: str) -> dict[str, float]:
    """Return the energy of a transfer by level of memory, where it is printed."""
    levels = memory_levels(platform)
    return {level.name: level.energy_j for level in levels if level.energy_j is not None}


@functions
def level_costs(above: str, below: str, factor: float) -> str:
    """Return where a transfer at one level costs some times another, of platforms with both."""
    known = {name: _energies(name) for name in PLATFORMS}
    return on_all(
        {
            name: row[above] >= factor * row[below]
            for name, row in known.items()
            if above in row and below in row
        }
    )


@functions
def random_access_elsewhere_over(platform: str) -> float:
    """Return the least energy of a random access on the other platforms over that on one."""
    random = {name: _energies(name)["random"] for name in PLATFORMS if "random" in _energies(name)}
    own = random.pop(platform)
    return min(random.values()) / own


@functions
def least_share_of_power() -> float:
    """Return the least power over most of a platform at the plotted intensities."""
    return float(min(np.min(of.power(_PLOTTED) / of.peak_power) for of in PLATFORMS.values()))


@functions
def widest_range_of_power() -> float:
    """Return most over least power at the plotted intensities, of the platform where it is most."""
    return 1 / least_share_of_power()


@functions
def platforms_of_constant_power_over_half() -> float:
    """Return on how many platforms constant power is more than half of most power."""
    return float(sum(_constant_share(of) > 0.5 for of in PLATFORMS.values()))


@functions
def constant_power_and_efficiency() -> float:
    """Return the correlation of the share of constant power with peak efficiency."""
    shares = [_constant_share(of) for of in PLATFORMS.values()]
    efficiencies = [of.peak_efficiency for of in PLATFORMS.values()]
    return float(np.corrcoef(shares, efficiencies)[0, 1])


@functions
def capped_more_widely(hybrids: str, others: str) -> bool:
    """Return whether the cap limits each of some platforms over more octaves than any other."""

    def octaves(name: str) -> float:
        regimes = PLATFORMS[name].regime(np.geomspace(1 / 8, 512, 121))
        return float(np.sum(regimes == 1.0))

    return min(map(octaves, hybrids.split())) > max(map(octaves, others.split()))


@functions
def power_falls_by_less_than_cap() -> str:
    """Return where a cap divided by 2, 4, 8 divides most power by less than that."""
    return on_all(
        {
            name: all(float(of.peak_power / of.capped(k).peak_power) < k for k in (2, 4, 8))
            for name, of in PLATFORMS.items()
        }
    )


@functions
def upper_balance(platform: str) -> float | str:
    """Return B+, from which on a platform is bound by compute."""
    return _existing(float(PLATFORMS[platform].upper_balance))


@functions
def lower_balance(platform: str) -> float | str:
    """Return B-, up to which a platform is bound by memory."""
    return _existing(float(PLATFORMS[platform].lower_balance))


@functions
def upper_balance_by_equation_5(platform: str) -> float:
    """Return B+ as equation 5 is printed."""
    of = PLATFORMS[platform]
    ratio = of.memory_power / (of.power_cap - of.op_power)
    return float(of.time_balance * np.maximum(1.0, ratio))


@functions
def lower_balance_by_equation_6(platform: str) -> float:
    """Return B- as equation 6 is printed."""
    of = PLATFORMS[platform]
    ratio = (of.power_cap - of.memory_power) / of.op_power
    return float(of.time_balance * np.minimum(1.0, ratio))


@functions
def balances_are_ordered() -> str:
    """Return on which platforms B- <= B <= B+."""
    return on_all(
        {
            name: bool(of.lower_balance <= of.time_balance <= of.upper_balance)
            for name, of in PLATFORMS.items()
        }
    )


@functions
def equation_7_holds() -> str:
    """Return where (7) with its printed balances is energy over time at all intensities."""
    return on_all({name: _equation_7_holds(name) for name in PLATFORMS})


def _equation_7_holds(platform: str) -> bool:
    of, balance = PLATFORMS[platform], float(PLATFORMS[platform].time_balance)
    for intensity in _PLOTTED:
        if intensity >= upper_balance_by_equation_5(platform):
            active = of.op_power + of.memory_power * balance / intensity
        elif intensity <= lower_balance_by_equation_6(platform):
            active = of.op_power * intensity / balance + of.memory_power
        else:
            active = of.power_cap
        true = of.energy(intensity, 1.0) / of.time(intensity, 1.0)
        if not np.isclose(of.constant_power + active, true, rtol=1e-9):
            return False
    return True
