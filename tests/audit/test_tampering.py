"""Whatever is changed in the folder of a run is noticed, and told by its name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import dse
from dse.audit.verdict import OTHER_MODELS
from dse.audit.verify import verify_run
from dse.cli.app import application
from dse.errors import DseError
from dse.runs import record
from tests.conftest import STUDIES

LOOKS_AT_PICTURES = True

TABLE = "name,area_um2,clock_mhz,cycles_per_block,power_mw\n" + "".join(
    f"d{row},{100 + 30 * row},{500 + 90 * row},{40 - row},{9 - row}\n" for row in range(6)
)
STUDY = """\
# Which?
workload: {rate: 2 Gbit/s, granularity: 4 KiB, kernel: des}
stages:
  - {table: cores.csv, name: own, values: {payload: 64 bit}, instances: {from: 1, to: 4}}
axes: {interface.device: [sparc_t4_engine, sandy_bridge]}
objectives: {area: minimise, total_power: minimise}
constraints: [host_cores <= 4]
"""

Change = Callable[[Path], object]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a run with a table of its own, a sweep, and one that is not proven."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "cores.csv").write_text(TABLE)
    (folder / "study.yaml").write_text(STUDY)
    dse.run(folder / "study.yaml", out=folder / "own", overrides={"workload.rate": "1 Gbit/s"})
    rates = {"sweep.workload.rate": "[20 Gbps, 73 Gbps]"}
    dse.run(STUDIES / "des_fft_sweep.yaml", out=folder / "sweep", overrides=rates)
    dse.run(STUDIES / "settop_116mbps.yaml", out=folder / "plain")
    given = {"method": "random", "budget": 40}
    dse.run(STUDIES / "jacobi_bandwidth.yaml", out=folder / "guessed", **given)
    return folder


@pytest.fixture
def copy(runs: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies a run, to be changed."""
    return lambda name: Path(shutil.copytree(runs / name, tmp_path / name, dirs_exist_ok=True))


