# SPDX-License-Identifier: Apache-2.0
"""Sweeps over designs, and what is asked of their datasets."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Union

from pliant import _core
from pliant._answer import Answer
from pliant._errors import InputError, SweepInterrupted
from pliant._html import cell_text
from pliant._inputs import Setting, Source, _setting, words_of
from pliant._search import Seconds, seconds_of
from pliant._tables import Table
from pliant._watched import run_watched

_Path = Union[str, "os.PathLike[str]"]


class Sweep:
    """Designs to explore, as a sweep file describes them. Made by :func:`load_sweep`; :func:`sweep` runs it.

    >>> pliant.load_sweep({"name": "arrays", "accelerator": "flexref", "workloads": ["alexnet"],
    ...                    "vary": {"rows": [8, 16], "cols": [8, 16, 32]}})
    <pliant.Sweep arrays: 6 designs on alexnet>
    """

    def __init__(self, core: _core.Sweep) -> None:
        self._core = core

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def description(self) -> str:
        return self._core.description

    @property
    def designs(self) -> int:
        """In the full product, before constraints."""
        return self._core.designs

    @property
    def workloads(self) -> list[str]:
        return self._core.workloads

    @property
    def mapped_as(self) -> str:
        """In words: what is mapped as a network, what layer by layer, and which limits are deadlines."""
        return self._core.mapped_as

    def warn_of_room(self) -> None:
        """Warns of networks that do not fit into the memory their weights come from."""
        for text in self._core.room_warnings():
            warnings.warn(text, stacklevel=3)

    def estimate(self, sample_seconds: float = 3, threads: int = 0) -> dict[str, Any]:
        """How much work it is, from a sample; nothing is written. As ``pliant sweep --dry-run --json``."""
        run = _core.SweepRun(self._core, "", "", threads, (0, 1), False)
        answer: dict[str, Any] = json.loads(run.estimate(sample_seconds))
        return answer

    def __repr__(self) -> str:
        return f"<pliant.Sweep {self.name}: {self.designs} designs on {', '.join(self.workloads)}>"


def load_sweep(
    source: Source | Sweep,
    *,
    settings: Mapping[str, Setting] | None = None,
    mapper: str | None = None,
    budget: Seconds | None = None,
    gap: float | None = None,
    seed: int | None = None,
    network: bool | None = None,
    inferences: int | None = None,
    fusion: str | None = None,
) -> Sweep:
    """A sweep by its shipped name, from a file, or from a dict in the form of such a file (docs/sweeps.md). The other
    arguments stand instead of what the file says; a deadline is one of its ``constraints``.

    >>> pliant.load_sweep("pe_arrays").designs > 1
    True
    """
    if isinstance(source, Sweep):
        return source
    pairs = [(key, _setting(value)) for key, value in (settings or {}).items()]
    seconds = None if budget is None else seconds_of(budget)
    return Sweep(_core.load_sweep(*words_of(source), pairs, mapper, seconds, gap, seed, network, inferences, fusion))


class Dataset:
    """What a sweep has found. As an Arrow table it is ``designs``: one row for each design and workload. Its folder may
    be in object storage (``s3://bucket/folder``).

    >>> dataset = pliant.sweep({"name": "one", "accelerator": "flexref", "workloads": ["alexnet"], "network": False},
    ...                        progress=False)
    >>> len(dataset.designs), len(dataset.layers) == len(pliant.load_workload("alexnet"))
    (1, True)
    """

    def __init__(self, path: _Path, kept: object = None) -> None:
        self.path = Path(path)
        if not _core.is_there(self.path):
            text = f"{self.path} does not exist"
            raise InputError([(str(self.path), 0, 0, "", "does not exist", "the folder of a sweep", "", text)])
        self._kept = kept  # a temporary folder lives as long as its dataset
        self._outcome: dict[str, Any] = {}

    def _table(self, name: str) -> Table:
        table, damaged = _core.read_dataset(self.path, name)
        if table is None:
            reason = "; ".join(damaged) or "no part of it is finished"
            text = f"{self.path}: no {name}: {reason}"
            raise InputError([(str(self.path), 0, 0, name, reason, "the folder of a sweep", "", text)])
        return Table(table)

    @property
    def designs(self) -> Table:
        """One row for each design and workload; results/README.md explains the columns."""
        return self._table("designs")

    @property
    def layers(self) -> Table:
        """One row for each design, workload and layer, with mapping, costs by memory, and certificate."""
        return self._table("layers")

    @property
    def outcome(self) -> dict[str, Any]:
        """What the call that made it did, as ``pliant sweep --json`` prints it; empty when it was only opened."""
        return self._outcome

    @property
    def status(self) -> dict[str, Any]:
        """How far it is, all shards together, as ``pliant sweep --status --json`` prints it."""
        answer = _core.dataset_status(self.path)
        return {} if answer is None else dict(json.loads(answer))

    @property
    def complete(self) -> bool:
        """Every part is there."""
        status = self.status
        return bool(status) and status["parts_done"] == status["parts"]

    @cached_property
    def charts(self) -> dict[str, Any]:
        """The charts of the report by name, as Vega-Lite: see :mod:`pliant.charts`."""
        from pliant.charts import Chart

        return {name: Chart(json.loads(spec)) for name, spec in _core.charts(self.path)}

    def frontier(self, **wanted: Any) -> DatasetFrontier:
        """See :func:`pliant.frontier`."""
        return frontier(self, **wanted)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.designs.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<pliant.Dataset {self.path}>"

    def _repr_html_(self) -> str:
        return self.designs._repr_html_()


def open_dataset(path: _Path) -> Dataset:
    """A dataset that ``pliant.sweep`` or ``pliant sweep`` wrote: its folder, also in object storage, or one Parquet
    file.

    >>> made = pliant.sweep({"name": "one", "accelerator": "flexref", "workloads": ["alexnet"], "network": False},
    ...                     progress=False)
    >>> pliant.open_dataset(made.path).complete
    True
    """
    return Dataset(path)


def sweep(
    source: Source | Sweep,
    dataset: _Path | None = None,
    *,
    settings: Mapping[str, Setting] | None = None,
    mapper: str | None = None,
    budget: Seconds | None = None,
    gap: float | None = None,
    seed: int | None = None,
    network: bool | None = None,
    inferences: int | None = None,
    fusion: str | None = None,
    threads: int = 0,
    shard: tuple[int, int] = (0, 1),
    cache: _Path | None = None,
    update: bool = False,
    progress: bool = True,
) -> Dataset:
    """Finds the best mapping of every layer on every design.

    The same call continues where an interrupted one stopped. Ctrl-C raises :class:`SweepInterrupted`, a
    ``KeyboardInterrupt`` whose ``dataset`` has what is finished.

    Args:
        source: a :class:`Sweep`, a shipped name, a file or a dict.
        dataset: folder for the tables, also ``s3://bucket/folder``; without one, a temporary folder that lives as long
            as the answer.
        network: False maps every layer by itself, also of workloads that know their graph.
        inferences: weights of networks may stay on chip across so many; figures are of one of them.
        fusion: ``"tiles"`` lets layers of networks pass tiles to each other (docs/fusion.md); default ``"whole"``.
        threads: 0 is all cores; the rows do not depend on it.
        shard: ``(i, n)``: only every n-th part, i from 0. Shards may share the folder, also at once.
        cache: folder of solved tasks, to share them between sweeps.
        update: replace the rows of a dataset whose inputs have changed.
        progress: show a bar.

    Raises:
        ChangedInputs: the dataset was made from other inputs.
        StorageError: the disk refuses; what is finished is kept.

    >>> dataset = pliant.sweep({"name": "two", "accelerator": "flexref", "workloads": ["alexnet"], "network": False,
    ...                         "vary": {"cols": [16, 32]}}, progress=False)
    >>> sorted(dataset.designs["set_cols"])
    [16, 32]
    """
    loaded = load_sweep(
        source, settings=settings, mapper=mapper, budget=budget, gap=gap, seed=seed, network=network,
        inferences=inferences, fusion=fusion,
    )  # fmt: skip
    loaded.warn_of_room()
    kept = None
    if dataset is None:
        kept = tempfile.TemporaryDirectory(prefix="pliant-", ignore_cleanup_errors=True)
        dataset = Path(kept.name) / loaded.name
    run = _core.SweepRun(loaded._core, dataset, cache or "", threads, shard, update)  # no cache: in the dataset
    outcome, stopped = run_watched(loaded.name, run, "layers", progress)
    if stopped and not outcome["complete"]:
        outcome["interrupted"] = True
    _core.make_folder(dataset)  # a run that was stopped at once has written nothing
    found = Dataset(dataset, kept)
    found._outcome = outcome
    if outcome["interrupted"]:
        done = f"{outcome['layers_done']} of {outcome['layers_total']} layers done, in {dataset}"
        raise SweepInterrupted(f"{done}; the same call continues", found)
    return found


class DatasetFrontier(Answer):
    """The designs that no other of their group beats in every column. As an Arrow table, one row each, groups after one
    another, with the columns ``knee`` and ``hypervolume``.

    >>> dataset = pliant.sweep({"name": "one", "accelerator": "flexref", "workloads": ["alexnet"], "network": False},
    ...                        progress=False)
    >>> dataset.frontier()
    <pliant.DatasetFrontier 1 designs in area_um2, edp_pj_cycles>
    """

    def __init__(self, table: Table, form: dict[str, Any], dataset: Dataset) -> None:
        self._rows = table
        self.dataset = dataset
        self._form = form

    @property
    def table(self) -> Table:
        """One row for each design on a frontier."""
        return self._rows

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Each with ``group``, ``designs``, ``hypervolume``, ``reference``, ``knee`` and its rows, ``frontier``."""
        return list(self._form["groups"])

    @property
    def minimize(self) -> list[str]:
        return list(self._form.get("minimize", []))

    @property
    def maximize(self) -> list[str]:
        return list(self._form.get("maximize", []))

    @property
    def complete(self) -> bool:
        """False when parts of the dataset are missing or damaged; the answer is then of the others."""
        return bool(self._form["complete"])

    def to_dict(self) -> dict[str, Any]:
        """As ``pliant pareto --json`` prints it."""
        return self._form

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"<pliant.DatasetFrontier {len(self)} designs in {', '.join(self.minimize + self.maximize)}>"

    def _shown(self) -> list[dict[str, Any]]:
        columns = self.table.columns
        wanted = ["workload", "design_id", *(name for name in columns if name.startswith("set_")), "flexibility"]
        wanted += [*self.minimize, *self.maximize, "knee"]
        return self.table.select(*dict.fromkeys(name for name in wanted if name in columns)).rows()

    def __str__(self) -> str:
        rows = self._shown()
        if not rows:
            return repr(self)
        lines = [list(rows[0]), *([cell_text(cell) for cell in row.values()] for row in rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines)

    def chart(self) -> Any:
        """The frontier among all designs, as a picture: see :mod:`pliant.charts`."""
        from pliant import charts

        return charts.frontier(self)


def frontier(
    dataset: Dataset | _Path,
    minimize: Sequence[str] = (),
    maximize: Sequence[str] = (),
    *,
    group_by: Sequence[str] = ("workload",),
    reference: Sequence[float] = (),
    where: Sequence[str] = (),
    table: str = "designs",
) -> DatasetFrontier:
    """The designs that no other of their group is better than in every column named; without names, area and EDP.

    Args:
        group_by: each group has a frontier of its own; empty for one group.
        reference: reference point of the hypervolume, a number per column; else the worst of each column in the group.
        where: conditions that a row must meet, such as ``latency_s <= 0.033``; as ``--where`` takes them.
        table: ``designs`` or ``layers``.

    >>> dataset = pliant.sweep({"name": "two", "accelerator": "flexref", "workloads": ["alexnet"], "network": False,
    ...                         "vary": {"cols": [16, 32]}}, progress=False)
    >>> smallest = pliant.frontier(dataset, ["area_um2"]).table  # of one goal: the design that is best
    >>> smallest["set_cols"]
    [16]
    """
    opened = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
    point = [repr(float(number)) for number in reference]
    rows, form = _core.frontier(opened.path, table, list(minimize), list(maximize), list(group_by), point, list(where))
    return DatasetFrontier(Table(rows), json.loads(form), opened)


class Report:
    """One HTML page of what a sweep found. It opens without a network; a notebook shows it in place.

    >>> dataset = pliant.sweep({"name": "one", "accelerator": "flexref", "workloads": ["alexnet"], "network": False},
    ...                        progress=False)
    >>> "https://" in pliant.report(dataset).page.split("<script")[0]
    False
    """

    def __init__(self, page: str) -> None:
        self.page = page

    def save(self, path: _Path) -> None:
        """Writes the page."""
        _core.write_file(Path(path), self.page)

    def __repr__(self) -> str:
        return f"<pliant.Report {len(self.page) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        import html

        frame = html.escape(self.page, quote=True)
        return f'<iframe srcdoc="{frame}" style="width:100%;height:800px;border:0"></iframe>'


def report(dataset: Dataset | _Path, path: _Path | None = None, *, layers: int = 40000) -> Report:
    """The report of a dataset, also written to ``path`` when one is given. It holds the mappings of at most ``layers``
    layers, designs on a frontier first.

    >>> dataset = pliant.sweep({"name": "one", "accelerator": "flexref", "workloads": ["alexnet"], "network": False},
    ...                        progress=False)
    >>> pliant.report(dataset).page.lstrip()[:15]
    '<!DOCTYPE html>'
    """
    opened = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
    made = Report(_core.report(opened.path, layers))
    if path is not None:
        made.save(path)
    return made
