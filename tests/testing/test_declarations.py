"""Declarations: the kit refutes those that are false."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from dse.contract import Column, Falling, Objective, Requirement, Rising, objective, requirement
from dse.plugins import registry
from dse.testing import check_objective, check_requirement
from dse.testing.quantities import (
    SEED,
    Ranges,
    Systems,
    check_at_most,
    check_bounds,
    check_directions,
    check_settled,
    check_stages,
    drawn_systems,
)

OBJECTIVES = registry.records(Objective)
REQUIREMENTS = registry.records(Requirement)
TURNED = {"rises_with": "falls_with", "falls_with": "rises_with"}
FALSE = "prove or remove the declaration"
SETTLED = {"stream_rate_bit_per_s": "clocks_meet"}
Plugin = Objective | Requirement


# One of each kind ---------------------------------------------------------------------------


@objective(source="a test")
def density_w_per_m2(*, power_w: Rising[Column], area_m2: Falling[Column]):
    """Power per area."""
    return power_w / area_m2


@objective(
    source="a test",
    at_most=("stage_capacity_bit_per_s", "accelerated_limit_bit_per_s"),
)
def halved_bit_per_s(*, capacity_bit_per_s: Rising[Column]):
    """Half of what the chain carries."""
    return 0.5 * capacity_bit_per_s


@objective(source="a test", over_stages="sum")
def spare_m2(*, stage_area_m2: Rising[tuple[Column, ...]]):
    """A tenth of each stage."""
    total = 0.0
    for area in stage_area_m2:
        total = total + 0.125 * area
    return total


wait_s = OBJECTIVES["offload_latency_s"]


@objective(source="a test")
def heat_w(*, stream_rate_bit_per_s: Rising[Column], dynamic_energy_j_per_bit: Rising[Column]):
    """Switching power once more."""
    return stream_rate_bit_per_s * dynamic_energy_j_per_bit


@requirement(
    rule="offloads could carry the rate",
    quantity="offload_limit_bit_per_s",
    at_least="workload_rate_bit_per_s",
)
def offloads_fast_enough(
    *, offload_limit_bit_per_s: Falling[Column], workload_rate_bit_per_s: Rising[Column]
):
    """Return the share that offloads lack."""
    return 1.0 - offload_limit_bit_per_s / workload_rate_bit_per_s


@requirement(
    rule="the rate is reached",
    quantity="throughput_bit_per_s",
    at_least="demand_bit_per_s",
    implies=REQUIREMENTS["meets_demand"].implies,
)
def reached(*, throughput_bit_per_s: Falling[Column], demand_bit_per_s: Rising[Column]):
    """Return the share that is missing."""
    return 1.0 - throughput_bit_per_s / demand_bit_per_s


def check(plugin: Plugin) -> None:
    (check_objective if isinstance(plugin, Objective) else check_requirement)(plugin)


@pytest.mark.parametrize(
    "plugin",
    [density_w_per_m2, halved_bit_per_s, spare_m2, wait_s, heat_w, reached],
    ids=lambda one: one.name,
)
def test_what_is_declared_rightly_passes(plugin: Plugin) -> None:
    check(plugin)


LINK = {"link_limit_bit_per_s": "workload_rate_bit_per_s"}
CASES = {
    "rises_with": (
        replace(density_w_per_m2, rises_with=("power_w", "area_m2"), falls_with=()),
        "declares that it never falls with area_m2, but goes from",
    ),
    "falls_with": (
        replace(density_w_per_m2, rises_with=(), falls_with=("power_w", "area_m2")),
        "declares that it never rises with power_w, but goes from",
    ),
    "at_most": (
        replace(halved_bit_per_s, at_most=("offload_limit_bit_per_s",)),
        "declares that it is at most offload_limit_bit_per_s, but a system has",
    ),
    "over_stages": (
        replace(spare_m2, over_stages="largest"),
        "declares over_stages='largest', but",
    ),
    "settled_while": (
        replace(heat_w, settled_while={"dynamic_energy_j_per_bit": "clocks_meet"}),
        "declares that dynamic_energy_j_per_bit is settled while clocks_meet, but a system",
    ),
    "at_least": (
        replace(reached, at_least="", at_most="demand_bit_per_s"),
        "its throughput_bit_per_s is at most its demand_bit_per_s, but a system has",
    ),
    "implies": (
        replace(offloads_fast_enough, implies=LINK),
        "declares that it implies link_limit_bit_per_s of at least workload_rate_bit_per_s, but",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_false_declaration_is_refuted(case: str) -> None:
    plugin, message = CASES[case]
    with pytest.raises(AssertionError) as caught:
        check(plugin)
    assert message in str(caught.value)
    assert "remove" in str(caught.value)


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (replace(density_w_per_m2, over_stages="sum"), "takes no stage column"),
        (
            replace(halved_bit_per_s, at_most=("nothing_bit_per_s",)),
            "no random system tries that it is at most nothing_bit_per_s",
        ),
        (
            replace(wait_s, settled_while={"fill_bit": "clocks_meet"}),
            "declares 'fill_bit' settled, but no direction of it",
        ),
        (
            replace(wait_s, settled_while=SETTLED | {"serial_tasks": "budget_copies"}),
            "no random system tries that serial_tasks is settled while budget_copies",
        ),
        (
            replace(reached, implies={"nothing_bit_per_s": "workload_rate_bit_per_s"}),
            "no random system tries that it implies nothing_bit_per_s of at least workload_rate",
        ),
        (
            replace(reached, implies={"throughput_bit_per_s": "workload_rate_bit_per_s"}),
            "implies something of 'throughput_bit_per_s', which is an argument; bound it as",
        ),
        (replace(reached, quantity="area_m2"), "bounds 'area_m2', which is not an argument"),
    ],
)
def test_a_declaration_that_cannot_be_tried_is_refused(plugin: Plugin, message: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check(plugin)
    assert message in str(caught.value)


# Every one of the built-in plug-ins ----------------------------------------------------------


def refused(
    checked: Callable[..., None],
    plugin: Plugin,
    tried: Sequence[Systems] | Ranges,
    **changed: object,
) -> str:
    """Return what a check says of a plug-in that is changed, empty when it passes."""
    try:
        checked(replace(plugin, **changed), "it", tried)
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", [*OBJECTIVES, *REQUIREMENTS])
def test_no_direction_can_be_turned_round(name: str) -> None:
    plugin = (OBJECTIVES | REQUIREMENTS)[name]
    for field, turned in TURNED.items():
        for argument in getattr(plugin, field):
            others = tuple(one for one in getattr(plugin, field) if one != argument)
            wrong = {field: others, turned: (*getattr(plugin, turned), argument)}
            assert FALSE in refused(check_directions, plugin, {}, **wrong)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_no_declaration_of_a_quantity_can_be_made_up(name: str) -> None:
    plugin = OBJECTIVES[name]
    drawn = list(drawn_systems(plugin, SEED, {}))
    if plugin.over_stages:
        for other in {"sum", "least", "largest"} - {plugin.over_stages}:
            assert "remove" in refused(check_stages, plugin, {}, over_stages=other)
    for column in plugin.at_most:
        assert FALSE in refused(
            check_at_most, plugin, drawn, at_most=("offload_stream_bit_per_s", column)
        )
    if plugin.settled_while:
        for other in {*plugin.rises_with, *plugin.falls_with} - {*plugin.settled_while} - SETTLES:
            wrong = {**plugin.settled_while, other: "clocks_meet"}
            found = refused(check_settled, plugin, drawn, settled_while=wrong)
            assert FALSE in found or "no random system tries" in found


SETTLES = {
    *("stage_round_s", "rounds_s", "passing_s_per_byte", "common_rounds_bit", "serial_tasks"),
    *("throughput_bit_per_s", "attachment_power_w"),
}
"""What random systems do not refute, and nobody has proven."""


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_no_bound_of_a_requirement_can_be_turned_round(name: str) -> None:
    plugin = REQUIREMENTS[name]
    if plugin.quantity:
        turned = {"at_most": plugin.at_least, "at_least": plugin.at_most}
        assert FALSE in refused(check_bounds, plugin, {}, **turned)
