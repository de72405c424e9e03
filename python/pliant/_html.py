# SPDX-License-Identifier: Apache-2.0
"""How results look in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant._results import Cost


def cell_text(value: Any) -> str:
    """For people: six digits; lists and structs are left to data frames."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, dict)):
        return "..."
    return str(value)


def rows_html(rows: list[dict[str, Any]], caption: str = "") -> str:
    if not rows:
        return f"<p>{html.escape(caption)}</p>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows[0])
    lines = []
    for row in rows:
        cells = "".join(
            f"<td style='text-align:{'left' if isinstance(value, str) else 'right'}'>"
            f"{html.escape(cell_text(value))}</td>"
            for value in row.values()
        )
        lines.append(f"<tr>{cells}</tr>")
    return (
        f"<table><caption style='text-align:left'>{html.escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _bar(share: float) -> str:
    return f"<div style='background:#4c78a8;height:0.9em;width:{max(0.0, min(1.0, share)) * 12:.2f}em'></div>"


def _proof(cost: Any) -> str:
    if not hasattr(cost, "certified"):
        return ""
    if cost.certified:
        return f"certified optimum: {cost.objective} {cost.value:.7g}, proven over {cost.mappings_covered:.4g} mappings"
    if cost.lower_bound > 0:
        return f"best found: {cost.objective} {cost.value:.7g}, lower bound {cost.lower_bound:.7g}"
    return f"best found: {cost.objective} {cost.value:.7g}, nothing proven about it"


def cost_html(cost: Cost) -> str:
    """Totals, where the energy goes, and the loop nest."""
    if cost.mapping is None:
        return f"<pre>{html.escape(str(cost))}</pre>"
    totals = (
        f"{cost.energy_pj:.6g} pJ, {cost.runtime_cycles:.0f} cycles (bound by {cost.bound_by}), "
        f"EDP {cost.edp_pj_cycles:.6g}, utilization {100 * cost.utilization:.1f} %"
    )
    lines = []
    for row in cost.breakdown.rows():
        share = row["energy_pj"] / cost.energy_pj if cost.energy_pj else 0
        lines.append(
            f"<tr><td style='text-align:left'>{html.escape(row['level'])}</td>"
            f"<td style='text-align:left'>{html.escape(row['tensor'])}</td>"
            f"<td>{row['energy_pj']:.5g} pJ</td><td>{100 * share:.1f} %</td>"
            f"<td style='text-align:left'>{_bar(share)}</td></tr>"
        )
    return (
        f"<div><b>{html.escape(cost.layer)} on {html.escape(cost.accelerator)}</b><br>"
        f"{html.escape(_proof(cost))}<br>{html.escape(totals)}"
        f"<table><tbody>{''.join(lines)}</tbody></table>"
        f"<pre style='line-height:1.25'>{html.escape(str(cost.mapping))}</pre></div>"
    )
