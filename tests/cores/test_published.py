"""Published cores: the table of 65 nm as its report prints it."""

from __future__ import annotations

import csv
from collections import defaultdict

import numpy as np
import pytest

from dse.contract import EVIDENCE, Core, Function
from dse.contract.published import read_published
from dse.cores import published
from dse.plugins import registry
from tests.conftest import ROOT

TABLES = ROOT / "cores" / "tables"
MESSAGE_BIT = 1536 * 8


def printed() -> dict[str, dict[str, dict[str, str]]]:
    """Return the rows by design and target, read apart from the code under test."""
    lines = (TABLES / "aead_65nm.csv").read_text("utf-8").splitlines()
    rows: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for row in csv.DictReader(line for line in lines if line[0] != "#"):
        rows[row["design"]][row["corner"]] = row
    return rows


def test_the_printed_rate_is_that_of_the_shortest_period() -> None:
    """A message takes a whole number of cycles then, as far as the rate is printed; else not."""
    whole = defaultdict(list)
    for name, rows in printed().items():
        rate = float(rows["BC"]["throughput_mbps_1536"] or "nan") * 1e-3
        periods = {float(row["period_ns"]) for row in rows.values()}
        if len(periods) == 1 or np.isnan(rate):
            continue
        for period in periods:
            cycles = MESSAGE_BIT / (rate * period)
            rounding = cycles * 0.05e-3 / rate  # of a rate in tenths of Mbit/s
            fraction = abs(cycles - round(cycles))
            if rounding < 0.1:
                whole[period == min(periods)].append((fraction <= rounding + 0.02, name))
    assert [held for held, _ in whole[True]] == [True] * 15
    assert (sum(held for held, _ in whole[False]), len(whole[False])) == (4, 32)


# area (um2), clock (MHz), cycles of a message by hand: 12288 bit / (rate * shortest period)
GOLDEN = {
    ("romulus_65nm", "mk_4_hs"): (20629.1, 1282.0513, 12288 / (8.9206 * 0.78)),
    ("romulus_65nm", "mk_4_bc_la"): (13243.7, 1250.0, 12288 / (8.9206 * 0.78)),
    ("subterranean_65nm", "pm_bc_la_hs"): (9869.8, 2127.6596, 12288 / (60.5201 * 0.47)),
    ("photon_beetle_65nm", "vl_hs"): (26795.2, 2000.0, 12288 / (7.6442 * 0.5)),
}


@pytest.mark.parametrize(("name", "design"), GOLDEN)
def test_a_row_is_a_design_at_its_own_clock(name: str, design: str) -> None:
    model = registry.get(Core, name).models["table"]
    found, row = model.function(), model.designs.index(design)
    area, clock, cycles = GOLDEN[name, design]
    assert found.area_m2[row] == pytest.approx(area * 1e-12)
    assert found.clock_hz[row] == pytest.approx(clock * 1e6, rel=1e-6)
    assert found.cycles_per_task[row] == pytest.approx(cycles)
    assert (found.tasks_in_flight[row], found.read_byte[row]) == (1, 1536)


def test_every_row_of_65_nm_is_a_design_or_left_out_with_a_reason() -> None:
    cores = [registry.get(Core, f"{cipher}_65nm") for cipher in published.CIPHERS]
    names = [name for core in cores for name in (*core.models["table"].designs, *core.omitted)]
    targets = [name for design in names for name in design.split("_") if name in TARGETS]
    assert len(targets) == 88
    (xoodyak,) = (core for core in cores if core.omitted)
    assert [*xoodyak.omitted] == ["rh_s_bc_la_hs", "rh_s_lf"]


TARGETS = ("bc", "la", "hs", "lf")


ROWS = read_published(TABLES / "published.csv").rows
CORES = [f"{cipher}_65nm" for cipher in published.CIPHERS] + [
    *dict.fromkeys(row["core"] for row in ROWS)
]


# Gbit/s as the source prints it, of one design
RATES = {
    ("asics_aes_180nm", "cipher"): 2.82,
    ("secworks_chacha_cyclone_iv", "quad"): 2.6,
    ("secworks_chacha_cyclone_v", "quad"): 2.5,
    ("vitis_aes_cbc", "cbc"): 5.5 * 8,
    ("vitis_crc32", "crc"): 4.7 * 8,
    ("vitis_lz4", "stream"): 0.29 * 8,
}


@pytest.mark.parametrize(("name", "design"), RATES)
def test_a_single_core_has_its_printed_rate(name: str, design: str) -> None:
    model = registry.get(Core, name).models["table"]
    found, row = model.function(), model.designs.index(design)
    assert found.read_byte[row] == found.written_byte[row] == found.payload_bit[row] / 8
    rate = found.clock_hz[row] / found.cycles_per_task[row] * found.payload_bit[row]
    assert rate / 1e9 == pytest.approx(RATES[name, design], rel=0.015)


def test_blocks_that_wait_for_each_other_cost_a_vendor_five_times_the_logic() -> None:
    """CBC encryption: 48 units, one stream each, where decryption of the same rate has 4."""
    encrypt, decrypt = (
        registry.get(Core, name).models["table"].function()
        for name in ("vitis_aes_cbc", "vitis_aes_cbc_decryption")
    )
    assert encrypt.area_lc[0] / decrypt.area_lc[0] == pytest.approx(5.2, abs=0.05)
    one_stream = encrypt.payload_bit * encrypt.clock_hz / encrypt.latency_cycles
    assert one_stream[0] == pytest.approx(44e9 / 48)


def test_a_latency_is_assumed_unless_the_source_says_how_many_work_at_once() -> None:
    assumed = {name: registry.get(Core, name).models["table"].assumed for name in CORES}
    assert assumed["vitis_aes_cbc"] == ("read_byte", "written_byte")
    assert assumed["vitis_aes_xts"] == ("latency_cycles", "read_byte", "written_byte")


@pytest.mark.parametrize("core", registry.records(Core).values(), ids=lambda core: core.name)
def test_a_core_says_what_it_is(core: Core) -> None:
    known = registry.records(Function)
    assert core.provides
    assert {*core.provides} <= known.keys()
    assert core.node
    assert core.evidence in EVIDENCE
