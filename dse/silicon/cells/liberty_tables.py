"""Units, templates and lookup tables of a liberty file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression import is_float
from dse.algebra.units import parse
from dse.errors import UnitError, nearest
from dse.silicon.cells.liberty_grammar import LibertyGroup, LibertyText, words
from dse.silicon.cells.library import LookupTable

_ROWS = ("input_net_transition", "input_transition_time", "constrained_pin_transition")
_COLUMNS = ("total_output_net_capacitance", "related_pin_transition")
_FARAD = {"ff": 1e-15, "pf": 1e-12}
_BLANKS = str.maketrans('",\\', "   ")


@dataclass(frozen=True)
class LibertyUnits:
    """What numbers of a file are multiplied by; areas are in square micrometres by custom."""

    second: float
    farad: float
    watt: float
    volt: float
    square_metre: float = 1e-12

    @property
    def joule(self) -> float:
        """Internal power is energy per transition: capacitance times voltage squared."""
        return self.farad * self.volt**2


def read_units(library: LibertyGroup, text: LibertyText) -> LibertyUnits:
    """Return the units of a library; one that is missing or unknown is a fault."""
    return LibertyUnits(
        second=_unit(library, text, "time_unit", "1ns", "time_s"),
        watt=_unit(library, text, "leakage_power_unit", "1nW", "leakage_w"),
        volt=_volt(library, text),
        farad=_capacitance(library, text),
    )


def _unit(library: LibertyGroup, text: LibertyText, name: str, example: str, what: str) -> float:
    written = library.get(name)
    if not written:
        rule, remedy = f"the library needs {name}", f"write '{name} : \"{example}\";'"
        text.fault(library.at, (), "", rule, remedy)
        return 1.0
    try:
        return parse(written, what)
    except UnitError as error:
        text.fault(library.place(name), (name,), repr(written), error.rule, error.remedy)
        return 1.0


def _volt(library: LibertyGroup, text: LibertyText) -> float:
    found = re.fullmatch(r"(10*) *(m?)V", library.get("voltage_unit"))
    if found is None:
        at, written = library.place("voltage_unit"), repr(library.get("voltage_unit"))
        remedy = "write 'voltage_unit : \"1V\";'"
        text.fault(at, (), written, "the library needs a voltage_unit in mV or V", remedy)
        return 1.0
    return float(found[1]) * (1e-3 if found[2] else 1.0)


def _capacitance(library: LibertyGroup, text: LibertyText) -> float:
    found = library.last("capacitive_load_unit")
    parts = words(found[0]) if found else []
    try:
        number, unit = parts
        return float(number) * _FARAD[unit.lower()]
    except (ValueError, KeyError):
        at = found[1] if found else library.at
        rule = "capacitive_load_unit is a number, then ff or pf"
        text.fault(at, (), " ".join(parts), rule, "write 'capacitive_load_unit (1, pf);'")
        return 1.0


class TableReader:
    """Turns groups of values into tables; axes that are written alike are one array."""

    def __init__(self, library: LibertyGroup, text: LibertyText, units: LibertyUnits) -> None:
        """Keep the templates of a library."""
        kinds = ("lu_table_template", "power_lut_template")
        named = ((name, group) for group in library.all(*kinds) for name in group.words()[:1])
        self.templates: Mapping[str, LibertyGroup] = dict(named)
        self.text = text
        self.units = units
        self._axes: dict[tuple[str, float], NDArray[np.float64]] = {}

    def table(self, group: LibertyGroup, path: tuple[str, ...], unit: float) -> LookupTable | None:
        """Return the table of a group, values times `unit`, or None after a fault."""
        found = group.last("values")
        if found is None:
            rule = f"{group.kind} needs values"
            self.text.fault(group.at, path, group.kind, rule, "write 'values (\"...\");'")
            return None
        values = self._numbers(found[0], found[1], path)
        if values is None:
            return None
        name = next(iter(group.words()), "scalar")
        template = self.templates.get(name)
        if len(values) == 1 and (template is None or group.last("index_1") is None):
            return LookupTable(np.zeros(1), np.zeros(1), values.reshape(1, 1) * unit)
        if template is None:
            written, rule = f"{group.kind} ({name})", f"{name!r} is not a template of this library"
            self.text.fault(group.at, path, written, rule, nearest(name, self.templates))
            return None
        return self._shaped(group, template, values * unit, found[1], path)

    def _shaped(
        self,
        group: LibertyGroup,
        template: LibertyGroup,
        values: NDArray[np.float64],
        at: int,
        path: tuple[str, ...],
    ) -> LookupTable | None:
        """Return a table with slew along the rows, whichever variable the template has first."""
        axes: dict[str, NDArray[np.float64]] = {}
        lengths = []
        for number in ("1", "2"):
            variable = template.get(f"variable_{number}")
            if not variable:
                continue
            if variable not in _ROWS + _COLUMNS:
                rule, remedy = f"{variable!r} is not a variable of delay, slew or power", "use NLDM"
                self.text.fault(template.place(f"variable_{number}"), path, "", rule, remedy)
                return None
            axis = self._axis(group, template, number, variable)
            if axis is None:
                rule, remedy = f"index_{number} is missing or does not rise", "write rising numbers"
                self.text.fault(group.at, path, group.kind, rule, remedy)
                return None
            lengths.append(len(axis))
            axes["rows" if variable in _ROWS else "columns"] = axis
        if len(values) != np.prod(lengths):
            rule = f"the table is {' x '.join(map(str, lengths))}"
            remedy = "write one value for each pair"
            self.text.fault(at, path, f"{len(values)} values", rule, remedy)
            return None
        rows, columns = axes.get("rows", np.zeros(1)), axes.get("columns", np.zeros(1))
        if template.get("variable_1") in _COLUMNS:
            return LookupTable(rows, columns, values.reshape(len(columns), len(rows)).T.copy())
        return LookupTable(rows, columns, values.reshape(len(rows), len(columns)))

    def _axis(
        self, group: LibertyGroup, template: LibertyGroup, number: str, variable: str
    ) -> NDArray[np.float64] | None:
        name = f"index_{number}"
        found = group.last(name) or template.last(name)
        if found is None:
            return None
        unit = self.units.farad if variable == _COLUMNS[0] else self.units.second
        axis = self._axes.get((found[0], unit))
        if axis is None:
            numbers = self._numbers(found[0], found[1], (name,))
            if numbers is None or not len(numbers) or np.any(np.diff(numbers) <= 0):
                return None
            axis = self._axes[found[0], unit] = numbers * unit
        return axis

    def _numbers(self, written: str, at: int, path: tuple[str, ...]) -> NDArray[np.float64] | None:
        parts = written.translate(_BLANKS).split()
        try:
            numbers = np.array(list(map(float, parts)))
        except ValueError:
            bad = next(part for part in parts if not is_float(part))
            self.text.fault(at, path, repr(bad), "a table has numbers", "write a number")
            return None
        if not np.isfinite(numbers).all():
            self.text.fault(at, path, "nan or inf", "a table has numbers", "write a number")
            return None
        return numbers
