# SPDX-License-Identifier: Apache-2.0
"""Pictures as Vega-Lite specifications: a frontier, a breakdown, a mapping.

A :class:`Chart` renders by itself in JupyterLab, VS Code and other notebooks that know Vega-Lite. Where altair is
installed, ``chart.altair()`` is one of its charts, to change or to save.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant._dataset import DatasetFrontier
    from pliant._results import Cost, LayerFrontier, Mapping

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_MIME = "application/vnd.vegalite.v5+json"
_TENSORS = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d", "#bab0ac"]


class Chart:
    """A Vega-Lite specification with its data in it.

    >>> pliant.charts.Chart({"title": "one point", "data": {"values": [{"x": 1}]}, "mark": "point"})
    <pliant.charts.Chart one point>
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = {"$schema": _SCHEMA, **spec}

    def to_dict(self) -> dict[str, Any]:
        return self.spec

    def altair(self) -> Any:
        """The same as a chart of altair, which must be installed."""
        import altair

        return altair.Chart.from_dict(self.spec)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ``.vl.json``, which opens in any Vega editor; other endings (``.png``, ``.svg``, ``.html``) need
        altair and its vl-convert."""
        if str(path).endswith(".json"):
            Path(path).write_text(json.dumps(self.spec, indent=1), encoding="utf-8")
        else:
            self.altair().save(os.fspath(path))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {_MIME: self.spec, "text/plain": repr(self)}

    def __repr__(self) -> str:
        title = self.spec.get("title", "")
        return f"<pliant.charts.Chart {title if isinstance(title, str) else title.get('text', '')}>"


def breakdown(cost: Cost) -> Chart:
    """Where the energy of a mapping goes: a bar for each level, a colour for each tensor.

    >>> pliant.charts.breakdown(pliant.map("gemm:M=8,N=8,K=8", "eyeriss")).spec["mark"]["type"]
    'bar'
    """
    rows = [
        {"level": row["level"], "tensor": row["tensor"], "energy_pj": row["energy_pj"]} for row in cost.breakdown.rows()
    ]
    levels = list(dict.fromkeys(row["level"] for row in rows))
    tensors = list(dict.fromkeys(row["tensor"] for row in rows))
    return Chart(
        {
            "title": f"{cost.layer} on {cost.accelerator}: {cost.energy_pj:.4g} pJ",
            "data": {"values": rows},
            "width": 420,
            "height": {"step": 30},
            "mark": {"type": "bar", "tooltip": True},
            "encoding": {
                "y": {"field": "level", "type": "nominal", "sort": levels, "title": None},
                "x": {"field": "energy_pj", "type": "quantitative", "title": "energy (pJ)", "axis": {"format": ".3~s"}},
                "color": {
                    "field": "tensor",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": tensors, "range": _TENSORS[: len(tensors)]},
                },
            },
        }
    )


def _loops(form: dict[str, Any]) -> list[dict[str, Any]]:
    """Every loop of a mapping from the outside in, with the level that runs it."""
    loops = []
    for level in form["levels"]:
        for kind in ("temporal", "rows", "cols"):
            for loop in level.get(kind, []):
                for dim, bound in loop.items():
                    loops.append({"level": level["level"], "kind": kind, "dim": dim, "bound": bound})
    return loops


def mapping(shown: Mapping) -> Chart:
    """A loop nest: one bar for each loop, outermost at the top, as long as its bound is large.

    >>> shown = pliant.charts.mapping(pliant.map("gemm:M=2,N=1,K=1", "eyeriss").mapping)
    >>> [loop["dim"] for loop in shown.spec["data"]["values"] if loop["bound"] > 1]
    ['M']
    """
    rows = []
    for depth, loop in enumerate(_loops(shown.to_dict())):
        words = "for" if loop["kind"] == "temporal" else f"parallel over {loop['kind']}"
        rows.append({**loop, "depth": depth, "text": f"{words} {loop['dim']} in {loop['bound']}"})
    levels = list(dict.fromkeys(row["level"] for row in rows))
    return Chart(
        {
            "title": repr(shown)[len("<pliant.") : -1],
            "data": {"values": rows},
            "width": 420,
            "height": {"step": 22},
            "encoding": {"y": {"field": "depth", "type": "ordinal", "axis": None}},
            "layer": [
                {
                    "mark": {"type": "bar", "tooltip": True, "opacity": 0.6},
                    "encoding": {
                        "x": {
                            "field": "bound",
                            "type": "quantitative",
                            "scale": {"type": "symlog"},
                            "title": "iterations",
                        },
                        "color": {"field": "level", "type": "nominal", "sort": levels, "title": "level"},
                    },
                },
                {
                    "mark": {"type": "text", "align": "left", "dx": 4},
                    "encoding": {"x": {"datum": 0}, "text": {"field": "text"}},
                },
            ],
        }
    )


def _axis(name: str) -> dict[str, Any]:
    scale = {"type": "log", "nice": False, "padding": 12}
    return {"field": name, "type": "quantitative", "scale": scale, "axis": {"format": ".3~s"}}


def layer_frontier(found: LayerFrontier) -> Chart:
    """Runtime against energy of the mappings that none beats in both.

    >>> found = pliant.map_frontier("gemm:M=64,N=64,K=64", "eyeriss")
    >>> len(pliant.charts.layer_frontier(found).spec["data"]["values"]) == len(found)
    True
    """
    rows = found.table.rows()
    return Chart(
        {
            "title": f"{found.points[0].layer} on {found.points[0].accelerator}" if found.points else "no mapping",
            "data": {"values": rows},
            "width": 420,
            "height": 300,
            "mark": {"type": "line", "point": True, "interpolate": "step-after", "tooltip": {"content": "data"}},
            "encoding": {"x": _axis("runtime_cycles"), "y": _axis("energy_pj")},
        }
    )


def frontier(found: DatasetFrontier) -> Chart:
    """The first two columns of a frontier, among all designs of its dataset; one picture for each group.

    >>> dataset = pliant.sweep({"name": "two", "accelerator": "flexref", "workloads": ["alexnet"], "network": False,
    ...                         "vary": {"cols": [16, 32]}}, progress=False)
    >>> len(pliant.charts.frontier(dataset.frontier()).spec["data"]["values"])  # all designs
    2
    """
    names = [*found.minimize, *found.maximize]
    if len(names) < 2:
        raise ValueError("a picture needs two columns")
    x, y = names[:2]
    everything = found.dataset.designs
    labels = [name for name in ("workload", "flexibility", "design_id") if name in everything.columns]
    best = {tuple(row[name] for name in [*labels, x, y]) for row in found.table.rows()}
    rows = []
    for row in everything.select(*dict.fromkeys([*labels, x, y])).rows():
        if row[x] is not None and row[y] is not None:
            rows.append({**row, "frontier": tuple(row[name] for name in [*labels, x, y]) in best})
    point = {"x": _axis(x), "y": _axis(y)}
    spec: dict[str, Any] = {
        "width": 420,
        "height": 300,
        "layer": [
            {
                "transform": [{"filter": "!datum.frontier"}],
                "mark": {"type": "point", "filled": True, "opacity": 0.3, "tooltip": {"content": "data"}},
                "encoding": point,
            },
            {
                "transform": [{"filter": "datum.frontier"}],
                "mark": {
                    "type": "line",
                    "color": "#1b1f24",
                    "interpolate": "step-after",
                    "point": {"size": 80, "filled": True, "color": "#f58518"},
                    "tooltip": {"content": "data"},
                },
                "encoding": point,
            },
        ],
    }
    title = f"{y} against {x}"
    if "workload" not in labels:
        return Chart({"title": title, "data": {"values": rows}, **spec})
    facet = {"field": "workload", "type": "nominal", "title": None}
    resolve = {"scale": {"x": "independent", "y": "independent"}}
    return Chart(
        {"title": title, "data": {"values": rows}, "facet": facet, "columns": 2, "spec": spec, "resolve": resolve}
    )
