# SPDX-License-Identifier: Apache-2.0
"""Runs docs/tutorial.md in an empty folder: writes its files, runs its commands in their order, each must succeed.

tutorial.py PLIANT SOURCE [FOLDER]. With FOLDER the results stay there.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

LISTING = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def listings(text):
    """(kind, file name or None, body) of every fenced block."""
    return [(m[1], m[2], m[3]) for m in LISTING.finditer(text)]


def run(pliant, page, folder):
    ran = written = 0
    said = {}
    environment = {**os.environ, "PATH": f"{pathlib.Path(pliant).resolve().parent}:{os.environ['PATH']}"}
    for kind, name, body in listings(page.read_text(encoding="utf-8")):
        if name:
            (folder / name).write_text(body, encoding="utf-8")
            written += 1
        elif kind == "sh":
            for command in body.strip().splitlines():
                done = subprocess.run(
                    ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
                )
                print(f"$ {command}\n{done.stdout}{done.stderr}")
                assert done.returncode == 0, f"exit code {done.returncode}: {command}"
                assert done.stdout.strip(), f"nothing printed: {command}"
                said[command] = done.stdout
                ran += 1
    return written, ran, said


def knee(said, dataset):
    """The line of the frontier that is the knee."""
    (answer,) = [text for command, text in said.items() if command.startswith(f"pliant pareto {dataset} ")]
    (line,) = [line for line in answer.splitlines() if line.endswith("knee")]
    return line


if __name__ == "__main__":
    pliant, source = sys.argv[1], pathlib.Path(sys.argv[2])
    page = source / "docs/tutorial.md"
    with tempfile.TemporaryDirectory(prefix="pliant-tutorial-") as name:
        folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else name).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        written, ran, said = run(pliant, page, folder)
        assert written == 3 and ran >= 8, (written, ran)
        # What the page says: the network decides for the buffer that holds its tensors, its layers one by one do not.
        assert " 256 KiB " in knee(said, "data"), knee(said, "data")
        assert " 64 KiB " in knee(said, "layers"), knee(said, "layers")
        assert (folder / "report.html").stat().st_size > 100_000
    for picture in re.findall(r"\]\((img/\S+)\)", page.read_text(encoding="utf-8")):
        assert (source / "docs" / picture).exists(), picture
    print(f"{written} files, {ran} commands")