def told(folder: Path) -> str:
    """Return what is wrong with a run, in words; empty where nothing is."""
    try:
        found = verify_run(folder, trials=1)
    except DseError as error:
        return str(error)
    return "\n".join(check.text for check in found.checks if not check.holds)


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def write(folder: Path, manifest: dict[str, Any], *, forged: bool = False) -> None:
    """Write a manifest; with checksums computed again if it is `forged`."""
    manifest = record.with_checksums(manifest, folder) if forged else manifest
    (folder / "manifest.json").write_text(json.dumps(manifest))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in plain data, whole parts and single values; of lists the
    first and the last entry."""
    if path:
        yield path
    if isinstance(value, dict | list):
        ends = {0, len(value) - 1} if value else set()
        for key in value if isinstance(value, dict) else sorted(ends):
            yield from leaves(value[key], (*path, key))


def edited(manifest: dict[str, Any], path: tuple[Any, ...], change: str) -> dict[str, Any]:
    """Return a manifest with one part changed, removed or of another kind."""
    found = json.loads(json.dumps(manifest))
    holder = found
    for key in path[:-1]:
        holder = holder[key]
    old = holder[path[-1]]
    if change == "removed":
        del holder[path[-1]]
    elif change == "of another kind":
        holder[path[-1]] = "nothing of the kind" if isinstance(old, dict | list) else [old]
    elif isinstance(old, bool) or old is None:
        holder[path[-1]] = not old
    elif isinstance(old, int | float):
        holder[path[-1]] = old * (1 + 1e-11) + (1e-300 if isinstance(old, float) else 1)
    elif isinstance(old, str):
        holder[path[-1]] = f"{old} "
    else:
        return {}
    return found


@pytest.mark.parametrize("name", ["own", "plain", "sweep", "guessed"])
def test_an_untouched_run_holds_and_so_does_one_whose_pictures_are_drawn_again(
    name: str, copy: Callable[[str], Path]
) -> None:
    folder = copy(name)
    assert told(folder) == ""
    assert CliRunner().invoke(application(), ["report", str(folder), "--pictures"]).exit_code == 0
    write(folder, dict(reversed(manifest_of(folder).items())))  # order and layout say nothing
    assert told(folder) == ""


SELDOM = [pytest.param(each, marks=pytest.mark.slow) for each in ("removed", "of another kind")]


@pytest.mark.parametrize("change", ["changed", *SELDOM])
def test_every_edit_of_the_manifest_is_named(change: str, copy: Callable[[str], Path]) -> None:
    """Whatever the other checks make of it: none crashes, and the entry is named."""
    folder = copy("own")
    manifest = manifest_of(folder)
    for path in leaves(manifest):
        if path[0] == "certificate" and len(path) > 1 and change != "changed":
            continue  # as of any other entry
        found = edited(manifest, path, change)
        if found:
            write(folder, found)
            entry = path[path[0] == "checksums" and len(path) > 1]  # of which it is a checksum
            assert str(entry) in told(folder), (path, change)


def test_what_cannot_be_derived_is_named_by_its_checksum(copy: Callable[[str], Path]) -> None:
    folder = copy("plain")
    manifest = manifest_of(folder)
    edits = {
        "seed": 7,
        "method": "enumerate",
        "versions": manifest["versions"] | {"numpy": "1.0"},
        "wall_s": 0.001,
        "options": {"depth": 3},
    }
    for name, value in edits.items():
        write(folder, manifest | {name: value})
        assert f"{name} of the manifest " in told(folder)
    del manifest["files"]["front.png"]
    write(folder, manifest)
    assert told(folder) == "files of the manifest is not what the run wrote"
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(text.replace('"seed"', '"seed": 3, "seed"', 1))
    assert "it has 'seed' twice" in told(folder)


DERIVED: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a hypervolume": ("own", ("hypervolume",)),
    "a reference point": ("own", ("reference_point", "area_m2")),
    "a share of the exact front": ("own", ("hypervolume_share_of_exact",)),
    "a heuristic's share": ("guessed", ("hypervolume_share_of_exact",)),
    "what it surely has": ("guessed", ("hypervolume_share_at_least",)),
    "the hypervolume of a point": ("sweep", ("points", 1, "hypervolume")),
    "the value of a point": ("sweep", ("points", 0, "value")),
    "what is swept": ("sweep", ("sweep",)),
    "a note": ("own", ("notes", 0)),
    "an objective": ("own", ("objectives", "area_m2")),
    "a constraint": ("own", ("constraints", 0)),
    "the question": ("own", ("question",)),
    "the recommended row": ("own", ("recommended", "row")),
    "the recommended design": ("own", ("recommended", "design")),
    "the rule": ("own", ("recommended", "rule")),
    "the number of designs": ("own", ("designs",)),
    "the size of the front": ("own", ("front",)),
    "what is stored": ("own", ("evaluations_stored",)),
    "what is feasible in the space": ("plain", ("feasible_in_space",)),
    "a count of the certificate": ("own", ("certificate", "pruned_as_dominated")),
    "whether it is exact": ("own", ("exact",)),
}


@pytest.mark.parametrize("what", DERIVED)
@pytest.mark.parametrize("change", ["changed", "removed"])
def test_what_is_derived_is_noticed_without_checksums(
    what: str, change: str, copy: Callable[[str], Path]
) -> None:
    """A forger computes the checksums again: what follows from study and front still tells."""
    name, path = DERIVED[what]
    folder = copy(name)
    found = edited(manifest_of(folder), path, change)
    if change == "changed" and isinstance(path[-1], str) and "hyper" in path[-1]:
        found = edited(found, path, "changed")
        holder = found["points"][1] if path[0] == "points" else found
        holder[path[-1]] *= 1.001
    if path[0] == "reference_point" and change == "changed":
        found[path[0]][path[1]] *= 1.001
    if path[-1] == "value" and change == "changed":
        found["points"][0]["value"] *= 2
    write(folder, found, forged=True)
    name = str(path[-1] if isinstance(path[-1], str) else path[0])
    assert name in told(folder) or name.replace("_", " ") in told(folder)


def evaluations(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Change:
    def apply(folder: Path) -> None:
        path = folder / "evaluations.parquet"
        change(pd.read_parquet(path)).to_parquet(path, index=False)

    return apply


def front(change: Callable[[list[str]], list[str]]) -> Change:
    def apply(folder: Path) -> None:
        header, *rows = (folder / "front.csv").read_text().splitlines()
        (folder / "front.csv").write_text("\n".join([header, *change(rows)]) + "\n")

    return apply


def without_last_column(folder: Path) -> None:
    lines = (folder / "front.csv").read_text().splitlines()
    shorter = [line.rpartition(",")[0] for line in lines]
    (folder / "front.csv").write_text("\n".join(shorter) + "\n")


def one_cell(column: str, value: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(table: pd.DataFrame) -> pd.DataFrame:
        table.loc[3, column] = value
        return table

    return change


ROWS: dict[str, tuple[Change, str]] = {
    "front: a row removed": (front(lambda rows: rows[1:]), "front.csv"),
    "front: a row doubled": (front(lambda rows: [*rows, rows[0]]), "front.csv"),
    "front: rows reordered": (front(lambda rows: rows[::-1]), "front.csv"),
    "front: a digit": (front(lambda rows: [f"{rows[0]}1", *rows[1:]]), "front.csv"),
    "front: a column": (without_last_column, "front.csv lacks the column"),
    "evaluations: a number": (evaluations(one_cell("total_power_w", 1.0)), "row 4 of"),
    "evaluations: a count": (evaluations(one_cell("own.d0", 3)), "evaluations.parquet"),
    "evaluations: no design": (evaluations(one_cell("interface.device", "apu")), "row 4 of"),
    "evaluations: feasible": (evaluations(lambda t: t.assign(feasible=~t["feasible"])), "row 1 of"),
    "evaluations: a row removed": (evaluations(lambda t: t.drop(index=3)), "49 rows"),
    "evaluations: a row doubled": (evaluations(lambda t: pd.concat([t, t[:1]])), "row 51 of"),
    "evaluations: reordered": (evaluations(lambda t: t[::-1]), "row 2 of"),
    "evaluations: a column": (evaluations(lambda t: t.drop(columns="area_m2")), "lacks the column"),
}


@pytest.mark.parametrize("what", ROWS)
def test_every_edit_of_a_table_is_noticed(what: str, copy: Callable[[str], Path]) -> None:
    change, named = ROWS[what]
    folder = copy("own")
    change(folder)
    file = what.partition(":")[0].replace("front", "front.csv")
    file = file.replace("evaluations", "evaluations.parquet")
    assert f"{file} is not the file that the run wrote" in told(folder)
    if named != file:
        write(folder, manifest_of(folder), forged=True)
        assert named in told(folder)


def test_a_run_of_other_models_is_not_called_an_edit(copy: Callable[[str], Path]) -> None:
    folder = copy("own")
    without_last_column(folder)
    assert OTHER_MODELS not in " ".join(verify_run(folder, trials=1).text().split())
    write(folder, manifest_of(folder), forged=True)
    assert OTHER_MODELS in " ".join(verify_run(folder, trials=1).text().split())


@pytest.mark.parametrize("name", ["front.png", "front.svg", "front.csv", "evaluations.parquet"])
def test_a_file_that_is_changed_or_missing_is_named(name: str, copy: Callable[[str], Path]) -> None:
    folder = copy("own")
    with (folder / name).open("ab") as stream:
        stream.write(b" ")
    assert f"{name} is not the file that the run wrote" in told(folder)
    (folder / name).unlink()
    assert name in told(folder)


def test_an_input_that_is_changed_is_named(copy: Callable[[str], Path]) -> None:
    folder = copy("own")
    (folder / "inputs" / "cores.csv").write_text(TABLE.replace("500", "501"))
    assert "cores.csv has changed since the run" in told(folder)


def test_a_run_without_checksums_is_refused(copy: Callable[[str], Path]) -> None:
    folder = copy("plain")
    manifest = manifest_of(folder)
    del manifest[record.CHECKSUMS]
    write(folder, manifest)
    assert "manifest.json: checksums is missing" in told(folder)
