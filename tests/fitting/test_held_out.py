"""Published tables of two systems on a chip: their verdicts, the page and the records."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.held_out import PAGE, TABLE, cases, page, timings
from dse.fitting.report import InterfaceFitReport, report_on
from dse.study import records

CASES = {f"{device} {name} {host}": found for device, name, host, found in cases()}


@pytest.mark.parametrize("found", CASES.values(), ids=CASES)
def test_verdicts_are_those_of_the_table(found: InterfaceFitReport) -> None:
    assert found.verdict is not None
    assert found.timings.host is not None
    faster = found.timings.host > found.timings.offload
    pays = [any(low <= size <= high for low, high in found.verdict.pays)
            for size in found.timings.size]  # fmt: skip
    assert pays == faster.tolist()
    assert found.verdict.says.startswith("from") == faster.any()
    assert (found.unseen["host"] > found.unseen["offload"]).tolist() == pays


def test_the_page_is_written_by_the_command() -> None:
    assert page() == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("device", ["am62x", "am64x"])
@pytest.mark.parametrize("kind", ["engine", "instructions", "software"])
def test_records_are_fits_of_the_table(device: str, kind: str) -> None:
    path = TABLE.with_name(f"{device}_aes_{kind}.yaml")
    found = report_on(timings(device.upper(), "aes-128-cbc", None, kind))
    record = records.read_record(path).records["interface"]
    fitted = found.model.estimates()
    fixed = record.overhead_s + record.overhead_plus_latency_s
    assert fixed == pytest.approx(fitted["fixed_s"].value, rel=1e-5)
    assert record.latency_s_per_byte == pytest.approx(fitted["per_byte_s_per_byte"].value, rel=1e-5)
    load = np.mean(found.timings.offload_cpu)
    assert record.wait == ("sync_os" if load < 0.95 else "sync")
