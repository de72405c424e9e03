# SPDX-License-Identifier: Apache-2.0
"""Searching and pricing: results, proofs, threads, Ctrl-C."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import pliant

GEMM = "gemm:M=64,N=64,K=64"


def test_a_result_says_what_is_proven() -> None:
    result = pliant.map(GEMM, "eyeriss")
    assert result.certified and result.feasible
    assert result.value == result.bound == result.lower_bound == result.edp_pj_cycles
    assert result.gap == 0
    assert result.mappings_covered > 1e6
    assert math.isclose(result.energy_pj * result.runtime_cycles, result.edp_pj_cycles, rel_tol=1e-12)
    assert "certified optimum" in str(result)
    assert "certified" in repr(result)


def test_figures_at_the_clock() -> None:
    result = pliant.map(GEMM, "npu")
    clock = result.to_dict()["clock_hz"]
    assert result.latency_s is not None and math.isclose(result.latency_s, result.runtime_cycles / clock)
    assert result.power_w is not None and math.isclose(result.power_w, result.energy_pj * 1e-12 / result.latency_s)
    assert result.tops is not None and math.isclose(result.tops, 2 * 64**3 / result.latency_s * 1e-12)
    assert result.tops_per_w is not None and math.isclose(result.tops_per_w, result.tops / result.power_w)
    timeless = pliant.map(GEMM, "flexref")
    assert timeless.to_dict()["clock_hz"] is None
    assert timeless.latency_s is timeless.power_w is timeless.tops is timeless.tops_per_w is None


def test_a_search_that_proves_nothing_is_never_better() -> None:
    best = pliant.map(GEMM, "eyeriss", objective="energy")
    drawn = pliant.map(GEMM, "eyeriss", objective="energy", mapper="random", evaluations=200, seed=7)
    again = pliant.map(GEMM, "eyeriss", objective="energy", mapper="random", evaluations=200, seed=7)
    assert not drawn.certified
    assert drawn.lower_bound == 0
    assert best.value <= drawn.value == again.value


def test_the_mapping_can_be_read_changed_and_priced_again(tmp_path: Path) -> None:
    result = pliant.map(GEMM, "eyeriss")
    assert result.mapping is not None
    assert "for" in str(result.mapping)
    cost = pliant.evaluate(GEMM, "eyeriss", result.mapping)
    assert cost.edp_pj_cycles == result.value
    result.mapping.save(tmp_path / "best.yaml")
    assert pliant.evaluate(GEMM, "eyeriss", tmp_path / "best.yaml").to_dict() == cost.to_dict()
    form = result.mapping.to_dict()
    broken = {**form, "levels": [dict(level) for level in form["levels"]]}
    for level in broken["levels"]:
        if "temporal" in level:
            level["temporal"] = [{"M": 65}]
            break
    with pytest.raises((pliant.IllegalMapping, pliant.InputError)):
        pliant.evaluate(GEMM, "eyeriss", broken)


def test_an_illegal_mapping_names_the_limits() -> None:
    small = pliant.load_accelerator("eyeriss")
    result = pliant.map("conv:M=64,C=64,P=28,Q=28,R=3,S=3", small)
    assert result.mapping is not None
    memory = next(level["name"] for level in result.levels[1:] if level["kind"] == "memory" and level["used_words"] > 4)
    with pytest.raises(pliant.IllegalMapping) as raised:
        tiny = small.set({f"{memory}.capacity": "2 words"})
        pliant.evaluate("conv:M=64,C=64,P=28,Q=28,R=3,S=3", tiny, result.mapping)
    assert any(one["rule"] == "capacity" and one["level"] == memory for one in raised.value.violations)


def test_a_layer_that_fits_nowhere_gets_the_limits_in_conflict() -> None:
    accelerator = pliant.load_accelerator(
        {
            "pliant": "accelerator",
            "name": "tight",
            "levels": [
                {"memory": "DRAM", "capacity": "unbounded", "read_pj": 1, "write_pj": 1},
                {"memory": "Buffer", "capacity": "2 words", "read_pj": 1, "write_pj": 1},
                {"compute": "MAC", "mac_pj": 1},
            ],
        }
    )
    result = pliant.map(GEMM, accelerator)
    assert not result.feasible
    assert result.mapping is None
    assert result.value == math.inf
    assert any("Buffer" in limit["limit"] for limit in result.conflict)
    assert "fits" in str(result)


def test_breakdowns_add_up() -> None:
    result = pliant.map("conv:M=64,C=64,P=28,Q=28,R=3,S=3", "eyeriss")
    assert math.isclose(sum(result.breakdown["energy_pj"]), result.energy_pj, rel_tol=1e-9)
    assert [level["name"] for level in result.levels]
    assert result.compute["units"] == pliant.load_accelerator("eyeriss").mac_units


def test_a_workload_is_the_sum_of_its_layers() -> None:
    network = pliant.load_workload("alexnet")
    found = pliant.map_workload(network, "eyeriss", progress=False)
    assert found.certified and len(found) == len(network)
    expected = sum(count * one.energy_pj for count, one in zip(found.counts, found))
    assert math.isclose(found.energy_pj, expected, rel_tol=1e-12)
    assert found[network.layer_names[0]].layer == network.layer_names[0]
    assert "total" in str(found)


def test_the_frontier_of_a_layer_has_both_ends() -> None:
    found = pliant.map_frontier(GEMM, "eyeriss")
    assert found.certified
    assert math.isclose(found[0].runtime_cycles, pliant.map(GEMM, "eyeriss", objective="runtime").value)
    assert math.isclose(found[-1].energy_pj, pliant.map(GEMM, "eyeriss", objective="energy").value)
    points = list(found)
    assert all(a.runtime_cycles < b.runtime_cycles and a.energy_pj > b.energy_pj for a, b in zip(points, points[1:]))


def test_notebooks_show_results() -> None:
    result = pliant.map(GEMM, "eyeriss")
    assert result.mapping is not None
    inputs: list[Any] = [pliant.load_accelerator("eyeriss"), pliant.load_layer(GEMM), pliant.load_workload("alexnet")]
    for shown in (result, result.mapping, result.breakdown, *inputs):
        page = shown._repr_html_()
        assert page.startswith("<") and page.rstrip().endswith(">")


def test_threads_search_at_once_and_agree() -> None:
    layer = pliant.load_layer("conv:M=64,C=64,P=28,Q=28,R=3,S=3")
    accelerator = pliant.load_accelerator("eyeriss")
    alone = pliant.map(layer, accelerator)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda _: pliant.map(layer, accelerator), range(24)))
    assert {one.value for one in together} == {alone.value}
    assert all(str(one.mapping) == str(alone.mapping) for one in together)


# Of the mapper `random`: it draws until something else ends it.
ENDLESS = {"victory": 10**12, "tries": 10**12}


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_lock_is_free_during_a_search() -> None:
    """Another thread runs Python while the search does, and ends it: without the lock it could do neither."""

    def end_it() -> None:
        for _ in range(20):
            time.sleep(0.005)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    other = threading.Thread(target=end_it)
    with pytest.raises(KeyboardInterrupt):
        other.start()
        pliant.map("conv:M=512,C=512,P=28,Q=28,R=3,S=3", "simba", mapper="random", budget=3600, mapper_options=ENDLESS)
    other.join()


def test_a_budget_ends_a_search() -> None:
    layer = "conv:M=512,C=512,P=28,Q=28,R=3,S=3"
    result = pliant.map(layer, "simba", mapper="random", budget="200ms", mapper_options=ENDLESS)
    assert result.ended_by == "budget"


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_a_search_and_python_goes_on() -> None:
    program = """
import pliant
try:
    print("ready", flush=True)
    pliant.map("conv:M=512,C=512,P=28,Q=28,R=3,S=3", "simba", mapper="random", budget=3600,
               mapper_options={"victory": 10**12, "tries": 10**12})
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(pliant.map("gemm:M=8,N=8,K=8", "eyeriss").certified)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        rest = child.stdout.read()
    assert rest == "interrupted\nTrue\n"
