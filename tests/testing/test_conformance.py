"""Every registered plug-in keeps its contract, and the kit catches those that do not."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from dse.contract import Core, CoreMetrics, Model, Objective, Parameter, Requirement
from dse.plugins import registry
from dse.testing import check_core, check_objective, check_requirement

CHECKS = {Core: check_core, Objective: check_objective, Requirement: check_requirement}
RECORDS = [(kind, name) for kind in CHECKS for name in registry.records(kind)]


@pytest.mark.parametrize(("kind", "name"), RECORDS)
def test_what_is_registered_conforms(kind, name):
    CHECKS[kind](registry.get(kind, name))


# Objectives ---------------------------------------------------------------------------------


def documented(function):
    """Give a function a docstring."""
    function.__doc__ = "A quantity."
    return function


def objective(function, **fields) -> Objective:
    return Objective(function=documented(function), source="a paper", **fields)


def good_power_w(*, dynamic_power_w, stage_leakage_power_w, host_power_w=0.0):
    return dynamic_power_w + sum(stage_leakage_power_w) + host_power_w


def positional_power_w(dynamic_power_w):
    return dynamic_power_w * 2.0


def foreign_power_w(*, dynamic_power_mw):
    return dynamic_power_mw * 1e-3


def foreign_power_mw(*, dynamic_power_w):
    return dynamic_power_w * 1e3


def unfinished_s(*, time_per_byte):
    return time_per_byte * 8.0


def writing_power_w(*, dynamic_power_w, leakage_power_w):
    dynamic_power_w += leakage_power_w
    return dynamic_power_w


def relative_power_w(*, dynamic_power_w):
    return dynamic_power_w / dynamic_power_w.max()


def reduced_power_w(*, stage_power_w):
    return np.repeat(np.sum(stage_power_w), 2)


def integer_cores(*, host_cores):
    return np.ceil(host_cores).astype(np.int64)


def list_power_w(*, dynamic_power_w):
    return dynamic_power_w.tolist()


def one_row_power_w(*, dynamic_power_w, leakage_power_w):
    if dynamic_power_w.shape == leakage_power_w.shape:
        return dynamic_power_w + leakage_power_w
    return dynamic_power_w - leakage_power_w


CALLS = itertools.count()


def impure_power_w(*, dynamic_power_w):
    return dynamic_power_w + float(next(CALLS))


def root_power_w(*, dynamic_power_w):
    return np.sqrt(dynamic_power_w - 1e-3)


def regime(*, workload_intensity):
    return np.where(workload_intensity > 1.0, 2.0, 0.0)


def falling_power_w(*, dynamic_power_w, stage_capacity_bit_per_s):
    return dynamic_power_w * (stage_capacity_bit_per_s[0] / stage_capacity_bit_per_s[-1])


def hump_power_w(*, clock_fraction):
    return np.minimum(clock_fraction, 20.0) - 1e-6 * np.maximum(clock_fraction - 90.0, 0.0)


def optional_power_w(*, dynamic_power_w, leakage_power_w=np.inf):
    return np.where(np.isinf(leakage_power_w), -1.0, 1.0) * dynamic_power_w


def nothing_power_w():
    return np.zeros(1)


def undocumented_power_w(*, dynamic_power_w):
    return dynamic_power_w


GOOD = objective(
    good_power_w, rises_with=("dynamic_power_w", "stage_leakage_power_w", "host_power_w")
)


def test_good_objectives_pass():
    check_objective(GOOD)
    check_objective(objective(root_power_w, partial=True, rises_with=("dynamic_power_w",)))
    check_objective(objective(regime, labels=("memory", "power", "compute")))
    # Below 90 the declaration holds: a range says where an argument makes sense.
    hump = objective(hump_power_w, rises_with=("clock_fraction",))
    check_objective(hump, ranges={"clock_fraction": (0.01, 0.02)})


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (replace(GOOD, source=" "), "no source"),
        (Objective(function=undocumented_power_w, source="a paper"), "no docstring"),
        (objective(positional_power_w), "'dynamic_power_w' is not keyword-only"),
        (objective(nothing_power_w), "takes no arguments"),
        (objective(foreign_power_w), "'dynamic_power_mw' ends in 'mw', which is no SI unit"),
        (objective(foreign_power_mw), "'foreign_power_mw' ends in 'mw', which is no SI unit"),
        (objective(unfinished_s), "'time_per_byte' has no unit before"),
        (objective(writing_power_w), "writes to its arguments"),
        (objective(relative_power_w), "differs between a batch and single calls"),
        (objective(reduced_power_w), "has shape \\(2,\\) for 16 rows"),
        (objective(integer_cores), "is not a float64 column"),
        (objective(list_power_w), "is not a float64 column"),
        (objective(one_row_power_w), "changes when 'dynamic_power_w' has one row"),
        (objective(impure_power_w), "differs between two equal calls"),
        (objective(root_power_w), "gives NaN; give a number, or declare it partial"),
        (objective(regime, labels=("memory", "compute")), "codes beyond its 2 labels"),
        (replace(GOOD, rises_with=("power_w",)), "depends on 'power_w', which is not an argument"),
        (
            objective(falling_power_w, falls_with=("stage_capacity_bit_per_s",)),
            "never rises with stage_capacity_bit_per_s",
        ),
        (
            objective(falling_power_w, rises_with=("stage_capacity_bit_per_s",)),
            "never falls with stage_capacity_bit_per_s",
        ),
        (objective(hump_power_w, rises_with=("clock_fraction",)), "never falls with clock_frac"),
        (
            objective(optional_power_w, rises_with=("dynamic_power_w",)),
            "never falls with dynamic_power_w",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else value.name,
)
def test_broken_objective_is_caught(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_objective(broken)


def test_a_refuted_declaration_shows_the_pair():
    with pytest.raises(AssertionError) as caught:
        check_objective(replace(GOOD, falls_with=("host_power_w",)))
    text = str(caught.value)
    assert text.startswith("objective 'good_power_w': declares that it never rises with host_power")
    assert "when host_power_w grows at dynamic_power_w = " in text
    assert text.endswith("; prove or remove the declaration")


# Requirements -------------------------------------------------------------------------------


def shortfall(*, throughput_bit_per_s, workload_rate_bit_per_s):
    return 1.0 - throughput_bit_per_s / workload_rate_bit_per_s


MEETS = Requirement(
    function=documented(shortfall),
    rule="the throughput reaches the demand",
    rises_with=("workload_rate_bit_per_s",),
    falls_with=("throughput_bit_per_s",),
    quantity="throughput_bit_per_s",
    at_least="workload_rate_bit_per_s",
)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (replace(MEETS, rule=""), "no rule"),
        (replace(MEETS, function=documented(root_power_w)), "a violation is a number"),
        (replace(MEETS, function=documented(writing_power_w)), "writes to its arguments"),
        (replace(MEETS, function=documented(relative_power_w)), "batch and single calls"),
    ],
)
def test_broken_requirement_is_caught(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_requirement(broken)


# Cores --------------------------------------------------------------------------------------


def metrics(size, **changed) -> CoreMetrics:
    columns = {name: np.ones_like(size) for name in CoreMetrics.__dataclass_fields__}
    columns |= {"area_m2": size * 1e-9, "extrapolated": np.where((size < 1) | (size > 4), 1.0, 0.0)}
    return CoreMetrics(**(columns | changed))


def table() -> CoreMetrics:
    """Two designs."""
    return metrics(np.array([1.0, 4.0]))


@documented
def law(*, lanes):
    return metrics(lanes)


def law_residuals(off=1.0):
    area = np.array([1e-9, 4e-9])
    return {"area_m2": (("x1", "x4"), area, area * off)}


LANES = Parameter(name="lanes", description="Copies of the datapath", low=1, high=4, integer=True)
TABLE = Model(function=table, designs=("x1", "x4"), source="a table")
LAW = Model(
    function=law,
    parameters=(LANES,),
    design_name="x{lanes}",
    source="an equation",
    residuals=law_residuals,
)


def core(**models) -> Core:
    return Core(name="toy", summary="A toy", models={"table": TABLE, "law": LAW} | models)


def a_table(**changed) -> Model:
    def broken() -> CoreMetrics:
        """Two designs."""
        return metrics(np.array([1.0, 4.0]), **changed)

    return replace(TABLE, function=broken)


def a_law(make) -> Model:
    @documented
    def broken(*, lanes):
        return make(lanes)

    return replace(LAW, function=broken, residuals=None)


def accumulate(lanes):
    return metrics(lanes, area_m2=np.cumsum(lanes))


def overwrite(lanes):
    lanes *= 1.0
    return metrics(lanes)


def ranged(*, cell_bit=32.0) -> CoreMetrics:
    """Two designs."""
    return metrics(np.array([1.0, 4.0]))


CELL = Parameter(name="cell_bit", description="Width", low=8, high=64, default=16.0)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (replace(core(), summary=""), "no summary"),
        (replace(core(), models={}), "no models"),
        (core(table=replace(TABLE, source="")), "model 'table': no source"),
        (core(table=replace(TABLE, designs=("x1", "x1"))), "two designs have the same name"),
        (core(table=replace(TABLE, designs=("x1",))), "has shape \\(2,\\) for 1 rows"),
        (core(table=replace(TABLE, design_name="x{lanes}")), "designs and a design_name"),
        (core(table=replace(TABLE, parameters=(LANES,))), "the function takes \\[\\]"),
        (core(table=a_table(area_m2=np.array([1.0, -1.0]))), "design 'x4': area_m2 is -1.0"),
        (core(table=a_table(clock_hz=np.array([0.0, 1.0]))), "design 'x1': clock_hz is 0.0"),
        (core(table=a_table(read_byte=np.array([1.0, np.nan]))), "read_byte is nan"),
        (core(table=a_table(payload_bit=np.array([64, 64]))), "payload_bit is not a float64"),
        (core(table=a_table(payload_bit=64.0)), "payload_bit is not a float64"),
        (core(table=a_table(payload_bit=np.full(1, 64.0))), "payload_bit has shape \\(1,\\)"),
        (core(law=a_law(accumulate)), "area_m2 differs between a batch and single calls"),
        (core(law=a_law(overwrite)), "writes to its arguments"),
        (
            core(law=a_law(lambda lanes: metrics(lanes, extrapolated=np.zeros_like(lanes)))),
            "extrapolated is not 1.0 for lanes = 0, outside 1 to 4",
        ),
        (
            core(law=a_law(lambda lanes: metrics(lanes, extrapolated=np.ones_like(lanes)))),
            "is extrapolated inside the range",
        ),
        (core(law=replace(LAW, parameters=())), "the function takes \\['lanes'\\]"),
        (core(law=replace(LAW, design_name="x")), "names two designs alike"),
        (core(law=replace(LAW, parameters=(replace(LANES, low=9),))), "low must not exceed high"),
        (core(table=replace(TABLE, function=ranged, parameters=(CELL,))), "defaults to 16.0 in"),
        (
            core(law=replace(LAW, residuals=lambda: law_residuals(off=np.nan))),
            "residuals of area_m2 are not one finite pair",
        ),
        (
            core(law=replace(LAW, residuals=lambda: {"area_um2": law_residuals()["area_m2"]})),
            "'area_um2' ends in 'um2'",
        ),
    ],
)
def test_broken_core_is_caught(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_core(broken)
