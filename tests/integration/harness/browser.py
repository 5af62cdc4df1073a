"""Headless Chromium, driven over a pipe by the DevTools protocol: https://chromedevtools.github.io/devtools-protocol/"""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import unittest

from .waiting import PATIENCE_S, eventually

# Reports of the policy of a page, from before its own script runs.
WATCH_POLICY = """
window.violations = [];
document.addEventListener('securitypolicyviolation', event => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""


def chromium():
    """The path of the program; skips the test if there is none."""
    path = shutil.which("chromium")
    if path is None:
        raise unittest.SkipTest("chromium is not installed: run script/bootstrap browser")
    return path


class Browser:
    """One process, which may have several pages."""

    def __init__(self):
        path = chromium()
        self._profile = tempfile.TemporaryDirectory(prefix="weir-chromium-", ignore_cleanup_errors=True)
        self._numbers = itertools.count(1)
        self._received = b""
        self._replies = {}
        self.events = []  # of all pages: (session, method, parameters)
        from_us, self._to = os.pipe()
        self._from, to_us = os.pipe()
        # A container may have neither user namespaces nor a large /dev/shm.
        command = [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
                   "--disable-component-update", "--remote-debugging-pipe", "--force-color-profile=srgb",
                   f"--user-data-dir={self._profile.name}", "about:blank"]

        def place_pipes():
            # The browser reads 3 and writes 4. Neither may be overwritten before it was copied.
            ours, theirs = os.dup(from_us), os.dup(to_us)
            os.dup2(ours, 3)
            os.dup2(theirs, 4)

        self._errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors,
                                        close_fds=False, preexec_fn=place_pipes)
        os.close(from_us)
        os.close(to_us)
        try:
            self.call("Browser.getVersion")
        except AssertionError:
            self.stop()
            raise

    def call(self, method, session=None, **parameters):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        give_up_at = time.monotonic() + PATIENCE_S
        while number not in self._replies:
            if time.monotonic() > give_up_at:
                raise AssertionError(f"no reply to {method}")
            self.receive(1)
        reply = self._replies.pop(number)
        if "error" in reply:
            raise AssertionError(f"{method}: {reply['error']}")
        return reply["result"]

    def receive(self, patience_s=0):
        """Reads what the browser has sent."""
        if not select.select([self._from], [], [], patience_s)[0]:
            return
        chunk = os.read(self._from, 1 << 20)
        if not chunk:
            self._errors.seek(0)
            raise AssertionError(f"chromium has ended:\n{self._errors.read().decode(errors='replace')}")
        *messages, self._received = (self._received + chunk).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._replies[message["id"]] = message
            else:
                self.events.append((message.get("sessionId"), message["method"], message["params"]))

    def open(self, url, **options):
        return Page(self, url, **options)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)
        for descriptor in (self._to, self._from):
            os.close(descriptor)
        self._errors.close()
        self._profile.cleanup()


class Page:
    """A page of its own context, so that pages share nothing."""

    def __init__(self, browser, url, width=1200, height=900, dark=False, script=True, scale=1):
        self.browser = browser
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=self.context)
        self.session = browser.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH_POLICY)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)
        self.show_dark(dark)
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.go(url)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def go(self, url):
        failure = self.call("Page.navigate", url=url).get("errorText")
        if failure:
            raise AssertionError(f"{url}: {failure}")
        eventually(lambda: self.evaluate("document.readyState") == "complete", f"{url} is loaded")

    def evaluate(self, expression):
        """The value of an expression; works also if the page may not run scripts of its own."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def show_dark(self, dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def is_shown(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.checkVisibility() ?? false")

    def rows(self, table):
        """{name: [cells]} of a table by its id, as a reader sees them; also those of narrow screens' hidden columns."""
        rows = self.evaluate(f"[...document.querySelectorAll('#{table} tbody tr')]"
                             ".map(row => [...row.cells].map(cell => cell.textContent))")
        return {row[0]: row[1:] for row in rows}

    def columns(self, table):
        return self.evaluate(f"[...document.querySelectorAll('#{table} thead th')].map(cell => cell.textContent)")[1:]

    def facts(self, name):
        """{name: value} of a list by its id."""
        texts = self.evaluate(f"[...document.querySelectorAll('#{name} > *')].map(item => item.textContent)")
        return dict(zip(texts[::2], texts[1::2]))

    def type(self, selector, text):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
        self.call("Input.insertText", text=text)

    def press_enter(self):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13,
                      text="\r")

    def violations(self):
        return self.evaluate("window.violations")

    def problems(self):
        """What the browser and the script have reported as errors."""
        self.browser.receive()
        found = []
        for session, method, parameters in self.browser.events:
            if session != self.session:
                continue
            if method == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"])
            if method == "Log.entryAdded" and parameters["entry"]["level"] in ("warning", "error"):
                found.append(parameters["entry"])
        return found

    def screenshot(self, file, full=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)
