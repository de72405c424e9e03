# SPDX-License-Identifier: Apache-2.0
"""Networks as a whole: the command line's answers, deadlines, tensors that stay on chip."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pliant


@pytest.mark.parametrize("residency", [True, False])
def test_a_network_is_that_of_the_command_line(residency: bool, cli: Callable[..., Any]) -> None:
    ours = pliant.map_network("mobilenet_v2", "npu", residency=residency)
    words = ["map", "--accelerator", "npu", "--workload", "mobilenet_v2", "--network"]
    theirs = cli(*words, "--residency", "on" if residency else "off")
    assert ours.to_dict() == theirs
    assert ours.certified and ours.gap == 0 and ours.feasible
    assert ours.value == ours.edp_pj_cycles == pytest.approx(ours.energy_pj * ours.runtime_cycles)
    assert any(tensor["lives_in"] != "outside" for tensor in ours.tensors) == residency
    assert ours.total["energy_pj"] == ours.energy_pj
    assert len(ours) == len(ours.table) > 0
    assert "certified optimum" in str(ours)


def test_tensors_that_stay_are_never_worse() -> None:
    stay = pliant.map_network("mobilenet_v2", "npu")
    outside = pliant.map_network("mobilenet_v2", "npu", residency=False)
    assert stay.without_residency is not None
    assert stay.value <= outside.value
    assert any(tensor["lives_in"] != "outside" for tensor in stay.tensors)


def test_a_deadline_costs_energy() -> None:
    free = pliant.map_network("alexnet", "eyeriss", objective="energy")
    fast = pliant.map_network("alexnet", "eyeriss", objective="runtime")
    between = (free.runtime_cycles + fast.runtime_cycles) / 2
    bound = pliant.map_network("alexnet", "eyeriss", objective="energy", deadline=between)
    assert bound.certified and bound.runtime_cycles <= between
    assert free.energy_pj <= bound.energy_pj <= fast.energy_pj
    late = pliant.map_network("alexnet", "eyeriss", objective="energy", deadline=fast.runtime_cycles / 2)
    assert not late.feasible and late.value == float("inf") and "at most" in str(late)


def test_what_a_network_cannot_be_asked() -> None:
    with pytest.raises(pliant.InputError) as raised:
        pliant.map_network("alexnet", "eyeriss", deadline=1e9)
    assert raised.value.key == "deadline"
    with pytest.raises(pliant.InputError):
        pliant.map_network("alexnet", "eyeriss", objective="edp-over-utilization")


def test_a_network_from_memory_has_no_words(tmp_path: Path) -> None:
    layers = [{"layer": "a", "count": 2, "gemm": {"M": 64, "N": 32, "K": 48}}]
    network = {"pliant": "workload", "name": "one", "layers": layers}
    ours = pliant.map_network(network, "eyeriss")
    assert "task" not in ours.to_dict()
    (tmp_path / "one.yaml").write_text(json.dumps(network))
    named = pliant.map_network(tmp_path / "one.yaml", "eyeriss")
    assert ours.value == named.value and named.to_dict()["workload"] == str(tmp_path / "one.yaml")
