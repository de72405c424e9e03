# SPDX-License-Identifier: Apache-2.0
"""What was found: mappings, what they cost, what is proven about them."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any, Union

from pliant import _core
from pliant._answer import Answer
from pliant._html import cost_html
from pliant._inputs import Workload, preformatted
from pliant._tables import Table

_Priced = Union[_core.FoundMapping, _core.EvaluatedMapping]


class Mapping:
    """The loops and the tensors kept at every level. ``str()`` is the loop nest.
    >>> pliant.map("gemm:M=8,N=8,K=8", "eyeriss").mapping.to_dict()["levels"][0]["level"]
    'DRAM'
    """

    def __init__(self, core: _Priced, form: dict[str, Any]) -> None:
        self._core = core
        self._form = form

    def to_dict(self) -> dict[str, Any]:
        """In the form of a mapping file; :func:`pliant.evaluate` takes it, changed or not."""
        return self._form

    def to_yaml(self) -> str:
        """A mapping file."""
        return self._core.mapping_file()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a mapping file, which :func:`pliant.evaluate` and ``pliant eval`` read."""
        Path(path).write_text(self.to_yaml(), encoding="utf-8")

    def __str__(self) -> str:
        return self._core.loop_nest()

    def __repr__(self) -> str:
        return f"<pliant.Mapping of {self._core.layer} on {self._core.accelerator}>"

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def chart(self) -> Any:
        """The loop nest as a picture: see :mod:`pliant.charts`."""
        from pliant import charts

        return charts.mapping(self)


class Cost(Answer):
    """A priced mapping: totals, and where they come from. ``str()`` is what ``pliant eval`` prints.

    As an Arrow table (``polars.DataFrame(cost)``, ``pyarrow.table(cost)``) it is the energy by level and tensor.
    >>> pliant.map("gemm:M=64,N=64,K=64", "eyeriss").energy_pj > 0
    True
    """

    def __init__(self, core: _Priced) -> None:
        self._core: Any = core

    @property
    def layer(self) -> str:
        """The layer's name."""
        return str(self._core.layer)

    @property
    def accelerator(self) -> str:
        """The accelerator's name."""
        return str(self._core.accelerator)

    @property
    def energy_pj(self) -> float:
        return float(self._core.energy_pj)

    @property
    def runtime_cycles(self) -> float:
        return float(self._core.runtime_cycles)

    @property
    def edp_pj_cycles(self) -> float:
        """Energy x runtime."""
        return float(self._core.edp_pj_cycles)

    @property
    def utilization(self) -> float:
        """Of the MAC units over the whole runtime, 0 to 1."""
        return float(self._core.utilization)

    def _at_the_clock(self, figure: str) -> float | None:
        value = self._json.get(figure)
        return None if value is None else float(value)

    @property
    def latency_s(self) -> float | None:
        """Runtime in seconds; None when the accelerator has no clock, as the next three."""
        return self._at_the_clock("latency_s")

    @property
    def power_w(self) -> float | None:
        """Average power: energy / latency."""
        return self._at_the_clock("power_w")

    @property
    def tops(self) -> float | None:
        """Achieved, 1e12 operations per second; a MAC is two."""
        return self._at_the_clock("tops")

    @property
    def tops_per_w(self) -> float | None:
        """Useful operations per pJ."""
        return self._at_the_clock("tops_per_w")

    @property
    def bound_by(self) -> str:
        """What limits the runtime: ``compute``, or a memory and its direction such as ``DRAM read``."""
        return str(self._core.bound_by)

    @cached_property
    def _json(self) -> dict[str, Any]:
        form: dict[str, Any] = json.loads(self._core.json())
        return form

    def to_dict(self) -> dict[str, Any]:
        """All of it, exactly as ``--json`` prints it (docs/json.md)."""
        return self._json

    @property
    def area_um2(self) -> float:
        """Of the whole design; 0 when the accelerator gives no areas."""
        return float(self._json["area_um2"])

    @property
    def levels(self) -> list[dict[str, Any]]:
        """Every level but the compute units, outermost first, with words, cycles and energy of its tensors."""
        levels: list[dict[str, Any]] = self._json["levels"]
        return levels

    @property
    def compute(self) -> dict[str, Any]:
        """The compute units: ``name``, ``units``, ``energy_pj``, ``leakage_pj``."""
        compute: dict[str, Any] = self._json["compute"]
        return compute

    @cached_property
    def mapping(self) -> Mapping | None:
        """None when nothing was found."""
        form = self._json.get("mapping")
        return None if form is None else Mapping(self._core, form)

    @cached_property
    def breakdown(self) -> Table:
        """Energy and words by level and tensor, as a table."""
        rows = []
        for level in self._json.get("levels", []):
            for tensor, cost in level.get("tensors", {}).items():
                rows.append({"level": level["name"], "tensor": tensor, **cost})
            if level.get("leakage_pj"):
                rows.append({"level": level["name"], "tensor": "leakage", "energy_pj": level["leakage_pj"]})
        compute = self._json.get("compute")
        if compute:
            rows.append({"level": compute["name"], "tensor": "MACs", "energy_pj": compute["energy_pj"]})
            if compute["leakage_pj"]:
                rows.append({"level": compute["name"], "tensor": "leakage", "energy_pj": compute["leakage_pj"]})
        texts = ["level", "tensor"]
        numbers = ["reads", "fills", "updates", "drains", "words_read", "words_written", "tile_words", "energy_pj"]
        return Table.from_rows(rows, texts=texts, numbers=numbers)

    @property
    def table(self) -> Table:
        """The same as ``breakdown``."""
        return self.breakdown

    def __str__(self) -> str:
        return str(self._core.text())

    def __repr__(self) -> str:
        return (
            f"<pliant.{type(self).__name__} {self.layer} on {self.accelerator}: {self.energy_pj:.6g} pJ, "
            f"{self.runtime_cycles:.0f} cycles>"
        )

    def _repr_html_(self) -> str:
        return cost_html(self)

    def chart(self) -> Any:
        """Where the energy goes, as a picture: see :mod:`pliant.charts`."""
        from pliant import charts

        return charts.breakdown(self)


