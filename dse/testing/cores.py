"""Conformance of cores: the part of `dse.testing` for cores."""

from __future__ import annotations

import inspect

import numpy as np

from dse.contract import Column, Core, CoreMetrics, Model, Parameter
from dse.errors import ContractError
from dse.model.designs import check_metrics
from dse.testing import probe
from dse.testing.probe import Arguments, check_function, check_units, require


def check_core(core: Core) -> None:
    """Raise AssertionError unless every model of `core` keeps the contract.

    Checked: docstrings and signatures, names with units in SI, unique names of designs, columns
    that are float64, one value per design, finite and not negative, `extrapolated` exactly
    outside the range of a parameter, batches equal to single calls bit for bit, unchanged
    inputs, and residuals that agree with table and law.
    """
    require(bool(core.summary.strip()), f"core {core.name!r}: no summary; write one line")
    require(bool(core.models), f"core {core.name!r}: no models; give it a table or a law")
    for name, model in core.models.items():
        where = f"core {core.name!r}, model {name!r}"
        require(bool(model.source.strip()), f"{where}: no source; name its publication")
        check_function(model.function, where)
        _check_parameters(model, where)
        unknown = set(model.assumed) - set(CoreMetrics.__dataclass_fields__)
        require(not unknown, f"{where}: assumes {unknown}, which are no fields of CoreMetrics")
        _check_designs(model, where)
        _check_metrics(core, model, where)
        if model.residuals is not None:
            _check_residuals(core, model, where)


def _check_parameters(model: Model, where: str) -> None:
    accepted = inspect.signature(model.function).parameters
    names = [parameter.name for parameter in model.parameters]
    require(
        names == list(accepted),
        f"{where}: declares the parameters {names}, but the function takes {list(accepted)}",
    )
    for parameter in model.parameters:
        low, high, default = parameter.low, parameter.high, parameter.default
        signature = accepted[parameter.name].default
        require(
            bool(np.isfinite([low, high]).all()) and low <= high,
            f"{where}: {parameter.name} ranges from {low} to {high}; low must not exceed high",
        )
        require(
            default == (None if signature is inspect.Parameter.empty else signature),
            f"{where}: {parameter.name} defaults to {default} in its record, but not in the "
            "signature; make them agree",
        )
        require(
            default is None or low <= default <= high,
            f"{where}: {parameter.name} defaults to {default}, outside its range",
        )


def _free(model: Model) -> list[Parameter]:
    return [parameter for parameter in model.parameters if parameter.default is None]


def _name(model: Model, values: Arguments, row: int) -> str:
    shown = {
        parameter.name: int(values[parameter.name][row])
        if parameter.integer
        else values[parameter.name][row]
        for parameter in model.parameters
    }
    return model.design_name.format(**shown)


def _check_designs(model: Model, where: str) -> None:
    if model.designs:
        require(
            len(set(model.designs)) == len(model.designs),
            f"{where}: two designs have the same name; names must be unique",
        )
        require(not model.design_name, f"{where}: has designs and a design_name; keep one")
        require(not _free(model), f"{where}: is a table with a parameter that has no default")
        return
    require(bool(_free(model)), f"{where}: has neither designs nor a design parameter")
    drawn = _drawn(model)
    points = {
        tuple(drawn[parameter.name][row] for parameter in _free(model)) for row in range(probe.FEW)
    }
    names = {_name(model, drawn, row) for row in range(probe.FEW)}
    require(
        len(names) == len(points),
        f"{where}: design_name {model.design_name!r} names two designs alike; "
        f"use every parameter in it, such as '{{{_free(model)[0].name}}}'",
    )


def _drawn(model: Model) -> Arguments:
    rng = np.random.default_rng(probe.SEED)
    drawn: Arguments = {}
    for parameter in model.parameters:
        values = rng.uniform(parameter.low, parameter.high, probe.FEW)
        drawn[parameter.name] = np.round(values) if parameter.integer else values
    return drawn


