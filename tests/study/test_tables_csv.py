"""Cores and designs from CSV files: what a table says is what is run, and bad cells are told."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dse
from dse import contract
from dse.errors import DseError, Fault, InfeasibleError, OutputError, StudyError, UnitError
from dse.files import headers
from dse.files.csv import parse_csv
from dse.model import preference
from dse.model.designs import AREAS, BLOCKS
from dse.plugins import registry
from dse.runs import finished
from dse.runs.result import FILES
from dse.study import study
from tests.conftest import STUDIES, Write, everything, faults, problem_of, run_dse, solved

# Figures of no real core: they only have to be possible.
AES = """design,area_um2,clock_mhz,cycles_per_block,power_mw
tiny,2400,800,226,0.35
word,5800,700,54,1.4
iterative,19800,600,11,6.1
pipelined,198000,900,1,74
"""
STUDY = """# Which AES cores carry 40 Gbit/s?
workload: {rate: 40 Gbit/s}
stages:
  - name: aes
    table: cores.csv
    values: {payload: 128 bit}
objectives: {area: minimise, power: minimise}
"""
RESULTS = """unroll,variant,Area [um2],power_mw,latency_ns,accuracy,slack_ps
1,iter,1200,0.5,100,0.91,-3
2,iter,2100,0.8,55,0.91,5
4,iter,4300,1.5,30,0.93,0
1,pipe,2500,0.7,52,0.91,1
2,pipe,4100,1.4,31,0.93,1
4,pipe,8000,2.6,17,0.95,2
"""
OVER_RESULTS = """# Which of the designs?
designs: results.csv
objectives: {Area: minimise, latency: minimise}
constraints: [power <= 2 mW, accuracy >= 0.9]
"""


def metrics(write: Write, table: str, stage: str = "", **at: str) -> contract.CoreMetrics:
    """Read the metrics of a stage that names `table`."""
    write(table, "cores.csv")
    path = write(STUDY.replace("{payload: 128 bit}", stage or "{payload: 128 bit}"))
    return problem_of(path, *at.items()).stages[0].designs.metrics


# --- headers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "name", "factor"),
    [
        ("area_um2", "area_m2", "1e-12"),
        ("Cell Area [um²]", "Cell_Area_m2", "1e-12"),
        ("power_mw", "power_w", "1e-3"),
        ("power_MW", "power_w", "1e6"),
        ("clock_mhz", "clock_hz", "1e6"),
        ("bandwidth_gbps", "bandwidth_bit_per_s", "1e9"),
        ("bandwidth (GB/s)", "bandwidth_byte_per_s", "1e9"),
        ("energy_pj_per_bit", "energy_j_per_bit", "1e-12"),
        ("buffer_kibit", "buffer_bit", "1024"),
        ("yield_percent", "yield", "0.01"),
        ("duty_cycle", "duty_cycle", "1"),
        ("Notes (2024)", "Notes_2024", "1"),
        ("IPC [-]", "IPC", "1"),
    ],
)
def test_a_header_is_a_name_and_a_unit_in_any_prefix(written, name, factor) -> None:
    found = headers.read_header(written)
    assert (found.name, found.factor) == (name, Fraction(factor))


@pytest.mark.parametrize("written", ["size_mb", "size_kib", "frames_per_s", "length [furlong]"])
def test_a_unit_that_is_unknown_or_may_be_read_in_two_ways_is_refused(written: str) -> None:
    with pytest.raises(UnitError):
        headers.read_header(written)


# --- cores --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "core", "where"),
    [
        ("des_100gbps", "des", {"workload.rate": "30 Gbit/s"}),
        ("crypto_interface_100gbps", "des", {}),
        ("settop_116mbps", "des", {}),
    ],
)
def test_a_core_written_as_a_table_gives_the_same_front_bit_for_bit(name, core, where, tmp_path):
    """The metrics of a built-in core, exported to a table, are the same core."""
    model = registry.get(contract.Core, core).models["table"]
    columns = {
        name: values
        for name, values in vars(model.function()).items()
        if name != "extrapolated" and not np.isnan(values).any()
    }
    rows = [["design", *columns]]
    for place, design in enumerate(model.designs):
        rows.append([design, *(repr(float(column[place])) for column in columns.values())])
    (tmp_path / "t.csv").write_text("\n".join(",".join(row) for row in rows))
    text = (
        (STUDIES / f"{name}.yaml")
        .read_text()
        .replace(f"core: {core}", f"table: t.csv\n    name: {core}")
    )
    (tmp_path / "study.yaml").write_text(text)
    ours = dse.run(tmp_path / "study.yaml", overrides=where).front
    assert ours.equals(dse.run(STUDIES / f"{name}.yaml", overrides=where).front)


@given(st.decimals("0.001", "99999", places=3), st.sampled_from([("um2", -12), ("mm2", -6)]))
def test_a_cell_is_the_float_nearest_to_its_decimal_value(value, unit) -> None:
    prefix, exponent = unit
    table = parse_csv(f"area_{prefix}\n{value}\n{value:e}\n".encode(), "t.csv")
    found = table.numbers(0, headers.read_header(table.headers[0]).factor, [])
    assert set(found) == {float(Fraction(value) * Fraction(10) ** exponent)}


def test_seven_figures_of_a_synthesis_report_are_enough_and_the_rest_is_stated(write) -> None:
    found = metrics(write, AES)
    assert np.array_equal(found.cycles_per_task, [226, 54, 11, 1])
    assert np.array_equal(found.dynamic_power_w, [0.35e-3, 1.4e-3, 6.1e-3, 74e-3])
    assert np.array_equal(found.latency_cycles, found.cycles_per_task)
    assert (found.tasks_in_flight == 1).all()
    assert (found.leakage_power_w == 0).all()
    assert (found.read_byte == 16).all()
    assert (found.written_byte == 16).all()
    assert study.prepare(study.read_study(write(STUDY))).notes[-1] == (
        "cores.csv: assumed for every design: latency = cycles per task, one task in flight, "
        "all power is dynamic, none leaks, payload read once, payload written once"
    )


@pytest.mark.parametrize(
    ("header", "row", "field", "value"),
    [
        ("bandwidth_gbps", "9.6", "cycles_per_task", 10),  # 128 bit * 750 MHz / 9.6 Gbit/s
        ("rate_mtask_per_s", "75", "cycles_per_task", 10),
        ("cycles_per_task,latency_ns", "10,80", "latency_cycles", 60),
        ("cycles_per_task,latency_cycles", "10,60", "tasks_in_flight", 6),  # Little's law
        ("cycles_per_task,tasks_in_flight", "10,6", "latency_cycles", 60),
        ("cycles_per_task,leakage_power_uw", "10,500", "dynamic_power_w", 2.5e-3),
        ("cycles_per_task,dynamic_power_uw", "10,500", "leakage_power_w", 2.5e-3),
        ("cycles_per_task,read_bit", "10,256", "read_byte", 32),
        ("cycles_per_task,read_ports", "10,2", "read_byte", 16),
        ("bandwidth_gbyte_per_s", "1.2", "cycles_per_task", 10),
        ("cycles_per_task,leakage_power_uw", "10,0", "leakage_power_w", 0),
    ],
)
def test_figures_come_in_several_forms(write, header, row, field, value) -> None:
    table = f"name,area_um2,clock_mhz,power_mw,{header}\na,100,750,3,{row}\n"
    assert getattr(metrics(write, table), field)[0] == pytest.approx(value, rel=1e-12)


def test_columns_are_called_as_the_study_says_in_any_header(write) -> None:
    odd = AES.replace("area_um2", "Cell Area").replace("cycles_per_block", '"Cycles, block"')
    mapping = (
        "{payload: 128 bit}\n    columns: {area_um2: Cell Area, cycles_per_task: 'Cycles, block'}"
    )
    plain, mapped = metrics(write, AES), metrics(write, odd, mapping)
    for field in fields(plain):
        values = getattr(mapped, field.name), getattr(plain, field.name)
        assert np.array_equal(*values, equal_nan=field.name in (*AREAS[1:], *BLOCKS))


def test_parameters_name_designs_and_choose_among_them(write) -> None:
    table = "unroll,style,area_um2,clock_mhz,bandwidth_gbps,power_mw\n"
    table += "".join(f"{n},{s},{n}00,700,{n},1\n" for n in (1, 2, 4) for s in ("flat", "deep"))
    write(table, "cores.csv")
    path = write(STUDY)
    designs = problem_of(path).stages[0].designs
    assert designs.names[:3] == ("unroll1_flat", "unroll1_deep", "unroll2_flat")
    some = problem_of(path, ("aes.parameters", "{unroll: [2, 4], style: [flat]}"))
    assert some.stages[0].designs.names == ("unroll2_flat", "unroll4_flat")
    assert some.stages[0].designs.metrics.area_m2.tolist() == [200e-12, 400e-12]
    assert faults(path, ("aes.parameters", "{unrol: [1], unroll: [3]}")) == [
        "stages.0.parameters.unrol: cores.csv has no column 'unrol'; did you mean 'unroll'?",
        "stages.0.parameters.unroll: 3; no row has this value; known: 1, 2, 4",
    ]
    rule = "rows of a table are chosen by values, not by a range; write a list of values"
    assert faults(path, ("aes.parameters", "{unroll: {from: 2, to: 4}}")) == [
        f"stages.0.parameters.unroll: {rule}"
    ]


def test_what_a_run_writes_grows_in_a_line_with_a_table_of_cores(write, tmp_path: Path) -> None:
    """A design and a count of it, not a column for each core; and it is read back as that."""
    rows = [f"d{n},{n + 1}00,700,{1 + n % 50},{9 + 3000 // (n + 1)}" for n in range(3_000)]
    write("\n".join(["design,area_um2,clock_mhz,bandwidth_gbps,power_mw", *rows]), "cores.csv")
    run = dse.run(write(STUDY), out=tmp_path / "run", plots=False)
    for written in (run.front, run.evaluations):
        assert [*written][:2] == ["aes.design", "aes.instances"]
        assert not {"aes.d0", "aes.d2999"} & {*written}
    assert dse.verify(tmp_path / "run").holds
    design, instances = run.front.loc[0, ["aes.design", "aes.instances"]]
    for said in ({"aes.design": design, "aes.instances": instances}, {f"aes.{design}": instances}):
        assert "is on the front (row 1)" in str(dse.explain(tmp_path / "run", said))
    with pytest.raises(StudyError, match=f"aes.instances: 9; in this study it is {instances};"):
        dse.explain(tmp_path / "run", {"aes.design": design, "aes.instances": 9})


def test_uncertainty_is_kept_beside_the_metrics_it_belongs_to(write) -> None:
    table = AES.replace("power_mw", "power_mw,area_uncertainty_percent").replace("\n", ",5\n")
    write(table.replace("percent,5", "percent"), "cores.csv")
    path = write(STUDY.replace("bit}", "bit}\n    uncertainty: {power: 8 %}"))
    designs = problem_of(path, ("aes.designs", "[word, tiny]")).stages[0].designs
    assert {name: values.tolist() for name, values in designs.uncertainty.items()} == {
        "area_m2": [0.05, 0.05],
        "dynamic_power_w": [0.08, 0.08],
        "leakage_power_w": [0.08, 0.08],
    }


def test_a_table_works_in_fleets_behind_interfaces_and_under_caps(write) -> None:
    write(AES, "cores.csv")
    interface = "{host_clock: 3 GHz, overhead: 300 ns, latency: 600 ns, link: 15.75 GB/s}"
    settings = {
        "stages.aes.fleet": "mixed",
        "stages.aes.designs": "[iterative, pipelined]",
        "interface": interface,
        "interface.buffer_area": "0 um2/bit",
        "workload.granularity": "4 KiB",
        "axes": "{interface.in_flight: [1, 4, 16]}",
        "budget": "{power_cap: 200 mW}",
    }
    front = dse.run(write(STUDY), overrides=settings).front
    carried = front["aes.iterative"] * 128 * 600e6 / 11 + front["aes.pipelined"] * 128 * 900e6
    assert (carried >= 40e9).all()
    assert front["area_m2"].to_numpy() == pytest.approx(
        front["aes.iterative"] * 19800e-12 + front["aes.pipelined"] * 198000e-12
    )
    with pytest.raises(InfeasibleError):
        dse.run(write(STUDY), overrides=settings | {"budget": "{power_cap: 5 mW}"})
    fixed = dse.run(write(STUDY), overrides={"aes.pipelined": 1, "aes.tiny": 2}).front
    assert fixed[["aes.pipelined", "aes.tiny"]].to_numpy().tolist() == [[1, 2]]


# --- designs that are evaluated already ---------------------------------------------------------


@pytest.mark.usefixtures("drawn")
def test_designs_evaluated_already_give_their_exact_front(write, tmp_path) -> None:
    write(RESULTS, "results.csv")
    result = dse.run(write(OVER_RESULTS), out=tmp_path / "run")
    assert result.manifest["exact"]
    assert result.front["design"].tolist() == [
        *("unroll1_iter", "unroll2_iter", "unroll1_pipe", "unroll2_pipe", "unroll4_iter"),
    ]
    assert result.front["slack_s"].tolist()[0] == -3e-12  # a metric may be negative
    assert result.front["variant"].tolist()[2] == "pipe"
    assert "unroll4_iter 4300 30.0 iter" in " ".join(result.text().split())
    assert (tmp_path / "run" / "front.svg").stat().st_size > 10_000


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 300))
def test_the_front_is_that_of_brute_force(seed: int, rows: int, tmp_path_factory) -> None:
    """Any table of numbers, any sense: the front is that of all pairs compared, one of equals."""
    folder = tmp_path_factory.mktemp("brute")
    cells = np.random.default_rng(seed).integers(1, 30, (rows, 3))
    lines = [f"{k}," + ",".join(map(str, row)) for k, row in enumerate(cells)]
    (folder / "r.csv").write_text("id,a_ns,b_mw,c\n" + "\n".join(lines))
    text = "designs: r.csv\nobjectives: {a: minimise, b_mw: maximise}\nconstraints: [c >= 3]\n"
    (folder / "s.yaml").write_text(text)
    loss = cells[:, :2] * [1, -1]
    allowed = cells[:, 2] >= 3
    worse = (loss[:, None] >= loss[None]).all(2) & (loss[:, None] > loss[None]).any(2)
    expected = np.flatnonzero(allowed & ~(worse & allowed[None]).any(axis=1))
    if not len(expected):
        return
    _, first = np.unique(loss[expected], axis=0, return_index=True)  # one of equal values
    outcome = solved(folder / "s.yaml").answers[0].outcome
    assert sorted(outcome.front_index[:, 0]) == sorted(expected[first])


def test_one_of_the_designs_is_evaluated_by_name_and_recommended_by_preference(write) -> None:
    write(RESULTS, "results.csv")
    path = write(OVER_RESULTS)
    one = problem_of(path, ("design", "unroll4_pipe"))
    assert one.size == 1
    assert one.evaluate(np.zeros((1, 1), dtype=np.int64)).violation[0] == pytest.approx(
        [0.3, -0.02 / 0.9 * 2.5]
    )
    problem = problem_of(path)
    index = solved(path).answers[0].outcome.front_index
    best = preference.prefer(problem, "latency").order(problem, index)[0]
    assert problem.space.point_text(index[best]) == "design = unroll4_iter"


def test_a_study_over_designs_has_no_model(write) -> None:
    write(RESULTS, "results.csv")
    path = write(OVER_RESULTS.replace("objectives", "workload: {rate: 1 bit/s}\nobjectives"))
    assert faults(path) == [
        "study.yaml:3:1: workload: designs that are evaluated already have no model for it to "
        "describe; remove it, or the designs"
    ]


# --- faults -------------------------------------------------------------------------------------


def test_a_column_is_called_in_the_unit_of_its_header(write) -> None:
    write(AES.replace("clock_mhz", "Fmax [GHz]"), "cores.csv")
    (found,) = faults(write(STUDY))
    assert "`columns: {clock_GHz: 'Fmax [GHz]'}`" in found
    named = STUDY.replace("cores.csv", "cores.csv\n    columns: {clock_mhz: 'Fmax [GHz]'}")
    assert faults(write(named)) == [
        "study.yaml:6:15: stages.0.columns.clock_mhz: the unit of 'Fmax [GHz]' is another; "
        "write clock_GHz"
    ]
    (first, *_) = faults(write(named.replace("clock_mhz", "clock_GHz")))
    assert first == (
        "cores.csv:2:11: Fmax [GHz]: '800'; 800 GHz is above 20 GHz; is its unit right? correct it"
    )


# --- files --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("drawn")
def test_a_run_carries_its_tables_and_reads_back_without_the_original(write, tmp_path) -> None:
    folder = tmp_path / "with spaces"
    folder.mkdir()
    (folder / "my cores.csv").write_text(AES)
    text = STUDY.replace("  - name: aes\n    table: cores.csv", "  - table: my cores.csv")
    (folder / "study.yaml").write_text(text)
    out = tmp_path / "run"
    command = ("run", str(folder / "study.yaml"), "--out", str(out))
    assert run_dse(*command, cwd=tmp_path / "..").returncode == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert sorted(entry.name for entry in out.iterdir()) == sorted([*FILES, "inputs"])
    assert (out / "inputs" / "my cores.csv").read_text() == AES
    assert manifest["inputs"]["my cores.csv"]["copy"] == "inputs/my cores.csv"
    front = solved(folder / "study.yaml").answers[0].outcome.front_index
    (folder / "my cores.csv").unlink()
    [(prepared, index)] = finished.read_run(out).points()
    assert prepared.problem.stages[0].name == "my_cores"
    assert np.array_equal(index, front)
    (out / "inputs" / "my cores.csv").write_text(AES.replace("800", "900"))
    with pytest.raises(OutputError, match="was changed since it was run"):
        finished.read_run(out)


def test_a_folder_with_inputs_of_its_own_is_left_alone(write, tmp_path) -> None:
    write(AES, "cores.csv")
    path, out = write(STUDY), tmp_path / "run"
    dse.run(path, out=out)
    dse.run(path, out=out)  # its own copies are replaced
    (out / "inputs" / "mine.csv").write_text("mine")
    with pytest.raises(OutputError, match="holds 'inputs', which is not part of a run"):
        dse.run(path, out=out)


def test_a_sweep_over_tables_reads_back_each_with_its_own_designs(write, tmp_path) -> None:
    write(AES, "a.csv")
    write(AES.replace("tiny", "small").replace("198000", "99000"), "b.csv")
    path = write(STUDY + "sweep: {stages.aes.table: [a.csv, b.csv]}\n")
    result = dse.run(path, out=tmp_path / "run")
    found = finished.read_run(tmp_path / "run").points()
    for (_, index), answer in zip(found, result.run.answers, strict=True):
        assert np.array_equal(index, answer.outcome.front_index)


CELLS = [
    *("", "a", "1", "-1", "0", "nan", "1e999", "1,5", '"', "x\ny", "1e5", "\x00", "é", " 2 ", "#"),
    *("NA", "-", "12,345", "3%", "301.2 MHz", "5 foo"),
]
HEADERS = [
    *("design", "area_um2", "area_m2", "clock_mhz", "cycles_per_task", "power_mw", "payload_bit"),
    *("unroll", "latency", "size_mb", "b", "per_s", "area_uncertainty_percent", "", "Area [um2]"),
    *("Unnamed: 0", "x [MWTA]", "w_gflops", "latency [ns]", "# a", "\ufeffa"),
]


def read_any_table(data: st.DataObject, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    rows = [line.split(",") for line in AES.splitlines()]
    for _ in range(data.draw(st.integers(1, 4))):
        row, column = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
        rows[row][column] = data.draw(st.sampled_from(CELLS if row else HEADERS))
    quoted = data.draw(st.booleans())
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    table = text.getvalue() if quoted else "\n".join(map(",".join, rows))
    (folder / "cores.csv").write_text(table, encoding="utf-8")
    for text in (STUDY, OVER_RESULTS.replace("results", "cores").replace("Area", "area")):
        (folder / "study.yaml").write_text(text)
        with contextlib.suppress(DseError):
            everything(problem_of(folder / "study.yaml"))


ANY, MANY = given(data=st.data()), settings(max_examples=2000)
test_whatever_stands_in_a_table_runs_or_is_told = settings(max_examples=200)(ANY(read_any_table))
test_whatever_stands_in_2000_tables_runs_or_is_told = pytest.mark.slow(MANY(ANY(read_any_table)))


@given(st.lists(st.lists(st.text("ab 1.#\t;é", max_size=3), min_size=2, max_size=2), max_size=5))
def test_quoting_every_cell_changes_nothing(rows: list[list[str]]) -> None:
    """Tables without quotes are divided in a quicker way than those with them."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows, ["1", "2"]])
    plain = parse_csv(text.getvalue().replace('"', "").encode(), "t.csv")
    quoted = parse_csv(text.getvalue().encode(), "t.csv")
    assert plain.columns == quoted.columns
    assert plain.lines == quoted.lines


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("8,5", "a number has a decimal point; write 8.5"),
        ("1234,567", "a number has a decimal point; write 1234.567"),
        ("1,000,000", "a number has no commas; write 1000000"),
        ("1,234.5", "a number has no commas; write 1234.5"),
        (
            "231,000",
            "a number has no commas; write 231000, or 231.000 if the comma is the decimal one",
        ),
    ],
)
def test_a_comma_between_thousands_is_not_taken_for_a_decimal_one(cell: str, told: str) -> None:
    table = parse_csv(f'area_um2,n\n"{cell}",1\n'.encode(), "a.csv")
    found: list[Fault] = []
    table.numbers(0, Fraction(1), found)
    assert [str(fault) for fault in found] == [f"a.csv:2:1: area_um2: {cell!r}; {told}"]


