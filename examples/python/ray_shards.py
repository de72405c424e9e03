# SPDX-License-Identifier: Apache-2.0
"""The shards of a sweep on the processes of a local Ray.

    python examples/python/ray_shards.py [FOLDER]

Every process writes its own parts of one dataset; the bytes are those that one process alone would write.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import ray

import pliant

SWEEP: dict[str, Any] = {
    "pliant": "sweep",
    "name": "shards",
    "accelerator": "flexref",
    "workloads": ["alexnet"],
    "vary": [{"cols": [16, 32, 64]}, {"rows": [8, 16]}],
    "flexibility": "all-16",
    "objective": "edp",
}


def solve(folder: Path, shard: tuple[int, int]) -> int:
    """One shard, in a process of Ray."""
    return int(pliant.sweep(SWEEP, folder, shard=shard, threads=1, progress=False).outcome["layers_done"])


def run(folder: Path, processes: int = 2) -> pliant.Dataset:
    """One task for each process; the folder must be one that all of them see."""
    ray.init(num_cpus=processes, include_dashboard=False, log_to_driver=False, logging_level="error")

    remote = ray.remote(solve)
    try:
        layers = ray.get([remote.remote(folder, (shard, processes)) for shard in range(processes)])
    finally:
        ray.shutdown()
    print(f"layers by process: {layers}")
    return pliant.open_dataset(folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        found = run(Path(sys.argv[1] if len(sys.argv) > 1 else temporary))
        print(pliant.frontier(found))
