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
    assert (
        "mac: figures are unknown until the run starts, which first measures 8 of its designs"
        in notes[0]
    )
    with pytest.raises(MeasurementError, match="only `dse run` measures"):
        dse.answer(path)
    assert not calls.exists()

    found = dse.run(path, out=tmp_path / "run", plots=False)
    assert sorted(calls.read_text().splitlines()) == sorted(
        f"{unroll} {style}" for unroll in (1, 2, 4, 8) for style in ("slim", "wide")
    )
    assert (
        "mac: unroll8_wide could not be measured and is left out: it returned 3"
        in found.manifest["notes"]
    )

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


def test_the_first_failure_may_end_the_run(write: Callable[..., Path], calls: Path) -> None:
    text = STUDY.replace("[1, 2, 4, 8]", "[8, 1]").replace(
        "outputs:", "on_failure: abort\n      outputs:"
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
