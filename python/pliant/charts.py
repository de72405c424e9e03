# SPDX-License-Identifier: Apache-2.0
"""Pictures as Vega-Lite specifications: a frontier, a breakdown, a mapping. The specifications are those of the report.

A :class:`Chart` renders by itself in JupyterLab, VS Code and other notebooks that know Vega-Lite. Where altair is
installed, ``chart.altair()`` is one of its charts, to change or to save.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant import _core

if TYPE_CHECKING:
    from pliant._dataset import DatasetFrontier
    from pliant._results import Cost, LayerFrontier, Mapping

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_MIME = "application/vnd.vegalite.v5+json"
_SIZE = {"width": 420, "height": 300}


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


def _chart(name: str, title: str, rows: list[dict[str, Any]], **values: Any) -> Chart:
    """A specification of the report (dse/report/page/charts) with these values and points in it."""
    spec: dict[str, Any] = json.loads(_core.chart(name, title, json.dumps(values), json.dumps(rows)))
    spec["config"]["mark"] = {"tooltip": {"content": "data"}}
    return Chart(spec)


def breakdown(cost: Cost) -> Chart:
    """Where the energy of a mapping goes: a bar for each level, a colour for each tensor.

    >>> pliant.charts.breakdown(pliant.map("gemm:M=8,N=8,K=8", "eyeriss")).spec["mark"]["type"]
    'bar'
    """
    parts = [(row["level"], row["tensor"], row["energy_pj"]) for row in cost.breakdown.rows()]
    return Chart(json.loads(_core.energy_chart(f"{cost.layer} on {cost.accelerator}: {cost.energy_pj:.4g} pJ", parts)))


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
    return _chart("loops", repr(shown)[len("<pliant.") : -1], rows, width=_SIZE["width"], levels=levels)


def _points(title: str, names: tuple[str, str], rows: list[dict[str, Any]]) -> Chart:
    """Two columns against each other; `frontier` and `knee` of a row say how it is drawn, `label` names a knee."""
    values: dict[str, Any] = dict(_SIZE)
    for axis, name in zip("xy", names):
        shown = _core.metric(name)  # title, scale of the values and format, as the report has them
        scale = {"type": "log", "nice": False, "padding": 14}
        values.update({f"{axis}_title": shown[0], f"{axis}_format": shown[2], f"{axis}_scale": scale})
        rows = [{**row, axis: row[name] * shown[1]} for row in rows if row[name] is not None]
    return _chart("knee", title, rows, **values)


def layer_frontier(found: LayerFrontier) -> Chart:
    """Runtime against energy of the mappings that none beats in both.

    >>> found = pliant.map_frontier("gemm:M=64,N=64,K=64", "eyeriss")
    >>> len(pliant.charts.layer_frontier(found).spec["data"]["values"]) == len(found)
    True
    """
    title = f"{found.points[0].layer} on {found.points[0].accelerator}" if found.points else "no mapping"
    rows = [{**row, "frontier": True, "knee": False} for row in found.table.rows()]
    return _points(title, ("runtime_cycles", "energy_pj"), rows)


def frontier(found: DatasetFrontier) -> Chart:
    """The first two columns of a frontier, among all designs of its dataset; one picture for each workload.

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
    wanted = list(dict.fromkeys([*labels, x, y]))
    best = {tuple(row[name] for name in wanted): row["knee"] for row in found.table.rows()}
    rows = []
    for row in everything.select(*wanted).rows():
        place = tuple(row.values())
        label = str(row.get("flexibility", row.get("design_id", "")))
        rows.append({**row, "frontier": place in best, "knee": best.get(place, False), "label": label})
    chart = _points(f"{y} against {x}", (x, y), rows)
    if len({row.get("workload") for row in rows}) < 2:
        return chart
    inner = {name: chart.spec.pop(name) for name in ("width", "height", "encoding", "layer")}
    facet = {"field": "workload", "type": "nominal", "title": None}
    resolve = {"scale": {"x": "independent", "y": "independent"}}
    return Chart({**chart.spec, "facet": facet, "columns": 2, "spec": inner, "resolve": resolve})
