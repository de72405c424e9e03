# SPDX-License-Identifier: Apache-2.0
"""Searching mappings, and pricing a given one."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping as Dict
from collections.abc import Sequence
from typing import Any, Union

from pliant import _core
from pliant._answer import on_main_thread
from pliant._inputs import Accelerator, Layer, Source, Workload, load_accelerator, load_layer, load_workload, words_of
from pliant._progress import Bar
from pliant._results import Cost, LayerFrontier, LayerResult, Mapping, WorkloadResult

#: Seconds, or a text such as ``"250ms"``.
Seconds = Union[float, str]


def seconds_of(budget: Seconds | None) -> float:
    if budget is None:
        return 0.0
    return _core.parse_seconds(budget) if isinstance(budget, str) else float(budget)


def warn_of_room(workload: _core.Workload, accelerator: _core.Accelerator) -> dict[str, Any] | None:
    """Warns of a network that does not fit into the memory its weights come from, and says how much it lacks."""
    room = _core.model_room(workload, accelerator)
    if room is None:
        return None
    warnings.warn(room[1], stacklevel=3)
    return dict(json.loads(room[0]))


def _request(
    objective: str,
    factorization: str,
    mapper: str,
    budget: Seconds | None,
    evaluations: int,
    gap: float,
    seed: int,
    threads: int,
    mapper_options: Dict[str, Any] | None,
) -> _core.Request:
    options = [(name, str(value)) for name, value in (mapper_options or {}).items()]
    cores = threads if threads > 0 else os.cpu_count() or 1
    return _core.Request(objective, factorization, mapper, seconds_of(budget), evaluations, gap, seed, cores, options)


def map(
    layer: Source | Layer,
    accelerator: Source | Accelerator,
    *,
    workload: Source | Workload | None = None,
    objective: str = "edp",
    flexibility: str | None = None,
    conventions: str | None = None,
    factorization: str = "pfm",
    mapper: str = "exact",
    budget: Seconds | None = None,
    evaluations: int = 0,
    gap: float = 0,
    seed: int = 1,
    threads: int = 1,
    mapper_options: Dict[str, Any] | None = None,
    predict: bool = False,
) -> LayerResult:
    """The best mapping of a layer, and what is proven about it.

    Several threads may call it at once; Ctrl-C ends the search.

    Args:
        layer: a :class:`Layer`, a layer written in place (``"gemm:M=512,N=512,K=512"``), a file, a dict, or a name in
            ``workload``.
        accelerator: an :class:`Accelerator`, a shipped name, a file or a dict.
        workload: where ``layer`` is looked for by name.
        objective: ``runtime``, ``energy``, ``edp``, ``ed2p``, ``perf-per-watt`` or ``edp-over-utilization``.
        flexibility: a class, a shipped name or a file instead of the accelerator's own rules.
        conventions: ``physical``, ``timeloop`` or ``quickflow`` instead of the accelerator's own.
        factorization: ``pfm``, ``ruby-s``, ``ruby-t``, ``ruby`` or ``padding``.
        mapper: one of :data:`pliant.mappers`; ``exact`` proves.
        budget: seconds, or a text such as ``"250ms"``; the best found by then counts.
        evaluations: how many mappings may be priced, for mappers that draw; 0 is the mapper's own default.
        gap: a share of the value, such as 0.01: the search ends when no mapping can be better by more (``exact`` only).
        seed: of the mappers that draw random numbers.
        threads: 0 is all cores; results do not depend on it.
        mapper_options: options of the mapper by name.
        predict: what a good kernel takes beside the bound, by the accelerator's ``prediction`` block.

    >>> pliant.map("gemm:M=64,N=64,K=64", "eyeriss").certified
    True
    """
    if not isinstance(layer, Layer):
        layer = load_layer(layer, workload)
    if flexibility is not None or conventions is not None or not isinstance(accelerator, Accelerator):
        accelerator = load_accelerator(accelerator, flexibility=flexibility, conventions=conventions)
    request = _request(objective, factorization, mapper, budget, evaluations, gap, seed, threads, mapper_options)
    return LayerResult(_core.map_layer(layer._core, accelerator._core, request, predict, on_main_thread()))


def map_workload(
    workload: Source | Workload,
    accelerator: Source | Accelerator,
    *,
    objective: str = "edp",
    flexibility: str | None = None,
    conventions: str | None = None,
    factorization: str = "pfm",
    mapper: str = "exact",
    budget: Seconds | None = None,
    evaluations: int = 0,
    gap: float = 0,
    seed: int = 1,
    threads: int = 1,
    mapper_options: Dict[str, Any] | None = None,
    predict: bool = False,
    progress: bool = True,
) -> WorkloadResult:
    """The best mapping of every layer of a workload. Arguments as for :func:`map`; ``budget`` is for one layer.

    >>> found = pliant.map_workload("alexnet", "eyeriss", progress=False)
    >>> found.energy_pj == sum(count * layer.energy_pj for count, layer in zip(found.counts, found))
    True
    """
    network = load_workload(workload)
    chosen = load_accelerator(accelerator, flexibility=flexibility, conventions=conventions)
    request = _request(objective, factorization, mapper, budget, evaluations, gap, seed, threads, mapper_options)
    room = warn_of_room(network._core, chosen._core)
    found = []
    with Bar(network.name, len(network), "layers", progress) as bar:
        for layer in network:
            found.append(LayerResult(_core.map_layer(layer._core, chosen._core, request, predict, on_main_thread())))
            bar.show(len(found))
    return WorkloadResult(network, found, room)


def map_frontier(
    layer: Source | Layer,
    accelerator: Source | Accelerator,
    objectives: Sequence[str] = ("runtime", "energy"),
    *,
    workload: Source | Workload | None = None,
    flexibility: str | None = None,
    conventions: str | None = None,
    factorization: str = "pfm",
    mapper: str = "exact",
    budget: Seconds | None = None,
    seed: int = 1,
    threads: int = 1,
    mapper_options: Dict[str, Any] | None = None,
) -> LayerFrontier:
    """The mappings of a layer that none beats in all objectives. Other arguments as for :func:`map`; the budget is for
    the whole frontier.

    >>> found = pliant.map_frontier("gemm:M=64,N=64,K=64", "eyeriss", ["runtime", "energy"])
    >>> found[0].runtime_cycles == pliant.map("gemm:M=64,N=64,K=64", "eyeriss", objective="runtime").runtime_cycles
    True
    """
    asked = load_layer(layer, workload)
    chosen = load_accelerator(accelerator, flexibility=flexibility, conventions=conventions)
    request = _request("energy", factorization, mapper, budget, 0, 0, seed, threads, mapper_options)
    points, certified = _core.map_frontier(asked._core, chosen._core, request, list(objectives), on_main_thread())
    return LayerFrontier([LayerResult(point) for point in points], list(objectives), certified)


def evaluate(
    layer: Source | Layer,
    accelerator: Source | Accelerator,
    mapping: Source | Mapping,
    *,
    workload: Source | Workload | None = None,
    flexibility: str | None = None,
    conventions: str | None = None,
    factorization: str | None = None,
) -> Cost:
    """Prices one mapping: a :class:`Mapping`, a path, or a dict in the form of a mapping file.

    Raises:
        IllegalMapping: with every violated limit.

    >>> best = pliant.map("gemm:M=64,N=64,K=64", "eyeriss")
    >>> pliant.evaluate("gemm:M=64,N=64,K=64", "eyeriss", best.mapping).energy_pj == best.energy_pj
    True
    """
    asked = load_layer(layer, workload)
    chosen = load_accelerator(accelerator, flexibility=flexibility, conventions=conventions)
    text, in_memory = words_of(mapping.to_dict() if isinstance(mapping, Mapping) else mapping)
    return Cost(_core.evaluate(asked._core, chosen._core, text, in_memory, factorization))
