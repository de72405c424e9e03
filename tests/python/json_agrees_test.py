# SPDX-License-Identifier: Apache-2.0
"""Python gives what the command line's --json gives, on every shipped accelerator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pliant

GEMM = "gemm:M=32,N=32,K=32"
CONV = "conv:M=16,C=16,P=14,Q=14,R=3,S=3"
#: How long it took is never the same twice.
TIMES = {"solve_seconds", "solve_cpu_seconds", "seconds", "logging_cpu_seconds"}


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key not in TIMES}
    return [timeless(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", pliant.accelerators())
def test_show(name: str, cli: Callable[..., Any]) -> None:
    assert pliant.load_accelerator(name).to_dict() == cli("show", "accelerator", name)


@pytest.mark.parametrize("name", pliant.accelerators())
@pytest.mark.parametrize("layer", [GEMM, CONV])
def test_map_and_eval(name: str, layer: str, cli: Callable[..., Any], tmp_path: Path) -> None:
    ours = pliant.map(layer, name)
    theirs = cli("map", "--accelerator", name, "--layer", layer)
    assert timeless(ours.to_dict()) == timeless(theirs)
    assert list(ours.to_dict()) == list(theirs)
    if ours.mapping is None:
        return
    ours.mapping.save(tmp_path / "best.yaml")
    words = ["eval", "--accelerator", name, "--layer", layer, "--mapping", str(tmp_path / "best.yaml")]
    assert pliant.evaluate(layer, name, ours.mapping).to_dict() == cli(*words)


def test_predictions(cli: Callable[..., Any]) -> None:
    ours = pliant.map(GEMM, "h200", objective="runtime", predict=True)
    theirs = cli("map", "--accelerator", "h200", "--layer", GEMM, "--objective", "runtime", "--predict")
    assert timeless(ours.to_dict()) == timeless(theirs)
    assert ours.prediction is not None and ours.prediction["latency_s"] > ours.prediction["bound_s"]
    assert pliant.map(GEMM, "h200").prediction is None
    with pytest.raises(pliant.InputError, match="no `prediction` block"):
        pliant.map(GEMM, "eyeriss", predict=True)


@pytest.mark.parametrize("name", pliant.accelerators())
def test_count(name: str, cli: Callable[..., Any]) -> None:
    words = ["count", "--accelerator", name, "--layer", GEMM]
    assert pliant.count(GEMM, name).to_dict() == cli(*words)
    assert pliant.count(GEMM, name, mode="quickflow").to_dict() == cli(*words, "--quickflow")
    assert pliant.count(GEMM, name) == int(cli(*words)["count"])


@pytest.mark.parametrize("name", pliant.accelerators())
def test_flexion(name: str, cli: Callable[..., Any]) -> None:
    ours = pliant.flexion(name, layer=GEMM, tile_tuples=False)
    assert ours.to_dict() == cli("flexion", "--accelerator", name, "--layer", GEMM, "--no-tuples")


def test_options_mean_the_same(cli: Callable[..., Any]) -> None:
    accelerator = pliant.load_accelerator("flexref", flexibility="PartFlex-1011", settings={"cols": 32})
    accelerator = accelerator.with_rules(conventions="timeloop")
    ours = pliant.map("conv2", accelerator, workload="alexnet", objective="energy", factorization="ruby-s")
    theirs = cli(
        "map", "--accelerator", "flexref", "--set", "cols=32", "--flexibility", "PartFlex-1011", "--conventions",
        "timeloop", "--workload", "alexnet", "--layer", "conv2", "--objective", "energy", "--factorization", "ruby-s",
    )  # fmt: skip
    assert timeless(ours.to_dict()) == timeless(theirs)


def test_a_workload_and_a_frontier(cli: Callable[..., Any]) -> None:
    ours = pliant.map_workload("alexnet", "eyeriss", progress=False)
    assert timeless(ours.to_dict()) == timeless(cli("map", "--accelerator", "eyeriss", "--workload", "alexnet"))
    frontier = pliant.map_frontier(GEMM, "eyeriss", ["runtime", "energy"])
    theirs = cli("map", "--accelerator", "eyeriss", "--layer", GEMM, "--objective", "runtime,energy")
    assert timeless(frontier.to_dict()) == timeless(theirs)


def test_a_gap_that_is_good_enough(cli: Callable[..., Any]) -> None:
    ours = pliant.map(CONV, "simba", gap=0.2)
    assert ours.gap <= 0.2
    assert ours.value >= pliant.map(CONV, "simba").value >= ours.lower_bound
    theirs = cli("map", "--accelerator", "simba", "--layer", CONV, "--gap", "20%")
    assert timeless(ours.to_dict()) == timeless(theirs)


def test_flexion_of_a_workload_and_a_class(cli: Callable[..., Any]) -> None:
    ours = pliant.flexion("flexref", "flexpaper_ncf", tile_tuples=False)
    words = ["flexion", "--accelerator", "flexref", "--workload", "flexpaper_ncf", "--no-tuples"]
    assert ours.to_dict() == cli(*words)
    chosen = pliant.flexion("flexref", "flexpaper_ncf", flexibility="PartFlex-1011", tile_tuples=False)
    assert chosen.to_dict() == cli(*words, "--flexibility", "PartFlex-1011")


def test_counts_by_other_means(cli: Callable[..., Any]) -> None:
    words = ["count", "--accelerator", "ruby_toy_6", "--layer", "gemm:M=4,N=4,K=4"]
    for mode in ("legal", "enumerate"):
        assert pliant.count("gemm:M=4,N=4,K=4", "ruby_toy_6", mode=mode).to_dict() == cli(*words, f"--{mode}")
    assert pliant.count(CONV, mode="orders").to_dict() == cli("count", "--orders", "--layer", CONV)


def test_other_commands_are_reachable(cli: Callable[..., Any], dataset: Any) -> None:
    words = ["query", str(dataset.path), "--where", "class == 1*11", "--sort", "edp_pj_cycles"]
    assert pliant.command(*words) == cli(*words)
    assert pliant.command("count", "--table", "ruby") == cli("count", "--table", "ruby")
    with pytest.raises(pliant.CommandFailed) as raised:
        pliant.command("query", str(dataset.path), "--sort", "energy")
    assert raised.value.code == 2 and "energy_pj" in str(raised.value)
