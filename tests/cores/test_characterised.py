"""Cores of our own hardware: their tables, where these come from, and the lines through them."""

from __future__ import annotations

import csv
import hashlib
import re
import runpy
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.contract import Core
from dse.contract.generators import Generator
from dse.contract.placement import routed_over_unplaced
from dse.contract.published import read_published
from dse.cores.characterised import FAMILIES, LIBRARIES, _model_of, characterised_designs
from dse.plugins import registry
from dse.study.core_models import residual_spread
from tests.conftest import ROOT, STUDIES, everything, problem_of
from tests.cores.test_published import CORES as PUBLISHED

TABLES = ROOT / "cores" / "tables"
OBJECTIVES = "objectives: {area: minimise, power: minimise, throughput: maximise}\n"
CORES = [f"{family}_{library}" for family in FAMILIES for library in LIBRARIES]
LAWFUL = [name for name in CORES if "law" in registry.get(Core, name).models]


def core_of(name: str) -> Core:
    return registry.get(Core, name)


def test_each_table_is_provided_in_its_place() -> None:
    tables = {path.stem for path in TABLES.iterdir() if path.stem.endswith((*LIBRARIES,))}
    assert tables == {*CORES}
    provided = [one for one in registry.in_order(Core) if one.position is not None]
    assert [one.name for one in provided] == [*CORES, *PUBLISHED]


def rows_of(name: str) -> dict[str, dict[str, str]]:
    lines = (TABLES / f"{name}.csv").read_text("utf-8").splitlines()
    return {row["design"]: row for row in csv.DictReader(x for x in lines if x[0] != "#")}


def fastest_of(name: str) -> dict[str, dict[str, str]]:
    """Return the rows that are mapped as fast as they get."""
    rows = rows_of(name).items()
    return {design: row for design, row in rows if row.get("target", "fastest") == "fastest"}


# area (um2), clock (MHz), dynamic power (mW), leakage (uW), energy of a task (pJ)
GOLDEN = {
    ("des_sky130", "u1"): (10147.23, 444.4444, 9.918428, 0.00471817, 357.0634),
    ("fft_asap7", "r2"): (9490.661, 1246.883, 53.56294, 7.55396, 42.95748),
    ("sha3_256_asap7", "u3"): (5000.503, 1000, 49.25246, 4.278798, 394.0197),
    ("aes128_gcm_ihp130", "u10_d128"): (1011512, 235.2941, 192.0426, 12.48198, 816.1809),
}


@pytest.mark.parametrize(("name", "design"), GOLDEN)
def test_a_row_is_a_design_in_si(name: str, design: str) -> None:
    model = core_of(name).models["table"]
    row = {key: of[model.designs.index(design)] for key, of in vars(model.function()).items()}
    columns = ("area_m2", "clock_hz", "dynamic_power_w", "leakage_power_w")
    *printed, energy = np.array(GOLDEN[name, design]) * (1e-12, 1e6, 1e-3, 1e-6, 1e-12)
    assert [row[column] for column in columns] == pytest.approx(printed, rel=1e-12)
    task_s = row["cycles_per_task"] / row["clock_hz"]
    assert row["dynamic_power_w"] * task_s == pytest.approx(energy, rel=1e-6)


@pytest.mark.parametrize("name", CORES)
def test_a_table_says_where_it_comes_from(name: str) -> None:
    text = (TABLES / f"{name}.csv").read_text("utf-8")
    for said in ("source", "library", "made by", "mapped for", "clock", "wire load", "stimulus"):
        assert f"# {said}: " in text
    assert re.search(r"# library: .* published by .* under (Apache-2\.0|BSD-3-Clause), ", text)
    assert re.search(r"# library file: \S+, sha256 [0-9a-f]{64}", text)
    for design in core_of(name).models["table"].designs:
        hashes = "".join(r"\w+ sha256 [0-9a-f]{64},? ?" for _ in range(3))
        assert re.search(rf"^# {design}: {hashes}$", text, re.MULTILINE)
        checked = re.search(rf"^# {design}: (\d+) answers checked", text, re.MULTILINE)
        assert checked is not None
        assert int(checked[1]) >= 200


@pytest.mark.parametrize("name", CORES)
def test_a_stage_reads_the_same_from_the_table_itself(name: str, tmp_path: Path) -> None:
    found = []
    for place, source in enumerate((f"core: {name}", f"table: {TABLES}/{name}.csv")):
        path = tmp_path / f"{place}.yaml"
        path.write_text(f"stages:\n  - {{{source}, name: made, instances: 1}}\n{OBJECTIVES}")
        problem = problem_of(path)
        columns = problem.describe(everything(problem).points)
        found.append([columns[key] for key in ("area_m2", "power_w", "throughput_bit_per_s")])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.parametrize("name", CORES)
