"""The served page: only for this machine and with its token, and what it says is the answer."""

from __future__ import annotations

import json
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

import dse
from dse.errors import ArgumentError, OutputError, StudyError, faults_of
from dse.files.whole_folders import under_way
from dse.runs.record import begun_manifest
from dse.serve.server import HERE, Handler, Server
from dse.serve.session import Session
from tests.conftest import STUDIES
from tests.page.browser import PROGRAM, browser
from tests.search.test_effort import LARGE

DES = STUDIES / "des_100gbps.yaml"
UNLIMITED = {"downloadThroughput": -1, "uploadThroughput": -1}


@contextmanager
def serving(source: Path) -> Iterator[Server]:
    server = Server(Session(source, allow_run=False, time="5 s"), 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(
    server: Server, what: str, body: Any = None, *, path: str = "", **headers: str
) -> tuple[int, str]:
    address = urlsplit(server.address)
    connection = HTTPConnection(str(address.hostname), address.port, timeout=60)
    sort = {} if body is None else {"Content-Type": "application/json"}
    text = None if body is None else json.dumps(body)
    method = "GET" if body is None else "POST"
    connection.request(method, (path or address.path) + what, text, sort | headers)
    reply = connection.getresponse()
    return reply.status, reply.read().decode("utf-8")


def answered(server: Server, **asked: Any) -> dict[str, Any]:
    status, text = ask(server, "answer", {"number": 1, "version": 1, "moved": {}} | asked)
    assert status == 200
    found: dict[str, Any] = json.loads(text)
    return found


def test_only_this_machine_with_the_token_is_answered() -> None:
    with serving(DES) as server:
        body = {"moved": {}, "number": 1}
        assert server.address.startswith("http://127.0.0.1:")
        for path in ("/", "/wrong/", f"/{server.token[:-1]}/"):
            assert ask(server, "answer", body, path=path)[0] == 403
            assert ask(server, "", path=path)[0] == 403
        assert ask(server, "answer", body, Host="rebound.example")[0] == 403
        assert ask(server, "answer", body, Origin="https://elsewhere.example")[0] == 403
        plain = {"Content-Type": "text/plain"}  # what a form of another page could send
        assert ask(server, "answer", body, **plain)[0] == 400
        assert ask(server, "nothing", body)[0] == 404


@pytest.mark.parametrize("rate", ["73 Gbps", "124 Gbps"])
def test_a_move_has_the_answer_of_the_program_and_what_todays_would_cost(rate: str) -> None:
    with serving(DES) as server:
        today = answered(server)
        found = answered(server, moved={"workload.rate": rate})
    direct = dse.answer(DES, rate=rate, flips=False, all=False)
    assert found["pick"] == direct.pick.line
    assert found["set"] == [f"workload.rate={rate}"]
    assert found["regret"].startswith(f"{today['pick']}, the answer of the study, ")
    cannot = "does not meet the constraints here" in found["regret"]
    assert cannot == (rate == "124 Gbps")


def test_a_fault_is_that_of_the_command_line_at_its_field() -> None:
    with serving(DES) as server:
        (fault,) = answered(server, moved={"workload.rate": "73 foo"})["faults"]
        (unknown,) = answered(server, moved={"search.method": "nsga2"})["faults"]
    with pytest.raises(StudyError) as caught:
        dse.answer(DES, overrides="workload.rate=73 foo")
    assert [fault] == [*faults_of(caught.value)]
    assert unknown["path"] == "search.method"
    assert unknown["rule"] == "a page sets sliders and choices of its study alone"


def test_a_study_that_changed_underneath_is_said_to_each_tab(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_bytes(DES.read_bytes())
    with serving(study) as server:
        assert not answered(server, tab="a")["changed"]
        study.write_text(study.read_text(encoding="utf-8").replace("100 Gbit/s", "73 Gbit/s"))
        assert answered(server, tab="a")["changed"]
        assert answered(server, tab="a")["pick"] == "3 u16"  # of the text that it read
        ask(server, "again", {})
        assert answered(server, tab="b", version=2)["pick"] == "2 u16"
        assert answered(server, tab="a")["changed"]  # its page is of the text before


def test_what_was_overtaken_in_its_tab_is_not_searched() -> None:
    with serving(DES) as server:
        answered(server, tab="a", number=5)
        assert answered(server, tab="a", number=4) == {"overtaken": True, "faults": []}
        assert "pick" in answered(server, tab="b", number=1)


def cpu_s(work: Callable[[], Any]) -> float:
    """Return the CPU time that this process takes meanwhile."""
    before = time.process_time()
    work()
    return time.process_time() - before


def test_an_answer_waits_for_no_map_and_a_search_is_cancelled(tmp_path: Path) -> None:
    found: dict[str, Any] = {}

    def asking(what: str, body: dict[str, Any]) -> threading.Thread:
        thread = threading.Thread(
            target=lambda: found.update(json.loads(ask(server, what, body)[1]))
        )
        thread.start()
        time.sleep(0.5)
        return thread

    with serving(STUDIES / "tls_100gbps.yaml") as server:
        drawing = asking("map", {"axes": ["workload.rate", "workload.granularity"]})
        moved = {"workload.rate": "70 Gbit/s"}
        assert cpu_s(lambda: answered(server, moved=moved)) < 3  # the map takes 5 s
        drawing.join()
    assert found["interrupted"]
    (tmp_path / "large.yaml").write_text(f"# Which?\n{LARGE.replace('effort: 1 ms', 'seed: 1')}")
    with serving(tmp_path / "large.yaml") as server:
        searching = asking("answer", {"tab": "a", "number": 1, "version": 1})
        ask(server, "cancel", {"tab": "a", "number": 2})
        assert cpu_s(searching.join) < 3  # an answer has 5 s
    assert found["overtaken"]


def test_limits_of_the_page_are_constraints_of_the_answer() -> None:
    with serving(DES) as server:
        limited = {"limits": {"area_m2": 0.16e-6}, "moved": {"workload.rate": "90 Gbps"}}
        found = answered(server, **limited)
        (fault,) = answered(server, limits={"search": 1})["faults"]
    rules = {"constraints": "[area <= 0.16 mm2]"}
    direct = dse.answer(DES, rate="90 Gbps", flips=False, all=False, overrides=rules)
    assert found["pick"] == direct.pick.line
    goals = ("area_m2", "power_w")
    assert found["values"] == {name: direct.pick.quantities[name] for name in goals}
    assert fault["path"] == "search"


def test_page_and_study_are_saved_with_what_was_set(tmp_path: Path) -> None:
    with serving(DES) as server:
        query = urlencode({"set": "workload.rate=73 Gbps"})
        status, page = ask(server, f"report.html?{query}")
        text = ask(server, f"study.yaml?{query}")[1]
    assert status == 200
    assert "It ran with <code>--set" in page
    assert "Take 2 u16." in page
    assert 'id="live"' not in page
    (tmp_path / "saved.yaml").write_text(text, encoding="utf-8")
    assert dse.answer(tmp_path / "saved.yaml", flips=False).pick.line == "2 u16"


MEASURED = "{command: [touch, ran], outputs: {area: um2}}"
MODELLED = """\
# Which?
workload: {rate: 1 Gbit/s, granularity: 4 KiB}
stages: [{core: des}]
interface: {link: 1 GB/s, in_flight: 4}
axes: {interface.attachment: [inline, look_aside], interface.overhead: [1 us, 2 us]}
objectives: {area: minimise}
constraints: [area <= 1 mm2]
"""


def test_no_program_of_a_study_is_run_unless_that_is_allowed(tmp_path: Path) -> None:
    study = f"# Q\nevaluate: {MEASURED}\naxes: {{n: {{from: 1, to: 3}}}}\n"
    (tmp_path / "study.yaml").write_text(f"{study}objectives: {{area: minimise}}\n")
    with pytest.raises(ArgumentError, match="--allow-run lets the page run it"):
        Session(tmp_path / "study.yaml", allow_run=False, time="5 s")
    assert [path.name for path in tmp_path.iterdir()] == ["study.yaml"]


@pytest.mark.parametrize("of_a_run", [False, True])
def test_no_request_runs_a_program(
    of_a_run: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cores.csv").write_text("design,area_um2\na,1\nb,2\n", encoding="utf-8")
    study = "# Q\ndesigns: cores.csv\nobjectives: {area: minimise}\n"
    (tmp_path / "study.yaml").write_text(study, encoding="utf-8")
    source = tmp_path / ("run" if of_a_run else "study.yaml")
    if of_a_run:
        dse.run("study.yaml", out=source, plots=False)
    sets = {"evaluate": MEASURED, "axes": "{n: {from: 1, to: 3}}", "designs": "null"}
    query = urlencode({"set": [f"{name}={value}" for name, value in sets.items()]}, doseq=True)
    with serving(source) as server:
        for page in ("", "report.html", "study.yaml"):
            status, said = ask(server, f"{page}?{query}")
            assert (status, said.partition(";")[0]) == (400, f"evaluate: {MEASURED!r}")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "pair",
    [
        *("search.method=nsga2", "search.budget=1000000000", "search.effort=1 h"),
        *("interface.device=other.yaml", "workload.granularity=sizes.csv", "stages=[{table: x}]"),
        *("workload.rate={from: 1 bit/s, to: 2 bit/s}", "workload.rate=[1 bit/s]"),
        *("interface.attachment=[inline]", "interface.overhead=3 us", "stages.des.counts={u8: 1}"),
        *("constraints.0=area <= 1 mm2 and power <= 1 W", "constraints.0=[area <= 1 mm2]"),
    ],
)
def test_sliders_and_choices_alone_are_set(pair: str, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(MODELLED, encoding="utf-8")
    path, _, value = pair.partition("=")
    with serving(tmp_path / "study.yaml") as server:
        status, said = ask(server, f"study.yaml?{urlencode({'set': pair})}")
        assert (status, said.partition(":")[0]) == (400, path)
        (fault,) = answered(server, moved={path: value})["faults"]
        assert fault["path"] == path


def test_a_choice_and_a_bound_are_set(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(MODELLED, encoding="utf-8")
    pairs = ["interface.attachment=inline", "constraints.0=0.5 mm2"]
    query = urlencode({"set": pairs}, doseq=True)
    with serving(tmp_path / "study.yaml") as server:
        text = ask(server, f"study.yaml?{query}")[1]
        page = ask(server, f"?{query}")[1]
    assert "attachment: inline" in text
    assert "area <= 0.5 mm2" in text
    assert '"constraints.0":"0.5 mm2"' in page  # where its slider begins


def test_a_search_of_a_page_has_the_time_of_an_answer(tmp_path: Path) -> None:
    text = f"# Which?\n{LARGE.replace('search: {effort: 1 ms}', '')}"
    (tmp_path / "large.yaml").write_text(text, encoding="utf-8")
    page = Session(tmp_path / "large.yaml", allow_run=False, time="1 ms").page({}, live=None)
    assert "the limit of 0.001 s of CPU time was reached" in page


def test_what_hangs_or_goes_away_blocks_nobody_and_prints_nothing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handler, "timeout", 1)
    with serving(DES) as server, ExitStack() as hanging:
        assert server.request_queue_size == 128
        post = f"POST {urlsplit(server.address).path}answer HTTP/1.1\r\nHost: 127.0.0.1"
        post += f":{server.server_port}\r\nContent-Type: application/json\r\nContent-Length: "
        asks = ["", "GET", f"{post}9\r\n\r\n{{", f"{post}\xb2\r\n\r\n", f"{post}2\r\n\r\n[]"]
        asks += [
            "GET //[ HTTP/1.0\r\n\r\n",
            f"{post}40\r\n\r\n" + '{"number": 1e999, "moved": [1, [2, [3]]]}',
        ]
        asks += [
            f"{post}200000\r\n\r\n{'[' * 200_000}",
            post.replace("127.0.0.1", "[") + "\r\n\r\n",
        ]
        asks += [post.replace("POST", "GET").replace("answer", "") + "2\r\n\r\n"]
        for text in asks:
            for reset in (False, True):
                one = hanging.enter_context(socket.create_connection((HERE, server.server_port)))
                one.sendall(text.encode("latin-1"))
                if reset:  # a tab that is closed
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    one.close()
        assert answered(server)["pick"] == "3 u16"
        with server.searching:  # of another tab
            assert json.loads(ask(server, "status", {})[1])["state"] == "finished"
        silent = hanging.enter_context(socket.create_connection((HERE, server.server_port)))
        silent.settimeout(30)
        assert silent.recv(1) == b""  # what says nothing is not waited for
    assert capfd.readouterr() == ("", "")


SLOW = """\
# Which of very many?
workload: {rate: 10 Gbit/s}
stages: [{core: des, fleet: mixed, instances: {from: 0, to: 400}}]
objectives: {area: minimise, power: minimise}
search: {method: nsga2, budget: 1000000}
"""


def test_a_run_that_goes_on_is_shown(tmp_path: Path) -> None:
    (tmp_path / "slow.yaml").write_text(SLOW, encoding="utf-8")
    command = [sys.executable, "-m", "dse", "run", "slow.yaml", "--out", "slow", "--no-plots"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        try:
            while (found := under_way(tmp_path / "slow")) is None or not begun_manifest(found[0]):
                assert process.poll() is None
                time.sleep(0.05)
            with serving(tmp_path / "slow") as server:
                assert "The run goes on." in ask(server, "")[1]
                assert json.loads(ask(server, "status", {})[1])["state"] == "running"
                with pytest.raises(OutputError, match="a run that is not finished; dse status"):
                    dse.report(tmp_path / "slow")
        finally:
            process.kill()


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
def test_in_a_browser_a_slider_moves_the_answer_and_a_fault_stands_beside_it(
    tmp_path: Path,
) -> None:
    with serving(DES) as server, browser(tmp_path) as tab:
        tab("Network.emulateNetworkConditions", offline=False, latency=0, **UNLIMITED)
        tab("Page.navigate", url=server.address)
        card = "document.querySelector('#card .pick')?.textContent ?? ''"
        assert tab.until(card) == "3 u16"
        tab.value("document.querySelector('.slider input[type=range]').focus()")
        for _ in range(40):
            tab.key("ArrowRight", 39)
        pick = "document.querySelector('#live-answer:not(.stale) .pick')?.textContent ?? ''"
        tab.until(pick)
        assert tab.value("document.getElementById('card').hidden")
        tab.value("location.reload()")  # the address keeps it
        tab.until(f"performance.navigation.type === 1 && ({pick})")
        command = tab.value("document.getElementById('live-set').textContent")
        rate = command.removeprefix('--set "workload.rate=').removesuffix('"')
        assert tab.value(pick) == dse.answer(DES, rate=rate, flips=False).pick.line
        field = "document.querySelector('.slider input[type=text]')"
        tab.value(f"{field}.value = '73 foo'; {field}.dispatchEvent(new Event('change'))")
        said = tab.until("document.querySelector('.slider .fault').textContent")
        assert "'foo' is not a known unit" in said
        tab.value("document.getElementById('restore').click()")
        assert tab.value(card) == "3 u16"
        assert not tab.value("document.getElementById('card').hidden")
        tab.value("history.back()")
        assert tab.until("document.getElementById('card').hidden")
        assert {urlsplit(url).netloc for url in tab.requests} == {f"127.0.0.1:{server.server_port}"}
        assert tab.problems == []


@pytest.fixture
def capped(tmp_path: Path) -> Path:
    text = (STUDIES / "settop_116mbps.yaml").read_text(encoding="utf-8")
    rule = 'constraints: ["area <= 12000 um2"]\n'
    (tmp_path / "capped.yaml").write_text(f"{text.replace('116.43 Mbit', '2 Gbit')}\n{rule}")
    return tmp_path / "capped.yaml"


def test_a_map_is_that_of_the_program_around_what_was_moved(capped: Path) -> None:
    moves = {"axes": ["workload.rate", "constraints.0"], "moved": {"workload.rate": 1e9}}
    session = Session(capped, allow_run=False, time="20 s")
    found = session.map(moves)
    ranges = ("workload.rate=0.25..4 Gbps", "area <= 12000 um2=3000..48000 um2")
    direct = dse.decision_map(capped, *ranges)
    assert (found["rows"], found["shares"]) == (len(direct.rows), direct.shares)
    assert session.map(moves) == found | {"more": False}
    for axes in (["workload.rate"], ["workload.rate", "search.seed"], ["workload.rate"] * 2):
        with pytest.raises(ArgumentError, match="a map has two numbers"):
            session.map(moves | {"axes": axes})


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
def test_a_click_in_the_map_sets_the_study_there(capped: Path, tmp_path: Path) -> None:
    with serving(capped) as server, browser(tmp_path) as tab:
        tab("Network.emulateNetworkConditions", offline=False, latency=0, **UNLIMITED)
        tab("Page.navigate", url=server.address)
        tab.until("document.getElementById('live-answer')?.dataset.pick ?? ''")
        tab.value("document.getElementById('map-box').open = true")
        tab.value("document.getElementById('map-draw').click()")
        tab.until("document.getElementById('map-words').textContent.includes('A click sets')")
        request = {"axes": ["workload.rate", "constraints.0"]}
        (left, right), (_, top) = Session(capped, allow_run=False, time="20 s").map(request)[
            "frame"
        ]
        across, up = left + 0.75 * (right - left), top - 0.02
        where = "document.querySelector('#map img')"
        tab.until(f"{where}.complete")
        tab.value(
            f"{{{where}.scrollIntoView({{block: 'center'}}); const b = {where}"
            f".getBoundingClientRect(); {where}.dispatchEvent(new MouseEvent('click', "
            f"{{clientX: b.left + b.width * {across}, clientY: b.bottom - b.height * {up}}}))}}"
        )
        said = "document.getElementById('live-set').textContent"
        options = str(tab.until(f"{said}.includes('area') && {said}"))
        rate, area = re.findall(r"(?:rate|area <)=\s*([\d.]+)", options)
        assert float(rate) == pytest.approx(4, rel=0.03)  # three quarters of 0.5 to 8 Gbit/s
        assert 0.012 < float(area) <= 0.048
        assert tab.problems == []