def _check_metrics(core: Core, model: Model, where: str) -> None:
    def columns(given: Arguments) -> dict[str, Column]:
        return dict(vars(model.function(**given)))

    given = _drawn(model)
    if model.designs:
        given = {name: values[:1] for name, values in given.items()}
        rows = len(model.designs)
        values = probe.evaluate_once(columns, given, rows, where)
        again = probe.evaluate_once(columns, given, rows, where)
        repeated = all(bool(probe.same(values[name], again[name]).all()) for name in values)
        require(repeated, f"{where}: differs between two equal calls; make the function pure")
    else:
        rows = probe.FEW
        values = probe.elementwise(columns, given, rows, where)
    names = model.designs or tuple(_name(model, given, row) for row in range(rows))
    try:
        check_metrics(core.name, names, CoreMetrics(**columns(given)))
    except ContractError as error:
        raise AssertionError(f"{where}: {error}") from error
    _check_range(columns, model, given, values["extrapolated"], where)


def _check_range(
    columns: probe.Call, model: Model, given: Arguments, inside: Column, where: str
) -> None:
    require(not inside.any(), f"{where}: is extrapolated inside the range of its parameters")
    rows = inside.size
    for parameter in model.parameters:
        for beyond in (parameter.low - 1.0, parameter.high + 1.0):
            outer = given | {parameter.name: np.full_like(given[parameter.name], beyond)}
            said = probe.evaluate_once(columns, outer, rows, where)["extrapolated"]
            require(
                bool((said == 1.0).all()),
                f"{where}: extrapolated is not 1.0 for {parameter.name} = {beyond:g}, outside "
                f"{parameter.low:g} to {parameter.high:g}",
            )


def _quantities(metrics: CoreMetrics) -> dict[str, Column]:
    """Return the possible quantities of residuals: every metric, total power and payload rate."""
    return dict(vars(metrics)) | {
        "power_w": metrics.dynamic_power_w + metrics.leakage_power_w,
        "capacity_bit_per_s": metrics.clock_hz / metrics.cycles_per_task * metrics.payload_bit,
    }


def _check_residuals(core: Core, model: Model, where: str) -> None:
    """Compare reported residuals with the tables, and with the law if names identify designs."""
    tables = [other for other in core.models.values() if other.designs]
    residuals = model.residuals() if model.residuals else {}
    for quantity, (designs, of_table, of_law) in residuals.items():
        check_units((quantity,), where)
        shape = (len(designs),)
        require(
            of_table.shape == of_law.shape == shape
            and bool(np.isfinite(of_table).all() and np.isfinite(of_law).all()),
            f"{where}: residuals of {quantity} are not one finite pair for each design",
        )
        require(
            any(_tabulates(table, quantity, designs, of_table) for table in tables),
            f"{where}: residuals of {quantity} name values that no table of the core has",
        )
        for design, value in zip(designs, of_law, strict=True):
            said = _by_law(model, quantity, design)
            require(
                said is None or bool(np.isclose(said, value, rtol=probe.ROUNDING, atol=0)),
                f"{where}: residuals say {quantity} = {value:g} for {design!r}, the law {said}",
            )


def _tabulates(table: Model, quantity: str, designs: tuple[str, ...], values: Column) -> bool:
    column = _quantities(table.function()).get(quantity)
    if column is None or not set(designs) <= set(table.designs):
        return False
    rows = [table.designs.index(design) for design in designs]
    return bool(np.allclose(column[rows], values, rtol=probe.ROUNDING, atol=0))


def _by_law(model: Model, quantity: str, design: str) -> float | None:
    """Return the law's value for a design, None unless one integer parameter names it."""
    free = _free(model)
    if len(free) != 1 or not free[0].integer:
        return None
    for value in range(int(free[0].low), int(free[0].high) + 1):
        if model.design_name.format(**{free[0].name: value}) == design:
            metrics = model.function(**{free[0].name: np.array([float(value)])})
            return float(_quantities(metrics)[quantity][0])
    return None