NAMES = "name,B,OP,W,ms,Valid\n" + "".join(
    f"d{row},{row + 1},{9 - row},{row % 3 + 1},{row % 4},{'true' if row % 2 else 'false'}\n"
    for row in range(9)
)
OVER_NAMES = """designs: names.csv
objectives: {B: minimise, OP: minimise, ms: maximise, W: minimise}
constraints: ['Valid == "true"', "B <= 6"]
"""


def test_columns_called_like_units_keep_their_names_and_numbers(write, tmp_path) -> None:
    write(NAMES, "names.csv")
    run = dse.run(write(OVER_NAMES))
    assert {"B", "OP", "W", "ms"} <= {*run.front.columns}
    assert {goal.name for goal in run.run.first.problem.goals} == {"B", "OP", "W", "ms"}
    assert set(run.front["design"]) == {"d1", "d3", "d5"}
    assert run.front["ms"].tolist() == [float(name[1:]) % 4 for name in run.front["design"]]
    assert "Least B 2; OP 8; ms 1; W 2." in run.text()


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ("Valid == 'false'", {"d0", "d2", "d4", "d6", "d8"}),
        ("Valid != 'false'", {"d1", "d3", "d5", "d7"}),
        ("Valid == 'true' or B <= 1", {"d0", "d1", "d3", "d5", "d7"}),
    ],
)
def test_texts_are_constrained(rule: str, kept: set[str], write) -> None:
    write(NAMES, "names.csv")
    problem = problem_of(write(OVER_NAMES.partition("constraints")[0] + f'constraints: ["{rule}"]'))
    labels = problem.space.axes[0].labels
    found = everything(problem).feasible
    assert {label for label, ok in zip(labels, found, strict=True) if ok} == kept


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("Valid == 'ture'", "no design has the Valid 'ture'; did you mean 'true'?"),
        ("Valid <= 'true'", "Valid is a text"),
        ("abs(Valid) <= 3", "Valid is a text, not a number"),
        ("B <= 3 ms", "a plain number is needed, not one in s"),
    ],
)
def test_a_text_is_compared_with_what_stands_in_its_column(rule, told, write) -> None:
    write(NAMES, "names.csv")
    text = OVER_NAMES.partition("constraints")[0] + f'constraints: ["{rule}"]'
    assert told in faults(write(text))[0]


