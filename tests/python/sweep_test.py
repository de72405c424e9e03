# SPDX-License-Identifier: Apache-2.0
"""Sweeps: progress, resuming, shards, Ctrl-C; frontiers and reports."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pliant


def parts(dataset: Path) -> dict[str, str]:
    return {
        str(file.relative_to(dataset)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(dataset.glob("*/part-*.parquet"))
    }


def test_a_sweep_finds_what_single_calls_find(dataset: Any) -> None:
    assert dataset.complete
    assert dataset.outcome["complete"] and not dataset.outcome["interrupted"]
    frame = dataset.designs
    row = next(row for row in frame.rows() if row["class"] == "1011" and row["set_cols"] == 32)
    accelerator = pliant.load_accelerator("flexref", flexibility="PartFlex-1011", settings={"cols": 32})
    found = pliant.map_workload("alexnet", accelerator, progress=False)
    assert row["energy_pj"] == pytest.approx(found.energy_pj, rel=1e-12)
    assert row["runtime_cycles"] == pytest.approx(found.runtime_cycles, rel=1e-12)


def test_the_same_call_continues(dataset: Any, small_sweep: dict[str, Any]) -> None:
    again = pliant.sweep(small_sweep, dataset.path, progress=False)
    assert again.outcome["solved"] == 0
    other = {**small_sweep, "vary": [{"cols": [8, 16]}]}
    with pytest.raises(pliant.ChangedInputs):
        pliant.sweep(other, dataset.path, progress=False)


def test_shards_and_the_command_line_write_the_same_bytes(
    dataset: Any, small_sweep: dict[str, Any], tmp_path: Path, cli: Callable[..., Any]
) -> None:
    for shard in range(2):
        half = pliant.sweep(small_sweep, tmp_path / "shards", shard=(shard, 2), threads=1, progress=False)
    assert half.complete
    assert parts(tmp_path / "shards") == parts(dataset.path) != {}
    # The hash of the sweep is part of the rows, so the file holds the very same text.
    (tmp_path / "small.yaml").write_text(json.dumps(small_sweep, indent=1))
    cli("sweep", str(tmp_path / "small.yaml"), "-o", str(tmp_path / "cli"), "--progress", "none")
    assert pliant.open_dataset(tmp_path / "cli").designs["edp_pj_cycles"] == dataset.designs["edp_pj_cycles"]


def test_a_dataset_without_a_folder_lives_with_its_object(small_sweep: dict[str, Any]) -> None:
    found = pliant.sweep({**small_sweep, "flexibility": ["FullFlex-1111"]}, progress=False)
    folder = found.path
    assert folder.exists() and len(found.designs) == 2
    del found
    assert not folder.exists()


def test_an_estimate_writes_nothing(small_sweep: dict[str, Any]) -> None:
    sweep = pliant.load_sweep(small_sweep)
    assert sweep.designs == 8 and sweep.workloads == ["alexnet"]
    assert sweep.estimate(0.1)["designs"] == 8


def test_frontiers_are_those_of_the_command_line(dataset: Any, cli: Callable[..., Any]) -> None:
    found = pliant.frontier(dataset, ["area_um2", "edp_pj_cycles"])
    assert found.to_dict() == cli("pareto", str(dataset.path), "--minimize", "area_um2,edp_pj_cycles")
    assert len(found) == len(found.groups[0]["frontier"]) > 0
    named = pliant.frontier(dataset, ["runtime_cycles"], ["utilization"], group_by=[], reference=[1e12, 0])
    assert named.to_dict() == cli(
        "pareto", str(dataset.path), "--minimize", "runtime_cycles", "--maximize", "utilization", "--group-by", "none",
        "--reference", "1000000000000.0,0.0",
    )  # fmt: skip
    narrow = pliant.frontier(dataset, where=["class == 1*"])
    assert narrow.to_dict() == cli("pareto", str(dataset.path), "--where", "class == 1*")
    assert "edp_pj_cycles" in str(found)
    with pytest.raises(pliant.InputError) as raised:
        pliant.frontier(dataset, ["energy"])
    assert raised.value.suggestions == ["energy_pj"]


def test_a_report_is_one_page(dataset: Any, tmp_path: Path) -> None:
    page = pliant.report(dataset, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert text == page.page
    assert text.startswith("<!doctype html>") or text.startswith("<!DOCTYPE html>")
    assert "iframe" in page._repr_html_()


def test_status_is_that_of_the_command_line(dataset: Any, cli: Callable[..., Any]) -> None:
    assert dataset.status == cli("sweep", "--status", "-o", str(dataset.path))


def test_what_is_no_dataset_is_said(tmp_path: Path) -> None:
    with pytest.raises(pliant.InputError):
        pliant.open_dataset(tmp_path / "nothing")
    with pytest.raises(pliant.InputError):
        pliant.open_dataset(tmp_path).designs  # noqa: B018


def test_a_bar_is_drawn_and_taken_away(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from pliant import _progress

    monkeypatch.setattr(_progress, "_QUICK_SECONDS", 0)
    pliant.map_workload("alexnet", "eyeriss", progress=True)
    drawn = capfd.readouterr().err
    assert "alexnet" in drawn and "layers" in drawn
    pliant.map_workload("alexnet", "eyeriss", progress=False)
    assert capfd.readouterr().err == ""


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    program = f"""
import pliant
big = {{"pliant": "sweep", "name": "big", "accelerator": "flexref", "workloads": ["resnet50", "mobilenet_v2", "vgg16"],
       "vary": [{{"cols": [16, 24, 32, 40, 48, 56, 64]}}, {{"rows": [8, 16, 24, 32, 40, 48, 56, 64]}}],
       "flexibility": "all-16", "objective": "edp"}}
print("ready", flush=True)
try:
    pliant.sweep(big, {str(tmp_path / "big")!r}, threads=1)
except pliant.SweepInterrupted as stopped:
    print(isinstance(stopped, KeyboardInterrupt), stopped.dataset.outcome["layers_done"] > 0, flush=True)
    print(stopped.dataset.status["tasks_kept"] > 0)
    run = pliant._core.SweepRun(pliant.load_sweep(big)._core, {str(tmp_path / "big")!r}, "", 1, (0, 1), False)
    print(__import__("json").loads(run.estimate(0.1))["known_tasks"] > 0)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        while child.poll() is None and not list(tmp_path.glob("big/designs/*.parquet")):
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        rest = child.stdout.read()
    assert rest == "True True\nTrue\nTrue\n"
