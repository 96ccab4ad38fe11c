"""A headless Chromium, driven through a pair of pipes by its own protocol: no driver, no package, no network."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # as root
    "--remote-debugging-pipe",
    "--use-angle=swiftshader",  # WebGL in software
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--mute-audio",
)
PATIENCE = 120.0  # seconds, only against hangs


def path() -> str | None:
    """Where a Chromium is installed, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """A page in a browser of its own; `messages` are its console's, `failures` its exceptions, `requests` its wishes."""

    def __init__(self, file: Path, width: int = 1280, height: int = 800):
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        into, self._write = os.pipe()
        self._read, out = os.pipe()
        chrome = path()
        assert chrome
        # the browser reads from its file 3 and writes to its file 4
        script = f'exec 3<&{into} 4>&{out}; exec "$0" "$@"'
        words = [chrome, *FLAGS, f"--user-data-dir={self._home.name}", f"--window-size={width},{height}", "about:blank"]
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", script, *words],
            pass_fds=(into, out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(into)
        os.close(out)
        self._rest, self._count, self._session = b"", 0, None
        self.messages, self.failures, self.requests = [], [], []
        self._loaded = False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, height)
        self.call("Page.navigate", url=file.resolve().as_uri())
        end = time.monotonic() + PATIENCE
        while not self._loaded:
            self._take(end)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._home.cleanup()

    def call(self, method: str, **params: object) -> dict:
        """The answer to a command of the protocol."""
        self._count += 1
        wanted = self._count
        message = {"id": wanted, "method": method, "params": params}
        if self._session and not method.startswith("Target."):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._take(end)
            if answer.get("id") == wanted:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def evaluate(self, expression: str) -> object:
        """The value of an expression in the page; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def comes(self, condition: str) -> bool:
        """Whether a condition becomes true in the page, however slow the machine is; `PATIENCE` ends the waiting."""
        look = f"() => ({condition}) ? done(true) : setTimeout(look, 20)"
        return self.evaluate(f"new Promise((done) => {{ const look = {look}; look(); }})") is True

    def size(self, width: int, height: int, *, mobile: bool = False) -> None:
        """Gives the page another size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def key(self, key: str, code: str = "", text: str = "") -> None:
        """Presses and releases a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, **({"text": text} if text else {}))

    def click(self, selector: str) -> None:
        """Clicks into the middle of an element."""
        place = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def picture(self, file: Path) -> Path:
        """A screenshot as PNG."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
        return file

    def _take(self, end: float) -> dict:
        """The browser's next message; events are noted."""
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser doesn't answer"
            some = os.read(self._read, 1 << 20)
            assert some, "the browser has ended"
            self._rest += some
        line, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(line)
        given, method = message.get("params", {}), message.get("method")
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(one.get("value", one.get("description"))) for one in given["args"]))
        elif method == "Log.entryAdded":
            self.messages.append(given["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.failures.append(given["exceptionDetails"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        return message
