# SPDX-License-Identifier: Apache-2.0
"""A network as a whole: the mappings that serve its sums, and the tensors that stay on chip between layers."""

from __future__ import annotations

import json
from collections.abc import Mapping as Dict
from functools import cached_property
from typing import Any

from pliant import _core
from pliant._answer import Answer, on_main_thread
from pliant._inputs import Accelerator, Source, Workload, load_accelerator, load_workload
from pliant._search import Seconds, _request, warn_of_room
from pliant._tables import Table


class NetworkResult(Answer):
    """The best mappings of a whole network. As an Arrow table, one row for each layer or step.

    >>> found = pliant.map_network("alexnet", "eyeriss")
    >>> found.lower_bound <= found.value
    True
    """

    def __init__(self, workload: str, form: dict[str, Any], text: str) -> None:
        self.workload = workload
        self._form = form
        self._text = text
        self._network: dict[str, Any] = form.get("network") or {}

    @property
    def feasible(self) -> bool:
        """False when a layer fits nowhere or no choice keeps the deadline; ``str()`` says which."""
        return bool(self._network)

    def _number(self, name: str) -> float:
        return float(self._network.get(name, float("inf")))

    @property
    def value(self) -> float:
        """Of the objective; infinite when nothing was found."""
        return self._number("value")

    @property
    def lower_bound(self) -> float:
        """No choice of mappings and of places for tensors is below it."""
        return self._number("lower_bound")

    @property
    def gap(self) -> float:
        """(value - lower_bound) / value; 0 when certified."""
        return float(self._network.get("gap", 0.0))

    @property
    def certified(self) -> bool:
        """The value is proven to be the least."""
        return bool(self._network.get("certified", False))

    @property
    def energy_pj(self) -> float:
        return self._number("energy_pj")

    @property
    def runtime_cycles(self) -> float:
        return self._number("runtime_cycles")

    @property
    def edp_pj_cycles(self) -> float:
        """Of the sums."""
        return self._number("edp_pj_cycles")

    @property
    def total(self) -> dict[str, Any]:
        """The sums as :class:`WorkloadResult` has them: ``parts`` (layers with MACs, operators without MACs, loads of
        weights that stay), where the energy goes and what bounds the time."""
        return dict(self._form.get("total") or {})

    @property
    def model_room(self) -> dict[str, Any] | None:
        """Of a network that does not fit into the memory its weights come from: ``memory``, ``capacity_bytes``,
        ``weights_bytes``, ``activations_bytes`` and ``chips``, so many of which hold it together."""
        return self._form.get("model_room")

    @property
    def tensors(self) -> list[dict[str, Any]]:
        """Of a workload with a graph: every tensor between layers, where it lives, and from which step to which."""
        return list(self._network.get("tensors", []))

    @property
    def weights(self) -> list[dict[str, Any]]:
        """Weights that stay on chip across inferences, and where."""
        return list(self._network.get("weights", []))

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The layers with their mappings and what each gave up; of a workload with a graph, its steps in order, each
        with where it reads from and what it makes in which memory."""
        return list(self._network.get("steps") or self._network.get("layers") or [])

    @property
    def without_residency(self) -> dict[str, Any] | None:
        """Of a workload with a graph: the optimum when every tensor lives outside; None when there is none."""
        return self._network.get("without_residency")

    @property
    def groups(self) -> list[dict[str, Any]]:
        """With ``fusion="tiles"``: layers that pass tiles on, under which loops, and what is held meanwhile."""
        return list(self._network.get("groups", []))

    @property
    def whole_tensors(self) -> dict[str, Any] | None:
        """With ``fusion="tiles"``: the optimum when tensors stay on chip whole or live outside; None without one."""
        return self._network.get("whole_tensors")

    def to_dict(self) -> dict[str, Any]:
        """As ``pliant map --network --json`` prints it."""
        return self._form

    @cached_property
    def table(self) -> Table:
        """One row for each layer or step."""
        rows = [{**step, "layer": step.get("layer") or step.get("op") or step.get("node")} for step in self.steps]
        return Table.from_rows(rows, texts=["layer"], whole=["count"], numbers=["energy_pj", "runtime_cycles"])

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        if not self.feasible:
            return f"<pliant.NetworkResult {self.workload}: nothing fits>"
        proof = "certified" if self.certified else f"gap {100 * self.gap:.3g} %"
        return f"<pliant.NetworkResult {self.workload}: {self._network['objective']} {self.value:.7g}, {proof}>"


def map_network(
    workload: Source | Workload,
    accelerator: Source | Accelerator,
    *,
    objective: str = "edp",
    deadline: float | None = None,
    residency: bool | None = None,
    fusion: str | None = None,
    inferences: int = 1,
    flexibility: str | None = None,
    conventions: str | None = None,
    factorization: str = "pfm",
    mapper: str = "exact",
    budget: Seconds | None = None,
    gap: float = 0,
    seed: int = 1,
    threads: int = 1,
    mapper_options: Dict[str, Any] | None = None,
) -> NetworkResult:
    """The mappings that are best for the network's sums, proven. Other arguments as for :func:`map`.

    Args:
        objective: ``runtime``, ``energy``, ``edp``, ``ed2p`` or ``perf-per-watt``, of the sums.
        deadline: the most cycles that the network may take.
        residency: tensors may stay on chip between layers; None: where the workload knows its graph.
        fusion: ``off``: every tensor lives outside; ``whole`` (as None): tensors stay on chip whole or live outside;
            ``tiles``: layers may pass tiles to each other as well.
        inferences: weights may stay on chip across so many inferences or decode steps; figures are of one of them.
        budget: seconds for the whole network.

    >>> pliant.map_network("alexnet", "eyeriss").certified
    True
    """
    network = load_workload(workload)
    chosen = load_accelerator(accelerator, flexibility=flexibility, conventions=conventions)
    request = _request(objective, factorization, mapper, budget, 0, gap, seed, threads, mapper_options)
    warn_of_room(network._core, chosen._core)
    found, form, text = _core.map_network(
        network._core, chosen._core, request, deadline, residency, inferences, fusion, on_main_thread()
    )
    told: dict[str, Any] = json.loads(form)
    if not found:
        told.pop("network", None)
        told.pop("total", None)
    return NetworkResult(network.name, told, text)
