#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a search has found and how long it took when its budget is short, on accelerators of your choice.

    bench/anytime.py --pliant build/release/bin/pliant --budgets 0.2s,1s chip.yaml ...

Every row is one `pliant map` of a layer that takes long on large chips: the value, the gap, and the seconds on the wall
and of the processor. A budget is kept where both are at most 10 % and 50 ms above it.
"""
import argparse
import json
import resource
import subprocess
import time

LAYERS = [
    ("gemm:M=8192,N=8192,K=8192", "ruby-s", "runtime"),
    ("gemm:M=2048,N=50257,K=768", "ruby-s", "edp"),
    ("gemm:M=4096,N=4096,K=4096,B=32", "ruby", "energy"),
    ("conv:M=512,C=512,P=56,Q=56,R=3,S=3,B=32", "ruby-s", "edp"),
    ("conv:M=256,C=256,P=28,Q=28,R=3,S=3,B=64,stride=2", "pfm", "runtime"),
    ("conv:M=256,C=64,P=56,Q=56,R=1,S=1", "pfm", "edp"),
]


def run(pliant: str, accelerator: str, layer: str, factorization: str, objective: str, budget: str) -> str:
    command = [pliant, "map", "--accelerator", accelerator, "--layer", layer, "--factorization", factorization,
               "--objective", objective, "--budget", budget, "--json"]
    cpu, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime - cpu.ru_utime - cpu.ru_stime
    times = f"{time.monotonic() - wall:7.2f} {seconds:7.2f}"
    if done.returncode != 0:
        return f"{'nothing':>12} {'':>8} {times}"
    answer = json.loads(done.stdout)
    return f"{answer['value']:12.5g} {100 * answer['gap']:7.1f}% {times}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pliant", default="build/release/bin/pliant")
    parser.add_argument("--budgets", default="0.2s,1s")
    parser.add_argument("accelerators", nargs="+")
    options = parser.parse_args()
    print(f"{'accelerator':16} {'layer':50} {'factors':7} {'goal':8} {'budget':6} {'value':>12} {'gap':>8} "
          f"{'wall s':>7} {'CPU s':>7}")
    for accelerator in options.accelerators:
        for layer, factorization, objective in LAYERS:
            for budget in options.budgets.split(","):
                name = accelerator.rsplit("/", 1)[-1].removesuffix(".yaml")
                print(f"{name:16} {layer:50} {factorization:7} {objective:8} {budget:6} "
                      f"{run(options.pliant, accelerator, layer, factorization, objective, budget)}", flush=True)


if __name__ == "__main__":
    main()
