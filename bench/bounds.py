#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each bound of the exact mapper is worth: layers that are not proven without it, and the time that it saves.

    bench/bounds.py [ROW[,ROW...] ...] [--pliant build/ledger/bin/pliant] [--pairs 24]
                    [--factorizations pfm,ruby-s,ruby] [--budget 2s] [--csv FILE]
    bench/bounds.py [ROW[,ROW...] ...] --signature 250

The program must be built with the preset `ledger`, in which PLIANT_WITHOUT=ROW switches a row of the ledger off
(docs/dev/proof). Layers of the shipped workloads on the shipped accelerators and on the chips of bench/chips are mapped
with all bounds, then without each. Without a ROW all rows are switched off, one after the other; rows with a comma
between them together. A row that closes nothing and saves no time is not worth its lines.

--signature N takes the first N tasks of exact_signature instead (built with -DPLIANT_BENCH=ON). Their searches end by a
clock that counts, so what is not proven does not depend on the machine or on what else it does.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import re
import subprocess
import sys

from natural_designs import ROOT
from shipped_layers import distinct_layers


def ledger():
    """The rows, as the pages print them."""
    rows = []
    for page in (ROOT / "docs/dev/proof").glob("L*.md"):
        rows += re.findall(r"^\| (L[\d.]+) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    return sorted(rows, key=lambda row: [int(part) for part in row[1:].split(".")])


def tasks(options):
    """Arguments of `pliant map`, the same for a seed: every accelerator and chip in turn."""
    generator = random.Random(options.seed)
    shipped = [file.stem for file in sorted((ROOT / "configs/accelerators").glob("*.yaml"))]
    chips = [str(file.relative_to(ROOT)) for file in sorted((ROOT / "bench/chips").glob("*.yaml"))]
    accelerators, layers, found = shipped + chips, distinct_layers(), []
    generator.shuffle(accelerators)
    for i in range(options.pairs):
        workload, layer = generator.choice(layers)
        for factorization in options.factorizations.split(","):
            found.append(
                ["--accelerator", accelerators[i % len(accelerators)], "--workload", workload, "--layer", layer]
                + ["--factorization", factorization]
            )
    return found


def solve(options, arguments, without):
    environment = {**os.environ, **({"PLIANT_WITHOUT": without} if without else {})}
    command = [options.pliant, "map", "--json", "--threads", "1", "--budget", options.budget, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    if run.returncode == 3:
        return {"certified": True, "seconds": 0.0, "evaluations": 0, "gap": 0.0}
    if run.returncode != 0:
        raise SystemExit(f"{without or 'all bounds'}: {' '.join(command)}: {run.stderr}")
    answer = json.loads(run.stdout)
    return {
        "certified": answer["certified"],
        "seconds": answer["solve_cpu_seconds"],
        "evaluations": answer["evaluations"],
        "gap": answer["gap"],
    }


def solve_signature(options, without):
    """Of the first tasks of the signature, whose own lines say what is asked."""
    environment = {**os.environ, **({"PLIANT_WITHOUT": without} if without else {})}
    command = [str(pathlib.Path(options.pliant).with_name("exact_signature")), "--effort"]
    answers = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as run:
        for line in run.stdout:
            looks, seconds, value, bound = re.match(
                r"(\d+) looks, (\S+) ms: .* value (\S+) bound (\S+) priced", line
            ).groups()
            gap = 0.0 if value == bound else 1 - float(bound) / float(value)
            answers.append(
                {"certified": gap == 0, "seconds": float(seconds) / 1e3, "evaluations": int(looks), "gap": gap}
            )
            if len(answers) == options.signature:
                run.kill()
    return answers


def solve_all(options, all_tasks, without):
    if options.signature:
        return solve_signature(options, without)
    return [solve(options, task, without) for task in all_tasks]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--pliant", default="build/ledger/bin/pliant")
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--factorizations", default="pfm,ruby-s,ruby")
    parser.add_argument("--budget", default="2s")
    parser.add_argument("--csv")
    parser.add_argument("--signature", type=int, metavar="N")
    options = parser.parse_args()

    all_tasks = [] if options.signature else tasks(options)
    known = solve_all(options, all_tasks, None)
    seconds = sum(answer["seconds"] for answer in known)
    print(f"all bounds: {sum(not a['certified'] for a in known)} of {len(known)} open, {seconds:.2f} CPU s")
    table = []
    for row in options.rows or ledger():
        answers = solve_all(options, all_tasks, row)
        lost = sum(a["certified"] and not b["certified"] for a, b in zip(known, answers))
        wider = sum(b["gap"] > a["gap"] + 1e-6 for a, b in zip(known, answers))
        time = sum(answer["seconds"] for answer in answers) / seconds
        priced = sum(a["evaluations"] for a in answers) / max(1, sum(a["evaluations"] for a in known))
        table.append({"row": row, "lost": lost, "wider": wider, "time": f"{time:.3f}", "priced": f"{priced:.3f}"})
        work = "looks" if options.signature else "prices"
        print(f"{row}: {lost} not proven, {wider} with a wider gap, {time:.2f} of the time, {priced:.2f} of the {work}")
        sys.stdout.flush()
    if options.csv:
        with open(options.csv, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["row", "lost", "wider", "time", "priced"])
            writer.writeheader()
            writer.writerows(table)


if __name__ == "__main__":
    main()
