"""Outputs of programs that measure host and accelerator: read as they print, or refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dse.errors import DseError
from dse.fitting.outputs import ProgramOutput, parse_output
from dse.fitting.timings import TimingOptions, Timings, read_timings
from tests.fitting.conftest import Command

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
SHA = "sha256", ""
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
        assert found["parameters"]["host_offset_s"]["value"] == pytest.approx(187e-9, rel=0.05)
        assert found["facts"]["software_version"] == "3.0.19"
        assert found["faster"]["verdict"] == "always"

    @pytest.mark.parametrize("ops", ["sha256's", "sha256 ops"])
    def test_plain_lines_count_where_there_is_no_table(self, tmp_path: Path, ops: str) -> None:
        doing = "sha256 ops" if ops.endswith("ops") else "sha256"
        plain = f"Doing {doing} for 3s on 16 size blocks: 8000 {ops} in 3.00s\n"
        assert parse_output(plain, tmp_path).time_s(SHA, 16) == pytest.approx(3 / 8000)
        assert parse_output(plain + TABLE, tmp_path).times[SHA][16] == [16 / 78038630.0]
        never = parse_output(plain.replace(" 8000 ", " 0 "), tmp_path)
        assert "it must be a rate above zero" in str(never.faults[0])

    @pytest.mark.parametrize("name", ["aes-128-gcm", "AES-128-GCM", "id-aes128-GCM", "aes-128 gcm"])
    def test_an_algorithm_has_one_name(self, tmp_path: Path, name: str) -> None:
        found = parse_output(TABLE.replace("sha256 ", name), tmp_path)
        assert [*found.times] == [("aes-128-gcm", "")]

    def test_a_table_alone_does_not_say_what_its_seconds_are(self, tmp_path: Path) -> None:
        self.write(tmp_path, TABLE, MR)
        files = None, tmp_path / "sw.txt", tmp_path / "hw.txt", TimingOptions()
        assert read_timings(*files).notes == (
            "hw.txt does not state that its seconds elapsed, and seconds of the CPU omit waits: "
            "measure with -elapsed, and keep the standard error of openssl",
        )
        for elapsed in (ELAPSED, SLEEPS.replace("0.10", "2.41")):
            self.write(tmp_path, TABLE, elapsed + MR)
            assert not read_timings(*files).notes

    @pytest.mark.parametrize(
        ("software", "said"),
        [
            ("nothing\n", "sw.txt:1:1: it is no output of openssl speed, tcrypt, dpdk"),
            (TABLE.replace("78038.63k", "0.00k"), "sw.txt:5:18: '0.00k'; it must be a rate above"),
            (TABLE.replace("   540753.92k", ""), "sw.txt:5:1: 'sha256 "),
            (TABLE.replace("sha256", "md5") + TABLE.replace("sha256", "sha1"),
             "sw.txt holds md5 and sha1 and hw.txt sha256; measure one algorithm with both"),
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
        assert error == "the outputs hold sha1 and sha256; choose one with --algorithm\n"
        assert command(*self.FIT, "--algorithm", "sha256")[0] == 0
        assert "did you mean 'sha256'" in command(*self.FIT, "--algorithm", "sha25")[2]


def sample(name: str) -> str:
    """Return an output, written after the source of its program."""
    return (Path(__file__).parent / "outputs" / name).read_text(encoding="utf-8")


TCRYPT = sample("tcrypt.txt")
TCRYPT_HASH = sample("tcrypt_hash.txt")
MULTIBUFFER = sample("tcrypt_multibuffer.txt")
CRYPTO_PERF = sample("crypto_perf.csv")
CRYPTO_PERF_TABLE = sample("crypto_perf.txt")
LATENCY = sample("crypto_perf_latency.csv")
COMPRESS_PERF = sample("compress_perf.txt")
ACCEL = sample("accel_perf.txt")
ACCEL_OLD = ACCEL.replace("4096", "512").replace("   7812 MiB/s", "").replace("Total  ", "Total:")


def parsed(text: str, clock_hz: float | None = None) -> ProgramOutput:
    return parse_output(text, Path("out.txt"), clock_hz=clock_hz)


class TestPrograms:
    @pytest.mark.parametrize(
        ("text", "key", "size", "time", "in_flight"),
        [
            (TCRYPT, ("aes-128-cbc", "encryption"), 16, 50e-6, 1),
            (TCRYPT, ("aes-128-cbc", "encryption"), 4096, 125e-6, 1),
            (TCRYPT, ("aes-128-cbc", "decryption"), 16, 100e-6, 1),
            (TCRYPT_HASH, SHA, 64, 1 / 862240, 1),
            (TCRYPT_HASH, SHA, 1024, 1e-6, 1),
            (MULTIBUFFER, ("rfc4106(gcm(aes))-160", "encryption"), 16, 1e-6, None),
            (MULTIBUFFER, ("rfc4106(gcm(aes))-160", "encryption"), 64, 2e-6, None),
            (CRYPTO_PERF, ("aes-128-cbc", "encryption"), 64, 1 / 3.256e6, None),
            (CRYPTO_PERF, ("aes-128-cbc", "encryption"), 8192, 2e-6, None),
            (CRYPTO_PERF_TABLE, ("aes-256-gcm", "decryption"), 1024, 0.25e-6, None),
            (LATENCY, ("", ""), 64, 2e-6, None),
            (COMPRESS_PERF, ("deflate-1", "compression"), 2048, 2e-6, None),
            (COMPRESS_PERF, ("deflate-1", "decompression"), 8192, 2e-6, None),
            (ACCEL, ("crc32c", ""), 4096, 0.5e-6, 32),
            (ACCEL_OLD + ACCEL, ("crc32c", ""), 512, 0.5e-6, 32),
        ],
    )
    def test_what_they_print_is_read(
        self, text: str, key: tuple[str, str], size: int, time: float, in_flight: int | None
    ) -> None:
        found = parsed(text, 3e9)
        assert (found.faults, found.in_flight) == ([], in_flight)
        assert found.time_s(key, size) == pytest.approx(time, rel=1e-3)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (MULTIBUFFER, ':1:1: the time of a cycle is missing; add --clock "3 GHz"'),
            ("\n".join(TCRYPT.split("\n")[2:5]), ":1:24: 'test 0 (128"),
            (CRYPTO_PERF + CRYPTO_PERF.replace("3,64,32", "4,64,32"),
             ":1:1: 'lcore 3 and 4'; rates of calls side by side are a sum"),
            (CRYPTO_PERF.replace("3,64,32", "3,64,16"), ":1:1: 'burst 16 and 32'; "),
            (CRYPTO_PERF.replace("3.256,1.667", "0.000,0.000"), ":6:1: a row needs a size above"),
            (CRYPTO_PERF.replace(",703.383", ""), ":6:1: '3,64,32,10000000,"),
            (COMPRESS_PERF.replace("--max-num-sgl-segs 1 ", ""), ":3:1: the size of a call"),
            (ACCEL.replace("====", "0,1  1000/s  1 MiB/s  0  0\n====", 1),
             ":12:1: '0,1  1000/s  1 MiB/s  0'; rates of calls side by side"),
            (ACCEL.replace("Total                   2000000/s       7812 MiB/s                0",
                           "Total   2000000/s  7812 MiB/s  7"),
             ":13:1: 'Total   2000000/s  7812 MiB/s  7'; calls failed"),
            (ACCEL[ACCEL.index("Core"):], ":3:1: workload, transfer size or queue depth"),
            (ACCEL + ACCEL.replace("32\n", "64\n"), ":1:1: 'queue depth 32 and 64'; "),
            ("a,b\n1,2\n", ":1:1: it is no output of openssl speed, tcrypt, dpdk-test-crypto"),
            ("testing speed of sha1 (x)\n", ":1:1: no line of it holds a time or a rate"),
        ],
    )  # fmt: skip
    def test_or_refused_in_one_sentence(self, text: str, said: str) -> None:
        faults = parsed(text).faults
        assert said in str(faults[0])

    def pair(self, folder: Path, software: str, hardware: str, given: TimingOptions) -> Timings:
        (folder / "sw").write_text(software)
        (folder / "hw").write_text(hardware)
        return read_timings(None, folder / "sw", folder / "hw", given)

    def test_programs_and_tables_are_compared_with_each_other(self, tmp_path: Path) -> None:
        openssl = "+H:16:256:4096\n+F:22:AES-128-CBC:1e6:2e6:3e6\n".replace("e6", "000000")
        given = TimingOptions(algorithm="aes-128-cbc encryption")
        found = self.pair(tmp_path, openssl, TCRYPT, given)
        assert found.size.tolist() == [16, 256, 4096]
        assert found.facts["algorithm"] == "aes-128-cbc encryption"
        assert found.facts["hardware_driver"] == "cbc-aes-qce"
        table = "granularity_byte,host_us\n64,1\n1024,10\n8192,80\n"
        with pytest.raises(DseError, match="name the algorithm of the other with --algorithm"):
            self.pair(tmp_path, table, CRYPTO_PERF, TimingOptions(in_flight=64))
        named = self.pair(tmp_path, "# algorithm: aes-128-cbc\n" + table, CRYPTO_PERF,
                          TimingOptions(in_flight=64))  # fmt: skip
        assert named.in_flight == 64
        assert named.offload == pytest.approx([1 / 3.256e6, 0.4e-6, 2e-6], rel=1e-3)
        given = TimingOptions(in_flight=64, algorithm="aes-128-cbc")
        assert (
            self.pair(tmp_path, table, CRYPTO_PERF, given).facts["algorithm"]
            == named.facts["algorithm"]
        )

    def test_synchrony_is_asked_for_where_the_file_does_not_say(self, tmp_path: Path) -> None:
        with pytest.raises(DseError, match="does not state the number of offloads under way"):
            self.pair(tmp_path, CRYPTO_PERF, CRYPTO_PERF, TimingOptions())
        with pytest.raises(DseError, match="has 1; leave it out"):
            self.pair(tmp_path, MR, MR, TimingOptions(in_flight=8))


PUBLIC = dict(re.findall(r"^#: (\w+): .*\n((?:(?!#:).*\n)*)", sample("public.txt"), re.M))
"""Facts of public reports by name; the sources are in the file."""
BLOCK, ROWS, SIZES = PUBLIC["BLOCK"], PUBLIC["ROWS"], PUBLIC["SIZES"]
COMPRESSED, SECOND, QAT = PUBLIC["COMPRESSED"], PUBLIC["SECOND"], PUBLIC["QAT"]


class TestPublicReports:
    @pytest.mark.parametrize(
        ("text", "key", "size", "time"),
        [
            (BLOCK + ROWS, ("copy", ""), 4096, 1 / 10533642),
            (SIZES + COMPRESSED, ("deflate-1", "compression"), 32768, 32768 * 8e-9 / 8.04),
            (SIZES + PUBLIC["OLDER"], ("deflate-1", "compression"), 32768, 32768 * 8e-9 / 2),
            (SIZES + PUBLIC["OLDER"], ("deflate-1", "decompression"), 32768, 32768 * 8e-9 / 4),
            (QAT, ("aes-128-cbc", "encryption"), 64, 1e-6 / 6.5919),
            (QAT, ("aes-128-cbc", "encryption"), 2048, 2048 * 8e-9 / 41.6215),
            (PUBLIC["AM65X"], ("aes-128-ecb", "encryption"), 16, 1 / 87335),
            (PUBLIC["GXL"], ("aes-128-ecb", "encryption"), 16, 1 / 558165),
            (PUBLIC["RFC4106"], ("rfc4106(gcm(aes))-160", "encryption"), 16, 1 / 723747),
            (PUBLIC["QAT_XTS"], ("qat_aes_xts-256", "encryption"), 16, 14596 / 3e9),
        ],
    )
    def test_read(self, text: str, key: tuple[str, str], size: int, time: float) -> None:
        found = parsed(text, 3e9)
        assert found.faults == []
        assert found.time_s(key, size) == pytest.approx(time)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (BLOCK, "no line of it holds a time or a rate"),
            (
                BLOCK.replace("Queue depth:    32\n", "") + ROWS,
                "workload, transfer size or queue depth",
            ),
            (BLOCK + PUBLIC["TWO_CORES"], "rates of calls side by side are a sum"),
            (BLOCK.replace("Accel", "Idxd"), "it is no output of openssl speed, tcrypt, dpdk"),
            (COMPRESSED + SECOND, "the size of a call is missing"),
            (SIZES + COMPRESSED + SECOND, "'lcore 1 and 4'; rates of calls side by side"),
            (QAT + PUBLIC["GUIDE"], "'lcore 2 and 72'; rates of calls side by side"),
        ],
    )
    def test_or_refused_in_one_sentence(self, text: str, said: str) -> None:
        (fault,) = parsed(text).faults
        assert said in str(fault)
