"""What a run leaves behind, and what stays the same when only the way of asking changes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import dse
from dse.model import volume
from dse.runs import record
from dse.runs.result import FILES, PICTURES
from dse.study import study
from dse.study.schema import json_schema
from tests.conftest import STUDIES, Write, everything, problem_of, run_dse, solved

SMALL = """\
# Which?
workload: {rate: 20 Gbit/s, granularity: 4 KiB, kernel: des}
stages:
  - core: des
    instances: {from: 1, to: 9}
axes:
  interface.device: [sparc_t4_engine, sandy_bridge, apu]
  interface.in_flight: [1, 2, 4]
objectives: {area: minimise, total_power: minimise, speedup: maximise}
constraints: [host_cores <= 4, total_power / throughput <= 1e-8]
"""


@pytest.mark.usefixtures("drawn")
def test_files_of_a_run(tmp_path: Path, write: Write) -> None:
    result = dse.run(write(SMALL), out=tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    front = pd.read_csv(tmp_path / "out" / "front.csv")
    pd.testing.assert_frame_equal(front, result.front, check_dtype=False)
    assert list(front.columns[:10]) == [
        *(f"des.{name}" for name in ("u1", "u1_p2", "u2", "u4", "u8", "u16")),
        "interface.device",
        "interface.in_flight",
        "host.alone",
        "area_m2",
    ]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["study"] == SMALL
    assert manifest["question"] == "Which?"
    assert manifest["exact"] is True
    assert manifest["designs"] == manifest["evaluated"] == 6 * 9 * 3 * 3 + 3  # and the host alone
    assert manifest["front"] == len(front)
    assert set(manifest["reference_point"]) == {"area_m2", "total_power_w", "speedup"}
    evaluations = pd.read_parquet(tmp_path / "out" / "evaluations.parquet")
    assert len(evaluations) == manifest["evaluated"]
    assert evaluations["feasible"].sum() == manifest["feasible"]


@pytest.mark.usefixtures("drawn")
def test_a_run_without_pictures_holds_and_is_drawn_later(tmp_path: Path, write: Write) -> None:
    text = SMALL + "sweep: {interface.wait: [sync, async]}\n"
    for name, plots in (("drawn", True), ("plain", False)):
        dse.run(write(text), out=tmp_path / name, plots=plots)
    left = {path.name for path in (tmp_path / "plain").iterdir()}
    assert left == {*FILES} - {*PICTURES}
    assert dse.verify(tmp_path / "plain").holds
    assert run_dse("report", str(tmp_path / "plain"), "--pictures").returncode == 0
    for name in {*FILES} - {"manifest.json"}:
        assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "drawn" / name).read_bytes()
    assert dse.verify(tmp_path / "plain").holds


@pytest.mark.usefixtures("drawn")
def test_a_slide_has_the_question_the_pick_and_its_margins(tmp_path: Path, write: Write) -> None:
    for name, text in (("bounded", SMALL), ("free", SMALL.partition("constraints")[0])):
        dse.run(write(text), out=tmp_path / name, plots=False)
        done = run_dse("report", str(tmp_path / name), "--slide", "--out", str(tmp_path / "out"))
        drawn = [tmp_path / "out" / f"slide.{kind}" for kind in ("png", "svg")]
        assert done.stdout.split() == [*map(str, drawn)]
        with Image.open(drawn[0]) as image:
            assert image.size == (1920, 1080)
        words = re.findall(r"<text[^>]*>(.*?)</text>", drawn[1].read_text(encoding="utf-8"))
        shown = " ".join(" ".join(words).split())
        pick = dse.answer(tmp_path / name).pick
        assert "Which?" in shown
        assert pick.line in shown
        assert ("margins to limits" in shown, "to spare)" in shown) == (name == "bounded",) * 2
    mapped = ("--slide", "--flips", "--time", "1 s")
    assert run_dse("report", str(tmp_path / "free"), *mapped).returncode == 0
    assert ">granularity [KiB]</text>" in (tmp_path / "free" / "slide.svg").read_text()
    assert dse.run(write(SMALL), out=tmp_path / "free").folder == tmp_path / "free"  # replaced
    dse.run(write(SMALL + "sweep: {interface.wait: [sync, async]}\n"), out=tmp_path / "swept")
    done = run_dse("report", str(tmp_path / "swept"), "--slide")
    assert done.returncode == 2
    assert "a sweep has no single design for a slide" in done.stderr
    assert dse.verify(tmp_path / "free").holds


def test_tables_are_written_as_pandas_would(tmp_path: Path) -> None:
    table = {
        "des.u1": np.array([3, 0]),
        "area_m2": np.array([1e-07, np.nan]),
        "speed": np.array([np.inf, 1 / 3]),
        "bound": np.array(['a,"b', np.nan], dtype=object),
        "feasible": np.array([True, False]),
    }
    record.write_front(table, tmp_path)
    record.write_evaluations(table, tmp_path)
    frame = pd.DataFrame(table)
    assert (tmp_path / record.FRONT).read_text() == frame.to_csv(index=False, lineterminator="\n")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / record.EVALUATIONS), frame)


SEVEN_OF_EACH = """
workload: {rate: 40 Gbit/s}
stages: [{core: des, fleet: mixed, instances: {from: 0, to: 6}}]
objectives: {area: minimise, power: minimise}
constraints: [area <= 0.3 mm2]
"""
"""117 649 designs."""


@pytest.mark.parametrize("method", ["enumerate", "compose", "random"])
def test_feasible_is_of_those_evaluated_whatever_the_method(method: str, write: Write) -> None:
    found = dse.run(
        write(SEVEN_OF_EACH), method=method, budget=200_000 * (method != "random") or 90
    )
    manifest, way = found.manifest, found.manifest["certificate"]
    truth = int(everything(problem_of(write(SEVEN_OF_EACH))).feasible.sum())
    pruned = way["pruned_as_dominated"]
    assert 0 < manifest["front"] <= manifest["feasible"] <= manifest["evaluated"]
    assert (pruned > 0) == (method == "compose")
    if method == "enumerate":
        assert manifest["feasible"] == manifest["feasible_in_space"] == truth
        assert f"{truth:,} feasible: front" in " ".join(found.text().split())
    else:
        assert manifest["feasible_in_space"] is None
    if method == "random":
        assert manifest["feasible"] == found.evaluations["feasible"].sum()


def test_the_front_is_what_brute_force_finds(write: Write) -> None:
    """An oracle written apart: compare every feasible design with every other."""
    problem = problem_of(write(SMALL))
    evaluation = everything(problem)
    loss = evaluation.loss[evaluation.feasible]
    better = (loss[:, None] <= loss[None]).all(axis=2) & (loss[:, None] < loss[None]).any(axis=2)
    expected = np.unique(loss[~better.any(axis=0)], axis=0)
    found = solved(write(SMALL)).answers[0].outcome.front_loss
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))
    assert 3 <= len(expected) < len(loss)


@pytest.mark.parametrize("method", ["nsga2", "nsga3", "tpe", "random", "gaussian"])
def test_a_heuristic_repeats_itself_and_says_how_good_it_is(method: str, write: Write) -> None:
    path, budget = write(SMALL), 40 if method == "gaussian" else 120
    answers = [solved(path, method=method, seed=3, budget=budget).answers[0] for _ in range(2)]
    assert np.array_equal(answers[0].outcome.front_index, answers[1].outcome.front_index)
    assert answers[0].outcome.evaluated <= budget
    assert not answers[0].outcome.exact
    assert answers[0].quality.share is not None
    assert 0 < answers[0].quality.share.value <= 1


def test_a_sweep_is_one_table_with_the_swept_value(write: Write) -> None:
    text = SMALL + "sweep: {workload.rate: {from: 10 Gbit/s, to: 30 Gbit/s, points: 3}}\n"
    swept = dse.run(write(text)).front
    assert swept.columns[0] == "workload.rate_bit_per_s"
    for rate in (10, 20, 30):
        alone = dse.run(write(SMALL), overrides={"workload.rate": f"{rate} Gbit/s"}).front
        part = swept[swept["workload.rate_bit_per_s"] == rate * 1e9].reset_index(drop=True)
        pd.testing.assert_frame_equal(part[alone.columns], alone)


def test_a_sweep_says_where_nothing_fits_and_why(write: Write, tmp_path: Path) -> None:
    text = SMALL + "sweep: {workload.rate: [20 Gbit/s, 1000 Tbit/s]}\n"
    result = dse.run(write(text), out=tmp_path / "run")
    note = "no feasible design at workload.rate = 1 Pbit/s"
    note += "; never met together: busy host cores are at most interface.host_cores"
    note += " and the throughput reaches workload.rate"  # which the host alone does
    assert note in result.manifest["notes"]
    assert set(result.front["workload.rate_bit_per_s"]) == {20e9}
    assert dse.verify(tmp_path / "run").holds


def test_a_sweep_says_which_constraint_the_least_instances_miss(write: Write) -> None:
    text = SMALL.replace("    instances: {from: 1, to: 9}\n", "").replace(
        "host_cores <= 4", "offload_latency <= 9 us"
    )
    swept = dse.run(write(text + "sweep: {workload.granularity: [4 KiB, 64 KiB, 128 KiB]}\n"))
    assert (
        "no feasible design at workload.granularity = 64 KiB, 128 KiB; never met with the least "
        "instances that carry the rate: offload_latency <= 9 us"
    ) in swept.manifest["notes"]


def test_options_of_a_table_multiply_its_designs(write: Write) -> None:
    """Twice the cell width is twice the payload, and the names tell the designs apart."""
    text = """
