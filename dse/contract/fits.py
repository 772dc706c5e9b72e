"""What a plug-in provides to fit records of its model to measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dse.contract import Column, Platform


@dataclass(frozen=True, kw_only=True)
class FittedPlatform:
    """A platform and what supports it.

    Attributes
    ----------
    platform
        The record: a platform that fits, whatever the runs do not tell.
    errors
        Model over measurement minus 1, one value per run, by measured quantity.
    intervals
        95 % intervals by field of the platform; of what is not identified all that is possible.
    unidentified
        Fields that the runs do not tell, each with why and what the record takes it as.
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
        What is fitted, as ``dse fit`` calls it.
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
