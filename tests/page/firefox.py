"""A headless Firefox, driven over Marionette: messages of JSON behind their length.

See https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.page.browser import PATIENCE

PROGRAM = next(filter(None, map(shutil.which, ("firefox", "firefox-esr"))), None)


class Firefox:
    """One tab."""

    def __init__(self, connection: socket.socket) -> None:
        """Open it."""
        self._stream = connection.makefile("rwb")
        self._number = 0
        self._read()
        self("WebDriver:NewSession")

    def __call__(self, command: str, **parameters: Any) -> Any:
        """Ask the browser to do something, and return what it says."""
        self._number += 1
        message = json.dumps([0, self._number, command, parameters]).encode()
        self._stream.write(b"%d:%s" % (len(message), message))
        self._stream.flush()
        _, _, fault, found = self._read()
        if fault:
            raise RuntimeError(f"{command}: {fault}")
        return found

    def _read(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self._stream.read(1)
        return json.loads(self._stream.read(int(length[:-1])))

    def value(self, expression: str) -> Any:
        """Return the value of an expression of the page."""
        script = f"return ({expression});"
        return self("WebDriver:ExecuteScript", script=script, args=[])["value"]

    def open(self, page: Path) -> None:
        """Show a page from disk, until its pictures are drawn."""
        self("WebDriver:Navigate", url=page.resolve().as_uri())
        end = time.monotonic() + PATIENCE
        drawn = "document.documentElement.dataset.drawn || !document.getElementById('pictures')"
        while not self.value(drawn):
            if time.monotonic() > end:
                raise TimeoutError(f"{page} was not drawn")
            time.sleep(0.05)


@contextmanager
def firefox(home: Path) -> Iterator[Firefox]:
    """Start a browser with nothing kept from before, and end it again."""
    (home / "user.js").write_text('user_pref("marionette.port", 0);\n', encoding="utf-8")
    command = [str(PROGRAM), "--headless", "--no-remote", "--marionette", "--profile", str(home)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=os.environ | {"HOME": str(home)}, **quiet)
    try:
        port, end = home / "MarionetteActivePort", time.monotonic() + PATIENCE
        while not (port.is_file() and port.read_text()):
            if time.monotonic() > end or process.poll() is not None:
                raise TimeoutError("the browser did not start")
            time.sleep(0.1)
        address = ("127.0.0.1", int(port.read_text()))
        with socket.create_connection(address, PATIENCE) as connection:
            yield Firefox(connection)
    finally:
        process.terminate()
        process.wait()
