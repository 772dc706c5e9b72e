"""Ranges of an answer's numbers: from placement and from stated uncertainty; and their gaps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dse
from dse.errors import StudyError
from tests.conftest import STUDIES

TABLE = """\
design,{mapped_in}area_um2,clock_mhz,dynamic_power_mw,leakage_power_uw,payload_bit,cycles_per_task
k,{library}1000,1000,10,100,128,1
"""
STUDY = """\
workload: {rate: 64 Gbit/s}
stages: [{table: k.csv, instances: 1}]
objectives: {area: minimise, power: minimise}
"""
Write = Callable[[str], Path]


def answer_of(path: Path, **fields: str) -> dse.Answer:
    found = dse.answer(path, all=False, flips=False, overrides=fields)
    assert isinstance(found, dse.Answer)
    return found


def answer_for(write: Write, library: str, **fields: str) -> dse.Answer:
    path = write(STUDY)
    header = "mapped_in," if library else ""
    text = TABLE.format(mapped_in=header, library=f"{library}," if library else "")
    (path.parent / "k.csv").write_text(text, "utf-8")
    return answer_of(path, **fields)


@pytest.mark.parametrize(
    ("library", "area", "energy", "leakage"),
    [("", 1, 1, 1), ("asap7sc7p5t_TT", 1.1794, 1.3557, 1.312), ("mine", 1.2144, 1.5032, 1.3312)],
)
def test_only_tables_of_mapped_gates_are_scaled(
    write: Write, library: str, area: float, energy: float, leakage: float
) -> None:
    """Half of 128 Gbit/s switches 5 mW of 10, and leaks 0.1 mW."""
    found = answer_for(write, library).pick.quantities
    assert found["area_m2"] == pytest.approx(1000e-12 * area, rel=1e-4)
    assert found["power_w"] == pytest.approx(5e-3 * energy + 1e-4 * leakage, rel=1e-4)
    if library:
        plain = answer_for(write, library, **{"stages.0.as": "synthesised"})
        assert plain.pick.quantities["power_w"] == pytest.approx(5.1e-3, rel=1e-9)
        assert not plain.to_dict()["ranges"]["ranges"]


def test_the_range_is_that_of_the_routed_runs(write: Write) -> None:
    """Percentiles of 14 routed runs: area 1.126 and 1.351, energy 1.292 and 1.972."""
    found = answer_for(write, "asap7")
    low, high = found.to_dict()["ranges"]["ranges"]["power_w"]
    assert low == pytest.approx(5e-3 * 1.2922 + 1e-4 * 1.2132, rel=1e-3)
    assert high == pytest.approx(5e-3 * 1.9719 + 1e-4 * 1.6845, rel=1e-3)
    said = "Least power 6.91 mW (6.58 to 10 as cores vary); area 1179 um2 "
    assert f"{said}(1130 to 1350 as cores vary). Not counted: " in " ".join(found.text().split())


def test_a_stated_uncertainty_is_a_range(write: Write) -> None:
    """10 % of a log-normal factor: 1.2816 times 0.09975 to either side."""
    path = write(STUDY.replace("instances: 1", "instances: 1, uncertainty: {area: 10 %}"))
    (path.parent / "k.csv").write_text(TABLE.format(mapped_in="", library=""), "utf-8")
    low, high = answer_of(path).to_dict()["ranges"]["ranges"]["area_m2"]
    assert (low, high) == pytest.approx((880e-12, 1136.4e-12), rel=1e-3)


def test_two_kits_in_one_table_are_refused(write: Write) -> None:
    path = write(STUDY)
    rows = TABLE.format(mapped_in="mapped_in,", library="asap7,") + "l,sky130,1,1,1,1,128,1\n"
    (path.parent / "k.csv").write_text(rows, "utf-8")
    with pytest.raises(StudyError, match="mapped in several kits: asap7, sky130"):
        dse.answer(path)


def test_terms_that_are_unknown_or_zero_are_named() -> None:
    tls = STUDIES / "tls_100gbps.yaml"
    counted = answer_of(tls, **{"interface.buffer_energy": "0.1 pJ/bit"})
    plain = answer_of(tls)
    missing, rest = (
        one.to_dict()["ranges"]["omitted"]["total_power_w"] for one in (plain, counted)
    )
    assert {*missing} - {*rest} == {"buffer energy"}
    assert {"idle power", "transfer energy", "memory power"} <= {*rest}
    uncounted = "Not counted: attachment area; access, idle, transfer, memory and constant"
    assert f"{uncounted} power." in " ".join(plain.text().split())
    # 100 Gbit/s, each bit four times
    more = counted.pick.quantities["total_power_w"] - plain.pick.quantities["total_power_w"]
    assert more == pytest.approx(4 * 0.1e-12 * 100e9, rel=1e-9)
