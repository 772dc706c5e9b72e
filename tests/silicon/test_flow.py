"""Designs placed and routed by a flow: what it is given, what is read of its report, its faults.

A Makefile and programs stand in for OpenROAD-flow-scripts and OpenROAD, which has not run in these
tests, and leave reports of public runs.  The flow's own Makefile took the same settings.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dse.cli.app import application
from dse.errors import StudyError
from dse.silicon import flow as flows
from dse.silicon.cells.liberty import read_liberty
from dse.silicon.figures import rounded_up
from dse.silicon.flow import platform_of
from dse.silicon.handover import CONSTRAINTS, files_for_placing
from dse.silicon.yosys import found_yosys
from tests.silicon.test_characterise import Run, fails
from tests.silicon.test_characterise import run as run
from tests.silicon.toy import TOY, path, toy

pytestmark = pytest.mark.skipif(
    not found_yosys() or not shutil.which("make"), reason="needs pyosys or yosys, and make"
)

RECORDED = """{
"finish__timing__setup__ws": -1.54333,
"finish__design__instance__area": 5540.31,
"finish__timing__fmax__clock:core_clock": 3.78311e+08,
"finish__timing__fmax": 3.78311e+08,
"finish__power__leakage__total": 2.14566e-09,
"finish__power__total": 0.00825358,
"finish__design__instance__area": 4890.94,
"finish__design__instance__area__stdcell": 4890.94
}"""
"""Of gcd in sky130hd, for a clock of 1.1 ns, by OpenROAD 26Q2-1846-g49bd051a10: part of
logs/sky130hd/gcd/base/6_report.json in github.com/guris12/my-gcd-orfs-debug at 752118616."""

EARLIER = """{
"finish__timing__setup__ws": 0.6300,
"finish__design__instance__area": 4036.3711,
"finish__design__instance__area__stdcell": 4036.3711
}"""
"""Part of flow/logs/sky130hd/gcd/base/6_report.json in
github.com/google/globalfoundries-pdk-libs-gf180mcu_osu_sc at 24ddcccb8."""

MAKEFILE = """\
include $(DESIGN_CONFIG)
LOGS = logs/$(PLATFORM)/$(DESIGN_NAME)/$(FLOW_VARIANT)
$(LOGS)/6_report.log: $(SYNTH_NETLIST_FILES) $(SDC_FILE) $(LIB_FILES) $(FLOW_HOME)/report.json
	mkdir -p $(LOGS)
	cp $(SYNTH_NETLIST_FILES) $(SDC_FILE) config.mk $(FLOW_HOME)
	test ! -e $(FLOW_HOME)/failing || (cat $(FLOW_HOME)/failing; exit 1)
	cp $(FLOW_HOME)/report.json $(LOGS)/6_report.json
	echo '{"detailedroute__route__drc_errors": 3}' > $(LOGS)/5_2_route.json
"""

Flow = Callable[..., Path]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Return the library of ten cells under a name that the flow knows."""
    file = tmp_path / "sky130.lib"
    file.write_text(TOY.read_text().replace("library (toy)", "library (sky130_fd_sc_hd__toy)"))
    return file


