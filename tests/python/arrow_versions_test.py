# SPDX-License-Identifier: Apache-2.0
"""The package carries an Arrow of its own; a pyarrow of any version may live in the same process, before or after."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: The version that the package is built from, an older and a newer one.
VERSIONS = ["23.0.1", "21.0.0", "26.0.1"]

PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
{first}
{second}
import pyarrow.parquet
assert pyarrow.__version__ == {version!r}, pyarrow.__version__
data = pliant.sweep({{"pliant": "sweep", "name": "one", "accelerator": "flexref", "workloads": ["alexnet"],
                     "flexibility": ["InFlex-0000", "FullFlex-1111"], "objective": "edp"}}, {dataset!r}, progress=False)
table = pyarrow.table(data)
assert table.num_rows == 2
part = next(data.path.glob("designs/*.parquet"))
theirs = pyarrow.parquet.read_table(part)
assert theirs["edp_pj_cycles"].to_pylist() == data.designs["edp_pj_cycles"] == table["edp_pj_cycles"].to_pylist()
pyarrow.parquet.write_table(table, {dataset!r} + ".parquet", compression="zstd")
again = pliant.open_dataset({dataset!r} + ".parquet").designs
assert again["edp_pj_cycles"] == data.designs["edp_pj_cycles"]
assert pyarrow.compute.sum(table["edp_pj_cycles"]).as_py() > 0
maps = open("/proc/self/maps").read() if sys.platform == "linux" else "libpliant_arrow"
assert "libpliant_arrow" in maps
print("fine")
"""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("order", ["before", "after"])
def test_another_pyarrow_in_the_same_process(version: str, order: str, tmp_path: Path, root: Path) -> None:
    folder = root / "build" / "pyarrow-versions" / f"{version}-{sys.version_info.major}.{sys.version_info.minor}"
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*pip, "--target", str(folder), f"pyarrow=={version}"], check=True)
    imports = ["import pyarrow, pyarrow.compute", "import pliant"]
    first, second = imports if order == "before" else imports[::-1]
    program = PROGRAM.format(
        folder=str(folder), first=first, second=second, version=version, dataset=str(tmp_path / "data")
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=3600)
    assert done.stdout == "fine\n", done.stderr
