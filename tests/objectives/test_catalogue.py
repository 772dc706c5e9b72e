"""The catalogue says what its tables print, in SI, and keeps what is missing missing."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest

import dse.objectives.catalogue as catalogue
from dse.algebra import units
from dse.contract import WAIT_MODES, Function, Interface, Kernel, Objective, Platform
from dse.plugins import registry
from tests.conftest import run_dse

INTERFACES = registry.records(Interface)
KERNELS = registry.records(Kernel)
PLATFORMS = registry.records(Platform)


ATTACHMENTS = catalogue.read_catalogue("attachments.csv")


def test_each_record_is_sourced():
    records = [*INTERFACES.values(), *KERNELS.values(), *PLATFORMS.values()]
    assert all(record.source for record in records)


@pytest.mark.parametrize("kind", [Interface, Kernel, Platform, Function])
def test_each_row_is_provided_in_its_place(kind: type):
    rows = [row["name"] for row in catalogue.read_catalogue(f"{kind.__name__.lower()}s.csv")]
    if kind is Interface:
        rows += dict.fromkeys(row["interface"] for row in ATTACHMENTS)
    assert [plugin.name for plugin in registry.in_order(kind)] == rows


def test_kernels_are_those_of_the_cores_and_of_the_paper():
    assert set(KERNELS) >= {
        "des", "3des", "fft64", "jacobi",
        "aes_ultrasparc_t2", "aes_sparc_t4", "aes_core_i7_2600",
        "aes_xts_vaes", "aes_128_xts_vaes", "aes_xts_c", "aes_128_gcm_aesni",
        "aes_128_cbc_c_a53", "aes_128_cbc_a53",
    }  # fmt: skip
    assert KERNELS["des"].index_s_per_byte == pytest.approx(16.2e-9)
    # LogCA Table 5 prints cycles per byte: 90 at 1.16 GHz
    aes = KERNELS["aes_ultrasparc_t2"]
    assert aes.index_s_per_byte == pytest.approx(77.6e-9, rel=1e-3)
    assert (aes.exponent, aes.host) == (1.01, INTERFACES["ultrasparc_t2"].host)


# Gbit/s of one thread at 16 KiB as the source prints it
AT_16_KIB = {
    "aes_128_gcm_ice_lake": 8_941_541.79e3 * 8 / 1e9,
    "aes_256_gcm_aesni_ice_lake": 3_617_757.5e3 * 8 / 1e9,
    "aes_256_gcm_zen5": 20_855_583.93e3 * 8 / 1e9,
    "aes_128_gcm_zen3": 4658.7e6 * 8 / 1e9,
    "sha256_zen5": 2107e6 * 8 / 1e9,
    "lz4": 780e6 * 8 / 1e9,
}


@pytest.mark.parametrize("name", AT_16_KIB)
def test_a_size_law_is_near_what_was_measured(name: str):
    kernel = KERNELS[name]
    time = kernel.offset_s + kernel.index_s_per_byte * 16384
    assert 16384 * 8 / time / 1e9 == pytest.approx(AT_16_KIB[name], rel=0.1)


def test_every_kernel_says_what_it_computes():
    known = {*registry.records(Function)}
    assert all(kernel.provides and {*kernel.provides} <= known for kernel in KERNELS.values())


def test_assumptions_are_fields_that_are_given():
    known = {item.name for item in fields(Interface)}
    for interface in INTERFACES.values():
        assert {*interface.assumptions, *interface.sources} <= known
        assert all(getattr(interface, name) is not None for name in interface.assumptions)
        assert interface.wait in WAIT_MODES


GRADES = {"measured", "spec", "report", "derived", "assumed"}


def test_each_figure_of_todays_attachments_has_a_source_of_its_own():
    references = {row["reference"] for row in catalogue.read_catalogue("references.csv")}
    told = {"label", "host", "attachment", "note", "not_published"}
    for row in ATTACHMENTS:
        figure = (row["interface"], row["field"])
        assert (row["field"] in told) == (not row["grade"]), figure
        assert row["field"] in told or row["grade"] in GRADES, figure
        assert row["grade"] in ("", "assumed") or row["reference"] in references, figure
    assert references <= {row["reference"] for row in ATTACHMENTS}
    assert INTERFACES["dsa"].sources["link_byte_per_s"] == (
        "measured: Wang et al., LightDSA, EuroSys 2026, data github.com/izumihanako/LightDSA at "
        "3905ece (memcpy, one DSA, one engine, one shared queue): copies of 1 MiB; read and "
        "written at this rate"
    )


DSA = {64: 0.75e-6, 4096: 1.14e-6, 65536: 3.51e-6, 1048576: 35.06e-6}
GCM = {16: 515.79, 64: 1356.95, 256: 2724.06, 1024: 4329.63, 8192: 5606.17, 16384: 5730.34}
"""Seconds by bytes (LightDSA), and MB/s by bytes (QAT_Engine issue 162)."""


def line(seconds: dict[int, float]) -> np.ndarray:
    """Return offset and slope of a line with the least relative squares."""
    size, time = np.array([*seconds]), np.array([*seconds.values()])
    terms = np.column_stack([1 / time, size / time])
    return np.linalg.lstsq(terms, np.ones(len(size)), rcond=None)[0]


def test_derived_figures_follow_from_the_printed_ones():
    offset, _ = line(DSA)
    dsa = INTERFACES["dsa"]
    assert dsa.overhead_plus_latency_s == pytest.approx(offset, rel=1e-3)
    for name in ("dsa_async", "dsa_batch"):
        split = INTERFACES[name].overhead_s + INTERFACES[name].latency_s
        assert split == pytest.approx(dsa.overhead_plus_latency_s, rel=1e-3)
    qat = INTERFACES["qat_kernel"]
    whole = 4096 / qat.link_byte_per_s + qat.overhead_plus_latency_s
    assert whole == pytest.approx(14.17e-6, rel=1e-3)
    offset, slope = line({size: size / rate / 1e6 for size, rate in GCM.items()})
    gcm = KERNELS["aes_128_gcm_aesni"]
    assert (gcm.offset_s, gcm.index_s_per_byte) == pytest.approx((offset, slope), rel=1e-3)
    assert 1 / KERNELS["aes_xts_vaes"].index_s_per_byte == pytest.approx(16.171e9, rel=1e-4)


def test_what_nobody_publishes_is_left_out_and_said():
    for interface in INTERFACES.values():
        assert {"idle_power", "transfer_energy", "attachment_area"} <= set(interface.unspecified)
        assert (
            not interface.idle_power_w
            + interface.transfer_j_per_byte
            + interface.attachment_area_m2
        )
    listed = run_dse("list", "interfaces").stdout
    assert re.search(r"nfp6000_e5_2630 .*gen3 x8 .*not published, .* wait\n .* 560 ns", listed)
    assert re.search(r"qat_kernel .*12 GB/s .*13.83 us .* split\n .* together", listed)


def test_missing_is_none_never_zero():
    without = {name for name, record in PLATFORMS.items() if record.double_op_per_s is None}
    assert without == {"nuc_gpu", "apu_gpu", "arndale_gpu"}
    assert all(PLATFORMS[name].double_j_per_op is None for name in without)


def test_the_catalogue_imports_neither_pandas_nor_scipy():
    code = "import sys, objectives.catalogue; print({'pandas', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# The quantities of a system say what they are where they are defined


QUANTITIES = registry.records(Objective)


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_quantity_states_its_equation_unit_and_reference(name: str) -> None:
    quantity = QUANTITIES[name]
    text = inspect.getdoc(quantity.function) or ""
    about = text.partition("\n")[2].partition("\nReferences\n")[0].partition("\nParameters\n")[0]
    unit = units.label(name)
    assert f", in {unit}" in about.replace("\n", " ") if unit else about.strip()
    papers = re.search(r"IPDPS|ISCA|ASPLOS|Battle", quantity.source)
    assert not papers or "References\n----------\n" in text
