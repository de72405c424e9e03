# SPDX-License-Identifier: Apache-2.0
"""The best designs of a space, proven without mapping most of them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from pliant import _core
from pliant._answer import Answer
from pliant._dataset import Dataset, Sweep, _Path
from pliant._errors import InputError, SweepInterrupted
from pliant._inputs import Setting, Source, _setting, words_of
from pliant._tables import Table
from pliant._watched import run_watched


class DesignFrontier(Answer):
    """The designs of a space that no other beats, and the proof. As an Arrow table, one row for each of them.

    >>> found = pliant.design({"name": "arrays", "accelerator": "flexref", "workloads": ["alexnet"], "network": False,
    ...                        "vary": {"cols": [16, 32]}, "minimize": ["area_um2", "edp_pj_cycles"]}, progress=False)
    >>> found.certified, sum(found.boxes["designs"]) == found.designs == 2
    (True, True)
    """

    def __init__(self, form: dict[str, Any], dataset: Dataset) -> None:
        #: the rows of the designs that were mapped
        self.dataset = dataset
        self._form = form

    @property
    def goals(self) -> list[str]:
        """What is minimized."""
        return list(self._form["goals"])

    @property
    def certified(self) -> bool:
        """Proven: every other design is beaten, or is better by at most ``gap``."""
        return bool(self._form["certified"])

    @property
    def gap(self) -> float:
        """The share by which a design that is not here may be better; 0 unless it was asked for."""
        return float(self._form["gap"])

    @property
    def designs(self) -> int:
        """In the whole space."""
        return int(self._form["designs"])

    @property
    def opened(self) -> int:
        """Designs that were mapped; bounds decided about all others."""
        return int(self._form["opened"])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The designs on the frontier: parameters, flexibility and the values of the goals."""
        return [
            {**{key: cell for key, cell in one.items() if key != "values"}, **dict(zip(self.goals, one["values"]))}
            for one in self._form["frontier"]
        ]

    def to_dict(self) -> dict[str, Any]:
        """As ``pliant design --json`` prints it."""
        return self._form

    @cached_property
    def table(self) -> Table:
        """One row for each design on the frontier."""
        rows = self.rows
        names = list(rows[0]) if rows else ["design_id", *self.goals]
        texts = [name for name in names if any(isinstance(row[name], str) for row in rows)]
        numbers = [name for name in names if name not in texts and name != "design_id"]
        rows = [{**row, **{name: str(row[name]) for name in texts}} for row in rows]
        return Table.from_rows(rows, whole=["design_id"], texts=texts, numbers=numbers)

    @property
    def boxes(self) -> Table:
        """The proof: boxes of designs with their bounds and what closed them. Together they hold every design once."""
        file = self.dataset.path / "boxes.parquet"
        table = _core.read_table(file)
        if table is None:
            text = f"{file} cannot be read"
            raise InputError([(str(file), 0, 0, "", "cannot be read", "what `pliant.design` wrote", "", text)])
        return Table(table)

    def __len__(self) -> int:
        return len(self._form["frontier"])

    def __iter__(self) -> Any:
        return iter(self.rows)

    def __repr__(self) -> str:
        proof = f"proven within {100 * self.gap:.3g} %" if self.gap > 0 else "proven"
        return f"<pliant.DesignFrontier {len(self)} of {self.designs} designs, {proof}, {self.opened} mapped>"

    def _shown(self) -> list[dict[str, Any]]:
        return self.rows


def design(
    space: Source,
    dataset: _Path | None = None,
    *,
    settings: Mapping[str, Setting] | None = None,
    gap: float = 0,
    network: bool | None = None,
    inferences: int | None = None,
    threads: int = 0,
    shard: tuple[int, int] = (0, 1),
    cache: _Path | None = None,
    update: bool = False,
    progress: bool = True,
) -> DesignFrontier:
    """Finds the designs that no other beats in what the file's ``minimize`` names, and proves it.

    The same call continues an interrupted one. Ctrl-C raises :class:`SweepInterrupted`.

    Args:
        space: a sweep file with ``minimize`` (docs/design-search.md): a shipped name, a path or a dict.
        dataset: folder for the tables, also ``s3://bucket/folder``; without one, a temporary folder that lives as long
            as the answer.
        gap: a share such as 0.01: designs that are better by at most this are not looked for.
        network: False maps every layer by itself, also of workloads that know their graph.
        inferences: weights of networks may stay on chip across so many; figures are of one of them.
        shard: ``(i, n)``: only the searches of every n-th box, kept for the call without it, which proves the whole.
        threads: 0 is all cores; the answer does not depend on it.
        cache: folder of solved tasks, to share them between searches.
        update: replace a dataset that was made from other inputs.
        progress: show a bar.

    Raises:
        ChangedInputs: the dataset was made from other inputs.
        StorageError: the disk refuses; what was searched is kept.

    >>> found = pliant.design({"name": "arrays", "accelerator": "flexref", "workloads": ["alexnet"], "network": False,
    ...                        "vary": {"cols": [16, 32]}, "minimize": ["area_um2"]}, progress=False)
    >>> [row["set_cols"] for row in found]
    [16]
    """
    pairs = [(key, _setting(value)) for key, value in (settings or {}).items()]
    loaded = _core.load_space(*words_of(space), pairs, network, inferences)
    Sweep(loaded).warn_of_room()
    kept = None
    if dataset is None:
        kept = tempfile.TemporaryDirectory(prefix="pliant-", ignore_cleanup_errors=True)
        dataset = Path(kept.name) / loaded.name
    run = _core.DesignRun(loaded, dataset, cache or "", threads, gap, shard, update)
    form, _ = run_watched(loaded.name, run, "designs", progress)
    _core.make_folder(dataset)  # a run that was stopped at once has written nothing
    found = Dataset(dataset, kept)
    if form["interrupted"]:
        done = f"{form['decided']} of {form['designs']} designs decided, in {dataset}"
        raise SweepInterrupted(f"{done}; the same call continues", found)
    return DesignFrontier(form, found)
