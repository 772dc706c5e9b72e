"""Offloads of several sizes, as a study writes them: ``{64 B: 3/4, 1500 B: 1/4}``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from dse.algebra import units
from dse.errors import UnitError
from dse.study.fields import Given, Unit, fault

_WHOLE = 1e-9
"""By how much shares that are rounded may miss 1."""


class Mix(Given):
    """Sizes and the share of all offloads that each has; the value is the mean size."""

    sizes: tuple[float, ...]
    shares: tuple[float, ...]

    @property
    def note(self) -> str:
        """What is mixed, and what that makes on average."""
        pairs = zip(self.sizes, self.shares, strict=True)
        listed = [f"{units.show(size, self.column)} ({share:.3g})" for size, share in pairs]
        mean = units.show(self.value, self.column)
        return f"workload.granularity: sizes and shares {', '.join(listed)}: {mean} on average"


class Sizes(Unit):
    """Metadata of a field that holds one size, or a mapping of sizes to shares."""

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the field to editors."""
        found = super().__get_pydantic_json_schema__(schema, handler)
        return found | {"type": ["string", "number", "object"]}

    def read(self, written: Any) -> Given | None:
        """Return one size, or a mix; raise a fault that names what to write."""
        if not isinstance(written, Mapping):
            return super().read(written)
        found = [super(Sizes, self).read(size) for size in written]
        sizes = tuple(given.value for given in found if given is not None)
        shares = tuple(_share(share) for share in written.values())
        if not written:
            raise fault(
                "a mix has at least one size", "write for instance {64 B: 3/4, 1500 B: 1/4}"
            )
        if len({*sizes}) < len(written):
            raise fault("a mix has each size once", "write for instance {64 B: 3/4, 1500 B: 1/4}")
        total = math.fsum(shares)
        if abs(total - 1.0) > _WHOLE:
            rule = f"the shares of all sizes add up to {total:.4g}, not 1"
            raise fault(rule, "write for instance {64 B: 3/4, 1500 B: 1/4}")
        mean = sum(share * size for size, share in zip(sizes, shares, strict=True))
        return Mix(column=self.columns[0], value=mean, sizes=sizes, shares=shares)


def _share(written: Any) -> float:
    """Return a share: ``7/12``, ``0.25`` or ``25 %``."""
    try:
        share = float(Fraction(written)) if isinstance(written, str) and "/" in written else None
        share = units.parse(written, "share") if share is None else share
    except (UnitError, ValueError, ZeroDivisionError, TypeError):
        share = math.nan
    if not 0.0 < share <= 1.0:
        raise fault("a share of offloads is more than 0 and at most 1", "write 7/12, or 58 %")
    return share
