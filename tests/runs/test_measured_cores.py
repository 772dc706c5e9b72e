"""Cores whose designs a program measures: the same front as with these figures in a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dse
from dse.errors import MeasurementError, StudyError

PROGRAM = """\
#!/bin/sh
echo "$1 $2" >> {calls}
test "$1" = 8 && exit 3
test "$2" = wide && extra=50 || extra=0
echo "area = $((900 * $1 + extra)) um2"
echo "dynamic_power = $((400 * $1 + extra)) uW"
echo "leakage_power = $((3 * $1)) uW"
echo "clock = 500 MHz"
echo "cycles_per_task = $((64 / $1))"
"""

REST = """\
    values: {payload: 512 bit}
    instances: {from: 1, to: 4}
workload: {rate: 10 Gbit/s}
objectives: {area: minimise, power: minimise}
"""

STUDY = f"""\
stages:
  - name: mac
    core:
      command: [./mac.sh, "{{unroll}}", "{{style}}"]
      outputs:
        {{area: um2, dynamic_power: uW, leakage_power: uW, clock: MHz, cycles_per_task: cycle/task}}
      infeasible: {{exit: 3}}
    parameters: {{unroll: [1, 2, 4, 8], style: [slim, wide]}}
{REST}"""


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """Put the program beside the study; return the file in which it counts its calls."""
    program, counted = tmp_path / "mac.sh", tmp_path / "calls"
    program.write_text(PROGRAM.format(calls=counted), encoding="utf-8")
    program.chmod(0o755)
    return counted


def test_a_measured_core_is_a_table_that_is_filled_in(
    write: Callable[..., Path], calls: Path, tmp_path: Path
) -> None:
    path = write(STUDY)
    notes = dse.load(path).notes
    assert notes[0] == "mac: figures of 8 of its designs are unknown until the run measures them"
    with pytest.raises(MeasurementError, match="only `dse run` measures"):
        dse.answer(path)
    assert not calls.exists()

    found = dse.run(path, out=tmp_path / "run", plots=False)
    assert sorted(calls.read_text().splitlines()) == sorted(
        f"{unroll} {style}" for unroll in (1, 2, 4, 8) for style in ("slim", "wide")
    )
    assert "mac: unroll8_wide is infeasible: it returned 3" in found.manifest["notes"]

    rows = ["design,area_um2,dynamic_power_uw,leakage_power_uw,clock_mhz,cycles_per_task"]
    rows += [
        f"unroll{u}_{style},{900 * u + extra},{400 * u + extra},{3 * u},500,{64 // u}"
        for u in (1, 2, 4)
        for style, extra in (("slim", 0), ("wide", 50))
    ]
    (tmp_path / "mac.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    table = dse.run(write(f"stages:\n  - name: mac\n    table: mac.csv\n{REST}", "table.yaml"))
    assert found.front.to_csv() == table.front.to_csv()

    (tmp_path / "mac.sh").unlink()
    assert dse.verify(tmp_path / "run").holds
    assert dse.answer(tmp_path / "run").to_dict()["answer"] == dse.answer(table).to_dict()["answer"]


POST = """\
design,area_um2,dynamic_power_uw,leakage_power_uw,clock_mhz,cycles_per_task,payload_bit
small,500,300,2,400,32,512
large,1500,800,5,400,8,512
"""

AFTER = "  - name: post\n    table: post.csv\n    instances: {from: 1, to: 4}\nworkload:"
RATES = "sweep: {workload.rate: [5 Gbit/s, 10 Gbit/s, 20 Gbit/s]}\n"
WIDTHS = (
    "axes: {width: [8, 16]}\nevaluate: {command: [./width.sh, '{width}'], outputs: {bits: 1}}\n"
    "sweep: {axes.width: [8, 16, 32]}\n"
)


@pytest.mark.parametrize(
    ("text", "measured"),
    [
        (STUDY, 8),
        (STUDY.replace("workload:", AFTER), 8),
        (STUDY + RATES, 8),
        (STUDY + WIDTHS, 11),
    ],
    ids=["one stage", "two stages", "sweep of a rate", "sweep of a measured axis"],
)
def test_what_was_measured_of_a_core_is_used_again(
    text: str, measured: int, write: Callable[..., Path], calls: Path, tmp_path: Path
) -> None:
    """By `--resume` and by `--reuse`: the same front, which answers and can be verified."""
    (tmp_path / "post.csv").write_text(POST, encoding="utf-8")
    (tmp_path / "width.sh").write_text('#!/bin/sh\necho "bits = $1"\n', encoding="utf-8")
    (tmp_path / "width.sh").chmod(0o755)
    path, run = write(text), tmp_path / "run"
    first = dse.run(path, out=run, plots=False)
    counted = calls.read_text()
    assert len(counted.splitlines()) == 8
    status = dse.status(run).to_dict()["state"]
    assert (status["measured"], status["planned"]) == (measured, measured)
    answer = str(dse.answer(run))
    dse.run(path, out=run, plots=False, resume=True)
    dse.run(path, out=tmp_path / "other", plots=False, reuse=run)
    for folder in (run, tmp_path / "other"):
        assert dse.verify(folder).holds
        assert str(dse.answer(folder)) == answer
        assert dse.report(folder, out=tmp_path / "page.html").is_file()
        stored = (folder / "front.csv").read_text()
        assert len(stored.splitlines()) == len(first.front) + 1
    assert (run / "front.csv").read_bytes() == (tmp_path / "other" / "front.csv").read_bytes()
    failed = "8 slim\n8 wide\n"  # which another run does not take
    assert calls.read_text() == counted + failed


def test_the_first_failure_may_end_the_run(write: Callable[..., Path], calls: Path) -> None:
    text = STUDY.replace("[1, 2, 4, 8]", "[8, 1]").replace(
        "infeasible: {exit: 3}", "on_failure: abort\n      retries: 0"
    )
    with pytest.raises(MeasurementError, match="unroll = 8, style = slim: it returned 3; repair"):
        dse.run(write(text))
    assert calls.read_text() == "8 slim\n"


def test_faults_of_a_measured_core(write: Callable[..., Path], calls: Path) -> None:
    text = STUDY.replace("  - name: mac\n    core:", "  - core:").replace("{style}", "{stile}")
    with pytest.raises(StudyError) as caught:
        dse.load(write(text))
    found = [str(fault).partition("study.yaml:")[2] for fault in caught.value.faults]
    assert found == [
        "2:5: stages.0.name: it is missing; a core that is measured has a name; add for instance "
        "`name: mac`",
        "3:39: stages.0.core.command.2: '{stile}' is no axis; did you mean 'style'?",
    ]


def test_a_core_is_called_by_the_values_and_units_of_its_parameters(
    write: Callable[..., Path], calls: Path
) -> None:
    text = STUDY.replace('"{style}"', '"{speed}"')
    text = text.replace("style: [slim, wide]", "speed: [200 MHz, 0.5 GHz], at: [10 Gbit/s]")
    notes = " ".join(dse.run(write(text)).manifest["notes"])
    assert "mac: unroll8_speed200MHz_at10Gbit_per_s is infeasible: it returned 3" in notes


def test_what_changes_itself_while_it_measures_is_refused(
    write: Callable[..., Path], calls: Path, tmp_path: Path
) -> None:
    """Its figures would be those of another program; 1 would stand for each of them."""
    text = STUDY.replace('"{style}"', '"{style}", "{study}/calls"')
    with pytest.raises(MeasurementError) as caught:
        dse.run(write(text), out=tmp_path / "run", plots=False)
    assert str(caught.value).startswith(
        "what measures has changed while it measured: identity.files.calls: not set -> "
    )


def test_the_status_of_a_finished_run_of_cores_says_where_its_front_is(
    write: Callable[..., Path], calls: Path, tmp_path: Path
) -> None:
    dse.run(write(STUDY), out=tmp_path / "run", plots=False)
    sections = {section.key: section for section in dse.status(tmp_path / "run").sections}
    assert dict(sections["state"].rows)["state"] == "finished"
    assert sections["front"].lines == (
        f"designs of its cores are measured; `dse answer {tmp_path / 'run'}` shows its front",
    )
