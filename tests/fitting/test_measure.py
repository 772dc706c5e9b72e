"""Instructions of this machine measured as an accelerator, with an openssl made for the purpose."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dse.errors import DseError
from dse.fitting import host
from dse.fitting.interface.timings import openssl_timings, parse_speed
from dse.study import records
from tests.conftest import run_dse

Command = Callable[..., tuple[int, str, str]]

FAKE = """#!{python}
import json, os, sys
if sys.argv[1:] == ["version"]:
    print("OpenSSL 3.9.9 made up")
    sys.exit()
mask = os.environ.get("OPENSSL_ia32cap")
with open({log!r}, "a") as log:
    print(json.dumps([sys.argv[1:], mask]), file=log)
size = int(sys.argv[sys.argv.index("-bytes") + 1])
if {broken!r}:
    print("speed: unknown", file=sys.stderr)
    sys.exit(1)
fixed, per_byte = (200e-9, 2e-9) if mask and {gain!r} else (100e-9, 0.5e-9)
print(f"+H:{{size}}")
print(f"+F:25:sha256:{{size / (fixed + per_byte * size):.2f}}")
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command line in an empty folder, on an x86 machine that has SHA instructions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("OPENSSL_ia32cap", "~0x1")  # of the user, and in nobody's measurement
    cpuinfo(tmp_path, monkeypatch, "fpu sha_ni")

    def run(*arguments: str) -> tuple[int, str, str]:
        done = run_dse("fit", "interface", "--measure", *arguments)
        return done.returncode, done.stdout, done.stderr

    return run


def cpuinfo(folder: Path, monkeypatch: pytest.MonkeyPatch, flags: str) -> None:
    path = folder / "cpuinfo"
    path.write_text(f"processor : 0\nmodel name : Made Up 9000\nflags : {flags}\n")
    monkeypatch.setattr(host, "CPUINFO", path)


@pytest.fixture
def openssl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a program called openssl on the PATH, alone; return its log."""

    def make(*, gain: bool = True, broken: bool = False) -> Path:
        folder = tmp_path / "bin with a space"
        folder.mkdir()
        log = tmp_path / "log"
        program = folder / "openssl"
        text = FAKE.format(python=sys.executable, log=str(log), gain=gain, broken=broken)
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        return log

    return make


SIZES = ("--sizes", "16 B, 256 B, 4 KiB, 64 KiB")


@pytest.mark.usefixtures("drawn")
def test_what_is_measured_is_fitted_and_kept(
    command: Command, openssl: Callable[..., Path], tmp_path: Path
) -> None:
    log = openssl()
    status, printed, error = command("--out", "my runs", *SIZES)
    assert (status, error) == (0, "")
    assert "machine: Made Up 9000, " in printed
    assert "host offset  200 ns" in printed
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(calls) == 3 * 2 * 4
    masks = [mask for _, mask in calls]
    assert masks == ["~0x0:~0x20000000", None] * 12  # in turn, and nothing else hidden
    expected = ["speed", "-mr", "-seconds", "1", "-bytes", "16", "-evp", "sha256"]
    assert calls[0][0] == expected
    files = {"software.txt", "hardware.txt", "interface.csv"}
    files |= {f"sha256.{ending}" for ending in ("yaml", "png", "svg")}
    assert {path.name for path in (tmp_path / "my runs").iterdir()} == files
    found = records.read_record(tmp_path / "my runs" / "sha256.yaml")
    assert found.provenance["version"] == "OpenSSL 3.9.9 made up"
    assert found.provenance["repetitions"] == "3, medians"
    assert found.records["kernel"].index_s_per_byte == pytest.approx(2e-9, rel=1e-3)


def test_the_outputs_give_the_same_fit(
    command: Command, openssl: Callable[..., Path], tmp_path: Path
) -> None:
    openssl()
    assert command("--out", "out", *SIZES)[0] == 0
    outputs = (tmp_path / "out" / name for name in ("software.txt", "hardware.txt"))
    found = openssl_timings(*outputs)
    assert found.host == pytest.approx([200e-9 + 2e-9 * size for size in found.size])


def test_everything_that_is_missing_is_said(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    status, _, error = command("--out", "out")
    assert status == 2
    assert error.splitlines() == [
        "cannot measure here:",
        "  the program openssl is not on the PATH: install OpenSSL 3",
        "  OPENSSL_ia32cap hides instructions of x86 processors only, and this is aarch64: "
        "measure software and hardware yourself, and fit them with dse fit interface",
    ]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--algorithm", "aes-128-cbc"),
         "cannot measure here:\n  this processor has no AES instructions (flag aes): "),
        (("--algorithm", "md5"), "--algorithm 'md5': no instructions are known"),
        (("--sizes", "16 B, 64 B"), "--sizes has 2 different sizes; a fit needs at least 3"),
        (("--sizes", "16, 64, 1, 2"), "a value in B needs its unit"),
        (("--sizes", "16 B, 0.5 B, 1 B, 2 B"), "--sizes '0.5 B': a size is a whole number"),
    ],
)  # fmt: skip
def test_wrong_requests(
    command: Command, openssl: Callable[..., Path], arguments: tuple[str, ...], said: str
) -> None:
    openssl()
    status, _, error = command("--out", "out", *arguments)
    assert status == 2
    assert error.startswith(said)


def test_a_failing_openssl_is_quoted_and_leaves_nothing(
    command: Command, openssl: Callable[..., Path], tmp_path: Path
) -> None:
    openssl(broken=True)
    status, _, error = command("--out", "out", *SIZES)
    assert status == 2
    assert error.endswith(" -evp sha256 ended with status 1: speed: unknown\n")
    assert not (tmp_path / "out").exists()


def test_a_mask_without_effect_is_noticed_and_the_outputs_are_kept(
    command: Command, openssl: Callable[..., Path], tmp_path: Path
) -> None:
    openssl(gain=False)
    status, _, error = command("--out", "out", *SIZES)
    assert status == 2
    assert error.startswith("hiding the SHA instructions makes sha256 at most 1.00 times as slow")
    assert (tmp_path / "out" / "software.txt").is_file()


def test_a_folder_of_something_else_is_left_alone(
    command: Command, openssl: Callable[..., Path], tmp_path: Path
) -> None:
    log = openssl()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    status, _, error = command("--out", "out", *SIZES)
    assert status == 2
    assert error.startswith("out holds 'thesis.txt', which is not part of a run")
    assert not log.exists()  # said before anything is measured


def test_this_machine() -> None:
    try:
        about = host.machine(host.instructions("sha256"))
    except DseError as error:
        pytest.skip(str(error))
    assert os.path.samefile(about.openssl, shutil.which("openssl") or "")
    mask = host.instructions("sha256").mask
    times = []
    for hidden in (mask, None):
        text = host.speed(about.openssl, "sha256", 4096, hidden)
        times.append(parse_speed(text, Path("speed")).time_s("sha256", 4096))
    assert 0 < times[1] < times[0] < 1e-3
