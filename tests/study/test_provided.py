"""Stages that name a function: which cores they take, which not and why, beside a count by hand."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from types import SimpleNamespace

import pytest

import dse
from dse.contract import Core
from dse.cores.characterised import FAMILIES
from dse.errors import PluginError
from dse.plugins import registry
from dse.study import provided, study
from tests.conftest import ROOT, Write, run_dse
from tests.cores.test_characterised import CORES, fastest_of

AEAD = """
workload: {rate: 100 Gbit/s}
stages: [{provides: aead, node: 65 nm, instances: least}]
objectives: {area_m2: minimise, instances: minimise}
"""


def by_hand(gbit: float) -> dict[tuple[str, str], tuple[int, float]]:
    """Return instances and area in um2 by design and target, from the printed table alone."""
    lines = (ROOT / "cores/tables/aead_65nm.csv").read_text("utf-8").splitlines()
    rows = [*csv.DictReader(line for line in lines if not line.startswith("#"))]
    found = {}
    for row in rows:
        if not row["throughput_mbps_1536"]:
            continue
        periods = [float(one["period_ns"]) for one in rows if one["design"] == row["design"]]
        rate = float(row["throughput_mbps_1536"]) / 1e3 * min(periods) / float(row["period_ns"])
        count = math.ceil(gbit / rate)
        found[row["design"], row["corner"]] = count, count * float(row["area_um2"])
    return found


def least_by_hand(start: str, gbit: float = 100) -> tuple[int, float]:
    found = by_hand(gbit)
    keys = [key for key in found if key[0].startswith(start)]
    return min((found[key] for key in keys), key=lambda one: one[1])


@pytest.mark.parametrize(
    ("function", "start"), [("aead", ""), ("romulus", "romulus"), ("xoodyak", "xoodyak")]
)
@pytest.mark.parametrize("rate", [1, 100])
def test_a_function_gives_what_the_table_gives_by_hand(
    function: str, start: str, rate: float, write: Write
) -> None:
    overrides = {"stages.aead.provides": function} if function != "aead" else {}
    text = AEAD.replace("stages: [{provides", "stages: [{name: aead, provides")
    result = dse.run(write(text), overrides={**overrides, "workload.rate": f"{rate} Gbit/s"})
    front = result.front
    best = front.loc[front["area_m2"].idxmin()]
    count, area = least_by_hand(start, rate)
    assert best["area_m2"] * 1e12 == pytest.approx(area)
    assert best["instances"] == count


def notes(text: Path) -> str:
    return " | ".join(study.prepare(study.read_study(text, ())).notes)


def test_it_says_what_was_taken_and_what_not(write: Write) -> None:
    said = notes(write(AEAD))
    assert "aead is provided by drygascon_65nm, elephant_65nm" in said
    assert "xoodyak_65nm_rh_s_lf (no rate is printed)" in said
    assert "but may not be equally secure" in said
    assert "several nodes" not in said


def test_a_kernel_of_another_function_is_said(write: Write) -> None:
    text = AEAD.replace("100 Gbit/s", "100 Gbit/s, kernel: KERNEL")
    other = "kernel des computes des on the host, and the cores aead"
    assert other in notes(write(text.replace("KERNEL", "des")))
    assert "compare two functions" not in notes(write(text.replace("KERNEL", "aes_256_gcm_zen5")))


def test_cores_of_several_nodes_are_named_unless_they_are_scaled(write: Write) -> None:
    text = (
        "workload: {rate: 1 Gbit/s}\n"
        "stages: [{provides: des, instances: least, evidence: [synthesis]}]\n"
        "objectives: {area: minimise}\n"
    )
    assert "designs of several nodes in one list, and nothing is scaled: " in notes(write(text))
    scaled = notes(write(text.replace("least", "least, scale_to: 32 nm")))
    assert "nothing is scaled" not in scaled
    assert "areas are scaled to 32 nm" in scaled


def test_scaled_areas_are_printed_ones_over_the_entry_and_have_no_power(write: Write) -> None:
    text = AEAD.replace("node: 65 nm", "node: 65 nm, scale_to: 7 nm")
    (stage,) = study.prepare(study.read_study(write(text), ())).problem.stages
    (plain,) = study.prepare(study.read_study(write(AEAD), ())).problem.stages
    assert stage.designs.metrics.area_m2 == pytest.approx(plain.designs.metrics.area_m2 / 25)
    assert stage.designs.uncertainty["area_m2"].max() < 0.05
    assert stage.designs.uncertainty["area_m2"].min() > 0
    assert not stage.designs.has_figures("dynamic_power_w")


def test_areas_of_our_own_cores_scale_within_a_factor_of_two() -> None:
    """From 130 nm to a predictive 7 nm; docs/studies.md says so."""
    factor, _ = provided.scaled_area("130 nm", "7 nm")
    off = [
        factor * float(row["area_um2"]) / float(fastest_of(f"{family}_asap7")[name]["area_um2"])
        for family in FAMILIES
        for library in ("sky130", "ihp130")
        if f"{family}_{library}" in CORES
        for name, row in fastest_of(f"{family}_{library}").items()
    ]
    assert len(off) > 100
    assert 0.5 < min(off) < 0.6 < 1.5 < max(off) < 1.6


def test_a_record_of_ones_own_is_taken_by_what_it_provides(write: Write) -> None:
    write(
        "core:\n  name: mine\n  provides: [ascon_aead]\n  node: 65 nm\n  evidence: placed\n"
        "  parameters: {n: {low: 1, high: 2, integer: true}}\n"
        "  laws:\n"
        "    area: {form: affine, over: [n], coefficients: [100 um2, 800 um2]}\n"
        "    clock: 1 GHz\n    payload: 128 bit\n    cycles_per_task: 1 cycles/task\n",
        "mine.yaml",
    )
    text = AEAD.replace("node: 65 nm", "among: [mine.yaml, romulus_65nm]")
    (stage,) = study.prepare(study.read_study(write(text), ())).problem.stages
    assert {"mine_n1", "mine_n2"} <= {*stage.designs.names}
    record = (write("", "x.yaml").parent / "mine.yaml").read_text()
    for other in (record.replace(", integer: true", ""), record.replace("high: 2", "high: 65")):
        write(other, "mine.yaml")
        assert "a law over real numbers or wide ranges: name it by `core`" in notes(write(text))


def test_a_plug_in_that_is_broken_is_said(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    error = PluginError("it fails to load", "repair it")
    broken = SimpleNamespace(plugin=SimpleNamespace(name="theirs"), error=error)
    survey = registry.survey
    found = {Core: (broken,)}
    monkeypatch.setattr(registry, "survey", lambda kind: found.get(kind) or survey(kind))
    assert "theirs (it cannot be used: it fails to load; repair it)" in notes(write(AEAD))


def test_lists_show_what_provides_a_function(tmp_path: Path) -> None:
    told = run_dse("list", "cores", "--provides", "aead", cwd=tmp_path).stdout
    assert "xoodyak_65nm" in told
    assert "crc32_asap7" not in told
    kernels = run_dse("list", "kernels", "--provides", "disk_encryption", cwd=tmp_path).stdout
    assert "aes_128_xts_vaes" in kernels
    none = run_dse("list", "cores", "--provides", "chacha20_poly1305", cwd=tmp_path)
    assert none.stdout.startswith("cores (0)\nnone; closest: aes_gcm, ascon_aead, ")
    wrong = run_dse("list", "platforms", "--provides", "aead", cwd=tmp_path)
    assert (wrong.returncode, "list cores or kernels" in wrong.stderr) == (2, True)


# A record of whole offloads is an accelerator by itself, and no cores stand behind it


RECORD = """
interface: {name: link, includes: device, overhead: 3 us, latency: 0.2 ns/B}
kernel: {name: link, index: 15 ns/B, offset: 0.4 us}
"""
STUDY = """
workload: {rate: 1 Gbit/s, granularity: 4 KiB, kernel: link.yaml}
interface: {device: link.yaml}
axes: {interface.in_flight: [1, 2, 40]}
objectives: {offload_latency: minimise, host_cores: minimise}
"""


@pytest.fixture
def path(write: Write) -> Path:
    write(RECORD, "link.yaml")
    return write(STUDY)


def test_its_times_are_those_of_the_record(path: Path) -> None:
    """3 us + 0.2 ns of 4096 B; 2.6 us less than the host up front, 14.8 ns for each byte."""
    found = dse.answer(path, flips=False, overrides={"interface.in_flight": 1}).pick
    pick = found.quantities
    once = 3e-6 + 0.2e-9 * 4096
    assert pick["offload_latency_s"] == pytest.approx(once)
    assert found.advice[0].value == pytest.approx(2.6e-6 / 14.8e-9)
    assert pick["speedup"] == pytest.approx((0.4e-6 + 15e-9 * 4096) / once)
    assert pick["host_cores"] == pytest.approx(1e9 / (8 * 4096) * 3e-6)
    front = dse.run(path, overrides={"workload.rate": "40 Gbit/s"}).front
    assert front["interface.in_flight"].tolist() == [40]  # 8 / 0.2 ns of the link, 5 of 6 slots
