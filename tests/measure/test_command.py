"""A program is told the design, and what it tells is a measurement."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from dse.contract.evaluators import Measurement
from dse.measure.evaluators import Command, wrong_arguments
from dse.workers.programs import machine_byte
from dse.workers.supervisor import OUTPUT
from tests.conftest import until
from tests.measure.evaluators import SLEEPER, never

ECHO = (
    "import json, os, sys\n"
    "told = [sys.argv[1:], json.load(open('design.json')), os.getcwd()]\n"
    "print(json.dumps(told), file=sys.stderr)\n"
    "print('area = 1 um2')\n"
)


def command(*arguments: str, beside: Path | str = "", **others: object) -> Command:
    return Command(
        arguments=arguments,
        outputs={"area_m2": "um2"},
        identity="test",
        beside=str(beside),
        **others,  # type: ignore[arg-type]
    )


def shell(text: str, **others: object) -> Command:
    return command("sh", "-c", text, **others)


def test_a_design_comes_in_arguments_and_in_a_file(tmp_path: Path) -> None:
    one = command(
        sys.executable, "-c", ECHO, "{unroll}", "f={clock}", "{{}}", "{kind}",
        "{share}", "{study}", "{input}", beside="/a study",
        units={"clock": "MHz"},
    )  # fmt: skip
    design = {"unroll": 4.0, "clock": 123.4e6, "kind": "a; rm -rf $HOME", "share": 0.1}
    found = one.measure(design, tmp_path, never)
    arguments, read, folder = json.loads(found.said)
    assert arguments == [
        "4", "f=123.4", "{}", "a; rm -rf $HOME", "0.1", "/a study",
        str(tmp_path / "design.json"),
    ]  # fmt: skip
    assert read == {"unroll": 4, "clock": 123.4, "kind": "a; rm -rf $HOME", "share": 0.1}
    assert Path(folder) == tmp_path.resolve()
    assert found.values == {"area_m2": 1e-12}


@pytest.mark.parametrize(
    ("value", "written"),
    [(1e6, "1000000"), (2.0**53 - 1, "9007199254740991"), (2.0**53, "9007199254740992.0")],
)
def test_whole_numbers_have_no_point_as_far_as_they_are_exact(
    value: float, written: str, tmp_path: Path
) -> None:
    found = shell("echo {x} >&2; echo area = 1").measure({"x": value}, tmp_path, never)
    assert found.said == f"{written}\n"
    assert (tmp_path / "design.json").read_text() == f'{{\n  "x": {written}\n}}\n'


@pytest.mark.parametrize("value", [1e-7, 3e-9, 0.1 + 0.2, 2.0**60, -0.0, 1e300, 5e-324])
def test_a_number_is_written_so_that_it_is_read_as_the_same(value: float, tmp_path: Path) -> None:
    found = shell("echo {x} >&2; echo area = 1", units={}).measure({"x": value}, tmp_path, never)
    assert float(found.said) == value


def test_outputs_may_be_in_a_file(tmp_path: Path) -> None:
    named = shell('echo "area = 7 mm2" > {output}; echo area = 1')
    assert named.measure({}, tmp_path, never).values == {"area_m2": 7e-6}
    (tmp_path / "outputs").unlink()
    quiet = shell('echo "area = 8" > outputs; echo area = 1')
    assert quiet.measure({}, tmp_path, never).values == {"area_m2": 8e-12}
    (tmp_path / "outputs").unlink()
    found = shell(": {x} {output}; echo area = 1").measure({"x": 1.0}, tmp_path, never)
    assert (found.kind, found.cause) == ("output", "there is no file outputs")


def test_a_relative_program_is_beside_the_study(tmp_path: Path) -> None:
    study, work = tmp_path / "study", tmp_path / "work"
    study.mkdir()
    work.mkdir()
    (study / "synth.sh").write_text("#!/bin/sh\necho area = 5\n")
    (study / "synth.sh").chmod(0o755)
    assert command("./synth.sh", beside=study).measure({}, work, never).values == {"area_m2": 5e-12}
    (study / "synth.sh").write_text("#!/no/such/shell\n")
    found = command("./synth.sh", beside=study).measure({}, work, never)
    assert found.kind == "start"
    assert found.cause == (
        f"{study}/./synth.sh cannot be started: No such file or directory; the file is there, but "
        "perhaps not the interpreter that its first line names"
    )
    for mode, why in ((0o644, "Permission denied"), (None, "No such file or directory")):
        (study / "synth.sh").unlink() if mode is None else (study / "synth.sh").chmod(mode)
        found = command("./synth.sh", beside=study).measure({}, work, never)
        assert found.cause == f"{study}/./synth.sh cannot be started: {why}"
    assert hash(command("./synth.sh")) == hash(command("./synth.sh"))


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        ("echo no licence >&2; exit 3", "exit", "it returned 3 with the message 'no licence'"),
        ("kill -40 $$", "signal", "it was ended by signal 40 (Real-time signal 6)"),
        ("sleep 60", "timeout", "it took longer than 0.3 s"),
        ("kill -XCPU $$", "timeout", "it took longer than 0.3 s"),
        ("rm -rf ../work", "output", "there is no file standard_output"),
    ],
)
def test_a_failure_has_a_kind_and_a_cause(text: str, kind: str, cause: str, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    limit = 0.3 if kind == "timeout" else 60.0
    found = shell(text, timeout_s=limit).measure({}, folder, never)
    assert (found.kind, found.cause, found.values) == (kind, cause, {})
    assert found.said == ("no licence\n" if kind == "exit" else "")


MUCH = {"bytes(1 << 30)'": " with the message 'MemoryError'"}
MUCH["[bytes([1]) * (1 << 20) for _ in range(1000)]' 2> /dev/null"] = ""  # it gets near the limit


@pytest.mark.parametrize("much", MUCH)
def test_a_program_that_takes_too_much_memory_fails_of_that(much: str, tmp_path: Path) -> None:
    found = shell(f"exec python3 -c '{much}", memory_byte=200_000_000).measure({}, tmp_path, never)
    said = f"it took more memory than 200 MB (evaluate.memory): it returned 1{MUCH[much]}"
    assert (found.kind, found.cause) == ("memory", said)


def test_a_program_has_its_time_on_every_core_and_the_memory_of_the_machine(tmp_path: Path) -> None:
    shell("ulimit -t; ulimit -d", timeout_s=30.0).measure({}, tmp_path, never)
    cpu_s, memory_kib = map(int, (tmp_path / OUTPUT).read_text().split())
    assert cpu_s == 30 * (os.cpu_count() or 1) + 1
    assert memory_kib == machine_byte() // 1024


@pytest.mark.parametrize(("length", "shown"), [(100, "x" * 100), (101, "x" * 100 + "...")])
def test_a_long_last_line_is_cut(length: int, shown: str, tmp_path: Path) -> None:
    found = shell(f"echo first >&2; echo {'x' * length} >&2; exit 3").measure({}, tmp_path, never)
    assert found.cause == f"it returned 3 with the message '{shown}'"


def test_only_the_end_of_standard_error_is_kept(tmp_path: Path) -> None:
    found = shell("yes x | head -c 1000000 >&2; echo end >&2; echo area = 1").measure(
        {}, tmp_path, never
    )
    assert found.said.endswith("x\nend\n")
    assert len(found.said) == (tmp_path / "standard_error").stat().st_size == 4_000


def test_what_a_program_leaves_behind_neither_keeps_it_waiting_nor_stays(tmp_path: Path) -> None:
    found = shell("(sleep 300 & echo $! > pid); echo area = 1").measure({}, tmp_path, never)
    assert found.values == {"area_m2": 1e-12}
    assert found.seconds < 60
    process = int((tmp_path / "pid").read_text())
    until(lambda: not alive(process))  # its new parent has to take leave of it


def test_stop_ends_a_program(tmp_path: Path) -> None:
    asked: list[bool] = []

    def stop() -> bool:
        asked.append((tmp_path / "pid").exists())
        return asked[-1]

    found = shell(SLEEPER).measure({}, tmp_path, stop)
    assert (found.kind, found.cause) == ("worker", "it was stopped")
    assert not alive(int((tmp_path / "pid").read_text()))


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["./run", "{unroll}", "{clock}{{x}}", "{input}{output}{study}", "$HOME"], []),
        ([], [(0, "the command is empty", "write a list: the program, then its arguments")]),
        ([""], [(0, "the command is empty", "write a list: the program, then its arguments")]),
        (["x", "{unrol}"], [(1, "'{unrol}' is no axis", "did you mean 'unroll'?")]),
        (["x", "{unroll!r}"], [(1, "'{unroll!r}' is no axis", "did you mean 'unroll'?")]),
        (["x", "{clock:GHz}"], [(1, "'{clock:GHz}' is no axis", "did you mean 'clock'?")]),
        (["{}"], [(0, "'{}' is no axis", "known: clock, input, output, study, unroll")]),
        (["a\0"], [(0, "an argument cannot hold a zero byte", "leave it out")]),
        (
            ["x", "{"],
            [
                (
                    1,
                    "'{' has a brace by itself: Single '{' encountered in format string",
                    "write '{{' or '}}' for a brace",
                )
            ],
        ),
    ],
)
def test_an_argument_that_no_design_completes_is_refused(
    arguments: list[str], found: list[tuple[int, str, str]]
) -> None:
    assert wrong_arguments(arguments, ["unroll", "clock"]) == found


def test_a_measurement_that_worked_says_nothing_of_failure(tmp_path: Path) -> None:
    found = shell("echo area = 1").measure({}, tmp_path, never)
    assert found == Measurement(values={"area_m2": 1e-12}, seconds=found.seconds)
    assert not found.failed
