#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python package costs: a call and an import. Run it with the Python in which Pliant is installed."""

import statistics
import subprocess
import sys
import time

import pliant


def overhead_of_a_call() -> float:
    """The time of a call less the search's own, which the core measures. The layer is the smallest there is."""
    layer, accelerator = pliant.load_layer("gemm:M=2,N=2,K=2"), pliant.load_accelerator("ruby_toy_6")
    overheads = []
    for _ in range(2000):
        started = time.perf_counter()
        result = pliant.map(layer, accelerator)
        overheads.append(time.perf_counter() - started - result.seconds)
    return statistics.median(overheads)


def import_seconds() -> float:
    program = "import time; started = time.perf_counter(); import pliant; print(time.perf_counter() - started)"
    return min(
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    )


print(f"overhead of pliant.map: {1e6 * overhead_of_a_call():.1f} us (at most 50 us is the aim)")
print(f"import: {import_seconds():.3f} s (at most 0.2 s)")
