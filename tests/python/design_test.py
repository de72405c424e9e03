# SPDX-License-Identifier: Apache-2.0
"""The search for designs: the command line's answer, the full sweep's frontier, the proof."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pliant

SPACE: dict[str, Any] = {
    "pliant": "sweep",
    "name": "space",
    "accelerator": "flexref",
    "set": {"DRAM.bandwidth": 16},
    "workloads": ["alexnet"],
    "vary": {"rows": [8, 16, 32], "cols": [8, 16, 32]},
    "flexibility": ["InFlex-0000", "PartFlex-1010", "FullFlex-1111"],
    "minimize": ["area_um2", "edp_pj_cycles"],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> pliant.DesignFrontier:
    return pliant.design(SPACE, tmp_path_factory.mktemp("design") / "space", progress=False)


def test_it_is_the_frontier_of_the_full_sweep(found: pliant.DesignFrontier) -> None:
    swept = pliant.sweep(SPACE, progress=False)
    all_designs = pliant.frontier(swept, found.goals)
    theirs = sorted({(row["area_um2"], row["edp_pj_cycles"]) for row in all_designs.table.rows()})
    ours = sorted({(row["area_um2"], row["edp_pj_cycles"]) for row in found.rows})
    assert [area for area, _ in ours] == pytest.approx([area for area, _ in theirs])
    assert [edp for _, edp in ours] == pytest.approx([edp for _, edp in theirs])
    assert found.certified and found.gap == 0 and found.designs == 27
    assert 0 < len(found) <= found.opened <= 27


def test_every_design_is_in_the_proof_once(found: pliant.DesignFrontier) -> None:
    assert sum(found.boxes["designs"]) == found.designs
    assert len(found.dataset.designs) == found.opened


def test_it_is_that_of_the_command_line(
    found: pliant.DesignFrontier, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    (tmp_path / "space.yaml").write_text(json.dumps(SPACE))
    theirs = cli("design", str(tmp_path / "space.yaml"), "-o", str(tmp_path / "cli"))
    changing = {"dataset", "seconds", "search_seconds"}
    ours = found.to_dict()
    assert list(ours) == list(theirs)
    assert {k: v for k, v in ours.items() if k not in changing} == {
        k: v for k, v in theirs.items() if k not in changing
    }


def test_tables_and_the_next_call(found: pliant.DesignFrontier) -> None:
    import pyarrow

    assert pyarrow.table(found).num_rows == len(found)
    again = pliant.design(SPACE, found.dataset.path, progress=False)
    assert again.rows == found.rows and again.to_dict()["searches"] == 0
    with pytest.raises(pliant.ChangedInputs):
        pliant.design({**SPACE, "workloads": ["vgg16"]}, found.dataset.path, progress=False)


def test_a_space_without_goals_is_refused() -> None:
    with pytest.raises(pliant.InputError) as raised:
        pliant.design({key: value for key, value in SPACE.items() if key != "minimize"}, progress=False)
    assert "minimize" in str(raised.value)


def test_ctrl_c_says_how_far_it_came(tmp_path: Path) -> None:
    program = f"""
import pliant
print("ready", flush=True)
try:
    pliant.design("area_edp", {str(tmp_path / "big")!r}, threads=1, progress=False)
except pliant.SweepInterrupted as stopped:
    print("designs decided" in str(stopped), flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(2)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "True\n"
