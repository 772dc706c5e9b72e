"""A published acceleration stands for an accelerator: LogCA as printed, equation by equation."""

from __future__ import annotations

import re

import pytest

import dse
from dse.objectives.logca.paper.model import LogCA
from dse.study.schema import InterfaceSection
from tests.conftest import first_design

STUDY = """
workload:
  rate: 1 kbit/s
  granularity: 4 KiB
  kernel: {index: 16 ns/B, exponent: 1.2, offset: 0.3 us}
interface: {overhead: 2 us, latency: 1 us, acceleration: 20}
objectives: {offload_latency: minimise, host_cores: minimise}
"""


def terms_of(**overrides: str) -> dict[str, float]:
    """Return every quantity of the one design."""
    fields = [(name.replace("__", "."), text) for name, text in overrides.items()]
    return {name: float(column[0]) for name, column in first_design(STUDY, *fields).items()}


@pytest.mark.parametrize("granularity", [64, 2**20])
@pytest.mark.parametrize("exponent", [0.8, 1, 1.2])
@pytest.mark.parametrize(("latency", "per_byte"), [("1 us", 0.0), ("3 ns/B", 3e-9)])
@pytest.mark.parametrize("acceleration", [2, 20, 1000])
def test_time_speedup_and_break_even_are_logca_s(
    granularity: int, exponent: float, latency: str, per_byte: float, acceleration: int
) -> None:
    paper = LogCA(
        latency=per_byte or 1e-6,
        overhead=2e-6,
        index=16e-9,
        acceleration=acceleration,
        exponent=exponent,
        latency_per_byte=bool(per_byte),
        host_offset=0.0,
    )
    terms = terms_of(
        workload__granularity=f"{granularity} B",
        workload__kernel=f"{{index: 16 ns/B, exponent: {exponent}}}",
        interface__latency=latency,
        interface__acceleration=str(acceleration),
    )
    assert terms["offload_latency_s"] == pytest.approx(float(paper.offload_time(granularity)))
    assert terms["speedup"] == pytest.approx(float(paper.speedup(granularity)))
    assert terms["acceleration"] == pytest.approx(acceleration)
    pays = float(paper.break_even())
    assert terms["break_even_byte"] == pytest.approx(pays, nan_ok=True)


WHOLE = """# How long does an offload take?
workload: {offload_rate: 1 koffload/s, granularity: 4 KiB, kernel: des}
interface: {%s}
objectives: {offload_latency: minimise, host_cores: minimise}
"""
HOST_S = 16.2e-9 * 4096
LINK_S = 4096e-9
PCIE = "max_payload=128 B max_read_request=256 B completion=64 B descriptors=2 batch=2 in_flight=2"
TIMES_S = {
    "host=mine": (600e-9, 0.0),
    "host_clock=2 GHz overhead=200 cycles": (600e-9, 0.0),
    "latency=1 ns/B": (100e-9 + LINK_S, 0.0),
    "overhead_plus_latency=1 us overhead_share=0.3": (1e-6, 0.0),
    "overhead=0 s latency=0 s": (0.0, 0.0),
    "link=1 GB/s": (600e-9, LINK_S),
    "link=1 GB/s transfer=store_and_forward": (600e-9 + 2 * LINK_S, 0.0),
    "wait=sync_os switch=1 us": (600e-9, 0.0),
    "in_flight=8 max_in_flight=9": (600e-9, 0.0),
    "attachment=inline retransmit_share=1 % segment=1 kB": (600e-9, 0.0),
    "host_cores=4 host_power=100 W buffer_area=1 um2/bit buffer_leakage=1 pW/bit": (600e-9, 0.0),
    "buffer_energy=0.1 pJ/bit idle_power=1 W transfer_energy=1 nJ/B attachment_area=1 mm2": (
        600e-9,
        0.0,
    ),
    "device=sandy_bridge": (600e-9, 4096 / 54.4e9),  # 16 B in each of 3.4 G cycles
    f"pcie=gen5 x16 {PCIE} round_trip=100 ns": (900e-9, 97.48e-9),
}
"""What an offload takes besides the accelerator, and while it computes, by fields."""
ARRIVALS = ("", ", arrivals: poisson", ", chained: true, streams: 3")
ARRIVALS += (", program_share: 0.4, program_offloads: 100 kHz",)


@pytest.mark.parametrize(("kind", "inside"), [("acceleration: 20", 20), ("includes: device", 0)])
@pytest.mark.parametrize("fields", TIMES_S)
def test_a_whole_accelerator_answers_with_every_field(kind: str, inside: int, fields: str) -> None:
    """Guards look at what is answered: ``T1 = T_oh + max(p g, T0 / A)``."""
    pairs = re.findall(r"(\w+)=(.+?)(?= \w+=|$)", fields)
    overrides = {f"interface.{name}": value for name, value in pairs}
    if "overhead_plus_latency" not in fields:
        overrides = {"interface.overhead": "100 ns", "interface.latency": "500 ns"} | overrides
    outside, passed = TIMES_S[fields]
    for arrival in ARRIVALS:
        text = WHOLE.replace("koffload/s", f"koffload/s{arrival}") % kind
        found = dse.answer(text, overrides=overrides, all=False, flips=False)
        assert isinstance(found, dse.Answer)
        expected = outside + max(passed, HOST_S / inside if inside else 0.0)
        assert found.pick.quantities["offload_latency_s"] == pytest.approx(expected, rel=1e-4)


def test_every_field_of_an_interface_is_tried() -> None:
    tried = {*re.findall(r"(\w+)=", " ".join(TIMES_S)), "acceleration", "includes"}
    assert tried == set(InterfaceSection.model_fields)
