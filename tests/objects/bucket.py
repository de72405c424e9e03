# SPDX-License-Identifier: Apache-2.0
"""Datasets and caches in object storage: sweeps and design searches in a bucket are those of a folder, also when they
are killed, and every command that reads a dataset reads it there.

Starts a server of its own (moto, from PyPI) on a free port.
Usage: bucket.py PLIANT; exit code 77 (skipped) where there is no moto_server in PATH.
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


class Server:
    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.host = f"127.0.0.1:{probe.getsockname()[1]}"
        self.log = open(folder / "server.log", "wb")
        port = self.host.partition(":")[2]
        command = ["moto_server", "-H", "127.0.0.1", "-p", port]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        wait_for("the server", self.answers)
        self.ask("/bucket", method="PUT")

    def ask(self, path, method="GET"):
        request = urllib.request.Request(f"http://{self.host}{path}", method=method)
        # The server wants a key and believes any.
        credential = "Credential=test/20260101/us-east-1/s3/aws4_request"
        request.add_header("Authorization", f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=0")
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def answers(self):
        try:
            return self.ask("/moto-api/") is not None
        except OSError:
            return False

    def objects(self, prefix):
        """Names and bytes."""
        listing = xml.etree.ElementTree.fromstring(self.ask(f"/bucket?list-type=2&prefix={prefix}"))
        names = (key.text for key in listing.iter() if key.tag.endswith("}Key"))
        return {name: self.ask(f"/bucket/{name}") for name in names}

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


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
        self.environment = {
            **os.environ,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": f"http://{server.host}",
        }

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
    here, there = folder / "here", "s3://bucket/there"
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
    pliant("report", there, "-o", "s3://bucket/report.html")
    assert b"<html" in server.objects("report.html")["report.html"]
    pliant("pareto", there, "-o", "s3://bucket/frontier.csv")
    assert server.objects("frontier.csv")["frontier.csv"].find(b"area_um2") >= 0
    # A cache of its own, and Arrow's options in the address instead of the environment.
    at = f"s3://bucket/options?endpoint_override={server.host}&scheme=http&region=us-east-1"
    told = pliant("sweep", file, "-o", at, "--cache", "s3://bucket/there/cache")
    assert "(0 solved" in told, told
    del pliant.environment["AWS_ENDPOINT_URL"]
    same(pliant, here, at)
    pliant.environment["AWS_ENDPOINT_URL"] = f"http://{server.host}"
    return file, here


def killed(pliant, server, file, here):
    there = "s3://bucket/killed"
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


def shards(pliant, file, here):
    there = "s3://bucket/shards"
    both = [pliant.start("sweep", file, "-o", there, "--threads", "1", "--shard", f"{i}/2") for i in range(2)]
    for one in both:
        out, err = one.communicate()
        assert one.returncode == 0, out + err
    same(pliant, here, there)
    assert "complete since" in pliant("sweep", "--status", "-o", there)


def designs(pliant, folder):
    file = folder / "space.yaml"
    file.write_text(SPACE)
    here, there = folder / "designs", "s3://bucket/designs"

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


def mistakes(pliant, file):
    told = pliant.fails("sweep", file, "-o", "s3://nobody/there")
    assert any(line.startswith("s3://nobody/there") and "cannot" in line for line in told.splitlines()), told
    told = pliant.fails("query", "s3://bucket/nothing")
    assert "s3://bucket/nothing does not exist" in told, told
    told = pliant.fails("sweep", "s3://bucket/sweep.yaml")
    assert "is in object storage; expected a sweep file of this machine" in told, told


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    os.environ["PATH"] += f":{pathlib.Path(sys.executable).parent}"
    if shutil.which("moto_server") is None:
        print("skipped: moto_server is not installed (pip install 'moto[server]')")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="pliant-objects-") as name:
        folder = pathlib.Path(name)
        server = Server(folder)
        try:
            pliant = Pliant(program, server)
            file, here = sweeps(pliant, server, folder)
            killed(pliant, server, file, here)
            shards(pliant, file, here)
            designs(pliant, folder)
            mistakes(pliant, file)
        finally:
            server.stop()


main()
