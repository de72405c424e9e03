# SPDX-License-Identifier: Apache-2.0
"""The wheel in an environment that has nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

#: glibc's, and libstdc++ with its libgcc_s, which every manylinux platform has.
SYSTEM = {"libc", "libm", "libdl", "libpthread", "librt", "ld-linux-x86-64", "ld-linux-aarch64", "linux-vdso"}
SYSTEM |= {"libstdc++", "libgcc_s"}
MOST_BYTES = 40e6


def test_a_fresh_environment_maps_a_layer(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "fresh")], check=True)
    python = str(tmp_path / "fresh/bin/python")
    subprocess.run([python, "-I", "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    program = "import pliant; print(pliant.map('gemm:M=512,N=512,K=512', 'eyeriss'))"
    environment = {"PATH": "/nowhere", "HOME": str(tmp_path)}
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert "certified optimum: edp" in done.stdout, done.stderr
    listed = subprocess.run([python, "-I", "-m", "pip", "list"], capture_output=True, text=True, check=True).stdout
    packages = {line.split()[0].lower() for line in listed.splitlines()[2:]} - {"pip", "setuptools"}
    assert packages == {"pliant", "nanobind-backend", "tqdm"}

    folder = next((tmp_path / "fresh").glob("lib/python3*/site-packages"))
    libraries = [*folder.glob("pliant/*.so*"), *folder.glob("pliant.libs/*.so*")]
    assert len(libraries) > 3
    for library in libraries:
        for line in subprocess.run(["ldd", str(library)], capture_output=True, text=True).stdout.splitlines():
            name, _, place = line.strip().partition(" => ")
            stem = re.split(r"\.so", Path(name.split()[0]).name)[0]
            assert "not found" not in line, (library, line)
            assert stem in SYSTEM or str(folder) in place, (library, line)


def test_it_is_one_wheel_for_every_python(wheel: Path) -> None:
    assert "-cp310-abi3-" in wheel.name
    assert "manylinux" in wheel.name


def test_its_size(wheel: Path) -> None:
    print(f"wheel: {wheel.stat().st_size / 1e6:.1f} MB")
    assert wheel.stat().st_size < MOST_BYTES