class LayerResult(Cost):
    """The best mapping of a layer, what it costs, and what is proven. ``str()`` is what ``pliant map`` prints.

    When nothing was found, ``feasible`` is False, costs are infinite, ``mapping`` is None, and ``str()`` says why.
    >>> pliant.map("gemm:M=64,N=64,K=64", "eyeriss").gap
    0.0
    """

    def __init__(self, core: _core.FoundMapping) -> None:
        super().__init__(core)

    @property
    def feasible(self) -> bool:
        """A mapping was found."""
        return bool(self._core.feasible)

    @property
    def infeasible(self) -> bool:
        """It is proven that there is no mapping."""
        return bool(self._core.infeasible)

    @property
    def objective(self) -> str:
        return str(self._core.objective)

    @property
    def mapper(self) -> str:
        return str(self._core.mapper)

    @property
    def value(self) -> float:
        """Of the objective; smaller is better."""
        return float(self._core.value)

    @property
    def lower_bound(self) -> float:
        """Proven: no mapping has a smaller value. 0 when nothing is proven."""
        return float(self._core.lower_bound)

    @property
    def prediction(self) -> dict[str, Any] | None:
        """What a good kernel takes, as ``pliant map --predict --json`` tells it; None where it was not asked for."""
        told: dict[str, Any] | None = self.to_dict().get("prediction")
        return told

    @property
    def bound(self) -> float:
        """The same as ``lower_bound``."""
        return self.lower_bound

    @property
    def gap(self) -> float:
        """(value - lower_bound) / value; 0 when certified."""
        return float(self._core.gap)

    @property
    def certified(self) -> bool:
        """The value is proven to be the least."""
        return bool(self._core.certified)

    @property
    def mappings_covered(self) -> int:
        """How many mappings the proof covers; 0 when it covers none."""
        return int(self._core.mappings_covered or 0)

    @property
    def evaluations(self) -> int:
        """Mappings priced."""
        return int(self._core.evaluations)

    @property
    def seconds(self) -> float:
        """The search's own time."""
        return float(self._core.seconds)

    @property
    def ended_by(self) -> str:
        """``proof``, ``budget``, ``stopped``, ..."""
        return str(self._core.ended_by)

    @property
    def conflict(self) -> list[dict[str, Any]]:
        """Of a layer that fits nowhere: the limits that together rule out every mapping."""
        return list(self._json.get("conflict", []))

    @property
    def nearest_miss(self) -> list[dict[str, Any]]:
        """Of a layer that fits nowhere: what the mapping with the smallest tiles still violates."""
        return list(self._json.get("nearest_miss", []))

    def __repr__(self) -> str:
        if not self.feasible:
            return f"<pliant.LayerResult {self.layer} on {self.accelerator}: no mapping>"
        proof = "certified" if self.certified else f"gap {100 * self.gap:.3g} %" if self.bound > 0 else "nothing proven"
        return f"<pliant.LayerResult {self.layer} on {self.accelerator}: {self.objective} {self.value:.7g}, {proof}>"


