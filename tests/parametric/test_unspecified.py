"""What an interface of one's own leaves out is tried at figures of the catalogue; (!) decides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse
from dse import search
from dse.algebra import units
from dse.parametric.unspecified_search import (
    catalogue_values,
    unspecified_figures,
    unspecified_section,
)
from dse.study import study
from dse.study.assumptions import assumptions_of
from dse.study.study import Study

Write = Callable[[str, str], Path]

OWN = """\
workload: {rate: 100 Gbit/s, granularity: 16 KiB}
stages: [{core: des, fleet: mixed, designs: [u8, u16]}]
interface: {overhead: 100 ns, link: 40 GB/s, host_cores: 16, host_power: 120 W}
axes: {interface.in_flight: [1, 2, 4, 8]}
objectives: {area: minimise, total_power: minimise}
prefer: area
"""


def probes(text: str | Path) -> dict[str, dict[str, Any]]:
    prepared = study.prepare(study.read_study(text))
    found = search.run_search(prepared.problem, prepared.settings)
    section = unspecified_section(
        prepared, found.front_index, prepared.preference, exact=found.exact
    )
    return {entry["field"]: entry for entry in section.facts} if section else {}


def name_of(found: Any) -> str:
    return f"{found.pick.name}, in flight {found.pick.choices['interface.in_flight']:g}"


def test_a_zero_that_decides_is_marked_and_what_it_hides_is_the_answer_without_it() -> None:
    found = dse.answer(OWN)
    assert name_of(found) == "3 u16, in flight 1"
    (section,) = (entry for entry in found.sections if entry.key == "unspecified")
    row = next(row for row in section.rows if row[0] == "interface.latency (!)")
    assert row[1:] == ("no latency", "643 ns", "1 u8 + 2 u16, in flight 2")
    given = dse.answer(OWN, overrides={"interface.latency": "643 ns"}, flips=False)
    assert name_of(given) == "1 u8 + 2 u16, in flight 2"


def test_buffers_of_ones_own_interface_are_those_of_the_catalogue_and_flips_move_them() -> None:
    """Input and output of an offload: 2 x 16 KiB x 8 bit x 0.285 um2 = 74 711 um2; 20 pW each."""
    prepared = study.prepare(study.read_study(OWN))
    assert {one.name: one.value for one in assumptions_of(prepared) if "buffer" in one.name} == {
        "interface.buffer_area": 0.285e-12,
        "interface.buffer_leakage": 20e-12,
    }
    pick = dse.answer(OWN, flips=False).pick
    assert pick.quantities["area_m2"] == pytest.approx(3 * 57768e-12 + 74711e-12, rel=1e-5)
    flipped = {"interface.buffer_area": "0.09 um2/bit"}
    assert name_of(dse.answer(OWN, overrides=flipped, flips=False)) == "1 u8 + 2 u16, in flight 2"
    free = dse.answer(OWN, overrides={"interface.buffer_area": "0 um2/bit"}, flips=False).pick
    assert free.quantities["area_m2"] == pytest.approx(149690e-12)


def test_every_value_tried_gives_the_answer_that_is_told() -> None:
    today = name_of(dse.answer(OWN, flips=False))
    found = probes(OWN)
    assert found.keys() == {
        "interface.latency",
        "interface.max_in_flight",
    }
    for field, entry in found.items():
        (name,) = (key for key in entry if key.startswith("tried"))
        expected = [today] * len(entry[name])
        if entry["decides"]:
            expected[-1] = entry["becomes"]
        quantity = f"figure{name.removeprefix('tried')}"
        for value, answer in zip(entry[name], expected, strict=True):
            given = {field: units.exact_text(value, quantity)}
            assert name_of(dse.answer(OWN, overrides=given, flips=False)) == answer


@pytest.mark.parametrize(
    ("changed", "field", "becomes"),
    [
        (("link: 40 GB/s, ", ""), "interface.link", "no feasible design"),
        (("host_power: 120 W", "wait: sync"), "interface.host_power", None),
        (("overhead: 100 ns, ", ""), "interface.overhead", "1 u8 + 3 u16, in flight 1"),
    ],
)
def test_each_figure_that_is_left_out_is_tried(
    changed: tuple[str, str], field: str, becomes: str | None
) -> None:
    text = OWN.replace("total_power: minimise", "power: minimise").replace(*changed)
    entry = probes(text)[field]
    assert (entry["becomes"], entry["decides"]) == (becomes, becomes is not None)


def test_a_host_without_power_hides_what_waits() -> None:
    """Cores are a few milliwatts; a host core that waits is watts."""
    text = """\