def test_a_table_is_that_of_the_descriptions_that_are_shipped(name: str) -> None:
    """A generator that was changed has other figures: characterise it again."""
    text = (TABLES / f"{name}.csv").read_text("utf-8")
    made = registry.get(Generator, name.rpartition("_")[0])
    known = {choice.name for choice in made.parameters}
    for design, row in rows_of(name).items():
        values = {key: int(cell) if cell.isdigit() else cell for key, cell in row.items()}
        verilog = made(**{key: values[key] for key in known & values.keys()}).verilog
        sha256 = hashlib.sha256(verilog.encode()).hexdigest()
        assert f"# {design}: description sha256 {sha256}, " in text


OFF = {"des": 0.09, "fft": 0.15}
"""The lines are as far off at most, others 5 %; radix 8 multiplies within its butterflies."""
COLUMN = {"stages": "latency_cycles"}
"""Of the table, where it is called otherwise than the parameter."""


@pytest.mark.parametrize("name", LAWFUL)
def test_a_law_is_as_far_off_as_is_said_and_built_like_the_table(name: str) -> None:
    law = core_of(name).models["law"]
    table = core_of(name).models["table"]
    shipped = FAMILIES[name.rpartition("_")[0]].law
    assert shipped is not None
    rows = fastest_of(name).values()
    plain = [row for row in rows if shipped.described.items() <= row.items()]
    (parameter,) = law.parameters
    column = COLUMN.get(parameter.name, parameter.name)
    said = law.function(**{parameter.name: np.array([float(row[column]) for row in plain])})
    kept = [table.designs.index(row["design"]) for row in plain]
    of_task = ("payload_bit", "cycles_per_task", "latency_cycles", "tasks_in_flight")
    for column in (*of_task, "read_byte", "written_byte"):
        known = getattr(table.function(), column)[kept]
        np.testing.assert_allclose(getattr(said, column), known, rtol=1e-6)
    assert law.residuals is not None
    for _, of, line in law.residuals().values():
        np.testing.assert_allclose(line, of, rtol=OFF.get(name.rpartition("_")[0], 0.05))


REFUSED = [
    (name, library)
    for name, family in FAMILIES.items()
    if family.law is not None
    for library in family.law.refused
]


@pytest.mark.parametrize(("name", "library"), REFUSED)
def test_a_law_is_refused_where_it_is_more_than_5_percent_off(name: str, library: str) -> None:
    table, law = read_published(TABLES / f"{name}_{library}.csv"), FAMILIES[name].law
    assert law is not None
    assert "law" not in core_of(f"{name}_{library}").models
    model = _model_of(law, table, characterised_designs(table), "")
    assert model.residuals is not None
    assert max(np.abs(said / of - 1).max() for _, of, said in model.residuals().values()) > 0.05


def off_a_line(over: Sequence[float], values: Sequence[float]) -> float:
    """Return by how much a line of least squares of relative errors is off, at most."""
    columns = np.column_stack([over, np.ones(len(over))]) / np.array(values)[:, None]
    found = np.linalg.lstsq(columns, np.ones(len(over)))[0]
    return float(np.abs(columns @ found - 1).max())


@pytest.mark.parametrize("library", LIBRARIES)
def test_lines_are_those_that_fit_core_finds(library: str) -> None:
    found = dse.fit.core(
        TABLES / f"des_{library}.csv",
        over="unroll",
        forms={"area": "affine", "clock": "affine", "leakage_power": "affine"},
        settings={
            "parameters.structure": "pipelined",
            "parameters.target": "fastest",
            "as": "synthesised",
        },
    )
    laws, at = found.to_dict()["laws"], np.array([1.0, 3.0])
    law = core_of(f"des_{library}").models["law"].function(unroll=at)
    for quantity in ("area_m2", "leakage_power_w", "clock_hz"):
        start, slope = laws[quantity]["coefficients"]
        np.testing.assert_allclose(getattr(law, quantity), start + slope * at, rtol=1e-9)


GLITCHES = {"sky130": 2.238, "ihp130": 1.800, "asap7": 2.542}
"""Energy of a block with four rounds in a cycle over that with one."""


@pytest.mark.parametrize("library", LIBRARIES)
def test_chained_rounds_glitch(library: str) -> None:
    """Two and four rounds in one cycle: more energy with glitches, less without them."""
    rows = rows_of(f"des_{library}")
    chained = [rows[name] for name in ("u1", "u2_chained", "u4_chained")]
    energy = [float(row["energy_pj"]) for row in chained]
    settled = [float(row["settled_energy_pj"]) for row in chained]
    assert energy == sorted(energy)
    assert settled == sorted(settled, reverse=True)
    assert energy[2] / energy[0] == pytest.approx(GLITCHES[library], abs=0.005)
    for row in rows.values():
        assert float(row["settled_energy_pj"]) < float(row["energy_pj"])


