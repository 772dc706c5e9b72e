"""Every claim of the papers, from the records that `dse papers` prints, and that command."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

from dse.algebra import units
from dse.contract.papers import CONTRADICTION, JUDGEMENTS, READING, RESIDUAL, Claim
from dse.cores._table import read_table
from dse.papers.reproduce import Reproduction, reproduce
from dse.papers.study_runner import StudyRunner
from dse.papers.verdicts import AGREES, DIFFERS, UNCHECKED, WITHIN, check_claim
from dse.plugins import registry
from tests.conftest import run_dse

CLAIMS = registry.records(Claim)
LABORATORY = StudyRunner()
PAPERS = (
    "dse.cores.battle_hempstead",
    "dse.objectives.logca.paper",
    "dse.objectives.roofline.paper",
)
README = Path(__file__).parents[2] / "README.md"

ROOTS = (
    "cores-table-i-clock-u1",
    "cores-table-ii-performance-r8",
    "cores-eq-3-unit",
    "cores-eq-9",
    "cores-4b-cycle-time",
    "cores-4b-u4-area-below-u8",
    "cores-5c-1-gbit-power",
    "cores-5c-power-prefers-u8",
    "logca-cal-2.3-t2-latency",
    "logca-2.3-condition",
    "logca-5.1-discrete-gpu-aes-break-even",
    "logca-5.2-apu-fft-intensity",
    "logca-5.4-sparc-t4-engine-no-latency",
    "roofline-3-eq-7",
    "roofline-6-phi-random",
)
"""The contradictions inside the papers.  One more, or one less, is news."""


@pytest.fixture(scope="module")
def found() -> Reproduction:
    return reproduce()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.name)
def test_claim(claim: Claim) -> None:
    """Its verdict is what is computed, or a judgement that fits it."""
    row = check_claim(claim, LABORATORY)
    computed = (AGREES, WITHIN) if claim.ours else (UNCHECKED,)
    assert row.verdict in ((claim.verdict,) if claim.verdict else computed)
    judged = replace(claim, verdict="")
    if claim.verdict == CONTRADICTION:
        assert check_claim(judged, LABORATORY).verdict == DIFFERS
        assert claim.against
    if claim.verdict == RESIDUAL:
        assert row.relative_error is not None
    if claim.readings:
        assert any(one.agreement not in (AGREES, WITHIN) for one in row.readings)
    if claim.refers_to:
        assert CLAIMS[claim.refers_to].verdict in (claim.verdict, CONTRADICTION)
    assert claim.reason or claim.refers_to or not claim.verdict
    assert claim.inputs
    assert (claim.inputs == ("none",)) == (row.verdict == UNCHECKED)
    if claim.unit:
        units.parse_any(f"1 {claim.unit}")


def test_the_contradictions(found: Reproduction) -> None:
    assert tuple(row.claim.name for row in found.contradictions) == ROOTS
    told = f"{len(ROOTS)} contradictions inside the papers"
    assert told in found.summary()
    assert told in README.read_text(encoding="utf-8")


PLACE = re.compile(
    r"(Table|eqs?\.?|fig\.|section|implication) ?[IVX\d]|\b[IVX]+-[A-D]\b|\b\d\.\d|VI\b|III\b"
)


@pytest.mark.parametrize("name", [c.name for c in CLAIMS.values() if c.verdict == CONTRADICTION])
def test_a_contradiction_names_two_places_and_two_printed_things(name: str) -> None:
    claim = CLAIMS[name]
    for place in (claim.where, claim.against):
        assert PLACE.search(place), place
    assert claim.printed not in ("", None)
    assert re.search(r"\d", claim.against), "what is printed there"
    assert claim.reason or claim.refers_to


def test_readings_of_ours_are_told_with_what_they_give(found: Reproduction) -> None:
    for row in found.rows:
        evaluated = [reading for reading in row.readings if reading.ours is not None]
        assert bool(row.readings) == (row.verdict == READING)
        assert len(row.readings) != 1
        if row.readings and len(evaluated) == 1:
            assert len(row.readings) == 2, row.claim.name
        assert (row.verdict == RESIDUAL) <= (row.relative_error is not None)


@pytest.mark.parametrize("package", PAPERS)
def test_every_function_is_called_by_a_claim(package: str) -> None:
    folder = Path(str(files(package)))
    table = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.csv"))
    modules = [import_module(f"{package}.{path.stem}") for path in folder.glob("*.py")]
    known = {name for module in modules for name in getattr(module, "functions", ())}
    assert known
    called = {name for name in known if re.search(rf"\b{name}\(", table)}
    assert known - called == {"equation"} & known - called


@pytest.mark.parametrize("package", PAPERS)
def test_the_legend_of_a_table_tells_each_column(package: str) -> None:
    legend = (files(package) / "claims.csv").read_text(encoding="utf-8")
    told = re.findall(r"^# (\w+): ", legend, re.MULTILINE)
    columns = ["printed", "rounded_to", "ours", "verdict", "against", "readings", "refers_to"]
    assert told == ["source", *columns, "inputs", "reason"]
    assert all(judgement in legend for judgement in JUDGEMENTS)


TABLES = (("i", "des.csv", 2, 3), ("ii", "fft.csv", 5, 6), ("iii", "jacobi.csv", 8, 9))
"""Tables of cores, and the equations of their area and power."""


def test_every_table_cell_that_follows_from_others_is_claimed() -> None:
    """Bandwidth, of Table III clock and parallelism, are what the others follow from."""
    for table, file, columns in (
        ("i", "des.csv", ("clock", "performance", "parallelism")),
        ("ii", "fft.csv", ("clock", "performance")),
        ("iii", "jacobi.csv", ("performance", "parallelism")),
    ):
        designs, _ = read_table(file)
        cells = {
            f"cores-table-{table}-{column}-{design}" for column in columns for design in designs
        }
        assert cells <= set(CLAIMS)


@pytest.mark.parametrize(("table", "file", "area", "power"), TABLES)
def test_claims_print_the_cells_of_the_tables_of_cores(
    table: str, file: str, area: int, power: int
) -> None:
    """The cells stand in `cores/tables` as well; a correction belongs in both."""
    designs, printed = read_table(file)
    columns = {
        f"table-{table}-clock": printed["clock_hz"],
        f"table-{table}-performance": printed["rate_task_per_s"],
        f"eq-{area}-area": printed["area_m2"],
        f"eq-{power}-power": printed["dynamic_power_w"] + printed["leakage_power_w"],
    }
    compared = 0
    for column, cells in columns.items():
        for design, cell in zip(designs, cells, strict=True):
            claim = CLAIMS.get(f"cores-{column}-{design}")
            if claim is not None:
                value, _ = units.parse_any(f"{claim.printed} {claim.unit}")
                assert value == pytest.approx(cell, rel=1e-8), (column, design)
                compared += 1
    assert compared >= 2 * len(designs)


def test_text(found: Reproduction) -> None:
    text = found.text(width=1000)
    (line,) = (line for line in text.splitlines() if "thermal design power of the GTX" in line)
    reason = line[line.index("cannot be checked ") :].removeprefix("cannot be checked ")
    assert re.search(rf"{re.escape(reason.strip())} +Table I gives no thermal design power", text)
    (line,) = (line for line in text.splitlines() if "performance of r8  " in line)
    assert "29.858 Mtask/s (29.846 to 29.871)" in line
    assert text.endswith(found.summary())


def test_command() -> None:
    found = run_dse("papers", "roofline", "--json")
    assert (found.returncode, found.stderr) == (0, "")
    answer = json.loads(found.stdout)
    assert sum(answer["counts"].values()) + answer["parts_of_others"] == len(answer["claims"])
    assert answer["contradictions"] > 0  # an answer, hence status 0
    (root,) = [claim for claim in answer["claims"] if claim["name"] == "roofline-6-phi-random"]
    assert root["ours_within"] == pytest.approx([8.944, 8.981], abs=0.001)
