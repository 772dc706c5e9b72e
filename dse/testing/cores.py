"""Conformance of cores: the part of `dse.testing` for cores."""

from __future__ import annotations

import inspect

import numpy as np

from dse.contract import Column, Core, CoreMetrics, Model, Parameter
from dse.errors import ContractError
from dse.model.designs import check_metrics
from dse.testing import quantities as kit
from dse.testing.quantities import Arguments, check_function, check_units, require


def check_core(core: Core) -> None:
    """Raise AssertionError unless every model of `core` keeps the contract.

    Checked: docstrings and signatures, names with units in SI, unique names of designs, columns
    that are float64, one value per design, finite and not negative, `extrapolated` exactly
    outside the range of a parameter, batches equal to single calls bit for bit, unchanged
    inputs, and one finite pair of residuals for each design.
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
        _check_residuals(model, where)


def _check_parameters(model: Model, where: str) -> None:
    accepted = inspect.signature(model.function).parameters
    names = [parameter.name for parameter in model.parameters]
    require(
        names == list(accepted),
        f"{where}: declares the parameters {names}, but the function takes {list(accepted)}",
    )
    for one in model.parameters:
        signature = accepted[one.name].default
        default = None if signature is inspect.Parameter.empty else signature
        require(
            one.default == default,
            f"{where}: {one.name} defaults to {one.default} in its record, but not in the "
            "signature; make them agree",
        )
        inside = one.low if default is None else default
        require(
            -np.inf < one.low <= inside <= one.high < np.inf,
            f"{where}: {one.name} ranges from {one.low} to {one.high}, by default {default}; "
            "low must not exceed high, nor the default lie outside",
        )


def _free(model: Model) -> list[Parameter]:
    return [parameter for parameter in model.parameters if parameter.default is None]


def _name(model: Model, values: Arguments, row: int) -> str:
    drawn = ((one, values[one.name][row]) for one in model.parameters)
    return model.design_name.format(
        **{one.name: int(value) if one.integer else value for one, value in drawn}
    )


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
    rows = range(kit.FEW)
    points = {tuple(drawn[one.name][row] for one in _free(model)) for row in rows}
    names = {_name(model, drawn, row) for row in rows}
    require(
        len(names) == len(points),
        f"{where}: design_name {model.design_name!r} names two designs alike; "
        f"use every parameter in it, such as '{{{_free(model)[0].name}}}'",
    )


def _drawn(model: Model) -> Arguments:
    rng = np.random.default_rng(kit.SEED)
    drawn: Arguments = {}
    for parameter in model.parameters:
        values = rng.uniform(parameter.low, parameter.high, kit.FEW)
        drawn[parameter.name] = np.round(values) if parameter.integer else values
    return drawn


def _check_metrics(core: Core, model: Model, where: str) -> None:
    def columns(given: Arguments) -> dict[str, Column]:
        return dict(vars(model.function(**given)))

    given = _drawn(model)
    if model.designs:
        given = {name: values[:1] for name, values in given.items()}
        rows = len(model.designs)
        values = kit.evaluate_once(columns, given, rows, where)
        again = kit.evaluate_once(columns, given, rows, where)
        repeated = all(bool(kit.same(values[name], again[name]).all()) for name in values)
        require(repeated, f"{where}: differs between two equal calls; make the function pure")
    else:
        rows = kit.FEW
        values = kit.elementwise(columns, given, rows, where)
    names = model.designs or tuple(_name(model, given, row) for row in range(rows))
    try:
        check_metrics(core.name, names, CoreMetrics(**columns(given)))
    except ContractError as error:
        raise AssertionError(f"{where}: {error}") from error
    _check_range(columns, model, given, values["extrapolated"], where)


def _check_range(
    columns: kit.Call, model: Model, given: Arguments, inside: Column, where: str
) -> None:
    require(not inside.any(), f"{where}: is extrapolated inside the range of its parameters")
    rows = inside.size
    for parameter in model.parameters:
        for beyond in (parameter.low - 1.0, parameter.high + 1.0):
            outer = given | {parameter.name: np.full_like(given[parameter.name], beyond)}
            said = kit.evaluate_once(columns, outer, rows, where)["extrapolated"]
            require(
                bool((said == 1.0).all()),
                f"{where}: extrapolated is not 1.0 for {parameter.name} = {beyond:g}, outside "
                f"{parameter.low:g} to {parameter.high:g}",
            )


def _check_residuals(model: Model, where: str) -> None:
    for quantity, (designs, *pair) in (model.residuals() if model.residuals else {}).items():
        check_units((quantity,), where)
        require(
            all(one.shape == (len(designs),) and np.isfinite(one).all() for one in pair),
            f"{where}: residuals of {quantity} are not one finite pair for each design",
        )
