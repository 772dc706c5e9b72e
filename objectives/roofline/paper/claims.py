"""Claims of Choi et al. in IPDPS 2014, compared with our energy roofline: `claims.csv`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files

import numpy as np
from scipy.optimize import brentq

from dse.contract.claim_table import ClaimFunctions, read_claims
from dse.contract.papers import PrintedNumbers, on_all
from dse.objectives.catalogue import platform_called, read_catalogue, vendor_peak
from dse.objectives.roofline.model import EnergyRoofline

functions = ClaimFunctions()

_ROWS = {row["name"]: row for row in read_catalogue("platforms.csv")}
_MODELS = {name: EnergyRoofline.of(platform_called(name)) for name in _ROWS}
_FITTED = (
    *("sustained_single_gflops", "sustained_mem_gbs", "eps_single_pj", "eps_mem_pj_per_b"),
    *("pi1_w", "delta_pi_w"),
)
_PLOTTED = 2.0 ** np.arange(-3.0, 10.0)
"""Plotted intensities, in flop/B."""


def platform_within(printed: PrintedNumbers, name: str) -> EnergyRoofline:
    """Return a platform of Table I as read within its rounding."""
    of = _MODELS[name]
    cells = {column: [row[column] for row in _ROWS.values()] for column in _FITTED}
    op, byte, op_pj, byte_pj, constant, cap = shares = [
        printed.share(f"{name} {column}", _ROWS[name][column], others)
        for column, others in cells.items()
    ]
    if shares == [1.0] * len(shares):
        return of
    return replace(
        of,
        time_per_op=of.time_per_op / op,
        time_per_byte=of.time_per_byte / byte,
        energy_per_op=of.energy_per_op * op_pj,
        energy_per_byte=of.energy_per_byte * byte_pj,
        constant_power=of.constant_power * constant,
        power_cap=of.power_cap * cap,
    )


def _all(printed: PrintedNumbers) -> dict[str, EnergyRoofline]:
    return {name: platform_within(printed, name) for name in _MODELS}


def _streamed_pj(of: EnergyRoofline) -> float:
    return float(of.energy(0.0, 1.0)) * 1e12


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
    "gflop_per_j_at": lambda of, intensity: float(of.efficiency(intensity) / 1e9),
    "most_power_with_cap_over": lambda of, divisor: float(of.capped(divisor).peak_power),
    "power_saved_by_cap_over": lambda of, divisor: float(
        of.peak_power / of.capped(divisor).peak_power
    ),
    "performance_left_by_cap_over": lambda of, divisor, intensity: float(
        of.capped(divisor).performance(intensity) / of.performance(intensity)
    ),
    "efficiency_lost_by_cap_over": lambda of, divisor, intensity: float(
        of.efficiency(intensity) / of.capped(divisor).efficiency(intensity)
    ),
}


@functions
def platform_value(printed: PrintedNumbers, platform: str, quantity: str, *at: float) -> float:
    """Return a quantity of a platform."""
    return _QUANTITIES[quantity](platform_within(printed, platform), *at)


def _ranked(printed: PrintedNumbers, quantity: str, *at: float) -> list[str]:
    """Return the platforms, the one with the least of a quantity first."""
    values = {name: _QUANTITIES[quantity](of, *at) for name, of in _all(printed).items()}
    return sorted(values, key=values.__getitem__)


@functions
def platform_with_most(printed: PrintedNumbers, quantity: str, *at: float) -> str:
    """Return the platform with the most of a quantity."""
    return _ranked(printed, quantity, *at)[-1]


@functions
def platforms_with_least(printed: PrintedNumbers, count: float, quantity: str, *at: float) -> str:
    """Return the names of the platforms with the least of a quantity, sorted."""
    return ", ".join(sorted(_ranked(printed, quantity, *at)[: int(count)]))


@functions
def platforms_rising(printed: PrintedNumbers, quantity: str, *names: str) -> str:
    """Return some platforms, the one with the least of a quantity first."""
    return ", ".join(name for name in _ranked(printed, quantity) if name in names)


@functions
def draws_most(printed: PrintedNumbers, platform: str, part: str) -> bool:
    """Return whether ``operations`` or ``memory`` draw more power at full rate than the other."""
    of = platform_within(printed, platform)
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
def platforms_below_idle(printed: PrintedNumbers) -> str:
    """Return the platforms whose fitted constant power is below their idle power."""
    found = _all(printed).items()
    idle_w = {name: float(row["idle_w"]) for name, row in _ROWS.items()}
    return ", ".join(sorted(name for name, of in found if of.constant_power < idle_w[name]))


def _energies(printed: PrintedNumbers, column: str) -> dict[str, float]:
    """Return the printed cells of a column of energies."""
    cells = {name: row[column] for name, row in _ROWS.items() if row[column]}
    return {
        name: printed.read(f"{name} {column}", cell, cells.values()) for name, cell in cells.items()
    }


@functions
def level_costs(printed: PrintedNumbers, above: str, below: str, factor: float) -> str:
    """Return the platforms with one energy at least a multiple of another.

    Random accesses are printed in nJ, all others in pJ.
    """
    unit = 1e3 if "nj" in above else 1.0
    more, less = _energies(printed, above), _energies(printed, below)
    return on_all({name: unit * more[name] >= factor * less[name] for name in more if name in less})


@functions
def random_access_elsewhere_over(printed: PrintedNumbers, platform: str) -> float:
    """Return the least energy of a random access on the other platforms over that on one."""
    random = _energies(printed, "eps_rand_nj")
    own = random.pop(platform)
    return min(random.values()) / own


@functions
def widest_range_of_power(printed: PrintedNumbers) -> float:
    """Return the largest ratio over platforms of most to least power at the plotted intensities."""
    shares = [np.min(of.power(_PLOTTED) / of.peak_power) for of in _all(printed).values()]
    return float(1 / min(shares))


@functions
def platforms_of_constant_power_over_half(printed: PrintedNumbers) -> float:
    """Return on how many platforms constant power is more than half of most power."""
    return float(sum(_constant_share(of) > 0.5 for of in _all(printed).values()))


@functions
def constant_power_and_efficiency(printed: PrintedNumbers) -> float:
    """Return the correlation of the share of constant power with peak efficiency."""
    found = _all(printed).values()
    shares = [_constant_share(of) for of in found]
    return float(np.corrcoef(shares, [of.peak_efficiency for of in found])[0, 1])


@functions
def capped_more_widely(printed: PrintedNumbers, hybrids: str, others: str) -> bool:
    """Return whether the cap limits some platforms all over more octaves than any other."""

    def octaves(name: str) -> float:
        regimes = platform_within(printed, name).regime(np.geomspace(1 / 8, 512, 121))
        return float(np.sum(regimes == 1.0))

    return min(map(octaves, hybrids.split())) > max(map(octaves, others.split()))


@functions
def power_falls_by_less_than_cap(printed: PrintedNumbers) -> str:
    """Return the platforms on which a cap divided by 2, 4, 8 divides most power by less."""
    return on_all(
        {
            name: all(float(of.peak_power / of.capped(k).peak_power) < k for k in (2, 4, 8))
            for name, of in _all(printed).items()
        }
    )


@functions
def equation_7_holds(printed: PrintedNumbers) -> str:
    """Return the platforms on which (7) with the printed (5) and (6) is energy over time."""
    found, intensity = {}, _PLOTTED
    for name, of in _all(printed).items():
        balance = of.time_balance
        upper = balance * np.maximum(1.0, of.memory_power / (of.power_cap - of.op_power))
        lower = balance * np.minimum(1.0, (of.power_cap - of.memory_power) / of.op_power)
        compute = of.op_power + of.memory_power * balance / intensity
        memory = of.op_power * intensity / balance + of.memory_power
        regimes = [intensity >= upper, intensity <= lower]
        power = of.constant_power + np.select(regimes, [compute, memory], of.power_cap)
        found[name] = bool(np.allclose(power, of.power(intensity), rtol=1e-9))
    return on_all(found)


def _both(printed: PrintedNumbers) -> tuple[EnergyRoofline, EnergyRoofline]:
    """Return the Titan and one Arndale GPU."""
    return platform_within(printed, "gtx_titan"), platform_within(printed, "arndale_gpu")


@functions
def boards_over_titan(
    printed: PrintedNumbers, count: float, intensity: float, divisor: float = 1.0
) -> float:
    """Return the ratio of some Arndale GPUs' performance to one Titan's with a divided cap."""
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
def power_over_most(printed: PrintedNumbers, power_w: float, platform: str) -> float:
    """Return some watts over the most power of a platform."""
    return power_w / float(platform_within(printed, platform).peak_power)


@functions
def efficiencies_match(printed: PrintedNumbers, least: float, share: float) -> bool:
    """Return whether both have equal operations per joule, to a share, up to some intensity.

    Beyond the intensity of equal efficiency, the Titan is ahead by ever more.
    """
    titan, board = _both(printed)

    def behind(intensity: float) -> float:
        return float(board.efficiency(intensity) / titan.efficiency(intensity)) - (1 - share)

    return float(brentq(behind, 0.5, 32.0)) >= least


@functions
def titan_over_board(printed: PrintedNumbers, figure: str) -> float:
    """Return ``peak_power`` or ``peak_efficiency`` of the Titan over the Arndale GPU's."""
    titan, board = (float(getattr(one, figure)) for one in _both(printed))
    return titan / board


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


claims = read_claims(files("dse.objectives.roofline.paper") / "claims.csv", functions)
