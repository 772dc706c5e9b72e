"""A run is held to what it says: every way of changing it is refused, in its own words."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dse
from dse.audit.explain import explain_design
from dse.audit.verdict import Verification
from dse.audit.verify import verify_run
from dse.cli.app import application
from dse.errors import OutputError
from dse.runs import finished, record
from dse.runs.design_names import read_design
from tests.conftest import STUDIES

TRIALS = 20_000
Row = dict[str, str]

MIX = """
workload: {rate: 100 Gbit/s}
stages:
  - core: des
    fleet: mixed
    designs: [u8, u16]
    instances: {from: 0, to: 6}
objectives: {area: minimise, power: minimise}
constraints: [area <= 0.5 mm2]
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write one run of each kind."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "mix.yaml").write_text(MIX)
    dse.run(folder / "mix.yaml", out=folder / "mix")
    rates = {"sweep.workload.rate": "[20 Gbps, 73 Gbps]"}
    dse.run(STUDIES / "des_fft_sweep.yaml", out=folder / "sweep", overrides=rates)
    dse.run(STUDIES / "des_100gbps.yaml", out=folder / "composed")
    dse.run(STUDIES / "crypto_interface_100gbps.yaml", out=folder / "interface")
    dse.run(STUDIES / "des_100gbps.yaml", out=folder / "guessed", method="random", budget=200)
    return folder