def test_a_text_has_no_distance_and_does_not_move(write, tmp_path) -> None:
    write(NAMES, "names.csv")
    path = write(OVER_NAMES.replace("ms: maximise, ", ""))
    answer = dse.answer(path).text(all=True)
    assert "\nAny other design:\n" in answer
    assert 'violates Valid == "true".' in answer
    dse.run(path, out=tmp_path / "run", plots=False)
    explained = dse.explain(tmp_path / "run", "d8").text().splitlines()
    assert explained[2:4] == ['  Valid == "true": violated', "  B <= 6: violated by 50 %; B 9"]
    assert "Valid" not in answer.partition("What would change it")[2]


UNPOWERED = """design,area_um2,clock_mhz,cycles_per_block,payload_bit
tiny,2400,800,226,128
word,5800,700,54,128
pipe,9800,700,2,128
"""
OVER_UNPOWERED = """workload: {rate: 10 Gbit/s}
stages: [{name: aes, table: cores.csv, instances: {from: 1, to: 8}}]
objectives: {area: minimise}
"""


@pytest.mark.parametrize("column", [None, "power_mw", "leakage_power_mw"])
def test_power_may_be_absent_or_zero_and_what_lacks_it_is_said(column, write, tmp_path) -> None:
    table = UNPOWERED
    if column is not None:
        head, *rows = UNPOWERED.splitlines()
        table = "\n".join([f"{head},{column}", *(f"{row},0" for row in rows)]) + "\n"
    write(table, "cores.csv")
    result = dse.run(write(OVER_UNPOWERED), out=tmp_path / "run")
    assert result.front["aes.pipe"].tolist() == [1]  # the demand is held to
    (note,) = [note for note in result.manifest["notes"] if "no values of" in note]
    assert "leakage power; omitted: " in note
    assert "power_w" in note.partition("omitted: ")[2]
    assert not [name for name in result.front.columns if "power" in name or "_j_" in name]
    assert {"throughput_bit_per_s", "clock_hz", "bound"} <= {*result.front.columns}
    (told,) = faults(write(OVER_UNPOWERED.replace("{area:", "{power: minimise, area:")))
    assert "power_w needs dynamic energy and leakage power, of which a stage has no values" in told
    (told,) = faults(write(OVER_UNPOWERED + "budget: {power_cap: 1 W}\n"))
    assert "it is unknown when the cap is reached" in told