@pytest.fixture
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flow:
    """Return a function that writes a flow with a report, or with a log that it fails with."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("openroad", "yosys"):
        (programs / name).write_text("#!/bin/sh\necho 26Q2-1846-g49bd051a10\necho +GPU +GUI\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")

    def written(report: str = RECORDED, failing: str = "") -> Path:
        folder = tmp_path / "flow"
        (folder / "platforms").mkdir(parents=True, exist_ok=True)
        (folder / "Makefile").write_text(MAKEFILE)
        (folder / "report.json").write_text(report)
        if failing:
            (folder / "failing").write_text(failing)
        return folder

    return written


def test_area_clock_and_leakage_are_those_of_the_routed_design(
    run: Run, flow: Flow, library: Path
) -> None:
    """The clock reported is that of the period less the slack; at it, power is that of gates."""
    found = run(library=library, over="UNROLL=1", place=flow())
    (one,) = found.designs
    had = one.figures
    assert had["least_period_s"] == pytest.approx(1.1e-9 + 1.54333e-9, rel=1e-5)
    assert had["clock_hz"] == pytest.approx(1 / 2.65e-9)
    assert had["area_m2"] == pytest.approx(4890.94e-12)
    assert had["gate_equivalents"] == pytest.approx(4890.94e-12 / toy().cells["NAND2"].area_m2)
    assert had["leakage_power_w"] == 2.14566e-9
    slow = {"clock": f"{1 / 2.65!r} GHz", "targets": "fastest"}
    (alone,) = run(library=library, over="UNROLL=1", **slow).designs
    for name in ("dynamic_power_w", "settled_power_w", "idle_power_w", "cells"):
        assert had[name] == pytest.approx(alone.figures[name])
    assert {name for name in alone.figures if name not in had} == {
        "area_uncertainty",
        "clock_uncertainty",
        "leakage_power_uncertainty",
    }
    placer = r"OpenROAD 26Q2-1846-g49bd051a10 through OpenROAD-flow-scripts for sky130hd \("
    assert re.search(rf"^# placed and routed by: {placer}sha256 \w{{12}}\)$", found.csv(), re.M)
    assert "# note: routed with 3 violations of design rules\n" in found.csv()
    assert "glitches" in found.text()


def test_a_clock_that_the_netlist_cannot_have_is_not_taken(
    run: Run, flow: Flow, library: Path
) -> None:
    """The flow is given that clock, where the netlist is mapped for the fastest."""
    folder = flow(RECORDED.replace('fmax": 3.78311e+08', 'fmax": 9e+09'))
    (one,) = run(library=library, over="UNROLL=1", place=folder).designs
    (alone,) = run(library=library, over="UNROLL=1").designs
    least_s = alone.figures["least_period_s"]
    assert one.figures["least_period_s"] == least_s
    constraints = (folder / "constraints.sdc").read_text()
    assert f" -period {rounded_up(least_s) * 1e9:.12g} " in constraints


def test_the_flow_gets_the_netlist_its_clock_and_the_library(
    run: Run, flow: Flow, library: Path
) -> None:
    folder = flow()
    run(library=library, over="UNROLL=1", targets="400 MHz", place=folder)
    config = (folder / "config.mk").read_text()
    assert f"override export LIB_FILES = {library}\n" in config
    assert "export PLATFORM = sky130hd\nexport DESIGN_NAME = core\n" in config
    assert (folder / "netlist.v").read_text().startswith("module core(clk, start, word, answer);")
    assert (folder / "constraints.sdc").read_text() == (
        "create_clock -name {clk} -period 2.5 [get_ports {clk}]\n"
        "set_input_delay -max 0 -clock {clk} [get_ports [list {start} {word}]]\n"
        "set_output_delay -max 0 -clock {clk} [all_outputs]\n"
    )


def test_constraints_are_in_the_unit_of_the_library(tmp_path: Path) -> None:
    file = tmp_path / "ps.lib"
    file.write_text(TOY.read_text().replace('time_unit : "1ns"', 'time_unit : "1ps"'))
    written = files_for_placing(path(), read_liberty(file), clock="clk", period_s=1.25e-9)
    assert written[CONSTRAINTS].startswith("create_clock -name {clk} -period 1250 [")


def test_results_are_kept_until_the_flow_changes(run: Run, flow: Flow, library: Path) -> None:
    given = {"library": library, "over": "UNROLL=1"}
    assert run(**given, place=flow()).kept == 0
    folder = flow(failing="never run")
    assert run(**given, place=folder).kept == 1
    assert run(**given).kept == 0
    (folder / "failing").unlink()
    (folder / "platforms" / "asap7").mkdir()
    (folder / "platforms" / "asap7" / "config.mk").write_text("export PROCESS = 7\n")
    flows._sha256_of.cache_clear()
    assert run(**given, place=folder).kept == 0


LAST = "leave place out: --keep then writes what the flow takes, to run it by hand"
LOG = "[INFO]\n[ERROR PDN-0185] Insufficient width (27.6 um) to add straps.\nError: pdn.tcl\n"
FAILED = {
    "log": (
        {"failing": LOG},
        "UNROLL1: place: the flow ended before its report: "
        f"[ERROR PDN-0185] Insufficient width (27.6 um) to add straps.; {LAST}",
    ),
    "report": (
        {"report": EARLIER},
        "\n".join(
            f"UNROLL1: place: {name}; 6_report.json needs it, above 0; use "
            "OpenROAD-flow-scripts of August 2025 or later"
            for name in ("finish__timing__fmax", "finish__power__leakage__total")
        ),
    ),
    "number": (
        {"report": RECORDED.replace("4890.94\n", "0\n")},
        "UNROLL1: place: finish__design__instance__area__stdcell: 0; 6_report.json needs it, "
        "above 0; use OpenROAD-flow-scripts of August 2025 or later",
    ),
}


@pytest.mark.parametrize("what", FAILED)
def test_a_flow_that_fails(run: Run, flow: Flow, library: Path, what: str) -> None:
    given, expected = FAILED[what]
    place = flow(**given)
    assert fails(lambda: run(library=library, over="UNROLL=1", place=place)) == expected


def test_a_log_without_an_error_has_its_last_lines(run: Run, flow: Flow, library: Path) -> None:
    place = flow(failing="Killed\n")
    said = fails(lambda: run(library=library, over="UNROLL=1", place=place))
    assert re.search(r"report: .* / Killed / make.*Error 1; ", said)


def test_what_is_missing_is_named_before_anything_runs(
    run: Run, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    given = {"corners": TOY, "check": "none.csv", "place": tmp_path / "a b"}
    said = fails(lambda: run(library=library, **given))
    missing = "it is not on the PATH, and the flow runs it; source the flow's env.sh"
    assert said.splitlines() == [
        "no such file: 'none.csv'; check the path",
        *(f"place: {name}; {missing}" for name in ("make", "openroad", "yosys")),
        f"place: {tmp_path}/a b; it has no Makefile or no platforms/; name the folder flow of "
        "OpenROAD-flow-scripts",
        f"place: {TOY}; designs are routed at the corner of --library; leave the others out",
        f"place: {tmp_path}/a b; make takes no path with a space, $ or #; move it, or give it a "
        "link",
    ]


def test_libraries_that_no_flow_places(run: Run, flow: Flow) -> None:
    assert fails(lambda: run(place=flow())) == (
        "place: toy; the flow has no known platform for this library; take one of sky130hd, "
        "asap7, ihp-sg13g2, or leave place out"
    )
    ram = replace(toy().cells["DFF"], name="RAM", buses={"D": ("D",)})
    library = replace(toy(), name="sg13g2_stdcell_typ", cells={**toy().cells, "RAM": ram})
    with pytest.raises(StudyError, match="place: RAM; the flow has no layout of macros; leave"):
        platform_of(library)


def test_a_device_has_its_own_placement() -> None:
    command = ["characterise", "des", "--device", "ice40:hx8k", "--place", "flow"]
    done = CliRunner().invoke(application(), command)
    assert str(done.exception) == "--place: a device has none; leave it out"