class WorkloadResult(Answer):
    """Every layer of a workload mapped. Iterating gives the layers' results; as an Arrow table, one row each.
    >>> pliant.map_workload("alexnet", "eyeriss", progress=False).certified
    True
    """

    def __init__(self, workload: Workload, layers: list[LayerResult], model_room: dict[str, Any] | None = None) -> None:
        self.workload = workload.name
        #: of a network that does not fit into the memory its weights come from, as :class:`NetworkResult` has it
        self.model_room = model_room
        self.layers = layers
        self.counts = workload.counts
        self._network = workload._core
        self.total: dict[str, Any] = json.loads(_core.workload_totals(self._cores(), self.counts, self._network))

    def _cores(self) -> list[_core.FoundMapping]:
        return [one._core for one in self.layers]

    @property
    def energy_pj(self) -> float:
        return float(self.total["energy_pj"])

    @property
    def runtime_cycles(self) -> float:
        return float(self.total["runtime_cycles"])

    @property
    def edp_pj_cycles(self) -> float:
        """Of the sums."""
        return float(self.total["edp_pj_cycles"])

    @property
    def certified(self) -> bool:
        """Every layer has a mapping that is proven to be the best."""
        return bool(self.total["certified"])

    def to_dict(self) -> dict[str, Any]:
        """As ``pliant map --workload --layers --json`` prints it."""
        layers = []
        task: dict[str, Any] = {}
        for count, layer in zip(self.counts, self.layers):
            form = dict(layer.to_dict())
            form.pop("schema")
            task = form.pop("task", {})
            layers.append({"count": count, **form})
        task = {key: value for key, value in task.items() if key != "layer"}
        head: dict[str, Any] = {
            "schema": _core.json_schema,
            **({"task": task, "workload": task.get("workload")} if task else {}),
        }
        room = {} if self.model_room is None else {"model_room": self.model_room}
        return {**head, "mapped_as": "layers", **room, "layers": layers, "total": self.total}

    @cached_property
    def table(self) -> Table:
        """One row for each layer."""
        texts = ["layer", "bound_by", "ended_by"]
        numbers = ["energy_pj", "runtime_cycles", "edp_pj_cycles", "utilization", "value", "lower_bound", "gap"]
        rows = []
        for count, layer in zip(self.counts, self.layers):
            form = layer.to_dict()
            picked = {name: form.get(name) for name in [*texts, *numbers, "certified", "feasible"]}
            rows.append({**picked, "count": count})
        return Table.from_rows(rows, texts=texts, whole=["count"], numbers=numbers, flags=["certified", "feasible"])

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Any:
        return iter(self.layers)

    def __getitem__(self, layer: int | str) -> LayerResult:
        if isinstance(layer, int):
            return self.layers[layer]
        for one in self.layers:
            if one.layer == layer:
                return one
        raise KeyError(layer)

    def __str__(self) -> str:
        return _core.workload_text(self._cores(), self.counts, self._network)

    def __repr__(self) -> str:
        return (
            f"<pliant.WorkloadResult {self.workload}: {len(self)} layers, {self.energy_pj:.6g} pJ, "
            f"{self.runtime_cycles:.0f} cycles{', certified' if self.certified else ''}>"
        )


class LayerFrontier(Answer):
    """The mappings of one layer that none beats in all objectives, fastest first.
    >>> [one.runtime_cycles for one in pliant.map_frontier("gemm:M=64,N=64,K=64", "eyeriss")][0] > 0
    True
    """

    def __init__(self, points: list[LayerResult], objectives: list[str], certified: bool) -> None:
        self.points = points
        self.objectives = objectives
        #: every point is proven, and so is that there is no other
        self.certified = certified

    def to_dict(self) -> dict[str, Any]:
        """As ``pliant map --objective runtime,energy --json`` prints it."""
        frontier = []
        task: dict[str, Any] = {}
        for point in self.points:
            form = dict(point.to_dict())
            form.pop("schema")
            task = form.pop("task", {})
            frontier.append(form)
        head: dict[str, Any] = {
            "schema": _core.json_schema,
            **({"task": {**task, "objective": self.objectives[0]}} if task else {}),
        }
        return {**head, "certified": self.certified, "objectives": self.objectives, "frontier": frontier}

    @cached_property
    def table(self) -> Table:
        """One row for each mapping."""
        numbers = ["runtime_cycles", "energy_pj", "edp_pj_cycles", "utilization"]
        rows = [{**{name: getattr(one, name) for name in numbers}, "bound_by": one.bound_by} for one in self.points]
        return Table.from_rows(rows, texts=["bound_by"], numbers=numbers)

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Any:
        return iter(self.points)

    def __getitem__(self, index: int) -> LayerResult:
        return self.points[index]

    def __str__(self) -> str:
        return _core.frontier_text([one._core for one in self.points], self.certified)

    def __repr__(self) -> str:
        proof = "proven complete" if self.certified else "not proven complete"
        return f"<pliant.LayerFrontier {len(self)} mappings in {', '.join(self.objectives)}, {proof}>"

    def chart(self) -> Any:
        """Runtime against energy, as a picture: see :mod:`pliant.charts`."""
        from pliant import charts

        return charts.layer_frontier(self)
