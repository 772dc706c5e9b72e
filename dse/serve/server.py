"""The server: only for this machine, a token in every address, one search at a time."""

from __future__ import annotations

import json
import secrets
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dse.errors import ArgumentError, DseError, faults_of
from dse.files.document import assignments
from dse.files.json import json_text
from dse.search.exact.work import Work, limited
from dse.serve.session import Session
from dse.study.overrides import OVERRIDE_EXAMPLE

HERE = "127.0.0.1"
_MOST_BYTE = 1 << 20
"""Longest request."""

MOST_TABS = 64
"""Number of tabs for which the latest question is kept."""


class Server(ThreadingHTTPServer):
    """A server with threads, because browsers keep connections open, and a lock for searches."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, session: Session, port: int) -> None:
        """Listen."""
        try:
            super().__init__((HERE, port), Handler)
        except OSError as error:
            rule = f"port {port} of {HERE} cannot be served: {error.strerror}"
            raise ArgumentError(f"{rule}; name another, or none") from error
        self.session = session
        self.token = secrets.token_urlsafe(24)
        self.searching = threading.Lock()
        self.latest: dict[str, int] = {}
        self.wanted: set[object] = set()

    def handle_error(self, *about: Any) -> None:
        """Print errors of the program, but not that a tab was closed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*about)

    def ask(self, tab: str, number: int) -> None:
        """Keep the number of the latest question of a tab."""
        self.latest[tab] = max(number, self.latest.pop(tab, 0))
        while len(self.latest) > MOST_TABS:
            self.latest.pop(next(iter(self.latest)), None)

    def is_overtaken(self, tab: str, number: int) -> bool:
        """Return whether a tab has a later question than this."""
        return number < self.latest.get(tab, 0)

    @contextmanager
    def answering(self, tab: str, number: int) -> Iterator[None]:
        """Search for an answer, which ends when it is overtaken, and for which maps end."""
        question = object()
        self.wanted.add(question)
        try:
            with self.searching, limited(stop=lambda: self.is_overtaken(tab, number)):
                yield
        finally:
            self.wanted.remove(question)

    @contextmanager
    def meanwhile(self) -> Iterator[Work]:
        """Search for something other than an answer, until an answer is requested."""
        with self.searching, limited(stop=lambda: bool(self.wanted)) as work:
            yield work

    @property
    def address(self) -> str:
        """Return the address of the page."""
        return f"http://{HERE}:{self.server_port}/{self.token}/"

    @property
    def hosts(self) -> set[str]:
        """Return the allowed names of this machine: other names may be made to lead here."""
        return {f"{name}:{self.server_port}" for name in (HERE, "localhost")}


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    timeout = 10  # seconds for which something is waited for

    def log_message(self, *_: Any) -> None:
        """Keep the terminal quiet: addresses hold the token."""

    def do_GET(self) -> None:
        """Answer with a page, or a file to be saved."""
        where = self._where()
        if where is None:
            return
        assigned = parse_qs(urlsplit(self.path).query).get("set", [])
        try:
            moved = assignments(assigned, OVERRIDE_EXAMPLE)
            with self.server.answering("", 0):
                found = self._found(where, moved)
        except DseError as error:
            found = (HTTPStatus.BAD_REQUEST, str(error), "text/plain", "")
        self._send(*found)  # to one who may not read it: others do not wait for that

    def _found(self, where: str, moved: dict[str, str]) -> tuple[HTTPStatus, str, str, str]:
        session = self.server.session
        if where == "":
            session.refresh()
            return HTTPStatus.OK, session.page(moved, live=self._live(moved)), "text/html", ""
        if where == "report.html":
            return HTTPStatus.OK, session.page(moved, live=None), "text/html", where
        if where == "study.yaml":
            return HTTPStatus.OK, session.study_text(moved), "application/yaml", where
        return HTTPStatus.NOT_FOUND, "no such page", "text/plain", ""

    def _live(self, moved: Mapping[str, str]) -> dict[str, Any]:
        """Return the facts of the program for the page."""
        session = self.server.session
        return {
            "version": session.version,
            "run": session.live,
            "moved": dict(moved),
            "running": session.live and session.status()["state"] == "running",
            "sliders": [one.to_dict() for one in session.sliders],
        }

    def do_POST(self) -> None:
        """Answer with JSON."""
        where = self._where()
        if where is None:
            return
        length = self.headers.get("Content-Length", "")
        sort = self.headers.get_content_type()
        if sort != "application/json" or not length.isdecimal() or int(length) > _MOST_BYTE:
            self._send(HTTPStatus.BAD_REQUEST, "a request is a little JSON", "text/plain")
            return
        try:
            body = json.loads(self.rfile.read(int(length)))
            found = self._answer(where, body if isinstance(body, dict) else {})
        except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            self._send(HTTPStatus.BAD_REQUEST, f"not understood: {error}", "text/plain")
            return
        except DseError as error:
            found = {"faults": [*faults_of(error)]}
        if found is None:
            self._send(HTTPStatus.NOT_FOUND, "no such request", "text/plain")
        else:
            self._send(HTTPStatus.OK, json_text(found), "application/json")

    def _answer(self, where: str, body: dict[str, Any]) -> dict[str, Any] | None:
        server, session = self.server, self.server.session
        if where == "status":
            return session.status() if session.live else {"state": "finished", "html": ""}
        tab, number = str(body.get("tab"))[:40], int(body.get("number") or 0)
        if where in ("answer", "cancel"):
            server.ask(tab, number)
        if where == "cancel":
            return {}
        if where == "answer":
            with server.answering(tab, number):
                found = {} if server.is_overtaken(tab, number) else session.answer(body)
            if server.is_overtaken(tab, number):
                return {"overtaken": True, "faults": []}
            changed = session.is_changed or body.get("version") != session.version
            return found | {"changed": changed}
        if where == "again":
            with server.searching:
                session.read()
            return {"version": session.version}
        return self._beside(where, body)

    def _beside(self, where: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """Return flips or a map, or that an answer was requested before they were found."""
        session = self.server.session
        searches = {
            "flips": lambda: session.flips(str(body.get("path"))),
            "map": lambda: session.map(body),
        }
        if where not in searches:
            return None
        found: dict[str, Any] = {}
        with self.server.meanwhile() as work:
            try:
                found = searches[where]()
            except DseError:
                if not work.ended:
                    raise
        return found | {"interrupted": True} if work.ended else found

    def _where(self) -> str | None:
        """Return the requested path behind the token.  None, after a refusal, without the token."""
        with suppress(ValueError):  # of an invalid address
            token, _, where = urlsplit(self.path).path.lstrip("/").partition("/")
            origin = self.headers.get("Origin")
            known = self.headers.get("Host") in self.server.hosts
            known &= origin is None or urlsplit(origin).netloc in self.server.hosts
            if known and secrets.compare_digest(token.encode(), self.server.token.encode()):
                return where
        self._send(HTTPStatus.FORBIDDEN, "the address of the page has a token", "text/plain")
        return None

    def _send(self, status: HTTPStatus, text: str, sort: str, name: str = "") -> None:
        content = text.encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", f"{sort}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        if name:
            self.send_header("Content-Disposition", f'attachment; filename="{name}"')
        self.end_headers()
        self.wfile.write(content)
