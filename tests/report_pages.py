"""Pages of ``hocket report`` opened in headless Chromium."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@dataclass
class Opened:
    """Page as a browser sees it."""

    errors: list[str]  # on the console, exceptions, and what the page's own policy refused
    requests: list[str]  # of the page, but for itself and data in it
    drawn: int  # figures
    sections: int


class Browser:
    """Headless Chromium, told by its DevTools protocol over two pipes."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM is not None
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        command = [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
            "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}", "about:blank",
        ]  # fmt: skip
        # The protocol has the numbers 3 and 4. Nothing else is inherited: a helper of the browser may outlive it.
        high = [fcntl.fcntl(pipe, fcntl.F_DUPFD, 10) for pipe in (theirs_in, theirs_out)]
        begin = f"import os, sys; os.dup2({high[0]}, 3); os.dup2({high[1]}, 4); os.execv(sys.argv[1], sys.argv[1:])"
        self._process = subprocess.Popen(
            [sys.executable, "-c", begin, *command], pass_fds=high, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        for pipe in high:
            os.close(pipe)
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = ours_in, ours_out
        self._buffer = b""
        self._number = 0
        self._events: list[dict[str, Any]] = []

    def close(self) -> None:
        self.call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])
            self._events.append(answer)

    def _read(self) -> dict[str, Any]:
        end = time.monotonic() + 20
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(end - time.monotonic(), 0))
            assert ready, "the browser does not answer"
            self._buffer += os.read(self._in, 1 << 20)
        text, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(text))

    def open(self, page: Path, width: int = 1400, height: int = 900, picture: Path | None = None) -> Opened:
        """Opens a page. ``picture``: a PNG of the whole page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable", session)
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", session, **metrics)
        self._events = []
        self.call("Page.navigate", session, url=page.absolute().as_uri())
        self._until(session, "document.readyState == 'complete'")
        drawn = "[...document.querySelectorAll('img.figure')].filter((each) => each.naturalWidth > 0).length"
        if picture is not None:
            time.sleep(1)
            size = self.call("Page.getLayoutMetrics", session)["cssContentSize"]
            metrics["height"] = int(size["height"])
            self.call("Emulation.setDeviceMetricsOverride", session, **metrics)
            time.sleep(1)
            data = self.call("Page.captureScreenshot", session, format="png")["data"]
            picture.write_bytes(base64.b64decode(data))
        found = Opened(
            self._errors(), self._requests(page), int(self.value(session, drawn)),
            int(self.value(session, "document.querySelectorAll('main section').length")),
        )  # fmt: skip
        self.call("Target.closeTarget", targetId=target)
        return found

    def value(self, session: str, expression: str) -> Any:
        found = self.call("Runtime.evaluate", session, expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def _until(self, session: str, expression: str) -> None:
        end = time.monotonic() + 20
        while not self.value(session, expression):
            assert time.monotonic() < end, f"not so within a minute: {expression}"
            time.sleep(0.05)

    def _errors(self) -> list[str]:
        found = []
        for event in self._events:
            method, said = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(said["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
                found.append(str(said["args"]))
            elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
                found.append(said["entry"]["text"])
        return found

    def _requests(self, page: Path) -> list[str]:
        urls = [
            event["params"]["request"]["url"]
            for event in self._events
            if event.get("method") == "Network.requestWillBeSent"
        ]
        return [
            url for url in urls if url != page.absolute().as_uri() and not url.startswith(("data:", "blob:"))
        ]


class Page(HTMLParser):
    """Content of a page, without a browser: figures, headings, links and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.figures: list[str] = []  # SVG, or the bytes of a PNG in base64
        self.headings: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self._in = ""
        self._text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if said.get("id"):
            self.ids.add(str(said["id"]))
        if said.get("class") == "figure":
            kind, _, data = str(said["src"]).partition(";base64,")
            self.figures.append(base64.b64decode(data).decode() if "svg" in kind else data)
        elif tag == "a":
            self.links.append(str(said["href"]))
        elif "src" in said or "href" in said:
            self.loaded.append(str(said.get("src") or said.get("href")))
        if tag in ("h1", "h2", "h3"):
            self._in, self._text = tag, ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == self._in:
            self.headings.append(self._text)
            self._in = ""