workload: {rate: 20 Gbit/s, granularity: 1 KiB}
stages: [{core: des, designs: [u8, u16], instances: {from: 1, to: 8}}]
interface: {overhead: 10 ns, link: 40 GB/s, wait: sync, host_cores: 16}
objectives: {total_power: minimise, area: minimise}
"""
    entry = probes(text)["interface.host_power"]
    given = dse.answer(text, overrides={"interface.host_power": "100 W"}, flips=False)
    assert entry["decides"]
    assert given.pick.name == entry["becomes"] != dse.answer(text, flips=False).pick.name


def test_only_the_record_that_leaves_it_out_is_tried(write: Write) -> None:
    write(
        "interface: {name: mine, host_clock: 3 GHz, overhead: 50 ns, link: 40 GB/s}\n", "mine.yaml"
    )
    text = OWN.partition("interface:")[0] + "axes: {interface.device: [sparc_t4_engine, mine.yaml]}"
    path = write(f"{text}\nobjectives: {{area: minimise}}\n", "study.yaml")
    prepared = study.prepare(study.read_study(path))
    (latency,) = (one for one in unspecified_figures(prepared) if one.name == "mine.latency")
    before, after = (_times(prepared, one) for one in (None, latency))
    assert np.array_equal(before[0], after[0])
    assert (after[1] > before[1]).all()
    assert {name.partition(".")[0] for name in probes(path)} == {"mine"}


def _times(prepared: Study, figure: Any) -> Any:
    """Times of an offload by device."""
    problem = prepared.problem if figure is None else figure.at(1e-6)
    place = [axis.name for axis in problem.space.axes].index("interface.device")
    rows = np.array(list(np.ndindex(*problem.sizes)))
    times = problem.describe(rows)["transfer_s"]
    return [times[rows[:, place] == device] for device in (0, 1)]


TABLE = """\
design,area_um2,clock_mhz,cycles_per_task,payload_bit,dynamic_power_mw
small,2650,900,176,128,0.6
large,231000,1000,1,128,96
"""


@pytest.mark.parametrize("header", ["dynamic_power_mw", "power_mw"])
def test_leakage_that_a_table_does_not_tell_is_tried(
    header: str, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "mine.csv").write_text(TABLE.replace("dynamic_power_mw", header))
    text = (
        "workload: {rate: 40 Gbit/s}\nstages: [{table: mine.csv}]\nobjectives: {power: minimise}\n"
    )
    path = write(text, "study.yaml")
    entry = probes(path)["mine.leakage_power"]
    assert entry["decides"]
    share = entry["tried"][-1]
    prepared = study.prepare(study.read_study(path))
    (figure,) = unspecified_figures(prepared)
    changed = figure.at(share).stages[0].designs.metrics
    told = TABLE.replace("dynamic_power_mw", "dynamic_power_mw,leakage_power_mw")
    for power in (0.6, 96):
        total = power if header == "power_mw" else power / (1 - share)
        told = told.replace(f",{power}\n", f",{(1 - share) * total!r},{share * total!r}\n")
    (tmp_path / "mine.csv").write_text(told)
    given = study.prepare(study.read_study(path)).problem.stages[0].designs.metrics
    assert changed.dynamic_power_w == pytest.approx(given.dynamic_power_w)
    assert changed.leakage_power_w == pytest.approx(given.leakage_power_w)
    assert dse.answer(path, flips=False).pick.name == entry["becomes"]
    assert probes(path) == {}


def test_where_nothing_is_left_out_or_proven_nothing_is_said() -> None:
    device = OWN.replace("{overhead: 100 ns, link: 40 GB/s,", "{device: sandy_bridge,")
    assert probes(device) == {}
    assert "unspecified" not in dse.answer(OWN, flips=False).to_dict()
    heuristic = f"{OWN}search: {{method: random, budget: 10}}\n"
    assert probes(heuristic) == {}


def test_figures_of_the_catalogue_are_by_hand_those_of_its_table() -> None:
    """Cycles over the clock of their host, and today's attachments: middle, least and most.

    LogCA's Table 5 has the ends of the latencies; AXI DMA has the slowest link, 32 bit at 100 MHz.
    """
    column, latencies = catalogue_values("latency")
    assert column == "interface_latency_s"
    assert latencies == pytest.approx([643e-9, 3 / 3.4e9, 1500 / 1.16e9], rel=1e-3)
    assert catalogue_values("buffer_area")[1] == pytest.approx([0.285e-12])
    column, links = catalogue_values("link")
    assert column == "interface_link_byte_per_s"
    assert links == pytest.approx([16 * 1.16e9, 298.59e6, 16 * 3.4e9], rel=1e-3)
    assert catalogue_values("host_cores") == ("interface_host_cores", (8, 4, 16))
