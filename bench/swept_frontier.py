#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the frontier that a design search proved that of the full sweep?

    bench/swept_frontier.py SWEEP DESIGN

SWEEP and DESIGN are folders that `pliant sweep` and `pliant design` wrote for the same designs. Goals are area and EDP,
of several workloads the geometric mean. The exit code is 1 when the values differ by more than 1e-9.
"""

import collections
import math
import sys

import pyarrow.parquet


def points(folder):
    """(area, EDP) by design."""
    columns = ["design_id", "area_um2", "edp_pj_cycles"]
    rows = pyarrow.parquet.read_table(f"{folder}/designs", columns=columns).to_pylist()
    areas, edps = {}, collections.defaultdict(list)
    for row in rows:
        areas[row["design_id"]] = row["area_um2"]
        edps[row["design_id"]].append(row["edp_pj_cycles"])
    return {
        design: (areas[design], math.exp(sum(math.log(edp) for edp in all_edps) / len(all_edps)))
        for design, all_edps in edps.items()
        if all(edp is not None for edp in all_edps)
    }


def frontier(by_design):
    """Points that no other beats, ascending; of equal ones one."""
    best, kept = math.inf, []
    for area, edp in sorted(by_design.values()):
        if edp < best * (1 - 1e-9):
            kept.append((area, edp))
            best = edp
    return kept


def main():
    swept, searched = (points(folder) for folder in sys.argv[1:3])
    truth, proven = frontier(swept), frontier(searched)
    print(f"sweep: {len(swept)} designs mapped, {len(truth)} on the frontier")
    print(f"design search: {len(searched)} designs mapped, {len(proven)} on the frontier")
    same = len(truth) == len(proven) and all(
        math.isclose(a, b, rel_tol=1e-9) for one, other in zip(truth, proven) for a, b in zip(one, other)
    )
    print("the same values" if same else "not the same")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