stages:
  - {core: jacobi, designs: [n1_cell_bit16, n1_cell_bit32], instances: 1,
     parameters: {cell_bit: [16, 32]}}
objectives: {throughput: maximise, area: minimise, instances: maximise}
constraints: [clock >= 1 Hz]
"""
    problem = problem_of(write(text))
    rates = everything(problem).loss[:, 0]
    assert rates.tolist() == [-0.5e9 * 16, -0.5e9 * 32]


def test_an_extrapolated_law_is_noted(write: Write) -> None:
    text = """
workload: {rate: 20 Gbit/s}
stages: [{core: des, model: law, parameters: {unroll: [8, 32]}}]
objectives: {area: minimise, power: minimise}
"""
    result = dse.run(write(text))
    assert "des: unroll = 32 is extrapolated, outside 1 to 16" in result.manifest["notes"]


def test_a_missing_figure_is_evaluated_as_missing(write: Write) -> None:
    text = """
workload: {intensity: 16 flop/B}
budget: {platform: nuc_gpu, precision: double}
objectives: {platform_performance: maximise}
"""
    path = write(text)
    done = run_dse("explain", path.name, cwd=path.parent)
    assert done.returncode == 3
    assert "platform_performance_op_per_s exists: violated" in done.stdout
    assert "Traceback" not in done.stderr


class TestNothingFits:
    TEXT = SMALL.replace("host_cores <= 4", "area <= 0.001 mm2")

    def test_the_command_names_the_conflict_exits_with_3_and_writes_nothing(
        self, write: Write
    ) -> None:
        path = write(self.TEXT)
        done = run_dse("run", path.name, cwd=path.parent)
        assert done.returncode == 3
        assert done.stderr.startswith("no feasible design\n")
        host = "busy host cores are at most interface.host_cores"  # it has no area
        together = f"no design meets together: {host} and area <= 0.001 mm2"
        for said in (together, "nearest design: ", "violated by "):
            assert said in done.stderr
        assert [entry.name for entry in path.parent.iterdir()] == ["study.yaml"]
        done = run_dse("run", path.name, "--out", "out", cwd=path.parent)
        assert done.returncode == 3
        assert [entry.name for entry in path.parent.iterdir()] == ["study.yaml"]


class TestCommand:
    @pytest.mark.usefixtures("drawn")
    def test_run(self, write: Write) -> None:
        path = write(SMALL)
        done = run_dse("run", path.name, "--json", cwd=path.parent)
        assert (done.returncode, done.stderr) == (0, "")
        printed = json.loads(done.stdout)
        assert printed["front"] == len(printed["designs_on_front"])
        assert {entry.name for entry in (path.parent / printed["folder"]).iterdir()} == set(FILES)

    def test_a_bad_study_exits_with_2_and_writes_nothing(self, write: Write) -> None:
        path = write(SMALL.replace("sandy_bridge", "sandy_brige"))
        done = run_dse("run", path.name, "--out", "out", cwd=path.parent)
        assert done.returncode == 2
        assert done.stderr.startswith("study.yaml:7:39: axes.interface.device.1: ")
        assert "Traceback" not in done.stderr
        assert [entry.name for entry in path.parent.iterdir()] == ["study.yaml"]

    def test_explain_writes_out_every_term(self, write: Write) -> None:
        path = write(SMALL)
        words = ["--design", "1 u16, sparc_t4_engine", "--set", "interface.in_flight=2"]
        done = run_dse("explain", path.name, *words, "--json", cwd=path.parent)
        assert done.returncode == 0, done.stderr
        printed = json.loads(done.stdout)
        assert printed["design"] == "1 u16, sparc_t4_engine"
        terms = printed["terms"]
        assert terms["area_m2"]["takes"] == ["fleet_area_m2", "buffer_area_m2"]
        assert terms["area_m2"]["value"] == (
            terms["fleet_area_m2"]["value"] + terms["buffer_area_m2"]["value"]
        )

    def test_each_source_is_told_once_below_the_terms(self, write: Write) -> None:
        path = write(SMALL)
        design = {"des.u16": "1", "interface.device": "apu", "interface.in_flight": "2"}
        text = dse.explain(path, design).text()
        assert text.count("Battle & Hempstead, sections IV-C and V-C") == 1
        rows = dict(re.findall(r"^(\w+)  +(?:\S+ )?\S+  +(.*)", text, re.MULTILINE))
        number = rows["instances"].split()[-1]
        assert f"\n  {number}: Battle & Hempstead, sections IV-C and V-C\n" in text
        assert rows["interface_transfer"] == "given: interface.transfer"
        assert rows["clocks_meet"].startswith("Whether the clock of a stage follows the")

    @pytest.mark.usefixtures("drawn")
    def test_plot_draws_the_same_pictures_again(self, write: Write) -> None:
        path = write(SMALL)
        dse.run(path, out=path.parent / "out")
        done = run_dse("report", "out", "--pictures", "--out", "again", cwd=path.parent)
        assert done.returncode == 0, done.stderr
        for name in ("front.png", "front.svg"):
            first = (path.parent / "out" / name).read_bytes()
            assert (path.parent / "again" / name).read_bytes() == first

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            (["list", "interfaces"], "sparc_t4_engine"),
            (["list", "methods"], "nsga3"),
            (["list", "des"], "residuals against the table"),
            (["list", "gtx_titan"], "constant_power_w"),
            (["list", "host_cores"], "Host cores kept busy"),
            (["check", "--schema"], '"$schema"'),
        ],
    )
    def test_commands_that_show(self, arguments: list[str], expected: str, tmp_path: Path) -> None:
        done = run_dse(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert expected in done.stdout

    def test_an_unknown_name_has_neighbours(self, tmp_path: Path) -> None:
        done = run_dse("list", "gtx_titn", cwd=tmp_path)
        assert done.returncode == 2
        assert "did you mean 'gtx_titan'" in done.stderr


def test_a_space_of_any_size_is_searched_as_far_as_the_effort_goes(write: Write) -> None:
    text = SMALL.replace("to: 9", "to: 90000000")
    with pytest.raises(Exception, match="the range has 90,000,000 values, more than 1,000,000"):
        dse.run(write(text))
    text = SMALL.replace("to: 9", "to: 90000").replace("kernel: des", "streams: 1")
    text = text.replace(
        "  interface.in_flight", "  workload.streams: {from: 1, to: 1000}\n  interface.in_flight"
    )
    text = text.replace("speedup: maximise", "power: minimise") + "search: {effort: 10 ms}\n"
    found = dse.run(write(text))
    assert found.manifest["designs"] == 6 * 90000 * 3 * 1000 * 3
    assert found.manifest["certificate"]["way"] == ["unfinished"]
    assert not found.manifest["exact"]
    assert len(found.front)
    assert found.text().startswith("not proven: the limit of 0.01 s of CPU time was reached")


def test_the_schema_accepts_the_shipped_studies() -> None:
    """Editors complete and check studies with it."""
    schema = json.loads(json.dumps(json_schema()))
    properties = schema["properties"]
    assert {"workload", "stages", "interface", "budget", "axes", "objectives"} <= set(properties)
    for path in STUDIES.glob("*.yaml"):
        assert set(study.read_study(path).data) <= set(properties)


def test_a_hypervolume_of_too_much_work_is_estimated_and_told_as_such(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume, "MOST_EXACT_WORK", 0)
    values = np.random.default_rng(0).normal(size=(40, 3))
    values = np.abs(values) / np.linalg.norm(values, axis=1, keepdims=True)
    names = [f"q{column}" for column in range(3)]
    rows = "".join(f"d{n},{','.join(map(repr, row))}\n" for n, row in enumerate(values.tolist()))
    path = write(
        f"designs: {{table: t.csv}}\nobjectives: {{{', '.join(f'{n}: maximise' for n in names)}}}\n"
    )
    (path.parent / "t.csv").write_text(f"name,{','.join(names)}\n{rows}")
    result = dse.run(path, out=path.parent / "one")
    manifest = result.manifest
    value, error = manifest["hypervolume"], manifest["hypervolume_error"]
    assert 0 < error < 0.02 * value
    assert manifest["hypervolume_share_of_exact"] == 1.0
    assert manifest["hypervolume_share_error"] == 0.0
    assert (
        "the hypervolume of so many designs in 3 objectives is estimated, as the exact one takes "
        "too much work; ± is one standard error" in manifest["notes"]
    )
    checked = dse.verify(result, trials=10)
    assert checked.holds
    assert f"hypervolume (estimated, ± {error:.2g}), reference point" in checked.text()
