#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well `pliant map --network --budget` keeps its budget: random pairs of shipped accelerators and workloads under
every rule of factorization, with and without --inferences and --deadline. Prints a line for each and the worst."""

import argparse
import json
import random
import resource
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RULES = ["pfm", "ruby-s", "ruby-t", "ruby", "padding"]


def names(folder):
    return sorted(file.stem for file in (ROOT / "configs" / folder).glob("*.yaml"))


def ran(command):
    """Seconds, CPU seconds, exit code and what was printed."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu, done.returncode, done.stdout


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cases", type=int, default=30)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--budget", type=float, default=1)
    options.add_argument("--pliant", default=str(ROOT / "build" / "release" / "bin" / "pliant"))
    asked = options.parse_args()
    draw = random.Random(asked.seed)
    accelerators, workloads = names("accelerators"), names("workloads")
    worst = worst_cpu = unbounded = kept = 0
    while kept < asked.cases:
        command = [asked.pliant, "map", "--accelerator", draw.choice(accelerators),
                   "--workload", draw.choice(workloads), "--network", "--factorization", draw.choice(RULES),
                   "--budget", f"{asked.budget}s", "--threads", "1"]
        extra = draw.choice([[], ["--inferences", "10"], ["--objective", "energy", "--deadline", "1e9"]])
        seconds, cpu, code, printed = ran(command + extra + ["--json"])
        if code == 2:
            continue  # refused: not every workload is one for every accelerator
        kept += 1
        network = json.loads(printed)["network"] if code == 0 else {}
        unbounded += code == 0 and network["lower_bound"] <= 0
        worst, worst_cpu = max(worst, seconds / asked.budget), max(worst_cpu, cpu / asked.budget)
        said = f"{network['value']:.4g} of {network['lower_bound']:.4g}" if code == 0 else f"exit {code}"
        print(f"{seconds:6.2f} s {cpu:6.2f} CPU s  {said:24}", " ".join((command + extra)[2:]), flush=True)
    print(f"worst: {worst:.2f} of the budget, {worst_cpu:.2f} by CPU seconds; without a bound: {unbounded} of {kept}")


if __name__ == "__main__":
    main()
