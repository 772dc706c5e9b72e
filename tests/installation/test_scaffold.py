"""Starters are whole or not there, well-formed, and refuse names that would not work."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dse
from dse.errors import NewNameError, OutputError
from dse.installation import scaffold
from dse.study import study
from dse.study.schema import json_schema
from tests.conftest import STUDIES, run_dse

Make = Callable[[str, Path | None], Path]
MAKERS = {
    "core": partial(scaffold.new_package, "core"),
    "objective": partial(scaffold.new_package, "objective"),
    "method": partial(scaffold.new_package, "method"),
}
PACKAGES = [
    *(("core", name) for name in ("a", "aes_256", "c" * 40)),
    *(("method", name) for name in ("m", "hill-climb_2", "m" * 40)),
    *(("objective", name) for name in ("z", "silicon_energy_j", "o" * 38 + "_j")),
]


@pytest.mark.parametrize(("word", "name"), PACKAGES)
def test_a_package_is_well_formed(word: str, name: str, tmp_path: Path) -> None:
    """Every placeholder is filled, figures say EXAMPLE."""
    made = MAKERS[word](name, tmp_path / "a folder")
    files = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    name = name.replace("-", "_")
    module = f"{name}_{word}"
    assert files == sorted(
        ["README.md", f"{module}.py", "pyproject.toml", "study.yaml", f"tests/test_{module}.py"]
    )
    texts = {path: (made / path).read_text(encoding="utf-8") for path in files}
    assert not [path for path, text in texts.items() if "$" in text or "MODULE" in text]
    attribute = "core" if word == "core" else name
    called = name.replace("_", "-") if word == "method" else name
    assert f'{called} = "{module}:{attribute}"' in texts["pyproject.toml"]
    assert texts[f"{module}.py"].count("EXAMPLE") >= 4
    first = texts["study.yaml"].splitlines()[0]
    assert first.startswith("# ")
    assert first.endswith("?")


@pytest.mark.parametrize(("word", "name"), PACKAGES)
def test_formatter_and_linter_find_nothing_in_a_package(
    word: str, name: str, tmp_path: Path
) -> None:
    pytest.importorskip("ruff")  # of those who develop
    made = MAKERS[word](name, tmp_path / "a folder")
    lint = ["check", "--select", "E,F,W,I,B,UP,N,RUF,D1", "--per-file-ignores", "tests/**:D1"]
    for tool in (["format", "--check"], lint):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *tool, "--isolated", "--line-length", "100", "."],
            capture_output=True,
            text=True,
            cwd=made,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("make", MAKERS.values())
def test_nothing_is_replaced(make: Make, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert make("some_name", tmp_path / "empty").exists()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / "file").write_text("mine")
    for taken in ("empty", "file"):
        with pytest.raises(OutputError, match=r"exists already, and nothing is replaced; name an"):
            make("some_name", tmp_path / taken)
    assert before == {path: path.read_bytes() for path in before}
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "file"}


def test_a_package_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path.write_text

    def fail(path: Path, *arguments: object, **options: object) -> int:
        if path.name.startswith("test_"):
            raise OSError(28, "No space left on device")
        return whole(path, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        scaffold.new_package("core", "aes", tmp_path / "aes")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("word", "name", "message"),
    [
        ("core", "AES 256", "core 'AES 256': a name is at most 40 lower-case letters, digits and "
         "single underscores, from a letter on; write for instance 'aes_256'"),
        ("core", "", "core '': a name is at most 40 lower-case letters, digits and single "
         "underscores, from a letter on; choose another name"),
        ("core", "c" * 41, f"core '{'c' * 41}': a name is at most 40 lower-case letters, digits "
         f"and single underscores, from a letter on; write for instance '{'c' * 40}'"),
        ("core", "lambda", "core 'lambda': Python or YAML has this word; choose another name"),
        ("core", "null", "core 'null': Python or YAML has this word; choose another name"),
        ("core", "budget", "core 'budget': 'budget' is a part of every study, and columns of both "
         "would mix; choose another name"),
        ("objective", "stage_cost", "objective 'stage_cost': 'stage' is a part of every study, and "
         "columns of both would mix; choose another name"),
        ("objective", "energy_mj", "objective: 'energy_mj' ends in 'mj', which is no SI unit; use "
         "one, such as _m2, _w, _s, _hz or _bit_per_s"),
        ("objective", "cost_per_s", "objective: the name 'cost_per_s' has no unit before '_per_s'; "
         "write one, such as 'energy_j_per_s', or a name without 'per'"),
    ],
)  # fmt: skip
def test_a_name_that_would_not_work(word: str, name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(NewNameError) as caught:
        MAKERS[word](name, tmp_path / "new")
    assert str(caught.value) == message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("word", "name"), [("core", "des"), ("objective", "power_w"), ("method", "nsga2")]
)
def test_a_name_that_is_taken(word: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(
        NewNameError,
        match=rf"{word} '{name}': accel-dse \S+ has one of this",
    ):
        MAKERS[word](name, tmp_path / "new")


def test_a_module_that_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "aes_core.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NewNameError, match="a module called 'aes_core' is installed; choose"):
        scaffold.new_package("core", "aes", tmp_path / "aes")


@given(st.text(max_size=50))
def test_a_suggested_name_is_one_that_works(name: str) -> None:
    written = re.search(r"write for instance '(.*)'", scaffold._suggestion(name))
    if written:
        assert scaffold._NAME.fullmatch(written[1])
        assert len(written[1]) <= 40


class TestStudy:
    """`dse new study`."""

    def test_it_runs_as_it_is(self, tmp_path: Path) -> None:
        path, schema = scaffold.new_study(tmp_path / "my first")
        assert path.name == "my first.yaml"
        first, second, *_ = path.read_text(encoding="utf-8").splitlines()
        assert first == f"# yaml-language-server: $schema={schema.name}"
        assert json.loads(schema.read_text(encoding="utf-8")) == json_schema()
        assert dse.load(path).question == second.removeprefix("# ")
        assert second.endswith("?")
        schema.write_text("of what was installed before", encoding="utf-8")
        scaffold.new_study(tmp_path / "my second")
        assert json.loads(schema.read_text(encoding="utf-8")) == json_schema()
        result = dse.run(path)
        assert result.manifest["exact"]
        assert len(result.front) > 1

    def test_what_is_off_works_when_it_is_turned_on(self, tmp_path: Path) -> None:
        """Every commented field, all at once: only the comment has to go."""
        path, _ = scaffold.new_study(tmp_path / "study.yaml")
        text = path.read_text(encoding="utf-8")
        code = re.compile(r"^( *)# ((?: *- | *[a-z_.]+: ).*|[a-z]+:)$", re.MULTILINE)
        assert len(code.findall(text)) == 17
        path.write_text(code.sub(r"\1\2", text), encoding="utf-8")
        sections = set(study.read_study(path).data)
        assert {"interface", "budget", "axes", "constraints", "sweep"} <= sections
        front = dse.run(path).front
        assert front["workload.rate_bit_per_s"].nunique() > 1
        assert front["workload.granularity_byte"].nunique() >= 1
        assert {"total_power_w", "offload_latency_s"} <= set(front.columns)

    @pytest.mark.parametrize("path", [*STUDIES.glob("*.yaml")], ids=lambda path: path.stem)
    def test_a_study_that_comes_with_the_program_is_copied_with_what_it_reads(
        self, path: Path, tmp_path: Path
    ) -> None:
        done = run_dse("new", "study", "--from", path.stem, cwd=tmp_path)
        *told, last = done.stdout.splitlines()
        assert last == f"{path.name} is written; try: dse run ./{path.name}"
        written = [file.relative_to(tmp_path) for file in tmp_path.rglob("*.yaml")]
        records = sorted(file for file in written if str(file) != path.name)
        read = [f"{record} is written, which the study reads" for record in records]
        assert sorted(told) == sorted([*read, "dse.schema.json is written, which editors read"])
        for file in records:
            assert (tmp_path / file).read_bytes() == (STUDIES / file).read_bytes()
        run_dse("new", "study", "mine", "--from", path.name, cwd=tmp_path)
        copy = b"# yaml-language-server: $schema=dse.schema.json\n" + path.read_bytes()
        assert (tmp_path / path.name).read_bytes() == (tmp_path / "mine.yaml").read_bytes() == copy
        assert dse.load(tmp_path / "mine.yaml").question == dse.load(path).question
        checked = run_dse("check", "mine.yaml", cwd=tmp_path)
        assert checked.returncode == 0, checked.stderr
        assert path.stem in run_dse("list", "studies").stdout

    def test_a_record_of_another_content_is_not_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "interfaces").mkdir()
        record = tmp_path / "interfaces" / "pcie_gen4_x16.yaml"
        record.write_text("mine", encoding="utf-8")
        with pytest.raises(OutputError) as caught:
            scaffold.new_study(tmp_path / "study.yaml", "nic_crypto_100gbps")
        assert str(caught.value) == (f"{record} exists already; write the study to another folder")
        assert [file for file in tmp_path.rglob("*") if file.is_file()] == [record]
        assert record.read_text(encoding="utf-8") == "mine"

    def test_a_study_that_does_not_come_with_it(self, tmp_path: Path) -> None:
        done = run_dse("new", "study", "--from", "settop", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (
            2,
            "no study called 'settop' comes with the program; did you mean 'settop_116mbps'?\n",
        )
        assert not [*tmp_path.iterdir()]

    def test_nothing_is_replaced(self, tmp_path: Path) -> None:
        path, _ = scaffold.new_study(tmp_path / "study.yaml")
        path.write_text("mine", encoding="utf-8")
        with pytest.raises(OutputError, match=r"study\.yaml exists already; name another file"):
            scaffold.new_study(path)
        assert path.read_text(encoding="utf-8") == "mine"
        with pytest.raises(OutputError, match=r"study\.json does not end in \.yaml; name"):
            scaffold.new_study(tmp_path / "study.json")
        with pytest.raises(OutputError, match=r"study\.yaml exists already; name another file"):
            scaffold.new_study(path / "below")


@pytest.mark.parametrize(
    "make", [scaffold.new_study, lambda path: scaffold.new_package("core", "aes", path)]
)
def test_a_place_that_cannot_be(make: Callable[[Path], Path], tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot be written: File name too long"):
        make(tmp_path / ("x" * 300))
