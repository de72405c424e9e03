# SPDX-License-Identifier: Apache-2.0
"""Flexibility-aware design-space exploration of tensor accelerators.

>>> import pliant
>>> result = pliant.map("gemm:M=512,N=512,K=512", "eyeriss")
>>> result.certified
True

docs/python.md has the whole interface, docs/json.md what the dicts hold.
"""

import os as _os
from pathlib import Path as _Path

from pliant import _core

_core.use_configs(_os.environ.get("PLIANT_CONFIGS") or _Path(__file__).parent / "configs")

from pliant import charts  # noqa: E402
from pliant._analysis import Flexion, MapSpaceSize, count, flexion  # noqa: E402
from pliant._answer import Answer, ask  # noqa: E402
from pliant._dataset import (  # noqa: E402
    Dataset,
    DatasetFrontier,
    Report,
    Sweep,
    frontier,
    load_sweep,
    open_dataset,
    report,
    sweep,
)
from pliant._design import DesignFrontier, design  # noqa: E402
from pliant._errors import (  # noqa: E402
    ChangedInputs,
    CommandFailed,
    Diagnostic,
    IllegalMapping,
    InputError,
    StorageError,
    SweepInterrupted,
)
from pliant._inputs import (  # noqa: E402
    Accelerator,
    Layer,
    Workload,
    accelerators,
    load_accelerator,
    load_layer,
    load_workload,
    workloads,
)
from pliant._network import NetworkResult, map_network  # noqa: E402
from pliant._results import Cost, LayerFrontier, LayerResult, Mapping, WorkloadResult  # noqa: E402
from pliant._search import evaluate, map, map_frontier, map_workload  # noqa: E402
from pliant._serving import serve  # noqa: E402
from pliant._tables import Table  # noqa: E402

__version__: str = _core.version
#: The names of the mappers; the first is the default.
mappers: list[str] = _core.mappers
#: The names of the objectives.
objectives: list[str] = _core.objectives

__all__ = [
    "Accelerator",
    "Answer",
    "ChangedInputs",
    "CommandFailed",
    "Cost",
    "Dataset",
    "DatasetFrontier",
    "DesignFrontier",
    "Diagnostic",
    "Flexion",
    "IllegalMapping",
    "InputError",
    "Layer",
    "LayerFrontier",
    "LayerResult",
    "MapSpaceSize",
    "Mapping",
    "NetworkResult",
    "Report",
    "StorageError",
    "Sweep",
    "SweepInterrupted",
    "Table",
    "Workload",
    "WorkloadResult",
    "accelerators",
    "ask",
    "charts",
    "count",
    "design",
    "evaluate",
    "flexion",
    "frontier",
    "load_accelerator",
    "load_layer",
    "load_sweep",
    "load_workload",
    "map",
    "map_frontier",
    "map_network",
    "map_workload",
    "mappers",
    "objectives",
    "open_dataset",
    "report",
    "serve",
    "sweep",
    "workloads",
]
