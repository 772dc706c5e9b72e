"""Interfaces fitted to measured times: truth inside intervals, honest limits, exact faults."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import curve_fit

import dse
from dse.errors import DseError
from dse.fitting.curves import fit_curve, fit_model
from dse.fitting.report import InterfaceFitReport, report_on
from dse.fitting.timings import TimingOptions, Timings, read_csv, read_timings
from dse.objectives.logca.paper.model import LogCA
from dse.study import records as user_records
from tests.fitting.conftest import Command

FILES = (("link.csv", b""),)
DRAWS = 400
SIZES = 2.0 ** np.arange(4, 21, 2)
SHA = LogCA(
    latency=0.5e-9,
    overhead=3e-6,
    index=15e-9,
    acceleration=20.0,
    latency_per_byte=True,
    host_offset=389e-9,
)
CURVED = replace(SHA, latency=2e-9, exponent=1.3)
ALWAYS = LogCA(latency=0, overhead=1e-7, index=1e-9, acceleration=9, host_offset=2e-7)


def timings(device: LogCA, noise: float = 0.0, sizes: np.ndarray = SIZES, seed: int = 1) -> Timings:
    rng = np.random.default_rng(seed)
    host, offload = (
        curve(sizes) * np.exp(noise * rng.standard_normal(len(sizes)))
        for curve in (device.host_time, device.offload_time)
    )
    return Timings(size=sizes, host=host, offload=offload, files=FILES, facts={})


def values(found: InterfaceFitReport) -> dict[str, float]:
    return {name: one.value for name, one in found.model.estimates().items()}


def crossings(found: InterfaceFitReport) -> list[float]:
    assert found.verdict is not None
    return [one.value for one in found.verdict.crossings]


def says(found: InterfaceFitReport) -> str:
    assert found.verdict is not None
    return found.verdict.says


def csv(path: Path, data: Timings, unit: str = "us", factor: float = 1e6) -> Path:
    rows = zip(data.size, data.host * factor, data.offload * factor, strict=True)
    lines = [f"granularity_byte,host_{unit},offload_{unit}"]
    lines += [",".join(repr(float(value)) for value in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def truth(device: LogCA) -> dict[str, float]:
    """Return the parameters as the fit reports them: one sum per byte for a linear kernel."""
    linear = device.exponent == 1.0
    return {
        "host_offset_s": device.host_offset,
        "index_s_per_byte": device.index,
        "exponent": device.exponent,
        "fixed_s": device.overhead,
        "per_byte_s_per_byte": device.latency + linear * device.index / device.acceleration,
    }


class TestIntervals:
    @pytest.mark.slow
    @pytest.mark.parametrize("device", [SHA, CURVED], ids=["linear", "curved"])
    @pytest.mark.parametrize(("count", "noise"), [(6, 0.02), (12, 0.05)], ids=["few", "many"])
    def test_true_values_lie_inside_as_often_as_promised(
        self, device: LogCA, count: int, noise: float
    ) -> None:
        sizes, rng = np.geomspace(16, 2**20, count), np.random.default_rng(7)
        noisy = np.exp(noise * rng.standard_normal((DRAWS, 2, count)))
        curves = np.array([device.host_time(sizes), device.offload_time(sizes)])
        models = [fit_model(sizes, *times) for times in curves * noisy]
        fits = [model.estimates() for model in models]
        assert truth(device).keys() == fits[0].keys()
        for name, value in truth(device).items():
            share = np.mean([fit[name].low <= value <= fit[name].high for fit in fits])
            assert 0.92 <= share <= 0.98, name
        at = np.log([device.break_even()])
        assert 0.92 <= np.mean([model.inside(at)[0] >= 0 for model in models]) <= 0.98

    @pytest.mark.slow
    def test_exponent_one_is_given_up_once_in_a_hundred(self) -> None:
        rng = np.random.default_rng(5)
        noise = np.exp(0.03 * rng.standard_normal((DRAWS, len(SIZES))))
        offload = SHA.offload_time(SIZES)
        linear = [fit_model(SIZES, SHA.host_time(SIZES) * one, offload).linear for one in noise]
        assert 0.98 <= np.mean(linear) < 1


class TestValues:
    @pytest.mark.parametrize("device", [SHA, CURVED], ids=["linear", "curved"])
    def test_data_without_noise_give_the_device_back(self, device: LogCA) -> None:
        found = report_on(timings(device))
        assert values(found) == pytest.approx(truth(device), rel=1e-6)
        assert found.model.linear or found.model.acceleration == pytest.approx(20, rel=1e-6)
        assert crossings(found)[0] == pytest.approx(float(device.break_even()), rel=1e-9)

    def test_curve_fit_finds_the_same_least_squares(self) -> None:
        data = timings(CURVED, 0.05)

        def curve(g: np.ndarray, a: float, b: float, c: float) -> np.ndarray:
            return np.log(np.exp(a) + np.exp(b) * g**c)

        tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
        start = [-15, -18, 1.2]
        best, covariance = curve_fit(curve, data.size, np.log(data.host), start, **tight)
        found = fit_curve(data.size, data.host, [0.0, 1.0], sought=True)
        assert found.coefficients == pytest.approx(np.exp(best[:2]), rel=1e-5)
        scale = np.append(found.coefficients, 1.0)  # of logarithms of the coefficients
        expected = covariance * np.outer(scale, scale)
        assert found.inverse @ found.inverse.T * found.noise**2 == pytest.approx(expected, rel=1e-3)

    def test_a_size_left_out_is_predicted_from_the_others(self) -> None:
        data = timings(SHA, 0.05)
        found, unseen = report_on(data), []
        for gone in range(len(SIZES)):
            kept = np.arange(len(SIZES)) != gone
            fit = fit_curve(SIZES[kept], data.offload[kept], [0.0, 1.0])
            unseen.append(data.offload[gone] / fit.at(SIZES[gone : gone + 1])[0] - 1)
        assert found.missed("offload") == pytest.approx(np.max(np.abs(unseen)))
        assert found.adequacy().endswith("of which it names the faster one at 9 of 9")


LINK = np.array([[16, 64, 256, 1024, 4096], [646, 1300, 4260, 15800, 61700],
                 [3260, 3100, 3310, 4280, 7960]])  # fmt: skip
"""The table of docs/interfaces.md: bytes, host and offload in ns."""


class TestBreakEven:
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (timings(SHA), [189.891]),
            (timings(SHA, 0.02), [189.161, 185.720, 192.657]),
            (timings(SHA, 0.05), [188.060, 179.582, 196.884]),
            (timings(SHA, 0.02, SIZES[[0, 3, 6]]), [185.187, 130.233, 231.792]),
            (timings(CURVED), [56.8869]),
            (timings(CURVED, 0.02), [56.9513, 55.7278, 58.2194]),
            (timings(CURVED, 0.05, np.geomspace(16, 2**20, 12)), [55.7684, 53.22, 58.3925]),
            (timings(replace(SHA, exponent=1.05, host_offset=0.0), 0.05),
             [167.278, 157.638, 177.937]),
            (timings(replace(SHA, host_offset=80e-9), 0.02, SIZES[:6]),
             [211.964, 206.943, 217.217]),
            (timings(LogCA(latency=0, overhead=1e-9, index=1e-9, acceleration=9)), [1.125]),
            (timings(LogCA(latency=0, overhead=3e-3, index=1e-9, acceleration=9), 0.0,
                     np.geomspace(16, 2**20, 12)), [3.375e6]),
            (Timings(size=LINK[0].astype(float), host=LINK[1] * 1e-9, offload=LINK[2] * 1e-9,
                     files=FILES, facts={}), [196.364, 183.601, 209.387]),
        ],
    )  # fmt: skip
    def test_twelve_are_where_they_were(self, data: Timings, expected: list[float]) -> None:
        """Of the fit before this one, with its F tests; intervals where there is noise."""
        verdict = report_on(data).verdict
        assert verdict is not None
        (found,) = verdict.crossings
        assert found[: len(expected)] == pytest.approx(expected, rel=0.005)

    def test_exchanged_columns_are_told_as_they_are(self) -> None:
        data = timings(SHA, 0.02)
        assert data.host is not None
        found = report_on(replace(data, host=data.offload, offload=data.host))
        assert says(found) == "up to 189 B (186 to 193)"
        assert "look whether the columns host and offload are exchanged" in " ".join(
            found.text().split()
        )

    def test_a_size_that_contradicts_the_model_is_named(self) -> None:
        late = replace(ALWAYS, overhead=1.9e-7)
        data = timings(late, 0.02, np.geomspace(1, 2**20, 21))
        data.offload[0] *= 1.1
        verdict = report_on(data).verdict
        assert verdict is not None
        assert verdict.text() == (
            "always, at every size measured, 1 B to 1 MiB; measured otherwise at 1 B"
        )

    def test_where_no_model_fits_the_measured_crossing_is_told(self) -> None:
        data = timings(SHA, 0.34)
        found = report_on(data)
        assert found.verdict is not None
        assert found.verdict.text() == (
            "measured only: no model fits, because the model does not fit the host and offload "
            "(noise 25.1 %); measured from 185 B, interpolated"
        )
        jump = timings(SHA, 0.01, 2.0 ** np.arange(4, 21))
        assert jump.host is not None
        slow = np.where(jump.size > 2000, 3.0, 1.0)  # the data fall out of a cache
        jumped = report_on(replace(jump, host=jump.host * slow))
        assert says(jumped) == "measured only: no model fits"

    @pytest.mark.parametrize("count", [9, 17])
    def test_two_regimes_within_the_noise_are_named(self, count: int) -> None:
        data = timings(SHA, 0.01, np.geomspace(16, 2**20, count))
        assert data.host is not None
        late = data.size > 2000
        found = report_on(replace(data, host=data.host * np.where(late, 1.2, 1.0))).verdict
        assert found is not None
        host = found.model.curves["host"]
        assert (host.noise < 0.1, host.step) == (True, data.size[late][0])
        assert found.text().startswith(
            "measured only: no model fits, because the model does not fit the host, which steps: "
            "host at "
        )
        noisy = [timings(SHA, 0.06, SIZES, seed) for seed in range(40)]
        steps = [bool(fit_model(one.size, one.host, one.offload).offload.step) for one in noisy]
        assert sum(steps) <= 1

    def test_what_is_close_everywhere_is_accepted_and_a_shape_is_not(self) -> None:
        for bend, fits in ((0.04, True), (0.2, False)):
            data = timings(SHA)
            data.offload[:] *= 1 + bend * np.cos(np.linspace(0, 2 * np.pi, len(data.offload)))
            assert report_on(data).model.offload.fits == fits

    @pytest.mark.parametrize(
        ("device", "expected"),
        [
            (ALWAYS, "always, at every size measured, 16 B to 1 MiB"),
            (LogCA(latency=2e-9, overhead=3e-6, index=1e-9, acceleration=9, latency_per_byte=True),
             "never, the host is at every size measured, 16 B to 1 MiB"),
            (LogCA(latency=0, overhead=1.1e-9, index=1e-9, acceleration=9),
             "always, at every size measured, 16 B to 1 MiB; the model changes at 1.24 B"),
            (LogCA(latency=0, overhead=3e-3, index=1e-9, acceleration=9),
             "never, the host is at every size measured, 16 B to 1 MiB; the model changes at "
             "3.22 MiB"),
        ],
    )  # fmt: skip
    def test_beyond_the_sizes_measured_there_is_no_verdict(
        self, device: LogCA, expected: str
    ) -> None:
        verdict = report_on(timings(device)).verdict
        assert verdict is not None
        assert verdict.text() == expected

    def test_of_three_sizes_the_exponent_is_assumed_and_has_no_interval(self) -> None:
        found = report_on(timings(SHA, 0.02, SIZES[[0, 3, 6]]))
        estimates = found.model.estimates()
        assert estimates["exponent"].value == 1
        assert np.isnan(estimates["exponent"][1:]).all()
        assert (
            estimates["per_byte_s_per_byte"].low < 1.25e-9 < estimates["per_byte_s_per_byte"].high
        )
        assert "beta = 1 is assumed: three sizes cannot determine it" in found.text()


class TestShareOfTheCpu:
    """An engine that keeps 38 % of a core busy: 3.2 ns of a byte, its instructions 0.96 ns."""

    DATA = timings(LogCA(latency=6e-9, overhead=40e-6, index=22.7e-9, acceleration=1e9,
                         latency_per_byte=True, host_offset=150e-9))  # fmt: skip

    def test_faster_and_lighter_are_two_verdicts(self) -> None:
        busy = replace(self.DATA, offload_cpu=np.full(len(SIZES), 0.38))
        found = report_on(busy)
        fixed, each = 0.38 * 40e-6 - 150e-9, 22.7e-9 - 0.38 * 6e-9
        assert crossings(found)[0] == pytest.approx((40e-6 - 150e-9) / 16.7e-9, rel=1e-6)
        assert found.frees is not None
        assert found.frees.crossings[0].value == pytest.approx(fixed / each, rel=1e-6)
        assert report_on(self.DATA).frees is None
        assert "frees CPU: not known; add the load" in report_on(self.DATA).text()

    def test_as_a_column_or_as_an_option(self, tmp_path: Path) -> None:
        (plain := tmp_path / "plain.csv").write_text(GOOD)
        (busy := tmp_path / "busy.csv").write_text(
            re.sub(r"(us|\d)$", r"\1,50", GOOD, flags=re.M).replace("us,50", "us,cpu [%]")
        )
        half = TimingOptions(cpu_load="50%")
        for data, given in ((busy, TimingOptions()), (plain, half)):
            assert read_timings(data, None, None, given).offload_cpu == pytest.approx(0.5)
        with pytest.raises(DseError, match="the file has a load already"):
            read_timings(busy, None, None, half)
        with pytest.raises(DseError, match="a share of one core"):
            read_timings(plain, None, None, TimingOptions(cpu_load="500%"))


class TestOneCurve:
    def test_it_is_fitted_without_a_host_and_a_threshold_needs_one(
        self, command: Command, tmp_path: Path
    ) -> None:
        rows = zip(SIZES.tolist(), (SHA.offload_time(SIZES) * 1e6).tolist(), strict=True)
        text = "\n".join(["granularity_byte,time_us", *(f"{size},{time}" for size, time in rows)])
        (tmp_path / "dma.csv").write_text(text)
        status, printed, _ = command("fit", "interface", "--hardware", "dma.csv")
        assert status == 0
        assert printed.startswith("no threshold: it needs a host; add a column host_us")
        assert "offload: 3 us (3 us to 3 us) and 1.25 ns/B" in printed
        assert "workload.kernel" not in printed
        record = user_records.read_record(tmp_path / "records" / "dma.yaml")
        assert [*record.records] == ["interface"]
        assert report_on(read_csv(tmp_path / "dma.csv")).verdict is None


GOOD = "granularity_byte,host_us,offload_us\n16,1,3\n64,2,3.1\n256,5,3.4\n1024,18,4.5\n"


class TestCsv:
    def test_units_order_line_ends_and_byte_order_mark_do_not_matter(self, tmp_path: Path) -> None:
        one = tmp_path / "one.csv"
        one.write_text(GOOD, encoding="utf-8")
        other = tmp_path / "other ones.csv"
        other.write_bytes(
            b"\xef\xbb\xbf# machine: mine\r\noffload_ns,granularity_KiB,host_time_s\r\n"
            b"4500,1,18e-6\r\n3400,0.25,5e-6\r\n\r\n3100,0.0625,2e-6\r\n3000,0.015625,1e-6\r\n"
        )
        first, second = read_csv(one), read_csv(other)
        for name in ("size", "host", "offload"):
            assert getattr(second, name) == pytest.approx(getattr(first, name))
        assert second.facts == {"machine": "mine"}

    @pytest.mark.parametrize(
        ("header", "cell"),
        [
            ("host_kop_per_s", lambda size, time: 1e-3 / time),
            ("host [MB/s]", lambda size, time: 1e-6 * size / time),
            ("host_mbit_per_s", lambda size, time: 8e-6 * size / time),
            ("host_cycles", lambda size, time: 3e9 * time),
            ("host [cycle/B]", lambda size, time: 3e9 * time / size),
        ],
    )
    def test_rates_and_cycles_are_times(
        self, tmp_path: Path, header: str, cell: Callable[[float, float], float]
    ) -> None:
        path = tmp_path / "rates.csv"
        rows = [(16, 1e-6, 3), (64, 2e-6, 3.1), (256, 5e-6, 3.4)]
        lines = [f"{size},{cell(size, time)!r},{other}" for size, time, other in rows]
        path.write_text("\n".join([f"granularity_byte,{header},offload_us", *lines]))
        assert read_csv(path, 3e9).host == pytest.approx([1e-6, 2e-6, 5e-6])


def saved(found: InterfaceFitReport, out: Path) -> None:
    """Write the record of a fit."""
    path, name = user_records.path_and_name(out, out)
    user_records.write_record(path, found.sections(name), found.provenance())


def studied(folder: Path, record: str, more: str = "") -> Path:
    """Write a study of a kernel and an interface that were fitted."""
    study = folder / "study.yaml"
    study.write_text(
        f"workload: {{rate: 1 Gbit/s, granularity: 64 KiB, kernel: {record}}}\n"
        f"interface: {{device: {record}{more}}}\nobjectives: {{offload_latency: minimise}}\n",
        encoding="utf-8",
    )
    return study


class TestRecord:
    def test_a_study_uses_it_and_says_so(self, tmp_path: Path) -> None:
        source = csv(tmp_path / "my data.csv", timings(SHA, 0.02))
        folder = tmp_path / "my records"
        folder.mkdir()
        saved(report_on(read_csv(source)), folder / "my link.yaml")
        record = user_records.read_record(folder / "my link.yaml")
        assert record.provenance["sha256"] == hashlib.sha256(source.read_bytes()).hexdigest()
        assert {"file", "date", "method", "range", "residuals"} <= record.provenance.keys()
        study = studied(tmp_path, "my records/my link.yaml", ", wait: sync")
        notes = dse.run(study).manifest["notes"]
        assert any("interface my_link comes from my records/my link.yaml" in n for n in notes)
        drawn = dse.uncertainty(study, samples=20).to_dict()["certainty"]["uncertain"]
        estimates = report_on(read_csv(source)).model.estimates()
        assert {entry["name"]: entry["most"] for entry in drawn} == {
            name: pytest.approx((estimate.high - estimate.low) / 3.92 / estimate.value, rel=0.05)
            for name, estimate in (
                ("kernel.index", estimates["index_s_per_byte"]),
                ("kernel.offset", estimates["host_offset_s"]),
                ("interface.overhead", estimates["fixed_s"]),
                ("interface.latency", estimates["per_byte_s_per_byte"]),
            )
        }

    def test_a_study_says_that_the_fit_was_refused_and_breaks_even_as_measured(
        self, tmp_path: Path
    ) -> None:
        noisy = report_on(timings(SHA, 0.34))
        assert noisy.verdict is not None
        doubt, measured = noisy.verdict.doubt, noisy.verdict.measured
        assert doubt
        saved(noisy, tmp_path / "link.yaml")
        study = studied(tmp_path, "link.yaml")
        found = dse.answer(study, flips=False)
        brief, whole = (" ".join(found.text(all=every).split()) for every in (False, True))
        assert f"note: the fit of link was refused: {doubt}" in brief
        assert f"Measured: the offload is faster {measured}." in whole
        assert "Break even at" not in whole
        terms = dse.explain(study).to_dict()["terms"]
        assert terms["break_even_byte"]["value"] == "unknown"
        (tmp_path / "link.yaml").unlink()
        saved(report_on(timings(SHA)), tmp_path / "link.yaml")
        assert "Break even at" in dse.answer(study, flips=False).text(all=True)


class TestCommand:
    def test_text_and_json_agree(self, command: Command, tmp_path: Path) -> None:
        csv(tmp_path / "link.csv", timings(SHA, 0.02))
        status, text, _ = command("fit", "interface", "link.csv")
        assert status == 0
        assert (
            "written to records/link.yaml\nuse it as `interface.device: records/link.yaml`" in text
        )
        assert text.startswith("faster: from 189 B (186 to 193), of the sizes measured")
        status, printed, _ = command("fit", "interface", "link.csv", "--json", "--out", "j.yaml")
        assert status == 0
        plain = json.loads(printed)
        assert plain["parameters"]["exponent"]["value"] == 1.0
        assert plain["faster"]["verdict"] in text
        assert plain["faster"]["crossings_byte"][0]["value"] == pytest.approx(189.161, rel=1e-5)