def test_gate_equivalents_never_mix_with_square_metres(write) -> None:
    write("name,area_kge,core_um2\na,12.5,100\nb,40,90\n", "ge.csv")
    text = "designs: ge.csv\nobjectives: {area: minimise, core: minimise}\nconstraints: [RULE]\n"
    front = dse.run(write(text.replace("RULE", "area <= 30 kGE"))).front
    assert front["area_ge"].tolist() == [12500.0]
    for rule in ("area <= 30 um2", "area + core <= 30 kGE", "core <= 30 kGE"):
        (told,) = faults(write(text.replace("RULE", rule)))
        assert {"GE", "m2"} <= {*re.findall(r"\w+", told)}, told


def test_columns_of_evaluated_designs_are_checked(write) -> None:
    table = RESULTS.replace("accuracy", "length [furlong]").replace("0.93", "o.93")
    write(table.replace("variant", "power_uw"), "results.csv")
    told = faults(write(OVER_RESULTS.replace("accuracy", "length")))
    assert told[0] == (
        "results.csv:1:28: 'power_mw'; two columns are called 'power_w'; "
        "rename or remove one of them"
    )
    assert told[1].startswith("results.csv:1:48: 'length [furlong]'; 'furlong' is not a known unit")
    assert told[2].startswith("results.csv:2:3: power_uw: 'iter'; it is not a number")


def test_an_empty_cell_of_an_objective_is_told_as_empty(write) -> None:
    write("name,err,c\nx,1,2\ny,,3\n", "e.csv")
    (told,) = faults(write("designs: e.csv\nobjectives: {err: minimise}\n"))
    assert "e.csv:3:3: err: ''; the cell is empty" in told
