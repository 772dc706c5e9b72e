"""A kernel and an interface fitted to host and offload times, and what speaks for the fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dse.algebra import units
from dse.errors import DseError
from dse.fitting.interface.adequacy import Checks, check_adequacy
from dse.fitting.interface.fit import InterfaceFit, fit_times
from dse.fitting.interface.measured_break_even import BreakEven, break_even
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
    def linear(self) -> bool:
        """Whether the exponent is 1 because the data do not reject it."""
        return bool(self.fit.linear[0])

    @property
    def values(self) -> dict[str, tuple[float, float, float]]:
        """Value, low and high end by name with unit suffix."""
        return {
            name: (float(found.value[0]), float(found.low[0]), float(found.high[0]))
            for name, found in self.fit.estimates.items()
        }


def report_on(timings: Timings, *, pure: bool = False) -> InterfaceReport:
    """Fit, check and find where an offload pays.

    Raises
    ------
    DseError
        When the host does not take longer for more data: no computation to fit.
    """
    data = (timings.size, timings.host, timings.offload)
    if timings.host[0, -1] <= timings.host[0, 0]:
        raise DseError(
            f"the host takes {units.show(timings.host[0, 0], 'host_s')} for the smallest and "
            f"{units.show(timings.host[0, -1], 'host_s')} for the largest size; "
            "a kernel takes longer for more data; look at the columns and their units"
        )
    fit = fit_times(*data, pure=pure)
    if not all(fit.estimates[name].value[0] > 0 for name in ("index_s_per_byte", "exponent")):
        raise DseError(
            "the host's time does not grow with the size as a power does; measure larger sizes"
        )
    return InterfaceReport(
        timings=timings,
        fit=fit,
        checks=check_adequacy(*data, fit),
        pays=break_even(fit, *data),
        pure=pure,
    )


def read_timings(
    data: Path | None, software: Path | None, hardware: Path | None, algorithm: str | None
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
        return read_csv(data)
    if data is None and software is not None and hardware is not None:
        return openssl_timings(software, hardware, algorithm)
    raise DseError(
        "a fit needs a CSV of granularity, host and offload times, or both --software and "
        "--hardware, outputs of `openssl speed`; name one or the other"
    )
