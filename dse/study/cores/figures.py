"""Figures of cores in a table, in SI, in any form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.errors import UnitError, nearest
from dse.files import headers
from dse.files.csv import CsvTable
from dse.files.headers import Header
from dse.study.cores.core_law import AGREEMENT
from dse.study.reader import Reader

Form = tuple[str, Callable[[Column], Column]]
"""A column in SI that can give a figure, and how."""


def as_is(values: Column) -> Column:
    """Return a column unchanged."""
    return values


class Figures:
    """Columns of one table by their names in SI, and figures given for all of its designs."""

    def __init__(self, table: CsvTable, places: Mapping[str, int], reader: Reader) -> None:
        """Read the headers; `reader` is the stage's."""
        self.table = table
        self.reader = reader
        self.assumed: list[str] = []
        self.unleaking = False
        self.used: set[str] = set()
        self._headers: dict[str, tuple[int, Header]] = {}
        self._given: dict[str, tuple[str, float]] = {}
        for written, place in places.items():
            try:
                header = headers.read_header(written)
            except UnitError:
                continue  # it may still be a parameter
            name = header.name.casefold()
            if name in self._headers:
                rule = f"{self._headers[name][1].written!r} is the same column"
                remedy = "rename or remove one of the two"
                reader.faults.append(table.fault(None, place, rule, remedy))
            self._headers[name] = place, header

    def give(self, values: Mapping[str, Any]) -> None:
        """Take the figures that the study gives for every design: ``{payload: 128 bit}``."""
        for written, value in values.items():
            where = ("values", written)
            with self.reader.at(where):
                number, suffix = units.parse_any(value)
                if suffix and not units.suffix(written):
                    name = f"{written}_{suffix}"
                else:
                    header = headers.read_header(written)
                    name = header.name
                    number = units.parse(value, name) if suffix else number * float(header.factor)
                if name in self._headers:
                    rule = f"column {self._headers[name][1].written!r} gives it for each design"
                    self.reader.fault(where, rule, "remove it here, or there")
                elif number < 0:
                    self.reader.fault(where, "a figure is not negative", "write 0 or more")
                self._given[name] = written, number

    def check_all_used(self, known: Sequence[str]) -> None:
        """Report figures given by the study that no core has."""
        for name, (written, _) in self._given.items():
            if name not in self.used:
                where = ("values", written)
                if written in known:
                    rule = "a unit that fits is missing"
                    self.reader.fault(where, rule, "write it with its unit, as in 128 bit")
                    continue
                rule = "a core has no such figure in this unit"
                self.reader.fault(where, rule, nearest(written, known), repr(written))

    def need(self, label: str, example: str, forms: Sequence[Form]) -> Column:
        """Return a figure that has no default; its absence is a fault."""
        values = self.one(forms)
        if values is not None:
            return values
        accepted = " or ".join(name for name, _ in forms[:3])
        rule = f"the table has no column for {label}, such as {example}"
        figure = units.stem(forms[0][0]) or forms[0][0]
        value = units.example(forms[0][0])
        header = self._likely(forms)
        example = headers.in_unit_of(example, header.strip("'"))
        column, given = f"columns: {{{example}: {header}}}", f"values: {{{figure}: {value}}}"
        if not self.reader.path:  # a table that no study names
            column, given = (
                f'--set "columns.{example}={header}"',
                f'--set "values.{figure}={value}"',
            )
        remedy = (
            f"accepted are {accepted} with any prefix of the unit; call a column so with "
            f"`{column}`, or give all designs one with `{given}`"
        )
        self.reader.fault(("table",), rule, remedy)
        return self._unknown()

    def _likely(self, forms: Sequence[Form]) -> str:
        """Return the one header that has the unit of an area or a clock, else a stand-in."""
        suffixes = {units.suffix(name) for name, _ in forms} & {"m2", "ge", "lc", "hz"}
        headers = (header for _, header in self._headers.values())
        found = [one.written for one in headers if units.suffix(one.name) in suffixes]
        return f"'{found[0]}'" if len(found) == 1 else "HEADER"

    def one(
        self, forms: Sequence[Form], *, zero: bool = False, distinct: bool = True
    ) -> Column | None:
        """Return a figure in the first form that is there; the others have to agree with it.

        A figure whose name is not `distinct` may begin that of another column: ``read_ports``.
        """
        found = [
            (name, convert(values))
            for name, convert in forms
            if (values := self._read(name, zero=zero)) is not None
        ]
        for name, values in found[1:]:
            self.agree(found[0][1], found[0][0], values, name)
        if not found and distinct and self._looks_alike(forms):
            return self._unknown()
        return found[0][1] if found else None

    def agree(self, first: Column, called: str, second: Column, name: str) -> None:
        """Report where the figure from column `name` is not the one from column `called`."""
        largest = np.maximum(np.abs(first), np.abs(second))
        with np.errstate(invalid="ignore"):  # infinite in both is no difference
            differ = np.abs(first - second) > AGREEMENT * largest
        for row in np.flatnonzero(differ):
            share = abs(first[row] - second[row]) / largest[row]
            self.refuse(
                name if name in self._headers else called,
                int(row),
                f"{called} and {name} disagree by {share:.1%}",
                f"correct one, or set it aside with `columns: {{unused: {self._written(name)}}}`",
            )

    def refuse(self, name: str, row: int, rule: str, remedy: str) -> None:
        """Add a fault at a cell of the column called `name` in SI; at the stage without one."""
        if name in self._headers:
            fault = self.table.fault(row, self._headers[name][0], rule, remedy)
            self.reader.faults.append(fault)
        else:
            self.reader.fault(("values",), rule, remedy, "")

    def assume_no_leakage(self, text: str) -> None:
        """Note that nothing leaks, in words."""
        self.assumed.append(text)
        self.unleaking = True

    def full(self, value: float) -> Column:
        """Return one value for every design."""
        return np.full(len(self.table), value)

    def which(self, names: Sequence[str]) -> str:
        """Return the first of `names`, in SI, that is a column; the first without one."""
        return next((name for name in names if name in self._headers), names[0])

    def places_used(self) -> set[int]:
        """Return the positions of the columns that gave a figure."""
        return {self._headers[name][0] for name in self.used if name in self._headers}

    def _unknown(self) -> Column:
        return self.full(np.nan)  # compares with nothing, so that it causes no further faults

    def _written(self, name: str) -> str:
        return self._headers[name][1].written if name in self._headers else name

    def _read(self, name: str, *, zero: bool) -> Column | None:
        if name in self._given:
            self.used.add(name)
            return self.full(self._given[name][1])
        if name not in self._headers:
            return None
        self.used.add(name)
        place, header = self._headers[name]
        values = self.table.numbers(place, header.factor, self.reader.faults)
        wrong = values < 0 if zero else values <= 0
        least = "0 or more" if zero else "positive"
        for row in np.flatnonzero(wrong):
            self.refuse(name, int(row), f"it must be {least}", "correct the figure")
        return np.where(wrong, np.nan, values)

    def _looks_alike(self, forms: Sequence[Form]) -> bool:
        """Report a column that is called like a figure but has no unit, or none that is known."""
        stems = {units.stem(name) or name for name, _ in forms}
        labels = sorted({units.label(name) for name, _ in forms} - {""})
        for name, (place, header) in self._headers.items():
            alike = units.stem(name) in stems or any(name.startswith(f"{s}_") for s in stems)
            if alike and name not in self.used and self.table.share_of_numbers(place) > 0.5:
                rule = f"it needs a name with a unit ({' or '.join(labels)})"
                example = _example(forms)
                remedy = f"write {example}, or `columns: {{{example}: {header.written!r}}}`"
                self.reader.faults.append(self.table.fault(None, place, rule, remedy))
                return True
        return False


def _example(forms: Sequence[Form]) -> str:
    """Return a header for a figure in a customary prefix: ``area_um2``."""
    name = forms[0][0]
    custom = {"m2": "um2", "w": "mw", "hz": "mhz", "s": "ns", "bit_per_s": "gbit_per_s"}
    suffix = units.suffix(name)
    return f"{units.stem(name)}_{custom.get(suffix, suffix)}" if units.stem(name) else name
