"""A kernel and an interface fitted to host and offload times, and what speaks for the fit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from dse.algebra import units
from dse.errors import DseError, UnitError
from dse.fitting.interface.adequacy import Checks, check_adequacy
from dse.fitting.interface.break_even import BreakEven, break_even
from dse.fitting.interface.fit import InterfaceFit, fit_times
from dse.fitting.interface.openssl import openssl_timings
from dse.fitting.interface.timings import Timings, read_csv


@dataclass(frozen=True, kw_only=True, eq=False)
class InterfaceReport:
    """Timings, the fit, what speaks for and against it, and from where on an offload pays."""

    timings: Timings
    fit: InterfaceFit
    checks: Checks
    pays: BreakEven
    pure: bool

    @property
    def is_linear_assumed(self) -> bool:
        """Whether the exponent is 1 because three sizes cannot determine it."""
        return math.isnan(self.fit.linear_p)


def report_on(timings: Timings, *, pure: bool = False) -> InterfaceReport:
    """Fit, check and find where an offload pays.

    Raises
    ------
    DseError
        When the host does not take longer for more data: no computation to fit.
    """
    data = (timings.size, timings.host, timings.offload)
    if timings.host[-1] <= timings.host[0]:
        raise DseError(
            f"the host takes {units.show(timings.host[0], 'host_s')} for the smallest and "
            f"{units.show(timings.host[-1], 'host_s')} for the largest size; "
            "a kernel takes longer for more data; look at the columns and their units"
        )
    fit = fit_times(*data, pure=pure)
    if not all(fit.estimates[name].value > 0 for name in ("index_s_per_byte", "exponent")):
        raise DseError(
            "the host's time does not grow with the size as a power does; measure larger sizes"
        )
    return InterfaceReport(
        timings=timings,
        fit=fit,
        checks=check_adequacy(*data, fit),
        pays=break_even(fit.model, *data),
        pure=pure,
    )


def read_timings(
    data: Path | None,
    software: Path | None = None,
    hardware: Path | None = None,
    *,
    algorithm: str | None = None,
    clock: str | None = None,
) -> Timings:
    """Return the times in a CSV, or in two outputs of openssl speed.

    Raises
    ------
    DseError
        When it is neither, or both; `StudyError` when they cannot be read.
    """
    if data is not None and software is None and hardware is None:
        if algorithm is not None:
            raise DseError("--algorithm chooses among outputs of openssl speed; remove it")
        return read_csv(data, None if clock is None else _clock_hz(clock))
    if data is None and software is not None and hardware is not None:
        if clock is not None:
            raise DseError("--clock turns cycles in a CSV into seconds; remove it")
        return openssl_timings(software, hardware, algorithm)
    raise DseError(
        "a fit needs a CSV of granularity, host and offload times, or both --software and "
        "--hardware, outputs of `openssl speed`; name one or the other"
    )


def _clock_hz(written: str) -> float:
    try:
        clock = units.parse(written, "clock_hz")
    except UnitError as error:
        raise UnitError(f"--clock {written!r}: {error.rule}", error.remedy) from error
    if clock <= 0:
        raise UnitError(f"--clock {written!r}: it must be positive", 'write "3 GHz"')
    return clock
