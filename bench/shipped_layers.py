#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a search takes that is given no limit: layers of the shipped workloads on the shipped accelerators.

    bench/shipped_layers.py [--pliant build/release/bin/pliant] [--pairs 300] [--seed 1] [--factorization ruby]
                            [--csv FILE] [--stop-after SECONDS]

Pairs of an accelerator and a layer are drawn with the given seed, every accelerator as often as the others, and each
layer from all distinct layers of all workloads. Each is mapped with one thread and no option that ends the search. The
script prints the median, the 90th and 99th percentile, the longest, and every layer that took over a second or was not
proven.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import time

from natural_designs import ROOT, keep, known_rows, percentile


def distinct_layers():
    """(workload, layer): the first of each shape."""
    seen, found = set(), []
    for file in sorted((ROOT / "configs/workloads").glob("*.csv")):
        rows = [line.strip().split(",") for line in file.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
        header = rows[0]
        for row in rows[1:]:
            shape = tuple((key, value) for key, value in zip(header, row) if key not in ("name", "count"))
            if shape not in seen:
                seen.add(shape)
                found.append((file.stem, row[0]))
    return found


def draw(options):
    """Distinct pairs, the same for a seed."""
    generator = random.Random(options.seed)
    accelerators = sorted(file.stem for file in (ROOT / "configs/accelerators").glob("*.yaml"))
    layers, pairs = distinct_layers(), []
    while len(pairs) < options.pairs:
        pair = (accelerators[len(pairs) % len(accelerators)], *generator.choice(layers))
        if pair not in pairs:
            pairs.append(pair)
    return pairs


def solve(options, accelerator, workload, layer):
    command = [options.pliant, "map", "--json", "--threads", "1", "--accelerator", accelerator]
    command += ["--workload", workload, "--layer", layer]
    command += ["--factorization", options.factorization, "--objective", options.objective]
    started = time.monotonic()
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if run.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}: {run.stderr}")
    answer = json.loads(run.stdout)
    row = {"accelerator": accelerator, "workload": workload, "layer": layer, "feasible": run.returncode == 0}
    if run.returncode == 3:
        return row | {"seconds": time.monotonic() - started, "certified": True, "gap": 0, "ended": "infeasible"}
    return row | {
        "seconds": answer["solve_cpu_seconds"],
        "certified": answer["certified"],
        "gap": answer["gap"],
        "ended": answer["ended_by"],
    }


def report(rows, options):
    times = sorted(row["seconds"] for row in rows)
    open_rows = [row for row in rows if not row["certified"]]
    print(
        f"{len(rows)} pairs (seed {options.seed}), {options.factorization}, {options.objective}: "
        f"{sum(times):.1f} CPU s; median {percentile(times, .5) * 1e3:.2f} ms, "
        f"p90 {percentile(times, .9) * 1e3:.0f} ms, p99 {percentile(times, .99):.2f} s, longest {times[-1]:.2f} s, "
        f"{len(open_rows)} not proven ({len(open_rows) / len(rows):.1%})"
        + (f", largest gap {max(row['gap'] for row in open_rows):.2%}" if open_rows else "")
    )
    for row in sorted(rows, key=lambda row: (row["certified"], -row["seconds"])):
        if row["seconds"] > 1 or not row["certified"]:
            print(
                f"  {row['seconds']:7.2f} s  gap {row['gap']:.3%}  {row['workload']} {row['layer']} on "
                f"{row['accelerator']}: {row['ended']}"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pliant", default=str(ROOT / "build/release/bin/pliant"))
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--factorization", default="ruby")
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--csv", type=pathlib.Path, help="every pair; those in it are not run again")
    parser.add_argument("--stop-after", type=float, default=math.inf, help="begin no pair after so many seconds")
    options = parser.parse_args()

    rows = known_rows(options.csv)
    done, started = {(row["accelerator"], row["workload"], row["layer"]) for row in rows}, time.monotonic()
    for pair in draw(options):
        if pair in done or time.monotonic() - started > options.stop_after:
            continue
        row = solve(options, *pair)
        keep(options.csv, [row])
        rows.append(row)
    report(rows, options)


if __name__ == "__main__":
    main()
