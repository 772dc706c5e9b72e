"""A headless Chromium without a network, driven over its DevTools protocol through a pipe.

Messages are JSON that ends in a zero byte; see https://chromedevtools.github.io/devtools-protocol/.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROGRAM = next(filter(None, map(shutil.which, PROGRAMS)), None)
GONE = "Inspected target navigated or closed"
"""What the browser answers of a page that is leaving."""

PATIENCE = 60.0
"""Seconds until a browser that says nothing is given up: a loaded machine is slow."""

ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
    *("--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe"),
)


class Browser:
    """One tab; `problems` are the errors of its console, `requests` what it asked a network for."""

    def __init__(self, reading: int, writing: int) -> None:
        """Open an empty tab."""
        self._reading, self._writing = reading, writing
        self._held = b""
        self._number = 0
        self._session = ""
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        attached = self("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self("Network.emulateNetworkConditions", **offline)

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser to do something, and return what it says."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._notice(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            if not select.select([self._reading], [], [], PATIENCE)[0]:
                raise TimeoutError(f"the browser said nothing for {PATIENCE:g} s")
            part = os.read(self._reading, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self._held += part
        message, _, self._held = self._held.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _notice(self, event: dict[str, Any]) -> None:
        about, method = event.get("params", {}), event.get("method")
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(about["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning"):
            self.problems.append(json.dumps(about["args"])[:2000])
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.problems.append(json.dumps(about["entry"])[:2000])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def open(
        self,
        page: Path,
        link: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        phone: bool = False,
    ) -> int:
        """Show a page from disk as a link has it; return after how many ms it was drawn."""
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        self("Emulation.setTouchEmulationEnabled", enabled=phone)
        self("Page.navigate", url="about:blank")  # another fragment alone would load nothing
        self("Page.navigate", url=f"{page.resolve().as_uri()}{link}")
        drawn = int(self.until("document.documentElement?.dataset.drawn ?? ''"))
        self("Page.resetNavigationHistory")  # of more than 50 entries the browser drops some
        return drawn

    def until(self, expression: str) -> Any:
        """Return the value of an expression once it is there."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if value := self.value(expression):
                    return value
            except RuntimeError as error:
                if GONE not in str(error):  # the page is between two of its states
                    raise
            if any("exceptionId" in problem for problem in self.problems):
                break
            time.sleep(0.05)
        raise TimeoutError(f"{expression} stayed empty; {self.problems}")

    def value(self, expression: str) -> Any:
        """Return the value of an expression of the page."""
        found = self("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at one point of the window, and release it at another."""
        steps = [
            (start[0] + (end[0] - start[0]) * k / 8, start[1] + (end[1] - start[1]) * k / 8)
            for k in range(9)
        ]
        look = {"button": "left", "buttons": 1, "clickCount": 1}
        self("Input.dispatchMouseEvent", type="mouseMoved", x=start[0], y=start[1])
        self("Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], **look)
        for x, y in steps:
            self("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, **look)
        self("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], **look)

    def key(self, name: str, code: int) -> None:
        """Press and release a key."""
        for kind in ("rawKeyDown", "keyUp"):
            self(
                "Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code
            )

    def picture(self, path: Path) -> None:
        """Write what the whole page looks like."""
        shot = self("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def printed(self, path: Path) -> None:
        """Write the page as it is printed."""
        found = self("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browser(home: Path) -> Iterator[Browser]:
    """Start a browser with nothing kept from before, and end it again."""
    to_browser, writing = os.pipe()
    reading, from_browser = os.pipe()
    # the browser reads from 3 and writes to 4
    shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
    command = ["/bin/bash", "-c", shell, str(PROGRAM), *ARGUMENTS, f"--user-data-dir={home}"]
    process = subprocess.Popen(
        command,
        pass_fds=(to_browser, from_browser),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Browser(reading, writing)
    finally:
        process.kill()
        process.wait()
        os.close(reading)
        os.close(writing)
