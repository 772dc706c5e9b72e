"""Each line of SECURITY.md, held by Python's own audit of what a process does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dse
from tests.conftest import STUDIES, stranger

WATCHED = """
import os, sys, threading
from pathlib import Path
import matplotlib.font_manager  # which looks for fonts once
import dse.cli
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen
from dse.serve.server import Server
from dse.serve.session import Session

HERE = os.getcwd()
NEVER = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.system", "pty.spawn")
NEVER += ("pickle.find_class", "os.kill")
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
watching, did = False, []

def watch(event, args):
    if not watching:
        return
    refused = event in NEVER
    if event in CHANGES or event == "open" and args[2] & WRITES and isinstance(args[0], str):
        inside = f"/proc/self/fd/{args[-1]}" if event in CHANGES and args[-1] != -1 else ""
        path = os.path.realpath(os.path.join(inside, args[0]))
        ours = path.startswith((f"{HERE}/out", f"{HERE}/.out", "/dev/null"))
        refused = not ours and not (event == "os.mkdir" and os.path.isdir(path))
    elif event == "exec":  # of a module beside a study, or a text of it
        refused = "marker" in args[0].co_names or HERE in args[0].co_filename
    elif event in ("socket.connect", "socket.bind"):
        refused = args[1][0] != "127.0.0.1"
    if refused:
        did.append((event, *map(str, args)))

def serve(source, *pairs):
    server = Server(Session(Path(source), allow_run=False, time="5 s"), 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for page in ("", "report.html", "study.yaml"):
        try:
            urlopen(f"{server.address}{page}?{urlencode([('set', one) for one in pairs])}").read()
        except HTTPError as error:
            assert error.code == 400
    server.shutdown()

sys.dont_write_bytecode = True
sys.addaudithook(watch)
for line in sys.argv[1:]:
    watching = True
    if line.startswith("serve "):
        serve(*line.split()[1:])
        continue
    sys.argv = ["dse", *line.split()]
    try:
        dse.cli.main()
    except SystemExit as ended:
        watching = False
        print(f"{line}: {ended.code}", file=sys.stderr)
print(did or "nothing else", file=sys.stderr)
"""

CORES = "design,area_um2,clock_mhz,cycles_per_block,power_mw,payload_bit\n"
CORES += "".join(f"d{n},{1000 * n},200,{64 // n},{n},512\n" for n in (1, 2, 4, 8))
RECORD = "# An interface\ninterface: {name: mine, overhead: 1 us, link: 1 GB/s, in_flight: 4}\n"
MODELLED = """\
# Which?
workload: {rate: 1 Gbit/s, granularity: 4 KiB}
stages: [{table: cores.csv}]
interface: {device: mine.yaml}
objectives: {area: minimise, power: minimise}
constraints: [area <= 1 mm2]
"""
MEASURED = """\
# Which?
evaluate: {HOW, outputs: {area: um2, delay: ns}}
axes: {n: {from: 1, to: 9}}
objectives: {area: minimise, delay: minimise}
"""
MODULE = """\
marker = 1


def measured(n: float) -> dict[str, float]:
    return {"area": n, "delay": 10 / n}
"""
ASKED = ("check", "answer", "explain", "flips", "uncertainty")
OF_RUNS = ("status", "answer", "report --out out.html", "verify", "explain", "flips")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Studies, what they name, a plug-in that nobody names, and a run of measured designs."""
    folder = tmp_path_factory.mktemp("security")
    by = {"function": "function: model.py:measured", "command": "command: [touch, ran]"}
    texts = {f"{name}.yaml": MEASURED.replace("HOW", how) for name, how in by.items()}
    texts |= {"models.yaml": MODELLED, "mine.yaml": RECORD, "cores.csv": CORES}
    for name, text in (texts | {"model.py": MODULE}).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "shipped.yaml").write_bytes((STUDIES / "settop_116mbps.yaml").read_bytes())
    stranger(folder, "[dse.cores]\nmarker = stranger:marker\n", MODULE)
    dse.run(folder / "function.yaml", out=folder / "out-measured", plots=False)
    return folder


def commands(source: str, asked: tuple[str, ...]) -> list[str]:
    return [" ".join([first, source, *rest]) for first, *rest in map(str.split, asked)]


@pytest.mark.parametrize(
    "lines",
    [
        ["run models.yaml --out out", *commands("models.yaml", ASKED), *commands("out", OF_RUNS)],
        ["run shipped.yaml --out out2", "map shipped.yaml workload.rate=50..200Mbps"],
        [*commands("function.yaml", ASKED), *commands("command.yaml", ASKED)],
        [*commands("out-measured", OF_RUNS), "report out-measured --pictures"],
        [
            "fit core cores.csv --over cycles_per_block --out out3",
            "list des",
            "list cores.csv",
            "list mine.yaml",
        ],
        [
            "serve models.yaml constraints.0=2mm2",
            "serve models.yaml evaluate={command:[touch,ran]}",
        ],
        ["serve out-measured", "serve out-measured evaluate={command:[touch,ran]}"],
    ],
    ids=["models", "shipped", "measuring", "run", "records", "serve", "serve-run"],
)
def test_nothing_is_started_imported_or_written_that_security_excludes(
    lines: list[str], folder: Path
) -> None:
    call = [sys.executable, "-c", WATCHED, *lines]
    (folder / "out-temporary").mkdir(exist_ok=True)
    env = os.environ | {"PYTHONPATH": str(folder / "site"), "TMPDIR": str(folder / "out-temporary")}
    done = subprocess.run(call, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1:] == ["nothing else"], done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "ran").exists()


def test_the_watch_sees_what_a_study_runs(folder: Path) -> None:
    for study in ("function", "command"):
        call = [sys.executable, "-c", WATCHED, f"run {study}.yaml --out out-{study}"]
        done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)
        assert "dse/workers/supervisor.py" in done.stderr
        (folder / "ran").unlink(missing_ok=True)
