# SPDX-License-Identifier: Apache-2.0
"""`scripts/setup --path` puts the built program on the PATH, and leaves alone what is not its own: path.py PLIANT
SOURCE."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

pliant, source = map(pathlib.Path, sys.argv[1:3])
with tempfile.TemporaryDirectory(prefix="pliant-path-") as name:
    clone, folder = pathlib.Path(name) / "clone", pathlib.Path(name) / "bin"
    (clone / "scripts").mkdir(parents=True)
    shutil.copy(source / "scripts/setup", clone / "scripts/setup")

    def setup():
        return subprocess.run(
            [clone / "scripts/setup", "--path", folder], capture_output=True, text=True, check=False
        )

    early = setup()
    assert early.returncode != 0 and "run scripts/build first" in early.stderr, early
    (clone / "build/release/bin").mkdir(parents=True)
    (clone / "build/release/bin/pliant").symlink_to(pliant.resolve())
    for _ in range(2):  # again does no harm
        done = setup()
        assert done.returncode == 0 and "is not in PATH" in done.stdout, done
    found = subprocess.run(
        ["pliant", "show", "accelerator", "npu"],
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        cwd=name,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0 and "accelerator npu" in found.stdout, found
    (folder / "pliant").unlink()
    (folder / "pliant").write_text("another program")
    refused = setup()
    assert refused.returncode != 0 and "is not a link" in refused.stderr, refused
    assert (folder / "pliant").read_text() == "another program"
print("on the PATH")
