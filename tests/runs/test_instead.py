"""The host alone, seen wherever a choice is told: fronts, pictures, sweeps, infeasible studies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dse
from dse.errors import InfeasibleError

STUDY = """\
# Which cores?
workload: {rate: 1 Gbit/s, granularity: 64 B, kernel: {index: 2 ns/B}}
stages: [{core: des, instances: {from: 1, to: 4}}]
interface: {overhead: 30 ns, link: 4 GB/s, in_flight: 64, host_cores: 4, host_power: 100 W}
objectives: {total_power: minimise, area: minimise}
"""
CORES_PER_BIT_PER_S = 64 * 2e-9 / 512
"""Of the host alone: 128 ns for each offload of 512 bit."""


def test_a_front_shows_the_host_alone_as_no_design(tmp_path: Path) -> None:
    found = dse.run(STUDY, out=tmp_path / "run")
    assert len(found.front) == 1
    text = found.text()
    row = next(line.split("  ") for line in text.splitlines() if "(the host alone)" in line)
    assert [cell.strip() for cell in row if cell] == [
        "(the host alone)",
        "6.25 W",
        "none",
        "could do it",
    ]
    said = "No design: The host alone would need 0.25 host cores of 4. It would be on the front."
    assert said in text
    (entry,) = found.manifest["instead"]
    assert entry["needs"] == pytest.approx(1e9 * CORES_PER_BIT_PER_S)
    assert (entry["beats"], entry["beaten_by"]) == (0, 0)
    assert "host alone" not in (tmp_path / "run" / "front.csv").read_text()
    picture = (tmp_path / "run" / "front.svg").read_text()
    assert "the host alone, no design: could do it" in picture
    assert dse.verify(tmp_path / "run").holds


def test_a_manifest_that_tells_another_host_is_refuted(tmp_path: Path) -> None:
    dse.run(STUDY, out=tmp_path / "run", plots=False)
    path = tmp_path / "run" / "manifest.json"
    told = json.loads(path.read_text())
    told["instead"][0]["needs"] = 5.0
    path.write_text(json.dumps(told))
    assert not dse.verify(tmp_path / "run").holds


def test_a_host_that_cannot_would_not_be_on_the_front() -> None:
    text = dse.run(STUDY.replace("2 ns/B", "200 ns/B")).text()
    assert "No design: The host alone would need 25 host cores of 4: it cannot.\n" in text


def test_an_infeasible_study_tells_of_the_host_at_the_demand() -> None:
    """The designs reach a part of 400 Gbit/s; the host is asked for all of it."""
    with pytest.raises(InfeasibleError) as error:
        dse.run(STUDY.replace("rate: 1 Gbit/s", "rate: 400 Gbit/s"))
    said = "no design: The host alone would need 100 host cores of 4: it cannot."
    assert str(error.value).endswith(said)
    assert error.value.facts["instead"][0]["needs"] == pytest.approx(400e9 * CORES_PER_BIT_PER_S)


END = 4 / CORES_PER_BIT_PER_S
"""The rate that keeps all four cores busy: 16 Gbit/s."""


def test_a_sweep_tells_at_which_rate_the_cores_of_the_host_end() -> None:
    swept = STUDY.replace("rate: 1 Gbit/s, ", "")
    swept += "sweep: {workload.rate: [1 Gbit/s, 10 Gbit/s, 20 Gbit/s]}\n"
    line = (
        "The host alone can do it up to rate 10 Gbit/s, and not from 20 Gbit/s on: "
        "at 16 Gbit/s it needs all 4 host cores."
    )
    told = dse.run(swept)
    assert told.manifest["instead"] == [{"text": line}]
    (section,) = (part for part in dse.answer(swept).sections if part.key == "instead")
    assert section.lines == (line,)
    assert pytest.approx(16e9) == END


def test_an_exact_sweep_finds_that_rate_too() -> None:
    found = dse.sweep(STUDY, "rate=1..200Gbps")
    assert found.instead == ("The host alone can do it up to 16 Gbit/s, and not beyond.",)
    assert dse.sweep(STUDY, "rate=1..2Gbps").instead == (
        "The host alone can do it anywhere in this range.",
    )
