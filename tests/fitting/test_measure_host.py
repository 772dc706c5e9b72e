"""Kernels of this machine, with an openssl made for the purpose, and zlib as it is."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from dse.fitting import host
from dse.study import records, study
from tests.conftest import run_dse
from tests.fitting.conftest import Command

FAKE = """#!{python}
import sys
if sys.argv[1:] == ["version"]:
    print("OpenSSL 3.9.9 made up")
    sys.exit()
size = int(sys.argv[sys.argv.index("-bytes") + 1])
name = sys.argv[sys.argv.index("-evp") + 1]
print(f"+H:{{size}}")
print(f"+F:25:{{name}}:{{size / (100e-9 + 0.04e-9 * size):.2f}}")
"""
STUDY = """
workload: {rate: 1 Gbit/s, granularity: 16 KiB, kernel: records/host_aes_128_gcm.yaml}
stages: [{core: des}]
interface: {device: dsa}
objectives: {speedup: maximise}
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run ``dse fit host`` in an empty folder, on a machine with a name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cpuinfo").write_text("processor : 0\nmodel name : Made Up 9000\n")
    monkeypatch.setattr(host, "CPUINFO", tmp_path / "cpuinfo")
    program = tmp_path / "openssl"
    program.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    def run(*arguments: str) -> tuple[int, str, str]:
        done = run_dse("fit", "host", *arguments)
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_kernel_is_measured_fitted_and_used_by_a_study(command: Command, tmp_path: Path) -> None:
    status, printed, error = command("--kernels", "aes_128_gcm, sha256")
    assert (status, error) == (0, "")
    assert "use it as `kernel: records/host_sha256.yaml`" in printed
    found = records.read_record(tmp_path / "records" / "host_aes_128_gcm.yaml")
    kernel = found.records["kernel"]
    assert kernel.index_s_per_byte == pytest.approx(0.04e-9, rel=1e-3)
    assert kernel.offset_s == pytest.approx(100e-9, rel=1e-3)
    assert (kernel.provides, kernel.host) == (("aes_gcm",), "Made Up 9000")
    assert "OpenSSL 3.9.9 made up" in kernel.source
    assert found.provenance["method"] == "affine in the size"
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    study.prepare(study.read_study(tmp_path / "study.yaml", ()))


def test_a_record_that_is_there_is_not_replaced(
    command: Command,
) -> None:
    assert command("--kernels", "sha256")[0] == 0
    status, _, error = command("--kernels", "sha256")
    assert (status, "is there already" in error) == (2, True)


def test_without_openssl_it_says_what_can_be_measured(command: Command, tmp_path: Path) -> None:
    (tmp_path / "openssl").unlink()
    status, _, error = command("--kernels", "sha256")
    assert status == 2
    assert "openssl is not on the PATH; install OpenSSL 3" in error
    assert "--kernels zlib_6" in error
    assert command("--kernels", "zlib_6, sha256")[0] == 2


def test_zlib_takes_longer_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_timed", lambda _, __, size: 1e-6 + 20e-9 * size)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    (found,) = host.measure_host(host.chosen("zlib_6"), [64, 4096, 65536])
    kernel, origin = host.host_record(found)
    assert kernel["index"] == "20 ns/B"
    assert kernel["offset"] == "1 us"
    assert set(origin["times"]) == {"64 B", "4 KiB", "64 KiB"}


def test_calls_of_zlib_are_counted_and_have_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 0.4, 0.8, 1.2])
    with monkeypatch.context() as patched:
        patched.setattr(host.time, "process_time", lambda: next(ticks))
        levels: list[int] = []
        patched.setattr(host.zlib, "compress", lambda _, level: levels.append(level))
        assert host._by_zlib(b"text") == pytest.approx(0.6)
        assert levels == [6, 6]
    monkeypatch.setattr(host, "_by_zlib", lambda part: float(len(part)))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    seen: list[tuple[int, int]] = []
    sizes = [64, 1_000_000]
    (found,) = host.measure_host(
        host.chosen("zlib_6"),
        sizes,
        progress=lambda done, of: seen.append((done, of)),
    )
    assert found.time_s.tolist() == sizes
    assert seen == [(1, 2), (2, 2)]


def test_times_in_proportion_have_no_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_timed", lambda _, __, size: 20e-9 * size)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    (found,) = host.measure_host(host.chosen("zlib_6"), [64, 4096])
    kernel, origin = host.host_record(found)
    assert (kernel["offset"], kernel["fitted"]) == ("0 s", ["index"])
    assert origin["residuals"].startswith("0 %")
