"""How sure the figures of records are: what a record states reaches draws, notes and flips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dse
from dse.sampling import certainty
from dse.study import study
from dse.study.assumptions import assumptions_of, unpublished

LINK = """\
interface:
  name: link
  host_clock: 3 GHz
  overhead: 3 us
  latency: 1 ns/B
  link: 8 GB/s
  assumptions: [link]
  fitted: [overhead, latency]
  uncertainty: {overhead: 4 %, latency: 9 %}
platform: {name: board, constant_power: 30 W, usable_power: 10 W, fitted: [usable_power],
  single_rate: 1 Top/s, single_energy: 1 pJ/op,
  uncertainty: {constant_power: 10 %, usable_power: 40 %, single_rate: 1 %, single_energy: 2 %}}
core:
  name: law
  parameters: {n: {low: 1, high: 9}}
  laws: {area: 4600 um2, dynamic_power: 1 mW, clock: 645 MHz, payload: 64 bit, rate: 4e7 task/s}
  uncertainty: {area: 5 %}
"""
STUDY = """\
workload: {rate: 1 Gbit/s, granularity: 64 KiB}
stages: [{core: link.yaml, name: law, parameters: {n: 1}}]
interface: {host_cores: 8, host_power: 80 W}
axes: {interface.device: [link.yaml, sparc_t4_engine]}
budget: {platform: link.yaml}
objectives: {area: minimise, total_power: minimise}
"""


def drawn(
    folder: Path, options: dict[str, float], *pairs: tuple[str, str]
) -> dict[str, list[float]]:
    """Return what is uncertain of the study, with its shares, by column."""
    prepared = study.prepare(study.read_study(folder / "study.yaml", pairs))
    found = certainty.uncertain_of(prepared, options)
    assert len({one.column for one in found}) == len(found)
    assert options or len({one.name for one in found}) == len(found)
    return {one.column: one.share.tolist() for one in found}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "link.yaml").write_text(LINK)
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path


def test_what_records_state_is_drawn_unless_the_study_says_otherwise(folder: Path) -> None:
    found = drawn(folder, {})
    assert found == {
        "area_m2": [0.05],
        "interface_overhead_s": [0.04, 0],
        "interface_latency_s_per_byte": [0.09, 0],
        "budget_constant_power_w": [0.1],
        "budget_single_op_per_s": [0.01],
        "budget_single_j_per_op": [0.02],
        "budget_power_cap_w": [0.125],  # 3 W and 4 W of 40 W
    }
    assert drawn(folder, {"interface.overhead": 0.2})["interface_overhead_s"] == [0.2, 0.2]
    set_again = drawn(folder, {}, ("interface.overhead", "1 us"), ("budget.power_cap", "9 W"))
    assert found.keys() - set_again.keys() == {"interface_overhead_s", "budget_power_cap_w"}


def test_fitted_values_are_called_fitted_and_not_assumed(folder: Path) -> None:
    notes = study.prepare(study.read_study(folder / "study.yaml")).notes
    assert "fitted to measurements for link: overhead (+- 4 %), latency (+- 9 %)" in notes
    assert "assumed (unpublished) for link: link" in notes
    again = study.read_study(folder / "study.yaml", [("interface.latency", "2 ns/B")])
    assert "fitted to measurements for link: overhead (+- 4 %)" in study.prepare(again).notes
    flips = dse.flips(folder / "study.yaml", only=["overhead"])
    entries = {entry.label: entry.nominal for entry in flips.found}
    assert entries["link.overhead (fitted)"] == 3e-6
    assert "sparc_t4_engine.overhead (published)" in entries


OWN = """
workload: {rate: 1 Gbit/s, granularity: 4 KiB}
stages: [{core: des, instances: least}]
interface: {overhead: 1 us, latency: 2 us, in_flight: 8}
objectives: {area: minimise, power: minimise}
"""


ATTACHED = (
    "buffers without energy of access, an attachment without idle power, transfers without energy, "
    "an attachment without area"
)


def test_what_an_interface_of_ones_own_leaves_out_is_told(write) -> None:
    def assumed(text: str) -> list[str]:
        notes = study.prepare(study.read_study(write(text))).notes
        return [note for note in notes if note.startswith("interface: not specified")]

    assert assumed(OWN) == [
        "interface: not specified by the interface of the study, so assumed: an unlimited link, "
        "any number of offloads in flight, any number of host cores, buffers of 0.285 um2/bit, "
        f"buffers that leak 20 pW/bit, {ATTACHED}"
    ]
    link = "interface: {name: link, overhead: 0 s, latency: 0 s, link: 1 GB/s}\n"
    write(link, "link.yaml")
    own = OWN.replace("{overhead: 1 us, latency: 2 us, in_flight: 8}", "{device: link.yaml}")
    (note,) = assumed(own)
    assert "so assumed: one offload in flight, any number" in note  # but neither of the zeros
    assert assumed(OWN.replace("interface:", "interface: {device: sandy_bridge} #")) == [
        f"interface: not specified by sandy_bridge, so assumed: {ATTACHED}"
    ]


@pytest.mark.parametrize(
    ("host_power", "unknown"),
    [("", True), (", host_power: 80 W", False), ("}\naxes: {interface.host_power: [50 W]", False)],
)
def test_the_power_of_a_host_is_unknown_where_neither_field_nor_axis_has_it(
    host_power: str, unknown: bool
) -> None:
    text = f"""\