@pytest.fixture
def copy(runs: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies a run, to be changed."""
    return lambda name: Path(shutil.copytree(runs / name, tmp_path / name))


def rewrite(folder: Path, change: Callable[[list[Row]], list[Row]], **counts: Any) -> None:
    """Change the rows of a run and entries of its manifest or certificate, as a forger would.

    The checksums are computed again: what is noticed is what follows from study and front.
    """
    path = folder / "front.csv"
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    columns = list(rows[0])
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(change(rows))
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, value in counts.items():
        (manifest["certificate"] if name in manifest["certificate"] else manifest)[name] = value
    front = manifest["front"]
    if "recommended" in manifest:
        manifest["recommended"]["row"] = min(manifest["recommended"]["row"], front)
    manifest = record.with_checksums(manifest, folder)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def same(rows: list[Row]) -> list[Row]:
    return rows


def row_of(folder: Path, design: str) -> Row:
    """Return a design as front.csv would hold it."""
    from dse.model import tables

    run = finished.read_run(folder, changed=True)
    _, prepared, index = read_design(design, run.document, run.sweep)
    return {name: str(v[0]) for name, v in tables.design_table(prepared.problem, index).items()}


def failures(found: Verification) -> dict[str, str]:
    return {check.name: check.text for check in found.checks if not check.holds}


@pytest.mark.parametrize("name", ["mix", "sweep", "composed", "interface"])
def test_an_exact_run_holds(runs: Path, name: str) -> None:
    found = verify_run(runs / name, trials=TRIALS)
    assert failures(found) == {}
    assert found.text().endswith("an exact front")
    assert [check.name for check in found.checks] == [
        "files", "manifest", "study", "accounting", "designs", "numbers", "feasible",
        "non-dominated", "summary", "evaluations", "challenge",
    ]  # fmt: skip


def test_a_changed_number_is_refused(copy: Callable[[str], Path]) -> None:
    folder = copy("mix")
    rewrite(folder, lambda rows: [rows[0] | {"leakage_power_w": "0.001"}, *rows[1:]])
    assert failures(verify_run(folder, trials=TRIALS)) == {
        "numbers": "row 1 of front.csv, leakage_power_w: 0.001 is written, the model gives 0.00285"
    }


def test_a_rounding_is_forgiven_and_a_changed_name_is_not(copy: Callable[[str], Path]) -> None:
    folder = copy("mix")
    rewrite(
        folder,
        lambda rows: [row | {"area_m2": row["area_m2"] + "1"} for row in rows[:1]] + rows[1:],
    )
    rewrite(folder, lambda rows: [
        row | {"power_w": repr(float(row["power_w"]) * (1 + 1e-12))} for row in rows
    ])  # fmt: skip
    assert "power_w" not in failures(verify_run(folder, trials=TRIALS)).get("numbers", "")
    rewrite(folder, lambda rows: [row | {"bound": "memory"} for row in rows])
    found = failures(verify_run(folder, trials=TRIALS))
    assert "bound: memory is written, the model gives compute" in found["numbers"]


def test_a_removed_design_is_refused_and_named(copy: Callable[[str], Path]) -> None:
    folder = copy("mix")
    rewrite(folder, lambda rows: rows[1:], front=1)
    found = verify_run(folder, trials=TRIALS)
    assert list(failures(found)) == ["summary", "challenge"]
    assert failures(found)["summary"].startswith("reference_point.area_m2 of the manifest is 1.75")
    assert "missing from the front, which refutes that it is exact" in failures(found)["challenge"]
    (find,) = found.finds
    assert (find.design, find.relation) == ("1 u8 + 2 u16", "incomparable")
    assert find.objectives["area_m2"] == pytest.approx(1.4969e-7)


def test_a_neighbour_of_the_front_is_found_in_a_space_too_large_to_try(
    copy: Callable[[str], Path],
) -> None:
    folder = copy("composed")
    rewrite(folder, lambda rows: rows[1:], front=1)
    found = verify_run(folder, trials=1_000)
    assert [find.design for find in found.finds] == ["1 u8 + 2 u16"]


@pytest.mark.parametrize(
    ("added", "check", "text"),
    [
        ("des.u16=4", "non-dominated", "row 1 dominates row 3"),
        ("des.u16=1", "feasible", 'row 3 violates "the throughput reaches workload.rate"'),
        ("", "designs", "row 3 is the design of row 1 again"),
    ],
)
def test_a_design_that_is_added_is_refused(
    added: str, check: str, text: str, copy: Callable[[str], Path]
) -> None:
    folder = copy("mix")
    rewrite(folder, lambda rows: [*rows, row_of(folder, added) if added else rows[0]], front=3)
    found = failures(verify_run(folder, trials=TRIALS))
    assert found[check] == text
    assert set(found) <= {check, "non-dominated", "summary"}


@pytest.mark.parametrize(
    ("name", "counts", "text"),
    [
        (
            "composed",
            {"pruned_by": {"bounds first": 7_983_359}},
            "certificate.pruned_by of the manifest is 7,983,359, and should be 7,983,358",
        ),
        (
            "mix",
            {"feasible": 50},
            "feasible_in_space of the manifest is 38, and should be 50; "
            "50 feasible is less than the front or more than were evaluated",
        ),
        (
            "composed",
            {"pruned_as_dominated": 7_983_353, "pruned_by": {"bounds first": 7_983_357}},
            "2 evaluated + 7,983,353 pruned as dominated + 4 pruned as infeasible "
            "is 7,983,359 of 7,983,360 designs, and the front exact",
        ),
        (
            "mix",
            {"exact": False},
            "49 evaluated + 0 pruned as dominated + 0 pruned as infeasible "
            "is 49 of 49 designs, and the front not exact",
        ),
        (
            "guessed",
            {"exact": True},
            "200 evaluated + 0 pruned as dominated + 0 pruned as infeasible "
            "is 200 of 7,983,360 designs, and the front exact",
        ),
        ("mix", {"designs": 50}, "certificate.designs of the manifest is 50, and should be 49"),
    ],
)
def test_changed_counts_are_refused(
    copy: Callable[[str], Path], name: str, counts: dict[str, Any], text: str
) -> None:
    folder = copy(name)
    rewrite(folder, same, **counts)
    assert failures(verify_run(folder, trials=TRIALS))["accounting"] == text


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ({"pruned_as_infeasible": -1}, "certificate.pruned_as_infeasible: Input should be greater"),
        ({"certificate": None}, "certificate: Input should be a valid dictionary"),
        ({"notes": True}, "notes: Input should be a valid list"),
        ({"evaluated": 49.0}, "certificate.evaluated: Input should be a valid integer"),
        ({"more": 1}, "more is no entry that a run writes"),
        ({"recommended": {"row": 1}}, "recommended.design is missing"),
        ({"inputs": {"a": {"copy": "inputs/../a", "sha256": "0" * 64}}}, "inputs.a.copy: String"),
    ],
)
def test_entries_of_another_type_are_refused_by_every_command(
    copy: Callable[[str], Path], entries: dict[str, Any], text: str
) -> None:
    folder = copy("mix")
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, value in entries.items():
        (manifest["certificate"] if name in manifest["certificate"] else manifest)[name] = value
    (folder / "manifest.json").write_text(json.dumps(record.with_checksums(manifest, folder)))
    for command in (dse.verify, dse.answer, dse.report, dse.status):
        with pytest.raises(OutputError, match=rf"manifest\.json: {re.escape(text)}"):
            command(folder)


def test_the_count_of_all_feasible_designs_is_verified(tmp_path: Path) -> None:
    run = dse.run(STUDIES / "hash_100gbps.yaml", out=tmp_path / "run", method="enumerate")
    assert failures(verify_run(tmp_path / "run", trials=TRIALS)) == {}
    feasible = run.manifest["feasible_in_space"]
    rewrite(tmp_path / "run", same, feasible_in_space=feasible - 1)
    assert (
        f"feasible_in_space of the manifest is {feasible - 1}, and should be {feasible}"
        in (failures(verify_run(tmp_path / "run", trials=TRIALS))["accounting"])
    )


def test_another_study_in_the_manifest_is_refused(copy: Callable[[str], Path]) -> None:
    folder = copy("mix")
    rewrite(folder, same, study=MIX.replace("0.5 mm2", "0.6 mm2"))
    found = failures(verify_run(folder, trials=TRIALS))
    assert found["study"].startswith("study_sha256 of the manifest is ")
    assert found["study"].endswith(
        "constraints.2 of the manifest is area <= 0.5 mm2, and should be area <= 0.6 mm2"
    )


def test_rows_that_are_no_designs_are_refused(copy: Callable[[str], Path]) -> None:
    folder = copy("mix")
    rewrite(folder, lambda rows: [rows[0] | {"des.u16": "9"}, rows[1]])
    assert failures(verify_run(folder, trials=TRIALS)) == {
        "designs": "row 1 of the front is no design of its study: "
        "des.u16: '9' is not among its values"
    }
    path = folder / "front.csv"
    path.write_text(path.read_text() + "1,2\n")
    assert failures(verify_run(folder, trials=TRIALS)) == {
        "files": "front.csv is not the file that the run wrote",
        "designs": "row 3 of the front has more or fewer cells than columns",
    }


def test_every_value_of_a_sweep_is_checked(copy: Callable[[str], Path]) -> None:
    folder = copy("sweep")
    column = "workload.rate_bit_per_s"
    last = len(finished.read_run(folder).rows)
    rewrite(folder, lambda rows: [*rows[:-1], rows[-1] | {column: "5e9"}])
    found = verify_run(folder, trials=TRIALS)
    assert failures(found)["designs"] == f"row {last} has a value that is not in the sweep"
    assert found.finds[0].design.startswith("workload.rate = 73 Gbit/s, ")


def test_what_improves_on_a_heuristic_is_named_and_refutes_nothing(runs: Path) -> None:
    found = verify_run(runs / "guessed", trials=TRIALS)
    assert found.holds
    assert found.found >= len(found.finds) > 0
    assert "found  challenge:" in found.text()
    assert found.text().endswith("a front that is not proven, and it can be improved")
    assert verify_run(runs / "guessed", trials=TRIALS) == found
    first = found.finds[0]
    explained = explain_design(runs / "guessed", [first.design])  # a find explains itself
    assert explained.verdict == "improvement"
    assert explained.objectives == first.objectives


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (5, "a later version of dse (format 5; this one reads 4); update dse, or run its study"),
        (1, "an earlier version of dse (format 1; this one reads 4); run its study again"),
    ],
)
def test_a_run_of_another_format_is_refused(tmp_path: Path, written: int, sentence: str) -> None:
    (tmp_path / "manifest.json").write_text(f'{{"format": {written}}}', encoding="utf-8")
    with pytest.raises(OutputError, match=re.escape(sentence)):
        verify_run(tmp_path, trials=TRIALS)


def test_a_number_beyond_floats_is_refused(runs: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(runs / "guessed", tmp_path / "run"))
    manifest = json.loads((folder / "manifest.json").read_text()) | {"hypervolume": 10**400}
    forged = record.with_checksums(manifest, folder)
    (folder / "manifest.json").write_text(json.dumps(forged))
    with pytest.raises(OutputError, match=r"manifest\.json: hypervolume"):
        verify_run(folder, trials=TRIALS)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="is not the folder of a run"):
        verify_run(tmp_path, trials=TRIALS)


# explanations


def test_a_design_on_the_front_is_shown_as_such(runs: Path) -> None:
    explained = explain_design(runs / "mix", ["des.u16=2", "des.u8=1"])
    assert (explained.verdict, explained.row) == ("front", 1)
    assert explained.text().partition("\n\n")[0] == (
        "1 u8 + 2 u16\nit is on the front (row 1)\n  area 0.1497 mm2\n  power 25.76 mW"
    )


def test_a_dominated_design_names_what_dominates_it(runs: Path) -> None:
    explained = explain_design(runs / "mix", ["des.u16=4"])
    assert explained.text().partition("\n\n")[0] == (
        "4 u16\n"
        "it is feasible, and a design on the front dominates it\n"
        "  row 1 of the front: 1 u8 + 2 u16\n"
        "  area 0.2311 mm2 against 0.1497 mm2 (54.4 % more)\n"
        "  power 26.36 mW against 25.76 mW (2.31 % more)"
    )
    assert explained.difference["area_m2"] == pytest.approx(231072 / 149690 - 1)


def test_an_infeasible_design_names_what_it_violates_and_by_how_much(runs: Path) -> None:
    few = explain_design(runs / "mix", ["des.u16=1"])
    assert [violated.text for violated in few.violations] == [
        "the throughput reaches workload.rate: violated by 58.7 %; "
        "demand 100 Gbit/s, throughput 41.29 Gbit/s"
    ]
    many = explain_design(runs / "mix", ["des.u8=6 des.u16=6"])
    (area,) = many.violations
    assert area.rule == "area <= 0.5 mm2"
    assert area.text == "area <= 0.5 mm2: violated by 10.3 %; area 0.5515 mm2"
    none = explain_design(runs / "mix", ["des.u8=0 des.u16=0"])
    assert "every stage has at least one instance: violated by 100 %; " in none.text()


def test_two_designs_of_equal_objectives(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(MIX.replace("designs: [u8, u16]", "designs: [u8, u16]\n    clock: [0.5, 1]"))
    text = study.read_text().replace("power: minimise}", "area_m2: minimise}")
    study.write_text(text.replace("{area: minimise, area_m2: minimise}", "{area: minimise}"))
    dse.run(study, out=tmp_path / "run", overrides={"workload.rate": "1 Gbps"})
    with (tmp_path / "run" / "front.csv").open() as stream:
        (row,) = csv.DictReader(stream)
    assert row["equal_designs"] == "2"  # both clocks
    assert failures(verify_run(tmp_path / "run", trials=TRIALS)) == {}
    rewrite(tmp_path / "run", lambda rows: [row | {"equal_designs": "3"} for row in rows])
    found = failures(verify_run(tmp_path / "run", trials=TRIALS))
    assert found["challenge"].endswith("and equal_designs of 1 row is wrong")
    explained = explain_design(tmp_path / "run", ["des.u8=1 des.u16=0 des.clock=1"])
    assert explained.verdict == "equal"
    assert "area 0.03415 mm2 (the same)" in explained.text()
    methods = {"workload.rate": "1 Gbps", "sweep": "{search.method: [exact, random]}"}
    dse.run(study, out=tmp_path / "methods", overrides=methods)  # equal designs of one are unknown
    assert failures(verify_run(tmp_path / "methods", trials=TRIALS)) == {}


def test_a_design_of_a_sweep_and_of_columns(runs: Path) -> None:
    run = finished.read_run(runs / "sweep")
    row = run.rows[-1]
    fleet = [f"{n}={c}" for n, c in row.items() if n.partition(".")[0] in ("des", "fft")]
    explained = explain_design(
        runs / "sweep", [f"workload.rate_bit_per_s={row['workload.rate_bit_per_s']}", *fleet]
    )
    assert (explained.verdict, explained.row) == ("front", len(run.rows))


def test_the_commands_print_json_and_an_exit_status(
    copy: Callable[[str], Path],
) -> None:
    folder = copy("mix")
    arguments = ["verify", str(folder), "--trials", "100", "--json"]
    done = CliRunner().invoke(application(), arguments)
    assert (done.exit_code, json.loads(done.stdout)["holds"]) == (0, True)
    rewrite(folder, lambda rows: rows[1:], front=1)
    done = CliRunner().invoke(application(), arguments)
    assert done.exit_code == 1
    assert json.loads(done.stdout)["finds"][0]["objectives"].keys() == {"area_m2", "power_w"}
    arguments = ["explain", str(folder), "--design", "des.u16=2", "--design", "des.u8=1"]
    done = CliRunner().invoke(application(), arguments)
    assert done.exit_code == 1
    assert "it is feasible and missing from a front that claims to be exact" in done.stdout
    for count, verdict, status in ((4, "dominated", 0), (1, "infeasible", 3)):
        arguments = ["explain", str(folder), "--design", f"des.u16={count}", "--json"]
        done = CliRunner().invoke(application(), arguments)
        said = json.loads(done.stdout)
        assert (done.exit_code, said["verdict"]) == (status, verdict)
        assert (said["design"], said["feasible"]) == (f"{count} u16", status == 0)
        assert said["terms"]["instances"]["value"] == count
        assert all(by <= 0 for by in said["constraints"].values()) == (status == 0)


@pytest.mark.parametrize("design", ["1 u8 + 2 u16", "4 u16", "1 u16"])
def test_a_study_says_of_a_design_what_its_run_says(runs: Path, design: str) -> None:
    of_run = dse.explain(runs / "mix", design)
    assert dse.explain(runs / "mix.yaml", design).to_dict() == of_run.to_dict()
    assert dse.explain(dse.run(runs / "mix.yaml"), design).to_dict() == of_run.to_dict()


def test_a_run_whose_fields_are_set_is_searched_again(runs: Path) -> None:
    less = {"workload.rate": "73 Gbps"}
    found = dse.explain(runs / "mix", "2 u16", overrides=less)
    assert (found.verdict, found.row) == ("front", 1)
    assert found.terms == dse.explain(runs / "mix.yaml", "2 u16", overrides=less).terms
    dse.explain(runs / "sweep", "2 des.u16 -> 1 fft.r16", overrides=less)  # swept no more


def test_a_method_that_counts_equal_designs_beside_one_that_does_not(tmp_path: Path) -> None:
    study, folder = tmp_path / "study.yaml", tmp_path / "run"
    text = MIX.replace("designs: [u8, u16]", "designs: [u8, u16]\n    clock: [0.5, 1]")
    text += "sweep: {search.method: [exact, nsga2]}\n"
    study.write_text(text.replace("{area: minimise, power: minimise}", "{area: minimise}"))
    dse.run(study, out=folder, overrides={"workload.rate": "1 Gbps"})
    counts = ({"equal_designs": count} for count in ("2.0", ""))
    rewrite(folder, lambda rows: [row | one for row, one in zip(rows, counts, strict=True)])
    assert failures(verify_run(folder, trials=TRIALS)) == {}
    assert dse.report(folder).is_file()


def test_status_and_diff_name_the_methods_that_prove(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(MIX.replace("to: 6", "to: 60") + "sweep: {search.method: [exact, nsga2]}\n")
    folder = dse.run(study, out=tmp_path / "run", overrides={"search.budget": "1000"}).folder
    status = dse.status(folder).text()  # of the spaces of both methods
    assert re.search(r"of 7,4\d\d evaluated.* proven for exact", status, re.DOTALL)
    assert "is proven for exact" in dse.diff(folder, folder).text()
