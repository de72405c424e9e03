# SPDX-License-Identifier: Apache-2.0
"""The hash of sources that the program prints is the hash of the sources as they are now, computed here once more, and
every source of every room below sweeps is among them. Usage: source_hash.py PLIANT SOURCE_FOLDER BUILD_FOLDER"""
import hashlib
import pathlib
import subprocess
import sys

program, root, build = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
dse = ["audit", "import", "mappers", "results", "serving", "sweep"]
rooms = ["core", "flex", "costmodel", *(f"dse/{room}" for room in dse)]
expected = sorted(
    path.relative_to(root).as_posix()
    for room in rooms
    for suffix in ("*.h", "*.cpp")
    for path in (root / room).rglob(suffix)
)
listed = (build / "generated" / "answering_sources.txt").read_text().split()
assert listed == expected, f"not hashed, or gone: {sorted(set(listed) ^ set(expected))}"

whole = hashlib.sha256()
for name in listed:
    whole.update(f"{name} {hashlib.sha256((root / name).read_bytes()).hexdigest()}\n".encode())
printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
line = next(line for line in printed.splitlines() if line.split()[0] == "sources")
assert line.split()[1] == whole.hexdigest()[:16], f"{line}; expected {whole.hexdigest()[:16]}"
