# SPDX-License-Identifier: Apache-2.0
"""Python gives what the command line's --json gives, on every shipped accelerator."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pliant

ROOT = Path(__file__).resolve().parents[2]
GEMM = "gemm:M=32,N=32,K=32"
CONV = "conv:M=16,C=16,P=14,Q=14,R=3,S=3"
#: How long it took is never the same twice.
TIMES = {"solve_seconds", "solve_cpu_seconds", "seconds", "search_seconds", "logging_cpu_seconds", "dataset"}


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


def test_every_command_answers_as_the_program(cli: Callable[..., Any], dataset: Any, tmp_path: Path) -> None:
    best, proof, topology = (str(tmp_path / name) for name in ("best.yaml", "proof.json", "topology.csv"))
    Path(topology).write_text("Layer name, M, N, K,\nfirst, 64, 32, 16,\n")
    vectors = str(ROOT / "tests/data/oracle_imperfect.jsonl")
    small = {"accelerator": "eyeriss", "layer": "gemm:M=8,N=8,K=8"}
    questions: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        (("show", "accelerator"), {}),
        (("show", "workload"), {}),
        (("show", "workload", "alexnet"), {}),
        (("show", "layer"), {"workload": "alexnet"}),
        (("map",), {**small, "save": best, "certificate": proof}),
        (("eval",), {**small, "mapping": best}),
        (("export", "c"), {**small, "mapping": best, "output": str(tmp_path / "c")}),
        (("audit", proof), {}),
        (("serve", "llama3_2_1b"), {"accelerator": "npu", "prompt": 64, "output": 4}),
        (("flexion",), {**small, "no_tuples": True}),
        (("count",), {"table": "ruby"}),
        (("count",), {**small, "legal": True, "enumerate": False}),
        (("validate", vectors), {"excused": True}),
        (("import", "scalesim", topology), {"output": str(tmp_path / "imported")}),
        (("sweep",), {"status": True, "output": str(dataset.path)}),
        (("design", str(ROOT / "examples/cpp/space.yaml")), {"output": str(tmp_path / "design"), "threads": 1}),
        (("pareto", str(dataset.path)), {"minimize": "area_um2,edp_pj_cycles"}),
        (("query", str(dataset.path)), {"where": ["class == 1*11", "area_um2 > 0"], "sort": "-edp_pj_cycles"}),
        (("report", str(dataset.path)), {"output": str(tmp_path / "report.html"), "layers": 10}),
        (("study", "list"), {}),
    ]
    for words, options in questions:
        line = list(words)
        for name, value in options.items():
            for one in value if isinstance(value, list) else [value] if value is not False else []:
                line += [f"--{name.replace('_', '-')}", *([] if one is True else [str(one)])]
        theirs = timeless(cli(*(word.replace("/design", "/again") for word in line)))
        assert timeless(pliant.ask(*words, **options)) == theirs, line
        if words[0] != "design":  # it would continue what it has found
            assert timeless(pliant.ask(*line)) == theirs, line
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps(pliant.ask("map", **small)))
    assert timeless(pliant.ask("verify", str(saved))) == timeless(cli("verify", str(saved)))
    asked = {words[0] for words, _ in questions} | {"verify"}
    assert asked == {line.split()[0] for line in commands() if line} - {"completion", "man"}


def commands() -> list[str]:
    """What ``pliant --help`` lists."""
    program = os.environ.get("PLIANT_BINARY", str(ROOT / "build/release/bin/pliant"))
    told = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    return told.split("commands:\n")[1].split("\n\n")[0].splitlines()


def test_a_question_may_be_refused(dataset: Any) -> None:
    for ask in (lambda: pliant.ask("query", str(dataset.path), sort="energy"),
                lambda: pliant.ask("query", str(dataset.path), "--sort", "energy")):  # fmt: skip
        with pytest.raises(pliant.CommandFailed) as raised:
            ask()
        assert raised.value.code == 2 and "energy_pj" in str(raised.value)
    with pytest.raises(pliant.CommandFailed, match="did you mean --layer"):
        pliant.ask("map", accelerator="eyeriss", layre=GEMM)
