# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium on a report, and what tests ask of it."""

import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
import time

SKIP = 77  # ctest's return code for "skipped"


def find_chromium():
    """The browser and its driver, or None."""
    browser = os.environ.get("PLIANT_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    driver = os.environ.get("PLIANT_CHROMEDRIVER") or shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def require():
    """Ends the test as skipped when something is missing."""
    missing = [] if find_chromium() else ["no chromium with chromedriver"]
    if not importlib.util.find_spec("selenium"):
        missing.append("no selenium")
    if missing:
        print(f"skipped: {' and '.join(missing)}; scripts/setup --browser installs them")
        sys.exit(SKIP)


class Page:
    """One window with a report in it."""

    def __init__(self, file, width=1440, height=1000, dark=False):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service

        browser, driver = find_chromium()
        self.profile = tempfile.mkdtemp(prefix="pliant-browser-")
        options = Options()
        options.binary_location = browser
        for flag in (
            "headless",
            "no-sandbox",
            "disable-gpu",
            "disable-quic",
            "no-first-run",
            "disable-background-networking",
            "disable-component-update",
            "disable-sync",
            "disable-dev-shm-usage",
            "hide-scrollbars",
            f"user-data-dir={self.profile}",
            f"window-size={width},{height}",
        ):
            options.add_argument("--" + flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        self.size = {"width": width, "height": height}
        if dark:
            self.driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
            )
        self.address = pathlib.Path(file).resolve().as_uri()
        self.reload()

    def reload(self):
        self.driver.get("about:blank")
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {**self.size, "deviceScaleFactor": 1, "mobile": False}
        )
        self.driver.get(self.address)
        self.wait("details")

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script, *arguments, seconds=6000):
        """Waits until the script gives something true, and returns it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.js(script, *arguments):
                return value
            time.sleep(0.05)
        raise AssertionError(
            f"not within {seconds} s: {script}; page says "
            f"{self.js('return document.getElementById(`failure`).textContent')}"
        )

    def wait(self, state):
        self.until("return document.documentElement.dataset.ready === arguments[0]", state, seconds=600)

    def messages(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0])?.textContent", selector)

    def rows(self, selector):
        """The cells of a table's body."""
        return self.js(
            "return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(tr => [...tr.cells].map(td => "
            "td.textContent))",
            selector,
        )

    def pairs(self, selector):
        """A description list as a dictionary."""
        return dict(
            self.js(
                "return [...document.querySelectorAll(arguments[0] + ' dt')].map(dt => [dt.textContent, "
                "dt.nextElementSibling.textContent])",
                selector,
            )
        )

    def marks(self, chart, kind):
        """The data of what a chart drew, by Vega's own scene: every symbol, rect, text or such."""
        return self.js(
            "return [...document.querySelectorAll(`#${arguments[0]} .mark-${arguments[1]}.role-mark *`)].filter(e => "
            "e.__data__?.datum).map(e => e.__data__.datum)",
            chart,
            kind,
        )

    def point(self, chart, row):
        """The middle of the symbol that stands for a row of the designs, in the window."""
        return self.js(
            """
          const marks = [...document.querySelectorAll(`#${arguments[0]} .mark-symbol.role-mark *`)];
          const mark = marks.find(e => e.__data__?.datum?.row === arguments[1]);
          mark.scrollIntoView({block: 'center'});
          const box = mark.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];""",
            chart,
            row,
        )

    def hover(self, x, y):
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x - 1, "y": y})
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def click_at(self, x, y):
        self.hover(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.driver.execute_cdp_cmd(
                "Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
            )

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).click()", selector)

    def choose(self, selector, value):
        self.js(
            "const s = document.querySelector(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new "
            "Event('change'))",
            selector,
            value,
        )

    def settle(self):
        """Redrawing is asynchronous: until the charts are quiet."""
        before, quiet = None, 0
        end = time.monotonic() + 600
        while quiet < 3 and time.monotonic() < end:
            now = self.js(
                "return document.querySelectorAll('.chart svg').length + ' ' + "
                "[...document.querySelectorAll('.chart')].map(c => c.dataset.points + c.innerHTML.length).join()"
            )
            quiet = quiet + 1 if now == before else 0
            before = now
            time.sleep(0.06)

    def screenshot(self, file, selector=None):
        import base64

        box = self.js(
            """const e = arguments[0] ? document.querySelector(arguments[0]) : document.documentElement;
               const r = e.getBoundingClientRect();
               return {x: r.left + scrollX, y: r.top + scrollY, width: r.width, height: r.height, scale: 1}""",
            selector,
        )
        picture = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": box})
        pathlib.Path(file).write_bytes(base64.b64decode(picture["data"]))