@pytest.mark.parametrize("library", LIBRARIES)
def test_without_glitches_a_larger_radix_takes_less_energy(library: str) -> None:
    """As in the paper's Table II; with them radix 8 takes the most."""
    rows = rows_of(f"fft_{library}")
    energy, settled = (
        [float(rows[name][column]) for name in ("r2", "r4", "r8")]
        for column in ("energy_pj", "settled_energy_pj")
    )
    assert settled == sorted(settled, reverse=True)
    assert max(energy) == energy[2]


def test_aes_at_100_gbit_per_s_by_hand() -> None:
    """A block in each cycle of 0.996 ns is 128.5 Gbit/s: one u10, mapped for half its clock.

    Placed it has a cycle of 1.054 ns, 1.179 times the area, 1.356 times the energy and 1.312 times
    the leakage: medians of 14 routed runs.
    """
    for figures, (area, energy, leakage) in {
        "synthesised": (1.0, 1.0, 1.0),
        "placed": (1.1794, 1.3557, 1.312),
    }.items():
        found = dse.run(STUDIES / "aes_100gbps.yaml", overrides={"stages.0.as": figures})
        (row,) = found.front.to_dict("records")
        assert row["aes.aes128_asap7_u10_half"] == row["instances"] == 1
        assert row["area_m2"] == pytest.approx(4502e-12 * area, rel=1e-3)
        power_w = 27.005e-12 * energy * 100e9 / 128 + 4.21e-6 * leakage
        assert row["power_w"] == pytest.approx(power_w, rel=1e-3)
        assert row["clock_hz"] == pytest.approx(100e9 / 128, rel=1e-3)


FACTORS = {
    "other": ((1.126, 1.214, 1.499), (0.993, 1.063, 1.251), (1.291, 1.503, 2.194)),
    "asap7": ((1.126, 1.179, 1.351), (0.964, 1.059, 1.220), (1.292, 1.356, 1.972)),
    "sky130": ((1.206, 1.378, 1.613), (0.993, 1.063, 1.251), (1.429, 1.852, 2.261)),
}
"""Area, period and power of 29, 14 and 10 routed runs; sky130 has no periods of its own."""


@pytest.mark.parametrize("kit", FACTORS)
def test_placed_figures_are_the_medians_of_a_kit(kit: str) -> None:
    factors = routed_over_unplaced(kit)
    for metric, expected in zip(
        ("area_m2", "clock_hz", "dynamic_power_w"), FACTORS[kit], strict=True
    ):
        assert factors[metric] == pytest.approx(expected, abs=1e-3)


def test_what_is_not_placed_is_as_unsure_as_public_runs_say() -> None:
    shares = {}
    for model, parameters in (("table", "{}"), ("law", "{unroll: [4]}")):
        written = [("stages.0.core", "des_asap7"), ("stages.0.model", model)]
        written.append(("stages.0.parameters", parameters))
        (stage,) = problem_of(STUDIES / "settop_116mbps.yaml", *written).stages
        shares[model] = stage.designs.uncertainty["area_m2"][0]
    assert shares["table"] == pytest.approx(np.log(1.351 / 1.126) / 2.563, rel=5e-3)
    off = residual_spread(core_of("des_asap7").models["law"])["area_m2"]
    assert shares["law"] ** 2 == pytest.approx(shares["table"] ** 2 + off**2)


# The site's page on silicon has the errors of lines through our tables


PAGE = runpy.run_path(str(ROOT / "docs" / "site" / "silicon.py"))["page"]()
LINES = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
LAWS = {line[0].strip("`"): line[1:] for line in LINES}


def energy_of_cycle(row: dict[str, str]) -> float:
    return float(row["energy_pj"]) / float(row["cycles_per_task"])


def test_lines_are_those_of_families_with_rounds() -> None:
    assert {"des", "aes128", "aes256", "sha2_256", "sha3_256", "chacha20", "crc32"} <= {*LAWS}


@pytest.mark.parametrize("core", LAWS)
def test_errors_of_lines_are_those_of_the_tables(core: str) -> None:
    for place, library in enumerate(LIBRARIES):
        cells = [cell.split(" · ")[place] for cell in LAWS[core][:4]]
        rows = rows_of(f"{core}_{library}")
        plain = {float(name[1:]): row for name, row in rows.items() if name[1:].isdigit()}
        over = [*plain]
        energies = [energy_of_cycle(row) for row in plain.values()]
        off = [
            off_a_line(over, [float(row["area_um2"]) for row in plain.values()]),
            off_a_line(over, [1 / float(row["clock_mhz"]) for row in plain.values()]),
            off_a_line(over, energies),
            off_a_line([one**2 for one in over], energies),
        ]
        np.testing.assert_allclose([float(cell) for cell in cells], 100 * np.array(off), atol=0.06)
        assert (f"{core}_{library}" in LAWFUL) == (library in LAWS[core][4])
