"""What agents get over the Model Context Protocol: what `dse` prints, and nothing from outside."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dse.errors import MissingLibraryError
from dse.serve.agents import agent_server
from tests.conftest import STUDIES, run_dse

DES, TLS, SMALL = (
    f"studies/{name}.yaml" for name in ("des_100gbps", "tls_100gbps", "settop_116mbps")
)
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a function that calls a tool in a folder with the shipped studies."""
    pytest.importorskip("mcp", reason="needs the extra `mcp`")
    import anyio
    from mcp import Client

    shutil.copytree(STUDIES, tmp_path / "work" / "studies")
    monkeypatch.chdir(tmp_path / "work")

    def call(tool: str, **given: Any) -> dict[str, Any]:
        async def once() -> dict[str, Any]:
            async with Client(agent_server()) as client:
                found = await client.call_tool(tool, given)
                if found.is_error:
                    return {"error": found.content[0].text}
                assert json.loads(found.content[0].text) == found.structured_content
                return found.structured_content

        return anyio.run(once)

    return call


def printed(*words: str) -> Any:
    """Return what a command prints as JSON, but for when and where it ran."""
    done = run_dse(*words, "--json", cwd=Path.cwd())
    return without_time(json.loads(done.stdout))


def without_time(facts: Any) -> Any:
    timed = ("wall_s", "folder")
    return (
        {name: of for name, of in facts.items() if name not in timed}
        if isinstance(facts, dict)
        else facts
    )


QUESTIONS: list[tuple[str, dict[str, Any], list[str], str]] = [
    ("check", {"study": TLS}, ["check", TLS], "read, not searched: 0 faults"),
    ("check", {"study": SMALL, "overrides": {"workload.rate": "3 Gbps"}},
     ["check", SMALL, "--set", "workload.rate=3 Gbps"], "read, not searched: 0 faults"),
    ("run", {"study": DES}, ["run", DES], "7,983,360 designs, 2 evaluated: proven complete"),
    ("run", {"study": SMALL, "overrides": {"constraints": ["power <= 1 uW"]}},
     ["run", SMALL, "--set", "constraints=[power <= 1 uW]"], "no design meets every constraint: "),
    ("answer", {"study": DES, "overrides": {"workload.rate": "73 Gbps"}},
     ["answer", DES, "--set", "workload.rate=73 Gbps"],
     "1,684,800 designs, 1 evaluated: proven complete"),
    ("answer", {"study": SMALL, "prefer": "area"}, ["answer", SMALL, "--prefer", "area"],
     "6 designs, 6 evaluated: proven complete"),
    ("flips", {"study": DES, "only": ["rate"]}, ["flips", DES, "--only", "rate"],
     "ends of ranges proven: 2 by every design; 0 assumptions not checked"),
    ("explain", {"study": DES, "design": "1 u8 + 3 u16"},
     ["explain", DES, "--design", "1 u8 + 3 u16"],
     "it is feasible, and a design on the front dominates it"),
    ("list", {"name": "interfaces"}, ["list", "interfaces"], "installed: accel-dse "),
    ("list", {"name": "sparc_t4_engine"}, ["list", "sparc_t4_engine"], "installed: accel-dse "),
]  # fmt: skip


def test_ten_questions_get_what_the_program_prints(ask: Ask) -> None:
    for tool, given, words, certificate in QUESTIONS:
        found = ask(tool, **given)
        assert "error" not in found, found
        assert without_time(found["json"]) == printed(*words), words
        assert found["certificate"].startswith(certificate), words
    assert not [path for path in Path.cwd().iterdir() if path.name not in ("studies", "runs")]


def test_faults_come_with_their_remedies(ask: Ask) -> None:
    Path("wrong.yaml").write_text("objectives: {area: least}\nstage: []\n")
    found = ask("check", study="wrong.yaml")
    assert found["json"] == printed("check", "wrong.yaml")
    assert found["certificate"] == f"read, not searched: {len(found['json']['faults'])} faults"
    assert "did you mean" in ask("run", study="studies/settop_116.yaml")["error"]


@pytest.mark.parametrize("tool", ["check", "run", "answer", "flips", "explain"])
def test_no_program_is_run_and_nothing_outside_is_read(tool: str, ask: Ask, tmp_path: Path) -> None:
    outside, more = tmp_path / "secret.csv", {"design": "a"} if tool == "explain" else {}
    outside.write_text("design,area_um2\na,1\n")
    Path("link.csv").symlink_to(outside)
    (tmp_path / "out.yaml").write_text("objectives: {area: minimise}\n")
    Path("link.yaml").symlink_to(tmp_path / "out.yaml")
    for table in ("../secret.csv", str(outside), "link.csv", "studies/../link.csv"):
        Path("s.yaml").write_text(f"designs: {table}\nobjectives: {{area: minimise}}\n")
        assert "agents read only below the folder" in ask(tool, study="s.yaml", **more)["error"]
    for path in ("../out.yaml", str(tmp_path / "out.yaml"), "link.yaml"):
        assert "agents read only below the folder" in ask(tool, study=path, **more)["error"]
    Path("s.yaml").write_text(
        "axes: {a: [1, 2]}\nevaluate: {command: [touch, ran], outputs: {area: um2}}\n"
        "objectives: {area: minimise}\n"
    )
    assert "agents run none" in ask(tool, study="s.yaml", **more)["error"]
    given = {"evaluate": {"command": ["touch", "ran"], "outputs": {"area": "um2"}}}
    assert "agents run none" in ask(tool, study=SMALL, overrides=given, **more)["error"]
    assert not Path("ran").exists()


def test_a_name_outside_is_not_listed(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "record.yaml").write_text("interface: {}\n")
    assert "agents read only" in ask("list", name="../record.yaml")["error"]
    Path("records").mkdir()
    Path("records/one.yaml").symlink_to(tmp_path / "record.yaml")
    assert "agents read only" in ask("list")["error"]


def test_without_the_extra_it_is_named(without: Callable[[str], None]) -> None:
    without("mcp")
    with pytest.raises(MissingLibraryError, match=r'dse mcp needs mcp, .*"accel-dse\[mcp\]"'):
        agent_server()
