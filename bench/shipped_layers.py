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

import json
import random
import subprocess
import time

from natural_designs import ROOT, keep, known_rows, parser_of, report


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


def main():
    parser = parser_of(__doc__, "ruby", "pair")
    parser.add_argument("--pairs", type=int, default=300)
    options = parser.parse_args()

    rows = known_rows(options.csv)
    done, started = {(row["accelerator"], row["workload"], row["layer"]) for row in rows}, time.monotonic()
    for pair in draw(options):
        if pair in done or time.monotonic() - started > options.stop_after:
            continue
        row = solve(options, *pair)
        keep(options.csv, [row])
        rows.append(row)
    report(
        rows,
        f"{len(rows)} pairs (seed {options.seed}), {options.factorization}, {options.objective}",
        lambda row: f"{row['accelerator']}: {row['ended']}",
        most=len(rows),
    )


if __name__ == "__main__":
    main()
