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
    # Sums are formed in another order.
    assert ours.value == pytest.approx(ours.edp_pj_cycles, rel=1e-12)
    assert ours.value == pytest.approx(ours.energy_pj * ours.runtime_cycles, rel=1e-12)
    assert any(tensor["lives_in"] != "outside" for tensor in ours.tensors) == residency
    assert ours.total["energy_pj"] == pytest.approx(ours.energy_pj, rel=1e-12)
    assert len(ours) == len(ours.table) > 0
    assert "certified optimum" in str(ours)


def test_tensors_that_stay_are_never_worse() -> None:
    stay = pliant.map_network("mobilenet_v2", "npu")
    outside = pliant.map_network("mobilenet_v2", "npu", residency=False)
    assert stay.without_residency is not None
    assert stay.value <= outside.value
    assert any(tensor["lives_in"] != "outside" for tensor in stay.tensors)


def test_layers_pass_tiles_on(cli: Callable[..., Any]) -> None:
    tiles = pliant.map_network("bert_base_seq512", "npu", fusion="tiles")
    words = ["map", "--accelerator", "npu", "--workload", "bert_base_seq512", "--network", "--fusion", "tiles"]
    assert tiles.to_dict() == cli(*words)
    assert tiles.certified and tiles.whole_tensors is not None and tiles.without_residency is not None
    assert tiles.value < tiles.whole_tensors["value"] < tiles.without_residency["value"]
    assert {loop["axis"] for group in tiles.groups for tile in group["tiles"] for loop in tile["under"]}
    assert not pliant.map_network("bert_base_seq512", "npu").groups
    off = pliant.map_network("bert_base_seq512", "npu", fusion="off")
    assert off.value == tiles.without_residency["value"]
    for wrong in ({"fusion": "some"}, {"fusion": "tiles", "inferences": 2}, {"fusion": "off", "residency": True}):
        with pytest.raises(pliant.InputError):
            pliant.map_network("bert_base_seq512", "npu", **wrong)


def test_a_class_without_f_passes_no_tiles() -> None:
    npu = pliant.load_accelerator("npu", flexibility="1111")
    fused = pliant.load_accelerator("npu", flexibility="1111+F")
    without = pliant.map_network("bert_base_seq512", npu, fusion="tiles")
    tiles = pliant.map_network("bert_base_seq512", fused, fusion="tiles")
    assert not without.groups and tiles.groups
    assert without.whole_tensors is not None
    assert tiles.value < without.value == without.whole_tensors["value"]
    rows = pliant.flexion("npu", "bert_base_seq512", flexibility="1111+F", tile_tuples=False).table
    assert rows["axis"][-1] == "F" and rows["h_f"][-1] == 1


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
        pliant.map_network("alexnet", "eyeriss", deadline=0)
    assert raised.value.key == "deadline"
    with pytest.raises(pliant.InputError):
        pliant.map_network("alexnet", "eyeriss", objective="edp-over-utilization")
    with pytest.raises(pliant.InputError) as raised:
        pliant.map_network("alexnet", "eyeriss", residency=True)
    assert raised.value.key == "residency" and "which layers read what" in raised.value.message
    for inferences in (0, 2):  # none can be asked for; 2 needs a graph
        with pytest.raises(pliant.InputError) as raised:
            pliant.map_network("alexnet", "eyeriss", inferences=inferences)
        assert raised.value.key == "inferences"


#: Two products, the second of which reads the first; their weights have 8 KiB.
SMALL: dict[str, Any] = {
    "pliant": "workload",
    "name": "small",
    "chain": True,
    "layers": [
        {"layer": "a", "gemm": {"M": 8, "N": 64, "K": 64}},
        {"layer": "b", "gemm": {"M": 8, "N": 64, "K": 64}},
    ],
}


def test_weights_stay_across_inferences() -> None:
    once = pliant.map_network(SMALL, "npu")
    often = pliant.map_network(SMALL, "npu", inferences=1000)
    assert once.weights == [] and len(often.weights) == 2
    assert often.certified and often.value < once.value


