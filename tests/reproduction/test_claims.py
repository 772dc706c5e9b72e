"""Every claim of the papers, from the records that `dse reproduce` prints, and that command."""

from __future__ import annotations

import json
import re
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

from dse.algebra import units
from dse.contract.papers import Claim, ClaimValue
from dse.cores._table import read_table
from dse.errors import ContractError, OutputError, UnknownPluginError
from dse.files.folder import write_text
from dse.plugins import registry
from dse.reproduction import reproduce
from dse.reproduction.reproduce import Reproduction
from dse.reproduction.study_runner import StudyRunner
from tests.conftest import run_dse

CLAIMS = registry.records(Claim)
LABORATORY = StudyRunner()
PAPERS = (
    "dse.cores.battle_hempstead",
    "dse.objectives.logca.paper",
    "dse.objectives.roofline.paper",
)
PAGE = Path(__file__).parents[2] / "docs" / "reproduce.md"


def example(printed: ClaimValue, ours: ClaimValue | None, tolerance: float = 0.0) -> Claim:
    return Claim(
        name="example",
        paper="paper",
        where="Table 1",
        statement="a number",
        printed=printed,
        ours=None if ours is None else lambda _: ours,
        tolerance=tolerance,
        inputs=("Table 1: table",),
    )


def promised(claim: Claim) -> str:
    """The verdict that a record promises: a reason is for disagreement, or for its tolerance."""
    if claim.ours is None:
        return "cannot be checked"
    return "disagrees" if claim.reason and not claim.reason.startswith("tolerance: ") else "agrees"


@pytest.fixture(scope="module")
def rows() -> list[reproduce.CheckedClaim]:
    chosen = reproduce.select_claims(CLAIMS.values(), [])
    return [reproduce.check_claim(claim, LABORATORY) for claim in chosen]


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.name)
def test_claim(claim: Claim) -> None:
    row = reproduce.check_claim(claim, LABORATORY)
    assert row.verdict == promised(claim), row
    assert claim.reason or claim.ours is not None
    assert claim.inputs
    assert (claim.inputs == ("none",)) == (claim.ours is None)
    if claim.unit:
        units.parse_any(f"1 {claim.unit}")


def test_each_paper_has_its_claims(rows: list[reproduce.CheckedClaim]) -> None:
    papers = [row.paper for row in rows]
    assert {paper: papers.count(paper) >= 50 for paper in papers} == dict.fromkeys(
        ("cores", "logca", "roofline"), True
    )
    assert len(rows) >= 300


@pytest.mark.parametrize("package", PAPERS)
def test_every_function_is_called_by_a_claim(package: str) -> None:
    table = (files(package) / "claims.csv").read_text(encoding="utf-8")
    modules = [
        import_module(f"{package}.{path.stem}") for path in Path(str(files(package))).glob("*.py")
    ]
    known = {name for module in modules for name in getattr(module, "functions", ())}
    assert known
    assert {name for name in known if not re.search(rf"\b{name}\(", table)} == set()


def test_every_table_cell_that_follows_from_others_is_claimed() -> None:
    columns = ("clock", "bandwidth", "performance", "parallelism")
    for table, file, without in (
        ("i", "des.csv", set()),
        ("ii", "fft.csv", {"parallelism"}),
        ("iii", "jacobi.csv", {"bandwidth"}),
    ):
        designs, _ = read_table(file)
        cells = {
            f"cores-table-{table}-{column}-{design}"
            for column in columns
            if column not in without
            for design in designs
        }
        assert cells <= set(CLAIMS)


TABLES = (("i", "des.csv", 2, 3), ("ii", "fft.csv", 5, 6), ("iii", "jacobi.csv", 8, 9))
"""Tables of cores, and the equations of their area and power."""


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
    if "bandwidth_bit_per_s" in printed:
        columns[f"table-{table}-bandwidth"] = printed["bandwidth_bit_per_s"]
    for column, cells in columns.items():
        found = {design: CLAIMS.get(f"cores-{column}-{design}") for design in designs}
        assert sum(claim is not None for claim in found.values()) >= 2, column
        for (design, claim), cell in zip(found.items(), cells, strict=True):
            if claim is not None:
                value, _ = units.parse_any(f"{claim.printed} {claim.unit}")
                assert value == pytest.approx(cell, rel=1e-8), (column, design)


