# SPDX-License-Identifier: Apache-2.0
"""Loading by name, path and dict; settings; what is said about bad input."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import pliant

GEMM = "gemm:M=64,N=64,K=64"


def test_shipped_names_load() -> None:
    assert "eyeriss" in pliant.accelerators()
    assert "resnet50" in pliant.workloads()
    for name in pliant.accelerators():
        assert pliant.load_accelerator(name).mac_units > 0


def test_a_file_and_a_dict_are_the_same_accelerator(root: Path, tmp_path: Path) -> None:
    shipped = pliant.load_accelerator("ruby_toy_6")
    shipped.save(tmp_path / "toy.yaml")
    from_file = pliant.load_accelerator(tmp_path / "toy.yaml")
    assert from_file.to_dict() == shipped.to_dict()
    in_memory = pliant.load_accelerator(
        {
            "pliant": "accelerator",
            "name": "tiny",
            "levels": [
                {"memory": "DRAM", "capacity": "unbounded", "read_pj": 100, "write_pj": 100},
                {"memory": "Buffer", "capacity": "1KiB", "read_pj": 1, "write_pj": 1},
                {"fanout": "PEs", "rows": 2, "cols": 2},
                {"compute": "MAC", "mac_pj": 1},
            ],
        }
    )
    assert in_memory.mac_units == 4
    assert pliant.map(GEMM, in_memory).certified


def test_settings_make_another_accelerator() -> None:
    before = pliant.load_accelerator("flexref")
    wider = before.set(cols=32)
    assert wider.mac_units == 2 * before.set({"cols": 16}).mac_units
    assert before.mac_units == pliant.load_accelerator("flexref").mac_units
    twice = before.set(cols=32).set(rows=8)
    assert twice.mac_units == before.set(cols=32, rows=8).mac_units
    smaller = before.set({"Buffer.capacity": "50KiB"})
    assert smaller.to_dict() != before.to_dict()


def test_rules_are_chosen_once_or_for_a_call() -> None:
    rigid = pliant.load_accelerator("flexref", flexibility="InFlex-0000")
    assert pliant.map(GEMM, rigid).value == pliant.map(GEMM, "flexref", flexibility="InFlex-0000").value
    assert pliant.map(GEMM, rigid).value > pliant.map(GEMM, rigid, flexibility="FullFlex-1111").value


def test_workloads_hold_layers() -> None:
    network = pliant.load_workload("resnet50")
    assert network.layer_names[0] == "conv1"
    assert len(network.counts) == len(network)
    assert [layer.name for layer in network] == network.layer_names
    assert network["conv1"].dims["M"] == 64
    assert network[-1].macs == pliant.load_layer(network.layer_names[-1], "resnet50").macs
    with pytest.raises(IndexError):
        network[len(network)]


def test_a_layer_may_be_a_dict() -> None:
    layer = pliant.load_layer({"pliant": "layer", "layer": "mine", "gemm": {"M": 8, "N": 8, "K": 8}})
    assert layer.name == "mine"
    assert layer.macs == 512


def test_inputs_travel_to_other_processes() -> None:
    accelerator = pliant.load_accelerator("flexref", flexibility="1011", settings={"cols": 32})
    copy = pickle.loads(pickle.dumps(accelerator))
    assert copy.to_dict() == accelerator.to_dict()
    network = pliant.load_workload("alexnet")
    assert pickle.loads(pickle.dumps(network)).layer_names == network.layer_names
    layer = network["conv2"] if "conv2" in network.layer_names else network[1]
    assert pickle.loads(pickle.dumps(layer)).dims == layer.dims


def test_a_misspelt_name_is_explained() -> None:
    with pytest.raises(pliant.InputError) as raised:
        pliant.load_accelerator("eyeris")
    assert raised.value.suggestions == ["eyeriss"]
    assert "eyeris" in str(raised.value)
    with pytest.raises(pliant.InputError) as raised:
        pliant.map(GEMM, "eyeriss", objective="epd")
    assert raised.value.key == "objective"
    assert raised.value.suggestions == ["edp"]
    assert not raised.value.file
    assert str(raised.value).startswith("objective=")


def test_a_bad_file_is_located(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    good = pliant.load_accelerator("ruby_toy_6").to_yaml().splitlines()
    line = next(i for i, text in enumerate(good) if "capacity" in text)
    good[line] = good[line].replace("capacity", "capacitty", 1)
    file.write_text("\n".join(good))
    with pytest.raises(pliant.InputError) as raised:
        pliant.load_accelerator(file)
    error = raised.value
    assert error.file == str(file)
    assert error.line == line + 1
    assert error.column == good[line].index("capacitty") + 1
    assert error.message
    assert "capacity" in error.suggestions
    assert pickle.loads(pickle.dumps(error)).diagnostics == error.diagnostics
    assert isinstance(error, ValueError)
