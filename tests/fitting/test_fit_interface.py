"""Interfaces fitted to measured times: truth inside intervals, honest limits, exact faults."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares

import dse
from dse.algebra import units
from dse.errors import StudyError
from dse.fitting.interface import plots
from dse.fitting.interface.fit import fit_times
from dse.fitting.interface.policy import doubt, measured_text, policy
from dse.fitting.interface.powers import fit_powers
from dse.fitting.interface.record import save_interface
from dse.fitting.interface.report import (
    SIGNIFICANCE,
    InterfaceReport,
    inside,
    lack_of_fit,
    report_on,
)
from dse.fitting.interface.text import adequacy, sentences
from dse.fitting.interface.timings import (
    Timings,
    openssl_timings,
    parse_speed,
    read_csv,
    read_speed,
)
from dse.objectives.logca.model import LogCA
from dse.study import records as user_records
from tests.conftest import run_dse

Command = Callable[..., tuple[int, str, str]]

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


def values(found: InterfaceReport) -> dict[str, float]:
    return {name: value for name, (value, _, _) in found.fit.estimates.items()}


def csv(path: Path, data: Timings, unit: str = "us", factor: float = 1e6) -> Path:
    rows = zip(data.size, data.host * factor, data.offload * factor, strict=True)
    lines = [f"granularity_byte,host_{unit},offload_{unit}"]
    lines += [",".join(repr(float(value)) for value in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command line in an empty folder: status, output, errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        done = run_dse(*arguments)
        return done.returncode, done.stdout, done.stderr

    return run


def truth(device: LogCA) -> dict[str, Any]:
    """Return the parameters as the fit reports them: one sum per byte for a linear kernel."""
    per_byte, acceleration = device.latency, device.acceleration
    if device.exponent == 1.0:
        per_byte = device.latency + device.index / device.acceleration
        acceleration = device.index / per_byte
    return {
        "host_offset_s": device.host_offset,
        "index_s_per_byte": device.index,
        "exponent": device.exponent,
        "fixed_s": device.overhead,
        "per_byte_s_per_byte": per_byte,
        "peak_acceleration": acceleration,
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
        fits = [fit_times(sizes, *times) for times in curves * noisy]
        assert truth(device).keys() == fits[0].estimates.keys()
        for name, value in truth(device).items():
            found = [fit.estimates[name] for fit in fits]
            share = np.mean([one.low <= value <= one.high for one in found])
            assert 0.92 <= share <= 0.98, name
        at = np.log([device.break_even()])
        assert 0.92 <= np.mean([inside(fit.model, at)[0] >= 0 for fit in fits]) <= 0.98

    @pytest.mark.slow
    def test_exponent_one_is_given_up_once_in_a_hundred(self) -> None:
        rng = np.random.default_rng(5)
        noise = np.exp(0.03 * rng.standard_normal((DRAWS, len(SIZES))))
        offload = SHA.offload_time(SIZES)
        linear = [fit_times(SIZES, SHA.host_time(SIZES) * one, offload).linear for one in noise]
        assert 0.98 <= np.mean(linear) < 1

    def test_intervals_reach_no_further_than_zero_and_contain_the_value(self) -> None:
        tiny = LogCA(latency=0, overhead=1e-9, index=1e-9, acceleration=5, host_offset=0)
        for seed in range(20):
            found = dict(report_on(timings(tiny, 0.1, seed=seed)).fit.estimates)
            del found["exponent"]  # 1 is kept although it may lie just outside
            assert all(0 <= low <= value <= high for value, low, high in found.values())


class TestValues:
    @pytest.mark.parametrize("device", [SHA, CURVED], ids=["linear", "curved"])
    def test_data_without_noise_give_the_device_back(self, device: LogCA) -> None:
        found = report_on(timings(device))
        assert values(found) == pytest.approx(truth(device), rel=1e-6)
        assert found.pays.crossings[0].value == pytest.approx(float(device.break_even()), rel=1e-9)

    def test_scipy_finds_the_same_least_squares(self) -> None:
        data = timings(CURVED, 0.05)

        def residuals(p: np.ndarray) -> np.ndarray:
            return np.log(data.host / (np.exp(p[0]) + np.exp(p[1]) * data.size ** p[2]))

        tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
        other = least_squares(residuals, [-15, -18, 1.2], **tight)
        found = fit_powers(data.size, data.host, np.array([0.0, 1.0]), free=True)
        assert found.squares == pytest.approx(2 * other.cost, rel=1e-9)
        assert found.coefficients == pytest.approx(np.exp(other.x[:2]), rel=1e-5)
        noise = np.linalg.inv(other.jac.T @ other.jac)  # in logs of the coefficients
        scale = np.append(found.coefficients, 1.0)
        assert found.covariance == pytest.approx(noise * np.outer(scale, scale), rel=1e-3)

    def test_slower_clocks_scale_times_and_larger_bytes_scale_sizes(self) -> None:
        data = timings(SHA, 0.03)
        one = report_on(data)
        larger = replace(data, size=data.size * 8)
        slower = report_on(replace(larger, host=data.host * 1000, offload=data.offload * 1000))
        for name, scale in {
            "host_offset_s": 1000,
            "fixed_s": 1000,
            "index_s_per_byte": 125,
            "per_byte_s_per_byte": 125,
            "peak_acceleration": 1,
        }.items():
            expected = np.multiply(one.fit.estimates[name], scale)
            assert slower.fit.estimates[name] == pytest.approx(expected, rel=1e-6), name
        assert slower.pays.pays[0][0] == pytest.approx(8 * one.pays.pays[0][0])

    def test_a_size_left_out_is_predicted_from_the_others(self) -> None:
        data = timings(SHA, 0.05)
        found = report_on(data)
        unseen = []
        for gone in range(len(SIZES)):
            kept = np.arange(len(SIZES)) != gone
            fit = fit_powers(SIZES[kept], data.offload[kept], np.array([0.0, 1.0]), free=False)
            unseen.append(data.offload[gone] / fit.at(SIZES[gone : gone + 1])[0] - 1)
        assert found.checks.offload.held_out == pytest.approx(np.sqrt(np.mean(np.square(unseen))))
        assert abs(found.checks.offload.held_out_worst) == pytest.approx(np.max(np.abs(unseen)))

    def test_no_term_is_negative(self) -> None:
        rising = LogCA(latency=0, overhead=0, index=1e-9, acceleration=4, exponent=1.5)
        data = timings(rising, 0.02, seed=3)
        found = values(report_on(data))
        assert all(value >= 0 for value in found.values())
        assert found["peak_acceleration"] == pytest.approx(4, rel=0.05)


class TestAdequacy:
    def test_a_fixed_time_is_missed_and_repaired(self) -> None:
        found = report_on(timings(SHA, 0.02))
        assert not found.checks.pure_fits
        assert found.checks.host.fits
        text = adequacy(found)
        assert text.startswith(
            "pure LogCA (no host offset) does not fit the host: it is off by up to"
        )
        assert text.endswith(" ns repairs it")

    def test_bends_are_found_and_noise_is_not_taken_for_one(self) -> None:
        rng = np.random.default_rng(11)
        times, terms = SHA.offload_time(SIZES), np.array([0.0, 1.0])
        noise = np.exp(0.02 * rng.standard_normal((300, len(SIZES))))
        found = [
            lack_of_fit(fit_powers(SIZES, times * one, terms, free=False), SIZES) for one in noise
        ]
        assert 0.02 < np.mean(np.less(found, 0.05)) < 0.09
        bent = (3e-6 + 1e-8 * SIZES**0.7) * noise[0]
        assert lack_of_fit(fit_powers(SIZES, bent, terms, free=False), SIZES) < 0.01

    def test_a_jump_is_not_repaired(self) -> None:
        sizes = 2.0 ** np.arange(4, 21)
        data = timings(SHA, 0.01, sizes)
        slow = np.where(sizes > 2000, 3.0, 1.0)  # the data fall out of a cache
        found = report_on(replace(data, host=data.host * slow))
        assert "does not repair it: it is still off by up to 72.1 %, at 2 KiB" in adequacy(found)

    def test_pure_knows_of_an_offset_that_bends_alone_do_not_show(self) -> None:
        data = timings(replace(SHA, host_offset=80e-9), 0.02, SIZES[:6])
        one, pure = report_on(data), report_on(data, pure=True)
        assert pure.checks.pure.p > SIGNIFICANCE > one.checks.pure_p == pure.checks.pure_p
        assert adequacy(pure).startswith("pure LogCA (no host offset) does not fit the host")
        assert policy(pure).startswith("none, because the model does not fit the host")


class TestBreakEven:
    def test_of_model_and_of_data(self) -> None:
        found = report_on(timings(SHA, 0.02))
        truth = float(SHA.break_even())
        ((_, low, high),) = found.pays.crossings
        assert low < truth < high
        assert found.pays.of_data[0] == pytest.approx((truth, np.inf), rel=0.1)
        assert (
            policy(found)
            == "use the accelerator from 190 B (surely from 193 B), up to the 1 MiB measured"
        )

    def test_exchanged_columns_are_told_as_they_are(self) -> None:
        data = timings(SHA, 0.02)
        found = report_on(replace(data, host=data.offload, offload=data.host))
        text = " ".join(sentences(found))
        assert "B); the measured offload is faster up to 186.9 B, interpolated policy" in text
        assert policy(found) == "use the accelerator up to 189 B (surely up to 185 B)"
        assert "look whether the columns host and offload are exchanged" in text
        assert "at every size" not in text

    def test_a_size_that_contradicts_the_model_is_named(self) -> None:
        late = replace(ALWAYS, overhead=1.9e-7)
        data = timings(late, 0.02, np.geomspace(1, 2**20, 21))
        data.offload[0] *= 1.1
        assert (
            policy(report_on(data))
            == "always use the accelerator, up to the 1 MiB measured; measured otherwise at 1 B"
        )

    def test_a_rejected_model_has_no_policy_but_the_data_have_a_crossing(self) -> None:
        found = report_on(timings(SHA, 0.34))
        text = " ".join(sentences(found))
        assert "break-even: measured: from " in text
        assert policy(found).startswith("none, because the model does not fit the ")

    @pytest.mark.parametrize(
        ("device", "expected"),
        [
            (ALWAYS, "always use the accelerator, up to the 1 MiB measured"),
            (LogCA(latency=2e-9, overhead=3e-6, index=1e-9, acceleration=9, latency_per_byte=True),
             "never use the accelerator, up to the 1 MiB measured"),
            (LogCA(latency=0, overhead=1e-9, index=1e-9, acceleration=9),
             "use the accelerator at every size measured (by the model, from 2 B)"),
        ],
    )  # fmt: skip
    def test_policy(self, device: LogCA, expected: str) -> None:
        assert policy(report_on(timings(device))) == expected

    def test_where_offloads_pay_in_between_both_ends_are_told(self) -> None:
        between = replace(SHA, latency=0.1e-9, exponent=0.7, host_offset=0.0)
        (pays,) = report_on(timings(between)).pays.pays
        assert pays == pytest.approx(between.granularities(1.0), rel=1e-4)


class TestThreeSizes:
    def test_the_exponent_is_assumed_and_has_no_interval(self) -> None:
        found = report_on(timings(SHA, 0.02, SIZES[[0, 3, 6]]))
        exponent, per_byte = (found.fit.estimates[n] for n in ("exponent", "per_byte_s_per_byte"))
        assert exponent.value == 1
        assert np.isnan([exponent.low, exponent.high]).all()
        assert per_byte.low < 1.25e-9 < per_byte.high
        text = " ".join(sentences(found))
        assert "beta = 1 is assumed: three sizes cannot determine it" in text
        assert "does not fit the host" in text
        small = replace(SHA, host_offset=1e-9)
        found = report_on(timings(small, 0.02, SIZES[[0, 3, 6]]))
        assert adequacy(found).endswith("these sizes are too few to test for an offset")


class TestWhatCannotBeToldApart:
    def test_linear_kernel(self) -> None:
        text = " ".join(sentences(report_on(timings(SHA, 0.01))))
        assert "cannot be separated from times of whole offloads" in text
        assert "with beta = 1 both grow with the size, and only their sum shows" in text

    def test_almost_linear_kernel(self) -> None:
        found = report_on(timings(replace(SHA, exponent=1.05, host_offset=0.0), 0.05))
        assert not found.fit.linear
        assert "these data hardly separate them" in " ".join(sentences(found))


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

    def test_every_fault_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.csv"
        path.write_text(
            "granularity_byte,host_us,offload_us\n"
            '16,nan,3\n64,"1,5",-4\n256,x,4\n1024,,2\n64,2,4\n64,0,5\n',
            encoding="utf-8",
        )
        with pytest.raises(StudyError) as caught:
            read_csv(path)
        assert str(caught.value).replace(str(path), "bad.csv").splitlines() == [
            "bad.csv:2:4: host_us: 'nan'; a number is finite; "
            "write the number, or leave the row out",
            "bad.csv:3:4: host_us: '1,5'; a number has a decimal point; write 1.5",
            "bad.csv:3:10: offload_us: '-4'; it must be above zero; correct it, or remove the row",
            "bad.csv:4:5: host_us: 'x'; it is not a number; "
            "write the number alone; its unit belongs in the header",
            "bad.csv:5:6: host_us: ''; the cell is empty; write the number, or leave the row out",
            "bad.csv:6:1: granularity_byte: '64'; line 3 has this size already; "
            "keep one row per size: the median of its repetitions",
            "bad.csv:7:1: granularity_byte: '64'; line 3 has this size already; "
            "keep one row per size: the median of its repetitions",
            "bad.csv:7:4: host_us: '0'; it must be above zero; correct it, or remove the row",
        ]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", ":1:1: the table is empty"),
            (
                GOOD.replace("host_us", "host"),
                ":1:18: 'host'; host is given in s, op/s, B/s, bit/s, cycles or cycles/B, with any "
                "prefix; write host_us",
            ),
            (GOOD.replace("host_us", "host_m2"), ":1:18: 'host_m2'; host is given in s, op/s,"),
            (
                GOOD.replace("host_us", "host_cycles"),
                ":1:18: 'host_cycles'; nothing says how long a cycle is; add --clock \"3 GHz\"",
            ),
            (GOOD.replace("_byte", "_bit"), ":1:1: 'granularity_bit'; granularity is given in B"),
            (GOOD.replace(",", ";"), ":1:1: 'granularity_byte;host_us;offload_us'; cells are sep"),
            (GOOD.replace(",3\n", ",3,\n"), ":2:1: the header has 3 cells and this row 4"),
            (GOOD.replace("offload_us", "other_ns"), "the column 'offload' is missing"),
            ("\n".join(GOOD.split("\n")[:3]), ":1:1: 2 sizes; a curve has 2 parameters or more"),
        ],
    )
    def test_faults(self, tmp_path: Path, text: str, said: str) -> None:
        path = tmp_path / "bad.csv"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(StudyError) as caught:
            read_csv(path)
        assert said in str(caught.value)


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
    @pytest.mark.usefixtures("drawn")
    def test_a_study_uses_it_and_says_so(self, tmp_path: Path) -> None:
        source = csv(tmp_path / "my data.csv", timings(SHA, 0.02))
        folder = tmp_path / "my records"
        files = save_interface(report_on(read_csv(source)), folder / "my link.yaml", "latency")
        assert [file.name for file in files] == ["my link.yaml", "my link.png", "my link.svg"]
        record = user_records.read_record(files[0])
        assert record.provenance["sha256"] == hashlib.sha256(source.read_bytes()).hexdigest()
        assert {"file", "date", "method", "range", "residuals"} <= record.provenance.keys()
        study = studied(tmp_path, "my records/my link.yaml", ", wait: sync")
        notes = dse.run(study).manifest["notes"]
        assert any("interface my_link comes from my records/my link.yaml" in n for n in notes)
        drawn = dse.uncertainty(study, samples=20).to_dict()["certainty"]["uncertain"]
        estimates = report_on(read_csv(source)).fit.estimates
        assert {entry["name"]: entry["most"] for entry in drawn} == {
            name: pytest.approx((estimate.high - estimate.low) / 3.92 / estimate.value, rel=0.05)
            for name, estimate in (
                ("kernel.index", estimates["index_s_per_byte"]),
                ("kernel.offset", estimates["host_offset_s"]),
                ("interface.overhead", estimates["fixed_s"]),
                ("interface.latency", estimates["per_byte_s_per_byte"]),
            )
        }

    @pytest.mark.parametrize(("per_byte", "expected"), [("latency", 1.25e-9), ("computing", 0.0)])
    def test_who_pays_for_the_time_per_byte(
        self, tmp_path: Path, per_byte: str, expected: float
    ) -> None:
        out = tmp_path / "link.yaml"
        save_interface(report_on(timings(SHA)), out, per_byte)  # type: ignore[arg-type]
        records = user_records.read_record(out).records
        assert records["interface"].latency_s_per_byte == pytest.approx(expected, rel=1e-5)
        assert records["interface"].includes == ("device" if per_byte == "latency" else "")
        assert records["interface"].overhead_s == pytest.approx(3e-6, rel=1e-5)
        assert records["kernel"].offset_s == pytest.approx(389e-9, rel=1e-5)
        assert records["kernel"].index_s_per_byte == pytest.approx(15e-9, rel=1e-5)

    def test_a_study_says_that_the_fit_was_refused_and_breaks_even_as_measured(
        self, tmp_path: Path
    ) -> None:
        noisy = report_on(timings(SHA, 0.34))
        assert doubt(noisy)
        save_interface(noisy, tmp_path / "link.yaml", "latency")
        study = studied(tmp_path, "link.yaml")
        found = dse.answer(study, flips=False)
        brief, whole = (" ".join(found.text(all=every).split()) for every in (False, True))
        assert f"note: the fit of link was refused: {doubt(noisy)}" in brief
        assert f"Measured: the offload is faster {measured_text(noisy)}." in whole
        assert "Break even" not in whole
        terms = dse.explain(study).to_dict()["terms"]
        assert terms["break_even_byte"]["value"] == "unknown"
        (tmp_path / "link.yaml").unlink()
        save_interface(report_on(timings(SHA)), tmp_path / "link.yaml", "latency")
        assert "Break even" in dse.answer(study, flips=False).text(all=True)

    def test_what_is_close_everywhere_is_accepted_however_unlikely(self) -> None:
        """A bend of 4 % that exact data show beyond doubt."""
        data = timings(SHA)
        data.offload[:] *= 1 + 0.04 * np.cos(np.linspace(0, 2 * np.pi, len(data.offload)))
        offload = report_on(data).checks.offload
        assert offload.p < SIGNIFICANCE
        assert abs(offload.worst) < 0.05
        assert offload.fits
        data.offload[:] *= 1 + 0.2 * np.cos(np.linspace(0, 2 * np.pi, len(data.offload)))
        assert not report_on(data).checks.offload.fits

    def test_there_is_no_policy_beyond_the_sizes_measured(self) -> None:
        late = LogCA(latency=0, overhead=3e-3, index=1e-9, acceleration=9)
        sizes = np.geomspace(16, 2**20, 12)  # it would pay from 3.4 MB on
        assert policy(report_on(timings(late, 0.0, sizes))) == (
            "do not use the accelerator at any size measured"
        )


@pytest.mark.usefixtures("drawn")
class TestPicture:
    def test_without_a_break_even_nothing_is_marked(self, tmp_path: Path) -> None:
        for data in (timings(ALWAYS), timings(SHA, 0.5)):  # none, and none to be believed
            _, svg = plots.draw_fit(report_on(data), "link", tmp_path / "none")
            assert "break-even" not in svg.read_text(encoding="utf-8")


class TestCommand:
    @pytest.mark.usefixtures("drawn")
    def test_text_and_json_agree(self, command: Command, tmp_path: Path) -> None:
        csv(tmp_path / "link.csv", timings(SHA, 0.02))
        status, text, _ = command("fit", "interface", "link.csv")
        assert status == 0
        assert (
            "written to records/link.svg\nuse it as `interface.device: records/link.yaml`" in text
        )
        assert "policy: use the accelerator from 190 B" in text
        status, printed, _ = command("fit", "interface", "link.csv", "--json", "--out", "j.yaml")
        assert status == 0
        plain = json.loads(printed)
        assert plain["parameters"]["exponent"]["value"] == 1.0
        shown = units.show(plain["break_even"]["crossings_byte"][0]["value"], "x_byte")
        assert f"break-even: {shown} (95 % interval" in text

    def test_a_record_is_not_replaced_unasked(self, command: Command, tmp_path: Path) -> None:
        csv(tmp_path / "link.csv", timings(SHA, 0.02))
        arguments = ("fit", "interface", "link.csv", "--out", "link.yaml")
        assert command(*arguments)[0] == 0
        status, _, said = command(*arguments)
        assert status == 2
        assert said == "link.yaml is there already; name another file, or delete it\n"

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ((), "a fit needs a CSV of granularity, host and offload times, or both"),
            (("a.csv", "--clock", "3 W"), "--clock '3 W': a value in Hz is needed"),
            (("--software", "a.txt"), "a fit needs a CSV"),
            (("none.csv",), "none.csv cannot be read: No such file or directory"),
        ],
    )
    def test_nothing_to_fit(self, command: Command, arguments: tuple[str, ...], said: str) -> None:
        status, _, error = command("fit", "interface", *arguments)
        assert status == 2
        assert error.startswith(said)

    def test_columns_exchanged_are_noticed(self, command: Command, tmp_path: Path) -> None:
        falling = GOOD.replace("1,3", "9,3").replace("18,", "2,")
        (tmp_path / "falling.csv").write_text(falling, encoding="utf-8")
        status, _, error = command("fit", "interface", "falling.csv")
        assert status == 2
        assert error.startswith("the host takes 9 us for the smallest and 2 us for the largest")


TABLE = """\
version: 3.0.19
CPUINFO: OPENSSL_ia32cap=0xfffa32034f8bffff:0x1a415f46d1bf2ffb
The 'numbers' are in 1000s of bytes per second processed.
type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes
sha256           78038.63k   191583.62k   375859.71k   484773.51k   522874.88k   540753.92k
"""
ELAPSED = "You have chosen to measure elapsed time instead of user CPU time.\n"
SLEEPS = "Doing sha256 for 3s on 16 size blocks: 300000 sha256's in 0.10s\n"
SUM = "rates of calls side by side are a sum, and no time of one; measure without -multi and "
MR = """\
+H:16:64:256:1024:8192:16384
+F:25:sha256:136258416.00:464106048.00:1067433728.00:1591398400.00:1889837056.00:1929265152.00
"""


class TestOpensslSpeed:
    def write(self, folder: Path, software: str, hardware: str) -> None:
        (folder / "sw.txt").write_text(software, encoding="utf-8")
        (folder / "hw.txt").write_text(hardware, encoding="utf-8", newline="\r\n")

    FIT = ("fit", "interface", "--software", "sw.txt", "--hardware", "hw.txt")

    def test_table_and_mr_form(self, command: Command, tmp_path: Path) -> None:
        self.write(tmp_path, TABLE, MR)
        status, printed, error = command(*self.FIT, "--json")
        assert (status, error) == (0, "")
        found = json.loads(printed)
        assert found["sizes"] == 6
        assert not found["pure_fits"]  # SHA-256 has a fixed cost per message
        assert found["parameters"]["host_offset_s"]["value"] == pytest.approx(187e-9, rel=0.05)
        assert found["facts"]["software_version"] == "3.0.19"
        assert found["policy"] == "always use the accelerator, up to the 16 KiB measured"

    def test_a_rate_is_bytes_over_time(self, tmp_path: Path) -> None:
        self.write(tmp_path, TABLE, MR)
        for name, rate in (("sw.txt", 78038630.0), ("hw.txt", 136258416.0)):
            found = read_speed(tmp_path / name)
            assert found.time_s("sha256", 16) == pytest.approx(16 / rate)
        slow = TABLE.replace("78038.63k", " 7803.86 ")  # slow rates have no k
        self.write(tmp_path, slow, MR)
        assert read_speed(tmp_path / "sw.txt").time_s("sha256", 16) == 16 / 7803.86

    @pytest.mark.parametrize("ops", ["sha256's", "sha256 ops"])
    def test_plain_lines_count_where_there_is_no_table(self, tmp_path: Path, ops: str) -> None:
        doing = "sha256 ops" if ops.endswith("ops") else "sha256"
        plain = f"Doing {doing} for 3s on 16 size blocks: 8000 {ops} in 3.00s\n"
        assert parse_speed(plain, tmp_path).time_s("sha256", 16) == pytest.approx(3 / 8000)
        assert parse_speed(plain + TABLE, tmp_path).rates["sha256"][16] == [78038630.0]
        never = parse_speed(plain.replace(" 8000 ", " 0 "), tmp_path)
        assert "it must be a rate above zero" in str(never.faults[0])

    @pytest.mark.parametrize("name", ["aes-128-gcm", "AES-128-GCM", "id-aes128-GCM", "aes-128 gcm"])
    def test_an_algorithm_has_one_name(self, tmp_path: Path, name: str) -> None:
        found = parse_speed(TABLE.replace("sha256 ", name), tmp_path)
        assert [*found.rates] == ["aes-128-gcm"]

    def test_a_table_alone_does_not_say_what_its_seconds_are(self, tmp_path: Path) -> None:
        self.write(tmp_path, TABLE, MR)
        files = tmp_path / "sw.txt", tmp_path / "hw.txt"
        assert openssl_timings(*files).notes == (
            "hw.txt does not say that its seconds elapsed, and of the CPU they leave waiting out: "
            "measure with -elapsed, and keep what openssl writes to standard error",
        )
        for elapsed in (ELAPSED, SLEEPS.replace("0.10", "2.41")):
            self.write(tmp_path, TABLE, elapsed + MR)
            assert not openssl_timings(*files).notes

    def test_the_median_of_repetitions_counts(self, tmp_path: Path) -> None:
        runs = (f"+H:16\n+F:25:sha256:{rate}\n" for rate in (100.0, 400.0, 200.0))
        found = parse_speed("".join(runs), tmp_path)
        assert found.time_s("sha256", 16) == 16 / 200
        again = parse_speed(ELAPSED + TABLE + ELAPSED + TABLE, tmp_path)
        assert (again.rates["sha256"][16], again.faults) == ([78038630.0] * 2, [])

    @pytest.mark.parametrize(
        ("software", "said"),
        [
            ("nothing\n", "sw.txt:1:1: it holds no rates of `openssl speed`"),
            (TABLE.replace("78038.63k", "0.00k"), "sw.txt:5:18: '0.00k'; it must be a rate above"),
            (TABLE.replace("   540753.92k", ""), "sw.txt:5:1: 'sha256 "),
            (TABLE.replace("sha256", "md5") + TABLE.replace("sha256", "sha1"),
             "sw.txt holds md5, sha1 and hw.txt sha256; measure one algorithm with both"),
            (TABLE.replace("sha256", "aes-128-cbc"),
             "sw.txt holds aes-128-cbc and hw.txt sha256; measure one algorithm with both"),
            (SLEEPS + TABLE, "sw.txt:1:1: '0.10 of 3 s'; these seconds are of the CPU, and a call "
             "that waits for an accelerator takes none; measure with -elapsed\n"),
            ("+DT:sha256:3:16\n+R:9:sha256:2.390000\n" + MR, "sw.txt:2:1: '2.39 of 3 s'; these "),
            (MR + "Forked child 0\n", f"sw.txt:3:1: 'Forked child 0'; {SUM}"),
            ("$ openssl speed -async_jobs 8\n" + MR, f"sw.txt:1:17: '-async_jobs 8'; {SUM}"),
            ("openssl speed -multi 2 -evp sha256\n", f"sw.txt:1:15: '-multi 2'; {SUM}"),
        ],
    )  # fmt: skip
    def test_faults(self, command: Command, tmp_path: Path, software: str, said: str) -> None:
        self.write(tmp_path, software, MR)
        status, _, error = command(*self.FIT)
        assert status == 2
        assert error.startswith(said)

    def test_several_algorithms_need_a_choice(self, command: Command, tmp_path: Path) -> None:
        two = (TABLE + TABLE.replace("sha256", "sha1"), MR + MR.replace("sha256", "sha1"))
        self.write(tmp_path, *two)
        status, _, error = command(*self.FIT)
        assert status == 2
        assert error == "the outputs hold sha1, sha256; choose one with --algorithm\n"
        assert command(*self.FIT, "--algorithm", "sha256")[0] == 0
        assert "did you mean 'sha256'" in command(*self.FIT, "--algorithm", "sha25")[2]
