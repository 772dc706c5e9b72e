"""A cluster measures as this machine does, and what dies there is counted here."""

from __future__ import annotations

from pathlib import Path

import pytest

import dse
from dse.errors import DseError
from dse.measure.attempts import Cluster
from dse.study.measuring import measuring
from tests.conftest import until
from tests.measure.evaluators import SLEEPER, Acts, shell
from tests.measure.test_pool import DOUBLE, all_of, numbers

pytest.importorskip("distributed", reason="the extra dask is not installed")


def test_a_cluster_measures_as_this_machine_does(cluster: str, tmp_path: Path) -> None:
    command = shell(DOUBLE)
    with Cluster(command, cluster) as workers:
        assert workers.size == 2
        found = all_of(command, numbers(6), tmp_path, workers=workers)
    assert {number: each.values["double"] for number, each in found.items()} == {
        number: 2.0 * number for number in range(6)
    }


def test_a_poisoned_design_fails_and_the_rest_goes_on(cluster: str, tmp_path: Path) -> None:
    designs = numbers(5)
    designs[1] |= {"act": "die", "fails": 99.0}
    designs[3] |= {"act": "die", "fails": 1.0}
    counts = tmp_path / "counts"
    counts.mkdir()
    acts = Acts(counts=str(counts))
    with Cluster(acts, cluster) as workers:
        found = all_of(acts, designs, tmp_path / "work", workers=workers, retries=1)
    bad, again = found.pop(1), found.pop(3)
    assert (bad.kind, bad.attempts, len((counts / "1").read_text())) == ("worker", 2, 2)
    assert len((counts / "3").read_text()) == 2
    assert bad.cause == "its worker died, or the machine that it ran on"
    assert (again.attempts, again.values) == (2, {"double": 6.0})
    assert all(each.values == {"double": 2.0 * number} for number, each in found.items())


def test_stop_ends_programs_on_the_cluster(cluster: str, tmp_path: Path) -> None:
    command = shell(SLEEPER)
    with Cluster(command, cluster) as workers:
        found = all_of(
            command, numbers(2), tmp_path, workers=workers,
            stop=lambda: len([*tmp_path.glob("*/pid")]) == 2,
        )  # fmt: skip
        assert not found
        programs = [Path("/proc", one.read_text().strip()) for one in tmp_path.glob("*/pid")]
        until(lambda: not any(map(Path.exists, programs)))  # they would sleep for 300


@pytest.mark.slow
def test_files_do_not_depend_on_who_measures(cluster: str, tmp_path: Path) -> None:
    (tmp_path / "measure.sh").write_text(
        "sleep 0.0$2; [ $1 = 4 ] && exit 3; echo area = $((1000 * $1 + $2)) um2; "
        "echo delay = $((9000 / ($1 * $2))) ns"
    )
    path = tmp_path / "study.yaml"
    path.write_text(
        "axes: {unroll: [1, 2, 4, 8], banks: [5, 4, 3, 2, 1]}\n"
        "evaluate:\n"
        "  command: [sh, '{study}/measure.sh', '{unroll}', '{banks}']\n"
        "  outputs: {area: um2, delay: ns}\n"
        "objectives: {area: minimise, delay: minimise}\n"
        "search: {method: nsga2, budget: 7}\n"
    )
    found = []
    for who in ({"workers": 1}, {"workers": 2}, {"workers": 4}, {"dask": cluster}):
        out = tmp_path / f"run{len(found)}"
        dse.run(path, out=out, plots=False, **who)  # type: ignore[arg-type]
        rows = {row.key: row.measurement for row in measuring().rows(out)}
        same = {name: (one.values, one.cause, bool(one.folder)) for name, one in rows.items()}
        tables = [out / "front.csv", out / "evaluations.parquet"]
        found.append((same, *(table.read_bytes() for table in tables)))
    assert found[1:] == found[:1] * 3


def test_no_scheduler_is_told(tmp_path: Path) -> None:
    with pytest.raises(DseError) as told, Cluster(shell(DOUBLE), "tcp://127.0.0.1:9", patience_s=0):
        pass
    assert str(told.value).startswith("no Dask scheduler answers at tcp://127.0.0.1:9: ")
    assert str(told.value).endswith("; what was measured until now is kept")