@pytest.mark.parametrize(
    ("printed", "ours", "tolerance", "verdict"),
    [
        (100.0, 101.0, 0.01, "agrees"),
        (100.0, 101.1, 0.01, "disagrees"),
        (-0.6, -0.603, 0.01, "agrees"),
        (-0.6, 0.6, 0.01, "disagrees"),
        (0.0, 0.0, 0.0, "agrees"),
        (0.0, 1e-9, 0.1, "disagrees"),
        ("< 0.5", 0.49, 0.0, "agrees"),
        ("< 0.5", 0.5, 0.0, "disagrees"),
        ("<= 0.5", 0.5, 0.0, "agrees"),
        (">= 10", 8.96, 0.0, "disagrees"),
        ("does not exist", 676e3, 0.0, "disagrees"),
        (512.0, "does not exist", 9.9, "disagrees"),
        ("u16", "u16", 0.0, "agrees"),
        (True, False, 0.0, "disagrees"),
        (7.0, None, 0.0, "cannot be checked"),
    ],
)
def test_verdicts(
    printed: ClaimValue, ours: ClaimValue | None, tolerance: float, verdict: str
) -> None:
    assert reproduce.check_claim(example(printed, ours, tolerance), LABORATORY).verdict == verdict


def test_relative_error_is_ours_less_printed_over_printed() -> None:
    errors = [
        reproduce.check_claim(example(printed, ours), LABORATORY).relative_error
        for printed, ours in ((8.0, 10.0), (-8.0, -10.0), ("< 8", 7.0), (8.0, "none"))
    ]
    assert errors == [0.25, -0.25, None, None]


def test_a_claim_that_cannot_be_computed_is_an_error() -> None:
    def broken(_: object) -> float:
        raise ZeroDivisionError("division by zero")

    claim = Claim(**(vars(example(1.0, 1.0)) | {"ours": broken}))
    with pytest.raises(ContractError) as caught:
        reproduce.check_claim(claim, LABORATORY)
    assert str(caught.value) == (
        "claim 'example' cannot be computed: ZeroDivisionError: division by zero; "
        "repair its `ours`, or set it to None and say why it cannot be checked"
    )


@pytest.mark.parametrize(
    ("printed", "ours", "message"),
    [
        (1.0, float("nan"), "it must be a finite number, True, False or a text such as"),
        (1.0, True, "only a statement is answered by True or False"),
        (True, "yes", "only a statement is answered by True or False"),
    ],
)
def test_answers_that_cannot_be_compared(
    printed: ClaimValue, ours: ClaimValue, message: str
) -> None:
    with pytest.raises(ContractError, match=message):
        reproduce.check_claim(example(printed, ours), LABORATORY)


def test_text_of_a_row() -> None:
    claim = CLAIMS["roofline-5d-boards-speedup"]
    text = Reproduction((reproduce.check_claim(claim, LABORATORY),)).text(width=80)
    assert text.splitlines() == [
        "roofline",
        "",
        "where  what it says                              printed  ours    error   agrees",
        "────────────────────────────────────────────────────────────────────────────────",
        "V-D    23 Arndale GPUs over that Titan in        2.8      2.5849  -7.7 %  no [1]",
        "       performance at 0.25 flop/B",
        "",
        "     why",
        "────────────────────────────────────────────────────────────────────────────────",
        "[1]  Table I gives 2.585, and 2.68 at 1 flop/B.  The vendor's peak rates give",
        "     2.76, but then the Titan keeps 0.26 and not the printed 0.31",
        "",
        "1 claim: 0 agree, 1 disagree, 0 cannot be checked",
    ]


def test_markdown_of_a_row() -> None:
    row = reproduce.check_claim(CLAIMS["cores-5c-coincide"], LABORATORY)
    assert Reproduction((row,)).markdown().splitlines()[-1] == (
        "| V-C, fig. 9 | rates of 240 at which one chain has least area and least power: "
        "'a few', read as below a tenth | \\< 24 | 116 |  | **disagrees** | mostly from 123 to "
        "204 Gbit/s, where 3 to 5 u16 win both | Tables I and II: table; one design per fleet, "
        "as few instances as carry the rate: assumption |"
    )


def test_the_page_in_docs_is_what_the_command_writes(rows: list[reproduce.CheckedClaim]) -> None:
    assert PAGE.read_text(encoding="utf-8") == Reproduction(tuple(rows)).markdown()


def test_unknown_paper() -> None:
    with pytest.raises(UnknownPluginError) as caught:
        reproduce.select_claims(CLAIMS.values(), ["rooflines"])
    assert str(caught.value) == (
        "'rooflines' is not a paper with claims to check; did you mean 'roofline'?"
    )


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    write_text(page, "first")
    write_text(page, "second")
    assert page.read_text(encoding="utf-8") == "second"
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError):
        write_text(tmp_path / "folder", "third")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "page.md"]


def test_command(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    found = run_dse("reproduce", "roofline", "--json", "--out", str(page))
    assert (found.returncode, found.stderr) == (0, "")
    answer = json.loads(found.stdout)
    assert sum(answer["counts"].values()) == len(answer["claims"])
    assert answer["counts"]["disagrees"] > 0  # an answer, hence status 0
    assert page.read_text(encoding="utf-8").startswith("# Claims of the papers beside our models\n")
    unknown = run_dse("reproduce", "logcan")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr == (
        "'logcan' is not a paper with claims to check; did you mean 'logca'?\n"
    )
