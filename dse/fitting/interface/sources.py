"""Where host and offload times come from: a table, or what openssl speed prints."""

from __future__ import annotations

from pathlib import Path

from dse.errors import DseError
from dse.fitting.interface import openssl_speed, timings
from dse.fitting.interface.timings import Timings


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
        return timings.read_csv(data)
    if data is None and software is not None and hardware is not None:
        return openssl_speed.timings(software, hardware, algorithm)
    raise DseError(
        "a fit needs a CSV of granularity, host and offload times, or both --software and "
        "--hardware, outputs of `openssl speed`; name one or the other"
    )