workload: {{rate: 1 Gbit/s, granularity: 4 KiB}}
stages: [{{core: des, instances: {{from: 1, to: 3}}}}]
interface: {{link: 4 GB/s, overhead: 1 us, host_cores: 8{host_power}}}
objectives: {{total_power: minimise}}
"""
    found = study.prepare(study.read_study(text))
    assert any("the host's power is unknown" in note for note in found.notes) is unknown
    assert any("host_power" in one for one in found.sureness.unspecified.values()) is unknown


BEHIND = """\
workload: {rate: 100 Gbit/s, granularity: 16 KiB}
stages: [{core: des, fleet: mixed, designs: [u8, u16]}]
interface: {overhead: 100 ns, link: 40 GB/s, host_cores: 16, host_power: 120 W}
axes: {interface.in_flight: [1, 2, 4, 8]}
objectives: {area: minimise, total_power: minimise}
prefer: area
"""


def test_buffers_of_ones_own_interface_are_those_of_the_catalogue_and_flips_move_them() -> None:
    """Input and output of an offload: 2 x 16 KiB x 8 bit x 0.285 um2 = 74 711 um2; 20 pW each."""
    prepared = study.prepare(study.read_study(BEHIND))
    assert {one.name: one.value for one in assumptions_of(prepared) if "buffer" in one.name} == {
        "interface.buffer_area": 0.285e-12,
        "interface.buffer_leakage": 20e-12,
    }

    def least(**overrides: str) -> Any:
        changed = {f"interface.{name}": text for name, text in overrides.items()}
        return dse.answer(BEHIND, overrides=changed, flips=False).pick

    pick = least()
    assert (pick.name, pick.choices["interface.in_flight"]) == ("3 u16", 1)
    assert pick.quantities["area_m2"] == pytest.approx(3 * 57768e-12 + 74711e-12, rel=1e-5)
    flipped = least(buffer_area="0.09 um2/bit")
    assert (flipped.name, flipped.choices["interface.in_flight"]) == ("1 u8 + 2 u16", 2)
    assert least(buffer_area="0 um2/bit").quantities["area_m2"] == pytest.approx(149690e-12)


@pytest.mark.parametrize("header", ["dynamic_power_mw", "power_mw"])
def test_leakage_that_a_table_does_not_tell_is_assumed(header: str, tmp_path: Path) -> None:
    table = f"design,area_um2,clock_mhz,cycles_per_task,payload_bit,{header}\n"
    (tmp_path / "mine.csv").write_text(f"{table}small,2650,900,176,128,0.6\n")
    text = "workload: {rate: 1 Mbit/s}\nstages: [{table: mine.csv}]\n"
    (tmp_path / "study.yaml").write_text(f"{text}objectives: {{power: minimise}}\n")
    prepared = study.prepare(study.read_study(tmp_path / "study.yaml"))
    axes = prepared.problem.space.axes
    assert unpublished(prepared, (), [0] * len(axes)) == {"mine.leakage_power"}
