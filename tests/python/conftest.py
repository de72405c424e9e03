# SPDX-License-Identifier: Apache-2.0
"""Where things are, and the command line to compare with."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def wheel() -> Path:
    return Path(os.environ["PLIANT_WHEEL"])


@pytest.fixture(scope="session")
def cli() -> Callable[..., Any]:
    """Runs ``pliant WORDS... --json`` and returns what it prints."""
    program = os.environ.get("PLIANT_BINARY", str(ROOT / "build/release/bin/pliant"))

    def run(*words: str) -> Any:
        done = subprocess.run([program, *words, "--json"], capture_output=True, text=True, timeout=3600)
        assert done.returncode in (0, 3), done.stderr
        return json.loads(done.stdout)

    return run


#: Eight designs on a small network; takes a second.
SMALL_SWEEP: dict[str, Any] = {
    "pliant": "sweep",
    "name": "small",
    "accelerator": "flexref",
    "workloads": ["alexnet"],
    "vary": [{"cols": [16, 32]}],
    "flexibility": ["InFlex-0000", "PartFlex-1011", "FullFlex-1111", "FullFlex-0110"],
    "objective": "edp",
}


@pytest.fixture(scope="session")
def small_sweep() -> dict[str, Any]:
    return SMALL_SWEEP


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Any:
    import pliant

    return pliant.sweep(SMALL_SWEEP, tmp_path_factory.mktemp("sweep") / "small", progress=False)