def test_a_network_that_does_not_fit_is_a_warning() -> None:
    small = pliant.load_accelerator("npu").set({"DRAM.capacity": "4KiB"})
    with pytest.warns(UserWarning, match="do not fit into DRAM"):
        mapped = pliant.map_network(SMALL, small)
    with pytest.warns(UserWarning, match="do not fit into DRAM"):
        alone = pliant.map_workload(SMALL, small, progress=False)
    for room in (mapped.model_room, alone.model_room, alone.to_dict()["model_room"]):
        assert room is not None and room["memory"] == "DRAM" and room["weights_bytes"] == 8192
    assert pliant.map_network(SMALL, "npu").model_room is None


def test_sweeps_and_designs_take_what_networks_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(json.dumps(SMALL))
    space = {
        "pliant": "sweep",
        "name": "net",
        "accelerator": "npu",
        "workloads": [str(tmp_path / "small.yaml")],
        "vary": {"sram": ["4KiB", "64KiB"]},
        "minimize": ["area_um2", "edp_pj_cycles"],
    }
    network = pliant.sweep(space, progress=False)
    layers = pliant.sweep(space, network=False, progress=False)
    often = pliant.sweep(space, inferences=1000, progress=False)
    assert set(network.designs["mapped_as"]) == {"network"} and set(layers.designs["mapped_as"]) == {"layers"}
    assert "Inputs in SRAM" in network.layers["on_chip"] and set(layers.layers["on_chip"]) == {None}
    assert max(often.designs["weights_on_chip"]) == 2
    for row, one in enumerate(often.designs["edp_pj_cycles"]):
        assert one <= network.designs["edp_pj_cycles"][row] <= layers.designs["edp_pj_cycles"][row]
    for asked in ({}, {"network": False}, {"inferences": 1000}):
        found = pliant.design(space, progress=False, **asked)
        swept = pliant.frontier(pliant.sweep(space, progress=False, **asked), found.goals)
        assert [row["edp_pj_cycles"] for row in found.rows] == pytest.approx(swept.table["edp_pj_cycles"])
    tiles = pliant.sweep(space, fusion="tiles", progress=False)
    for row, one in enumerate(tiles.designs["edp_pj_cycles"]):
        assert one <= network.designs["edp_pj_cycles"][row]
        assert tiles.designs["whole_energy_pj"][row] == network.designs["energy_pj"][row]
    found = pliant.design({**space, "fusion": "tiles"}, progress=False)
    swept = pliant.frontier(tiles, found.goals)
    assert [row["edp_pj_cycles"] for row in found.rows] == pytest.approx(swept.table["edp_pj_cycles"])
    with pytest.raises(pliant.InputError) as raised:
        pliant.sweep(space, network=False, inferences=2, progress=False)
    assert raised.value.key == "inferences"
    slow = max(network.designs["runtime_cycles"])
    within = pliant.sweep({**space, "constraints": [f"runtime_cycles <= {slow - 1}"]}, progress=False)
    assert "deadlines" in pliant.load_sweep({**space, "constraints": ["runtime_cycles <= 9"]}).mapped_as
    for status, cycles in zip(within.designs["status"], within.designs["runtime_cycles"]):
        assert status == "over_limit" or cycles < slow


def test_a_network_from_memory_has_no_words(tmp_path: Path) -> None:
    layers = [{"layer": "a", "count": 2, "gemm": {"M": 64, "N": 32, "K": 48}}]
    network = {"pliant": "workload", "name": "one", "layers": layers}
    ours = pliant.map_network(network, "eyeriss")
    assert "task" not in ours.to_dict()
    (tmp_path / "one.yaml").write_text(json.dumps(network))
    named = pliant.map_network(tmp_path / "one.yaml", "eyeriss")
    assert ours.value == named.value and named.to_dict()["workload"] == str(tmp_path / "one.yaml")
