# SPDX-License-Identifier: Apache-2.0
"""A headless Firefox by its own remote protocol (Marionette: JSON with its length in front), so no geckodriver is
needed."""

import itertools
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time


def find_firefox():
    return os.environ.get("PLIANT_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Firefox:
    """One window with a page in it."""

    def __init__(self, width=1440, height=1000):
        self.profile = tempfile.mkdtemp(prefix="pliant-firefox-")
        port = free_port()
        (pathlib.Path(self.profile) / "user.js").write_text(
            f'user_pref("marionette.port", {port});\n'
            'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
            'user_pref("app.update.disabledForTesting", true);\n'
            'user_pref("browser.shell.checkDefaultBrowser", false);\n',
            encoding="utf-8",
        )
        command = [find_firefox(), "--headless", "--marionette", "--no-remote", "--profile", self.profile]
        self.process = subprocess.Popen(
            [*command, "--width", str(width), "--height", str(height)],
            env={**os.environ, "HOME": self.profile, "MOZ_HEADLESS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.ids = itertools.count(1)
        self.rest = b""
        try:
            self.socket = self.connect(port)
            self.receive()  # it introduces itself
            self.send("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": True}}})
            self.send("WebDriver:SetTimeouts", {"script": 60000, "pageLoad": 60000})
        except OSError:
            self.process.kill()
            raise

    def connect(self, port):
        end = time.monotonic() + 600
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=600)
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.2)

    def receive(self):
        while b":" not in self.rest:
            self.rest += self.socket.recv(65536)
        length, self.rest = self.rest.split(b":", 1)
        while len(self.rest) < int(length):
            self.rest += self.socket.recv(65536)
        message, self.rest = self.rest[: int(length)], self.rest[int(length) :]
        return json.loads(message)

    def send(self, command, parameters):
        text = json.dumps([0, next(self.ids), command, parameters])
        self.socket.sendall(f"{len(text)}:{text}".encode())
        _, _, error, result = self.receive()
        if error:
            raise AssertionError(f"{command}: {error['error']}: {error['message']}")
        return result

    def open(self, file):
        self.send("WebDriver:Navigate", {"url": pathlib.Path(file).resolve().as_uri()})

    def js(self, script, *arguments):
        parameters = {"script": script, "args": list(arguments), "newSandbox": True}
        return self.send("WebDriver:ExecuteScript", parameters)["value"]

    def until(self, script, *arguments, seconds=600):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.js(script, *arguments):
                return value
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {script}")

    def close(self):
        try:
            self.send("Marionette:Quit", {"flags": ["eForceQuit"]})
        except (OSError, AssertionError, ValueError):
            self.process.kill()
        self.process.wait(timeout=600)
        shutil.rmtree(self.profile, ignore_errors=True)
