"""What the paper finds of its hardware, asked of ours."""

from __future__ import annotations

import json

import pytest

from dse.contract.claim_table import read_claims
from dse.cores.battle_hempstead import fleets_of_cores, single_cores
from dse.reproduction.by_synthesis import Synthesis, check_by_synthesis
from dse.reproduction.study_runner import StudyRunner
from dse.reproduction.verdicts import AGREES, DIFFERS, WITHIN, read_claim
from tests.conftest import ROOT, run_dse

TABLE = ROOT / "cores" / "battle_hempstead" / "by_synthesis.csv"


@pytest.fixture(scope="module")
def found() -> Synthesis:
    return check_by_synthesis()


def test_what_is_printed_follows_from_the_papers_own_tables(tmp_path) -> None:
    """The same questions, asked of the paper's cores, give the paper's figures."""
    own = tmp_path / "own.csv"
    text = TABLE.read_text("utf-8")
    for library in ("sky130", "ihp130", "asap7"):
        text = text.replace(f"_{library},", ",").replace(f"_{library})", ")")
    own.write_text(text)
    functions = single_cores.functions | fleets_of_cores.functions
    for claim in read_claims(own, functions):
        for one in read_claim(claim, StudyRunner()):
            assert one.agreement in (AGREES, WITHIN), (claim.name, one)


# sky130, ihp130, asap7
HELD = {
    "area-linear": (True, True, True),
    "most-efficient": (True, True, True),
    "hump": (False, False, False),
    "u16-instances": (True, True, False),
    "least-power": (True, True, True),
    "front": (False, False, False),
}
OURS = {
    "hump": ("u2", "u2", "u2"),
    "energy-u16": (0.6860, 0.7381, 0.6552),
    "area-step": (2.356, 1.834, 1.580),
    "u1-instances": (58, 52, 12),
    "front": ("3 u16", "3 u16", "3 u4 and 2 u8 and 1 u16"),
}


@pytest.mark.parametrize("name", HELD)
def test_which_statements_hold_in_which_library(found: Synthesis, name: str) -> None:
    (row,) = [one for one in found.rows if one.claim.name == f"cores-synthesis-{name}"]
    verdicts = tuple(one.agreement for one in row.readings)
    assert verdicts == tuple(AGREES if held else DIFFERS for held in HELD[name])


@pytest.mark.parametrize("name", OURS)
def test_both_numbers_are_told(found: Synthesis, name: str) -> None:
    (row,) = [one for one in found.rows if one.claim.name == f"cores-synthesis-{name}"]
    for one, ours in zip(row.readings, OURS[name], strict=True):
        assert one.ours == (ours if isinstance(ours, str) else pytest.approx(ours, rel=1e-3))


def test_the_command_tells_them_side_by_side(tmp_path) -> None:
    done = run_dse("reproduce", "--by-synthesis", "--json", cwd=tmp_path)
    claims = json.loads(done.stdout)["claims"]
    assert {*claims[0]["libraries"]} == {"sky130", "ihp130", "asap7"}
    refused = run_dse("reproduce", "--by-synthesis", "--all", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--by-synthesis goes with neither --all nor --out" in refused.stderr
