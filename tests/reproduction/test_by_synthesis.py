"""What the paper finds of its hardware, asked of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import dse
from dse.contract.claim_table import read_claims
from dse.contract.papers import Claim, ClaimAnswer, MadeCores, SynthesisClaims, Tables
from dse.cores.battle_hempstead.fleets_of_cores import functions
from dse.errors import MissingLibraryError
from dse.reproduction import by_synthesis
from dse.reproduction.by_synthesis import Synthesis, check_by_synthesis, chosen_papers
from dse.reproduction.study_runner import StudyRunner
from dse.reproduction.verdicts import AGREES, DIFFERS, WITHIN, check_claim
from dse.silicon import yosys
from dse.silicon.yosys import found_yosys
from tests.conftest import ROOT, run_dse
from tests.silicon.toy import TOY

FOLDER = ROOT / "cores" / "battle_hempstead"


@pytest.fixture(scope="module")
def found() -> Synthesis:
    return check_by_synthesis(chosen_papers())


def test_what_is_printed_follows_from_the_papers_own_tables() -> None:
    """The same questions, asked of the paper's cores, give the paper's figures."""
    for file, named in (("by_synthesis.csv", {}), ("unrolling.csv", {"core": "des"})):
        for claim in read_claims(FOLDER / file, functions, named):
            assert check_claim(claim, StudyRunner()).verdict in (AGREES, WITHIN), claim.name


# sky130, ihp130, asap7
HELD = {
    "area-linear": (True, True, True),
    "most-efficient": (True, True, True),
    "hump": (False, False, False),
    "u16-instances": (True, True, False),
    "least-power": (True, True, True),
    "front": (False, False, False),
    "fft-most-area": (True, True, True),
    "fft-least-area": (False, False, False),
    "fft-energy": (False, False, False),
    "fft-area-per-rate": (True, True, True),
}
OURS = {
    "hump": ("u2", "u2", "u2"),
    "energy-u16": (0.7061, 0.7181, 0.6715),
    "area-step": (2.544, 1.499, 2.312),
    "u1-instances": (57, 52, 12),
    "fft-energy-r8": (1.652, 1.398, 1.699),
    "fft-rate": ("r2", "r2", "r2"),
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


def small_paper(name: str = "small") -> SynthesisClaims:
    """One claim of two Jacobi engines; it has a reading for each library."""

    def claims(tables: Tables) -> list[Claim]:
        def ratio(table: Path) -> ClaimAnswer:
            values = pd.read_csv(table, comment="#", index_col=0).area_um2
            return lambda laboratory, printed: float(values["n2"] / values["n1"])

        return [
            Claim(
                name=f"{name}-area",
                paper=name,
                where="1",
                statement="area",
                printed="> 1",
                ours=None,
                readings={library: ratio(of["cores"]) for library, of in tables.items()},
                inputs=("text",),
            )
        ]

    made = MadeCores(generator="jacobi", over={"side": "1,2", "cell_bit": "8"}, tasks=40)
    return SynthesisClaims(name=name, made={"cores": made}, shipped={}, claims=claims)


@pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")
def test_claims_are_asked_of_a_library_that_the_user_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(by_synthesis, "chosen_papers", lambda papers: [small_paper(*papers)])
    found = dse.reproduce_by_synthesis("small", library=TOY)
    ((one,),) = (row.readings for row in found.rows)
    assert one.words == "toy"
    assert 3 < one.ours < 4
    assert found.summary() == "of 1 statement hold as printed: 1 in toy"


def test_fresh_tables_of_the_shipped_figures_give_the_shipped_answers(found: Synthesis) -> None:
    """Tables named by their files are asked what they are asked as cores of this project."""
    (paper,) = chosen_papers(["cores"])
    fresh = check_by_synthesis([paper], {"cores": {"mine": paper.shipped["asap7"]}})
    assert fresh.libraries == ("mine",)
    assert len(fresh.rows) == len(found.rows)
    for row, shipped in zip(fresh.rows, found.rows, strict=True):
        (of_asap7,) = [one.ours for one in shipped.readings if one.words == "asap7"]
        assert row.readings[0].ours == of_asap7


def test_a_library_without_todays_functions_is_asked_of_those_of_the_paper(
    found: Synthesis,
) -> None:
    (paper,) = chosen_papers(["cores"])
    made = {name: paper.shipped["sky130"][name] for name in paper.made}
    fresh = check_by_synthesis([paper], {"cores": {"mine": made}})
    assert len(fresh.rows) == sum("-synthesis-" in row.claim.name for row in found.rows)


# error of a line through areas, of one through energies of a cycle, whether most rounds take least
UNROLLING = {
    "aes128": (0.001, 0.013, True),
    "aes128_xts": (0.031, 0.387, False),
    "sha2_256": (0.005, 0.244, False),
    "sha3_256": (0.173, 0.105, False),
    "ascon_aead": (0.000, 0.177, False),
    "ascon_hash": (0.149, 0.266, False),
    "chacha20": (0.024, 0.295, False),
    "crc32": (0.211, 0.215, True),
}


@pytest.mark.parametrize("core", UNROLLING)
def test_the_law_of_unrolling_holds_where_rounds_have_registers(
    found: Synthesis, core: str
) -> None:
    for part, ours in zip(("area", "energy", "most"), UNROLLING[core], strict=True):
        (row,) = [one for one in found.rows if one.claim.name == f"cores-unrolling-{part}-{core}"]
        assert row.readings[-1].words == "asap7"
        assert row.readings[-1].ours == pytest.approx(ours, abs=6e-4)


def test_without_a_mapping_tool_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yosys, "found_yosys", tuple)
    with pytest.raises(MissingLibraryError) as raised:
        dse.reproduce_by_synthesis("cores", library=TOY)
    assert str(raised.value) == (
        "mapping of Verilog needs pyosys, which is not installed; "
        'pip install "accel-dse[rtl]", or a yosys on the PATH'
    )


def test_faults_of_the_command(tmp_path: Path) -> None:
    for arguments, told in {
        ("--library", "x.lib"): "--library goes with --by-synthesis",
        ("--by-synthesis", "--library", "x.lib"): "no such file: 'x.lib'; check the path",
        ("logca", "--by-synthesis"): ("'logca' is not a paper with claims to check; known: cores"),
    }.items():
        done = run_dse("reproduce", *arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert told in done.stderr
