# SPDX-License-Identifier: Apache-2.0
"""How flexible an accelerator is, and how many mappings there are."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from pliant import _core
from pliant._answer import Answer
from pliant._inputs import Accelerator, Layer, Source, Workload, load_accelerator, load_layer, load_workload
from pliant._tables import Table


class Flexion(Answer):
    """H-F and W-F of one or more designs, axis by axis. As an Arrow table, one row for each design and measure.

    >>> found = pliant.flexion("flexref", layer="gemm:M=8,N=8,K=8", flexibility="1111", tile_tuples=False)
    >>> {row["axis"] for row in found.table.rows()} >= {"O", "P", "S"}  # loop orders, parallel dims, shapes
    True
    """

    def __init__(self, form: dict[str, Any]) -> None:
        self._form = form

    @property
    def accelerator(self) -> str:
        return str(self._form["accelerator"])

    @property
    def designs(self) -> list[dict[str, Any]]:
        """Each with ``flexibility``, ``class``, ``layers`` and ``mean``."""
        return list(self._form["designs"])

    def to_dict(self) -> dict[str, Any]:
        """As ``pliant flexion --json`` prints it."""
        return self._form

    @cached_property
    def table(self) -> Table:
        """The means over the layers."""
        rows = []
        for design in self.designs:
            for axis in design["mean"]["axes"]:
                rows.append({"flexibility": design["flexibility"], "class": design["class"], **axis})
        return Table.from_rows(rows, texts=["flexibility", "class", "axis", "measure"], numbers=["h_f", "w_f"])

    def __str__(self) -> str:
        lines = [f"{'flexibility':<24} axis {'measure':<12} {'H-F':>10} {'W-F':>10}"]
        for row in self.table.rows():
            numbers = f"{row['h_f']:>10.4g} {row['w_f']:>10.4g}"
            lines.append(f"{row['flexibility']:<24} {row['axis']:<4} {row['measure']:<12} {numbers}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<pliant.Flexion of {self.accelerator}, {len(self.designs)} designs>"


def flexion(
    accelerator: Source | Accelerator,
    workload: Source | Workload | None = None,
    *,
    layer: Source | Layer | None = None,
    flexibility: str | None = None,
    tile_tuples: bool = True,
) -> Flexion:
    """Hardware and workload flexion, H-F and W-F, of an accelerator on a workload or on one layer.

    Args:
        flexibility: without one, an accelerator with a baseline is compared with itself: InFlex, PartFlex and FullFlex
            on each axis.
        tile_tuples: count the tile axis over tuples too, which takes most of the time.

    >>> rigid = pliant.flexion("flexref", layer="gemm:M=8,N=8,K=8", flexibility="0000", tile_tuples=False)
    >>> all(row["h_f"] < 1 for row in rigid.table.rows())
    True
    """
    chosen = load_accelerator(accelerator, flexibility=flexibility)
    network = None if workload is None else load_workload(workload)
    one = None if layer is None else load_layer(layer, network)
    answer = _core.flexion(
        chosen._core, None if network is None else network._core, None if one is None else one._core, tile_tuples
    )
    return Flexion(json.loads(answer))


class MapSpaceSize(int):
    """A number of mappings. An ``int`` of any size, with what it is made of in ``to_dict()``.

    >>> size = pliant.count("gemm:M=64,N=64,K=64", "eyeriss")
    >>> size > 10**6 and int(size.to_dict()["count"]) == size
    True
    """

    _form: dict[str, Any]

    @staticmethod
    def _of(form: dict[str, Any]) -> MapSpaceSize:
        size = MapSpaceSize(form["count"])
        size._form = form
        return size

    def to_dict(self) -> dict[str, Any]:
        """As ``pliant count --json`` prints it: factor chains by dim, orders and bypasses by memory, ..."""
        return self._form

    def __reduce__(self) -> tuple[Any, ...]:
        return MapSpaceSize._of, (self._form,)


def count(
    layer: Source | Layer,
    accelerator: Source | Accelerator | None = None,
    *,
    workload: Source | Workload | None = None,
    flexibility: str | None = None,
    conventions: str | None = None,
    factorization: str = "pfm",
    mode: str = "map-space",
) -> MapSpaceSize:
    """How many mappings there are, exactly.

    Args:
        mode: ``map-space``: factor chains x loop orders x bypasses, before capacities and the joint limits of fanouts;
            ``legal``: every limit applied; ``enumerate``: the same by listing, for small spaces; ``quickflow``:
            QuickFlow's formula; ``orders``: loop orders of one memory that differ in reuse (needs no accelerator).

    >>> pliant.count("gemm:M=64,N=64,K=64", mode="orders")  # of six: the innermost loop decides
    3
    """
    asked = load_layer(layer, workload)
    chosen = None
    if accelerator is not None:
        chosen = load_accelerator(accelerator, flexibility=flexibility, conventions=conventions)._core
    return MapSpaceSize._of(json.loads(_core.count(asked._core, chosen, factorization, mode)))
