# SPDX-License-Identifier: Apache-2.0
"""What is in examples/python runs; each is skipped where its engine does not install."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pliant


@pytest.fixture(autouse=True)
def examples(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = root / "examples/python"
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_optuna_comes_near_the_proven_frontier_and_never_beyond() -> None:
    pytest.importorskip("optuna")
    import optuna_yardstick

    few, many = optuna_yardstick.run(10), optuna_yardstick.run(80)
    assert -1e-9 <= many <= few <= 1
    assert many < 0.2


def test_ray_writes_what_one_process_writes(examples: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    import ray_shards

    patient = {**os.environ, "RAY_raylet_start_wait_time_s": "200"}  # a busy machine
    words = [sys.executable, str(examples / "ray_shards.py"), str(tmp_path / "ray")]
    subprocess.run(words, check=True, timeout=3600, env=patient)
    pliant.sweep(ray_shards.SWEEP, tmp_path / "alone", progress=False)

    def parts(folder: Path) -> dict[str, str]:
        files = sorted(folder.glob("*/part-*"))
        return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}

    assert parts(tmp_path / "ray") == parts(tmp_path / "alone") != {}


def test_dask_finds_the_best_design(examples: Path) -> None:
    pytest.importorskip("dask")
    import dask_designs

    by_threads = dask_designs.run("threads")
    assert by_threads[0][2] == "FullFlex-1111"
    done = subprocess.run(
        [sys.executable, str(examples / "dask_designs.py")], capture_output=True, text=True, check=True, timeout=3600
    )
    assert done.stdout.splitlines()[0].startswith(f"{by_threads[0][2]:<14} {by_threads[0][1]:>3}")
