"""Opens a file in headless Chromium over the DevTools pipe and says what the browser saw.

No package is needed beyond Debian's chromium. A missing browser is an error, not a skip.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType


class BrowserMissing(RuntimeError):
    pass


def find_chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    raise BrowserMissing("no Chromium found: install the Debian package chromium")


class Page:
    """One page, as a context manager; `problems` collects errors of console, page and network."""

    def __init__(self, path: Path, width: int = 1400, height: int = 1000) -> None:
        self.url = path.resolve().as_uri()
        self.width, self.height = width, height
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._buffer = b""
        self._last_id = 0
        self._session = ""
        self._events: list[dict] = []

    def __enter__(self) -> Page:
        self._profile = TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def give_pipes() -> None:
            # The browser reads commands from descriptor 3 and answers on 4.
            spare_in, spare_out = os.dup(to_browser), os.dup(from_browser)
            os.dup2(spare_in, 3)
            os.dup2(spare_out, 4)

        self._process = subprocess.Popen(
            [
                find_chromium(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                f"--user-data-dir={self._profile.name}",
                "about:blank",
            ],
            preexec_fn=give_pipes,
            pass_fds=(3, 4, to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._in)
        os.close(self._out)
        self._profile.cleanup()

    def _read_message(self, deadline: float) -> dict:
        while b"\0" not in self._buffer:
            if time.monotonic() > deadline:
                raise TimeoutError("Chromium did not answer in time")
            chunk = os.read(self._in, 1 << 16)
            if not chunk:
                raise RuntimeError("Chromium closed its pipe")
            self._buffer += chunk
        raw, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(raw)

    def _note(self, message: dict) -> None:
        method, params = message.get("method", ""), message.get("params", {})
        self._events.append(message)
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            self.problems.append(f"exception: {text}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in (
            "error",
            "warning",
            "assert",
        ):
            values = [str(a.get("value", a.get("description", ""))) for a in params["args"]]
            self.problems.append(f"console {params['type']}: {' '.join(values)}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"log: {params['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Network.loadingFailed":
            self.problems.append(f"network: {params['errorText']}")

    def call(self, method: str, timeout: float = 180, **params: object) -> dict:
        self._last_id += 1
        command: dict = {"id": self._last_id, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._out, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            message = self._read_message(deadline)
            if message.get("id") == self._last_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._note(message)

    def _wait_for(self, method: str, timeout: float = 180) -> None:
        deadline = time.monotonic() + timeout
        while not any(event.get("method") == method for event in self._events):
            self._note(self._read_message(deadline))

    def _open(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(self.width, self.height)
        self._events.clear()
        self.call("Page.navigate", url=self.url)
        self._wait_for("Page.loadEventFired")
        # Reports of errors may trail the load event.
        self.call(
            "Runtime.evaluate",
            expression="new Promise(done => setTimeout(done, 200))",
            awaitPromise=True,
        )

    def resize(self, width: int, height: int = 1000) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def evaluate(self, expression: str) -> object:
        """The JSON value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def screenshot(self, path: Path, clip: tuple[float, float, float, float] | None = None) -> None:
        """Writes a PNG of the whole page, or of (x, y, width, height)."""
        if clip is None:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = (0, 0, size["width"], size["height"])
        x, y, width, height = clip
        answer = self.call(
            "Page.captureScreenshot",
            format="png",
            captureBeyondViewport=True,
            clip={"x": x, "y": y, "width": width, "height": height, "scale": 1},
        )
        path.write_bytes(base64.b64decode(answer["data"]))
