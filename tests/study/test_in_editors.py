"""What a language server offers in a study: keys, and names of what is installed."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dse import contract
from dse.files.json import json_text
from dse.plugins import registry
from dse.study.schema import StudyFile, json_schema
from tests.conftest import STUDIES

SERVER = "yaml-language-server@1.25.0"


def nulls(part: Any) -> bool:
    """Tell whether a default is null anywhere."""
    if isinstance(part, dict):
        return ("default", None) in part.items() or any(map(nulls, part.values()))
    return isinstance(part, list) and any(map(nulls, part))


def test_no_default_is_null_and_names_are_examples() -> None:
    schema = json_schema()
    assert not nulls(schema)
    stage, interface = (schema["$defs"][f"{name}Section"] for name in ("Stage", "Interface"))
    assert stage["properties"]["core"]["examples"] == [*registry.names(contract.Core)]
    assert "dsa" in interface["properties"]["device"]["examples"]
    goals = schema["properties"]["objectives"]
    assert {"area", "power", "offload_latency_p99"} <= {*goals["properties"]}
    assert {*goals["properties"]["area"]["enum"]} >= {"minimize", "minimise", "min"}


class Server:
    """A yaml-language-server, which is driven as an editor does."""

    def __init__(self, program: Path, schema: Path) -> None:
        self.process = subprocess.Popen(
            [program, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.numbers = itertools.count(1)
        self.problems: dict[str, list[Any]] = {}
        self.settings = {"schemas": {schema.as_uri(): "*.yaml"}, "schemaStore": {"enable": False}}
        self.request("initialize", processId=None, rootUri=None, capabilities={})
        self.send(method="initialized", params={})
        self.send(method="workspace/didChangeConfiguration", params={"settings": self.both()})

    def both(self) -> dict[str, Any]:
        return {"yaml": {"completion": True, "validate": True, **self.settings}}

    def send(self, **message: Any) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(text), text))
        self.process.stdin.flush()

    def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        headers = [*iter(lambda: self.process.stdout.readline().strip(), b"")]
        (size,) = (int(one.split(b":")[1]) for one in headers if b"Length" in one)
        found: dict[str, Any] = json.loads(self.process.stdout.read(size))
        if "method" in found and "id" in found:  # it asks for settings
            wanted = found["params"].get("items", [])
            result = [self.both().get(one.get("section"), {}) for one in wanted]
            self.send(id=found["id"], result=result)
        elif found.get("method") == "textDocument/publishDiagnostics":
            self.problems[found["params"]["uri"]] = found["params"]["diagnostics"]
        return found

    def request(self, method: str, **params: Any) -> Any:
        number = next(self.numbers)
        self.send(id=number, method=method, params=params)
        while True:
            found = self.next()
            if found.get("id") == number and "method" not in found:
                return found["result"]

    def open(self, uri: str, text: str) -> None:
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.send(method="textDocument/didOpen", params={"textDocument": document})

    def offered(self, text: str) -> list[str]:
        """Return what is offered at the end of a study."""
        uri = f"file:///{next(self.numbers)}.yaml"
        self.open(uri, text)
        before, _, last = text.rpartition("\n")
        place = {"line": before.count("\n") + 1 if "\n" in text else 0, "character": len(last)}
        found = self.request("textDocument/completion", textDocument={"uri": uri}, position=place)
        return [item["label"] for item in found["items"]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm")
    folder = tmp_path_factory.mktemp("server")
    install = [npm, "install", "--silent", "--no-audit", "--prefix", str(folder), SERVER]
    if subprocess.run(install, cwd=folder, env=os.environ, timeout=300).returncode:
        pytest.skip(f"npm has no {SERVER}")
    schema = folder / "dse.schema.json"
    schema.write_text(json_text(json_schema()), encoding="utf-8")
    found = Server(folder / "node_modules" / ".bin" / "yaml-language-server", schema)
    with found.process:
        tries = iter(range(50))  # it answers before it has its settings
        while "question" not in found.offered("\n"):
            next(tries)
        yield found
        found.process.kill()


@pytest.mark.slow
def test_a_language_server_offers_every_key_and_the_names(server: Server) -> None:
    written = "workload:\n  rate: 1 Gbit/s\nstages:\n  - core: des\nobjectives:\n  area: min\n"
    left = {*StudyFile.model_fields} - {"workload", "stages", "objectives"}
    assert len(left) == 11
    assert sorted(server.offered(written)) == sorted(left)
    for text, kind in (
        ("stages:\n  - core: ", contract.Core),
        ("interface:\n  device: ", contract.Interface),
        ("workload:\n  kernel: ", contract.Kernel),
    ):
        assert {*registry.names(kind)} <= {*server.offered(text)}
    assert {"area", "power", "total_power"} <= {*server.offered("objectives:\n  ")}
    assert {"minimise", "minimize", "min"} <= {*server.offered("objectives:\n  area: ")}


@pytest.mark.slow
def test_a_language_server_finds_no_fault_in_a_shipped_study(server: Server) -> None:
    for path in sorted(STUDIES.glob("*.yaml")):
        server.open(path.as_uri(), path.read_text(encoding="utf-8"))
        while path.as_uri() not in server.problems:
            server.next()
        assert server.problems[path.as_uri()] == [], path.name
    server.open("file:///wrong.yaml", "objectives: {area: least}\nstage: []\n")
    while "file:///wrong.yaml" not in server.problems:
        server.next()
    assert len(server.problems["file:///wrong.yaml"]) >= 2
