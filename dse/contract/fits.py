"""Records of plug-ins that fit a platform to measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dse.contract import Column, Platform


@dataclass(frozen=True, kw_only=True)
class FittedPlatform:
    """A platform and its support by the runs.

    Attributes
    ----------
    platform
        The record: a platform that fits, including fields that the runs do not determine.
    errors
        Model over measurement minus 1, one value per run, by measured quantity.
    intervals
        95 % intervals by field of the platform, or all possible values if it is unidentified.
    unidentified
        Fields that the runs do not determine, each with the reason and the value in the record.
    """

    platform: Platform
    errors: Mapping[str, Column]
    intervals: Mapping[str, tuple[float, float]]
    unidentified: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A way to fit a platform to measured runs.

    Attributes
    ----------
    name
        Name of the fitted record for ``dse fit``.
    function
        Keyword-only: ``precision`` (one of `PRECISIONS`), and one column per measured quantity,
        named with its unit suffix.  Raises ValueError for runs that cannot be fitted.
    method
        In a few words, for the record.
    source
        Paper and section.
    """

    name: str
    function: Callable[..., FittedPlatform]
    method: str
    source: str
