"""What public functions return where they add to what the packages below give."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dse.answers.answer import Recommendation
from dse.fitting.core import CoreFit
from dse.fitting.core_report import core_facts, core_text
from dse.fitting.interface.report import InterfaceReport
from dse.fitting.interface.text import interface_facts, interface_text
from dse.fitting.platform import PlatformFit, platform_facts, platform_text
from dse.reports.text import Printable

if TYPE_CHECKING:
    from dse.uncertainty.certainty import Certainty


@dataclass(frozen=True, repr=False, kw_only=True)
class Answer(Recommendation):
    """The answer of a study; as text it is what `dse answer` prints.

    Attributes
    ----------
    certainty
        How sure it is, when samples were drawn.
    """

    certainty: Certainty | None = None


@dataclass(frozen=True, repr=False, kw_only=True)
class CoreFitReport(Printable, CoreFit):
    """The laws of a core; as text what `dse fit core` prints of them."""

    def text(self) -> str:
        """Return them as text."""
        return core_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return core_facts(self)


@dataclass(frozen=True, repr=False, kw_only=True)
class PlatformFitReport(Printable, PlatformFit):
    """A fitted platform; as text what `dse fit platform` prints of it."""

    def text(self) -> str:
        """Return it as text."""
        return platform_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return platform_facts(self)


@dataclass(frozen=True, repr=False, kw_only=True, eq=False)
class InterfaceFitReport(Printable, InterfaceReport):
    """A fitted interface and kernel; as text what `dse fit interface` prints of them.

    Attributes
    ----------
    files
        What was written.
    """

    files: tuple[Path, ...] = ()

    def text(self) -> str:
        """Return them as text."""
        return interface_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return interface_facts(self)
