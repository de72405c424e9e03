# SPDX-License-Identifier: Apache-2.0
"""Datasets and caches in object storage: sweeps and design searches in a bucket are those of a folder, also when they
are killed, and every command that reads a dataset reads it there.

Starts a server of its own on a free port: for s3:// moto, for gs:// gcp-storage-emulator, both from PyPI.
Usage: bucket.py PLIANT s3|gs; exit code 77 (skipped) where the server is not in PATH.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import xml.etree.ElementTree

SWEEP = """
name: bucket
accelerator: flexref
workloads: [mobilenet_v2]
network: false
vary:
  rows: [8, 16]
  cols: [8, 16, 32]
flexibility: all-16
"""
LARGE = """
name: large
accelerator: flexref
workloads: [mobilenet_v2]
network: false
vary:
  Buffer.area_um2: {from: 1, to: 100, step: 1}  # areas change no mapping
flexibility: all-16
"""
SPACE = """
name: space
accelerator: flexref
workloads: [alexnet]
network: false
vary:
  rows: [8, 16, 32]
  cols: [8, 16]
flexibility: ["1111"]
minimize: [area_um2, edp_pj_cycles]
"""


# Bytes; Arrow sends what is longer to S3 in several parts.
MULTIPART = 10 << 20


class Server:
    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.host = f"127.0.0.1:{probe.getsockname()[1]}"
        self.log = open(folder / "server.log", "wb")
        command = self.command(*self.host.split(":"))
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        wait_for("the server", self.answers)

    def ask(self, path, method="GET"):
        request = urllib.request.Request(f"http://{self.host}{path}", method=method)
        # The server wants a key and believes any.
        credential = "Credential=test/20260101/us-east-1/s3/aws4_request"
        request.add_header("Authorization", f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=0")
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def answers(self):
        try:
            return self.ask(self.ALIVE) is not None
        except OSError:
            return False

    def objects(self, prefix):
        """Names and bytes."""
        return {name: self.ask(self.place(name)) for name in self.names(prefix)}

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class Amazon(Server):
    PROGRAM = "moto_server"
    ALIVE = "/moto-api/"

    def __init__(self, folder):
        super().__init__(folder)
        self.ask("/bucket", method="PUT")

    def command(self, host, port):
        return [self.PROGRAM, "-H", host, "-p", port]

    def address(self, path, bucket="bucket"):
        return f"s3://{bucket}/{path}"

    def address_with_options(self, path):
        return f"s3://test:test@bucket/{path}?endpoint_override={self.host}&scheme=http&region=us-east-1"

    def environment(self):
        return {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": f"http://{self.host}",
        }

    def names(self, prefix):
        listing = xml.etree.ElementTree.fromstring(self.ask(f"/bucket?list-type=2&prefix={prefix}"))
        return [key.text for key in listing.iter() if key.tag.endswith("}Key")]

    def place(self, name):
        return f"/bucket/{name}"


class Google(Server):
    PROGRAM = "gcp-storage-emulator"
    ALIVE = "/storage/v1/b/bucket/o"

    def command(self, host, port):
        return [self.PROGRAM, "start", f"--host={host}", f"--port={port}", "--in-memory", "--default-bucket=bucket"]

    def address(self, path, bucket="bucket"):
        host = urllib.parse.quote(self.host, safe="")
        return f"gs://anonymous@{bucket}/{path}?scheme=http&endpoint_override={host}&retry_limit_seconds=5"

    address_with_options = address

    def environment(self):
        return {}

    def names(self, prefix):
        listing = json.loads(self.ask(f"/storage/v1/b/bucket/o?prefix={prefix}"))
        return [item["name"] for item in listing.get("items", [])]

    def place(self, name):
        return f"/storage/v1/b/bucket/o/{urllib.parse.quote(name, safe='')}?alt=media"


def wait_for(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise TimeoutError(f"waited {seconds} s in vain for {what}")


class Pliant:
    def __init__(self, program, server):
        self.program = program
        self.environment = {**os.environ, **server.environment()}

    def start(self, *words, **changes):
        environment = {**self.environment, **changes}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([self.program, *map(str, words)], env=environment, **pipes)

    def fails(self, *words, **changes):
        process = self.start(*words, **changes)
        out, err = process.communicate()
        assert process.returncode != 0, out
        return err

    def __call__(self, *words, **changes):
        process = self.start(*words, **changes)
        out, err = process.communicate()
        assert process.returncode == 0, f"{words}: {process.returncode}\n{out}{err}"
        return out


def rows(pliant, dataset, table):
    """What was found, without the time it took."""
    answer = json.loads(pliant("query", dataset, "--table", table, "--select", "all", "--json"))
    for row in answer["rows"]:
        for column in [name for name in row if "seconds" in name]:
            del row[column]
    return answer["rows"]


def same(pliant, one, other):
    for table in ("designs", "layers"):
        expected, got = rows(pliant, one, table), rows(pliant, other, table)
        assert expected and expected == got, f"{table} of {one} and {other} differ"


def sweeps(pliant, server, folder):
    file = folder / "sweep.yaml"
    file.write_text(SWEEP)
    here, there = folder / "here", server.address("there")
    pliant("sweep", file, "-o", here)
    told = pliant("sweep", file, "-o", there)
    assert there in told, told
    same(pliant, here, there)
    assert sum(name.endswith(".tasks") for name in server.objects("there/cache/")) >= 1
    assert "everything was done already" in pliant("sweep", file, "-o", there)
    status = json.loads(pliant("sweep", "--status", "-o", there, "--json"))
    assert status["parts_done"] == status["parts"] and status["tasks_kept"] > 0, status
    for words in (("pareto", "--json"), ("query", "--sort", "area_um2", "--json")):
        assert pliant(words[0], here, *words[1:]) == pliant(words[0], there, *words[1:])
    pliant("verify", there, "--sweep", file, "--prove", "2")
    pliant("report", there, "-o", server.address("report.html"))
    assert b"<html" in server.objects("report.html")["report.html"]
    pliant("pareto", there, "-o", server.address("frontier.csv"))
    assert server.objects("frontier.csv")["frontier.csv"].find(b"area_um2") >= 0
    # A cache of its own, and user and options in the address instead of the environment.
    at = server.address_with_options("options")
    told = pliant("sweep", file, "-o", at, "--cache", server.address("there/cache"))
    assert "(0 solved" in told, told
    environment, pliant.environment = pliant.environment, dict(os.environ)
    same(pliant, here, at)
    pliant.environment = environment
    return file, here


def large(pliant, server, folder):
    """An object that is sent in several parts is what a folder has."""
    file, rows = folder / "large.yaml", folder / "rows.csv"
    file.write_text(LARGE)
    pliant("sweep", file, "-o", folder / "large")
    for place in (rows, server.address("rows.csv")):
        pliant("query", folder / "large", "--table", "layers", "--select", "all", "-o", place)
    assert rows.stat().st_size > MULTIPART, rows.stat().st_size
    assert server.objects("rows.csv")["rows.csv"] == rows.read_bytes()


def killed(pliant, server, file, here):
    there = server.address("killed")
    first = pliant.start("sweep", file, "-o", there, "--threads", "1")
    wait_for("a part", lambda: server.objects("killed/checksums/"))
    first.send_signal(signal.SIGKILL)
    first.wait()
    status = json.loads(pliant("sweep", "--status", "-o", there, "--json"))
    assert 0 < status["parts_done"] < status["parts"], status
    assert status["parts_damaged"] == 0, status
    told = pliant("sweep", file, "-o", there)
    assert "reused" in told, told
    same(pliant, here, there)


def shards(pliant, server, file, here):
    there = server.address("shards")
    both = [pliant.start("sweep", file, "-o", there, "--threads", "1", "--shard", f"{i}/2") for i in range(2)]
    for one in both:
        out, err = one.communicate()
        assert one.returncode == 0, out + err
    same(pliant, here, there)
    assert "complete since" in pliant("sweep", "--status", "-o", there)


def designs(pliant, server, folder):
    file = folder / "space.yaml"
    file.write_text(SPACE)
    here, there = folder / "designs", server.address("designs")

    def found(at, *words):
        answer = json.loads(pliant("design", file, "-o", at, "--json", *words))
        return answer["frontier"], answer["opened"], answer["boxes"]

    expected = found(here)
    both = [pliant.start("design", file, "-o", there, "--threads", "1", "--shard", f"{i}/2") for i in range(2)]
    for one in both:
        out, err = one.communicate()
        assert one.returncode == 0, out + err
    assert found(there) == expected
    same(pliant, here, there)
    pliant("verify", there, "--sweep", file, "--prove", "1")
    assert "--certificate FOLDER" in pliant.fails("design", file, "-o", there, "--audit")


def mistakes(pliant, server, file):
    nobody, nothing = server.address("there", bucket="nobody"), server.address("nothing")
    told = pliant.fails("sweep", file, "-o", nobody)
    assert any(line.startswith(nobody) and "cannot" in line for line in told.splitlines()), told
    told = pliant.fails("query", nothing)
    assert f"{nothing} does not exist" in told, told
    told = pliant.fails("sweep", server.address("sweep.yaml"))
    assert "is in object storage; expected a sweep file of this machine" in told, told


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    os.environ["PATH"] += f":{pathlib.Path(sys.executable).parent}"
    kind = {"s3": Amazon, "gs": Google}[sys.argv[2]]
    if shutil.which(kind.PROGRAM) is None:
        print(f"skipped: {kind.PROGRAM} is not installed (pip install 'moto[s3,server]' gcp-storage-emulator)")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="pliant-objects-") as name:
        folder = pathlib.Path(name)
        server = kind(folder)
        try:
            pliant = Pliant(program, server)
            file, here = sweeps(pliant, server, folder)
            large(pliant, server, folder)
            killed(pliant, server, file, here)
            shards(pliant, server, file, here)
            designs(pliant, server, folder)
            mistakes(pliant, server, file)
        finally:
            server.stop()


main()
