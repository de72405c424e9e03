# SPDX-License-Identifier: Apache-2.0
"""What the package costs: a call, an import, a download."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pliant

MOST_OVERHEAD_SECONDS = 50e-6
MOST_IMPORT_SECONDS = 0.2
MOST_WHEEL_BYTES = 40e6


def test_overhead_of_a_call() -> None:
    """The time of a call less the search's own, which the core measures. The layer is the smallest there is."""
    layer, accelerator = pliant.load_layer("gemm:M=2,N=2,K=2"), pliant.load_accelerator("ruby_toy_6")
    overheads = []
    for _ in range(2000):
        started = time.perf_counter()
        result = pliant.map(layer, accelerator)
        overheads.append(time.perf_counter() - started - result.seconds)
    overhead = statistics.median(overheads)
    print(f"overhead of pliant.map: {1e6 * overhead:.1f} us")
    assert overhead < MOST_OVERHEAD_SECONDS


def test_import_time() -> None:
    program = "import time; started = time.perf_counter(); import pliant; print(time.perf_counter() - started)"
    seconds = [
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    print(f"import: {min(seconds):.3f} s")
    assert min(seconds) < MOST_IMPORT_SECONDS


def test_size_of_the_wheel(wheel: Path) -> None:
    print(f"wheel: {wheel.stat().st_size / 1e6:.1f} MB")
    assert wheel.stat().st_size < MOST_WHEEL_BYTES
