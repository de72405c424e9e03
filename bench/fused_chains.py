#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long fused chains take to be proven: the 22 of tests/data/accelforge_fused_chains.csv, beside the tool's optima.

    bench/fused_chains.py build/ci/bin/pliant [ROUNDS]

CPU time of `pliant map --fusion tiles --json`, the best of some rounds: the start of the program, the optimum with
tiles, and beside it those with whole tensors and with every tensor outside.
"""

import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

CHAINS = pathlib.Path(__file__).parent.parent / "tests/data/accelforge_fused_chains.csv"


def machine(buffer: str, bandwidth: str) -> str:
    limit = f", bandwidth: {bandwidth} words/cycle" if bandwidth else ""
    return f"""pliant: accelerator
name: two_memories
word_bits: 8
conventions: physical
levels:
  - {{memory: Main, capacity: unbounded, read_pj: 800, write_pj: 800{limit}}}
  - {{memory: Buffer, capacity: {buffer}, read_pj: 8, write_pj: 8}}
  - {{compute: MAC, mac_pj: 1}}
"""


def chain(kind: str, sizes: list[int]) -> str:
    if kind == "gemms":
        m, *n = sizes
        layers = [f"gemm: {{M: {m}, N: {n[i + 1]}, K: {n[i]}}}" for i in range(len(n) - 1)]
    else:
        p, n, t = sizes
        layers = [
            f"conv: {{M: {t}, C: {n}, P: {p + 2}, Q: {p + 2}, R: 1, S: 1}}",
            f"conv: {{M: {t}, C: {t}, P: {p}, Q: {p}, R: 3, S: 3, groups: {t}}}",
            f"conv: {{M: {n}, C: {t}, P: {p}, Q: {p}, R: 1, S: 1}}",
        ]
    text = "pliant: workload\nname: chain\nlayers:\n"
    for i, layer in enumerate(layers):
        text += f"  - {{layer: l{i}, {layer}{f', from: l{i - 1}' if i else ''}}}\n"
    return text


def main() -> None:
    pliant = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    lines = [line for line in CHAINS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names = lines[0].split(",")
    times = []
    print("| chain | words | tool | ours | CPU ms |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for line in lines[1:]:
            case = dict(zip(names, line.split(",")))
            accelerator, workload = (pathlib.Path(folder) / name for name in ("machine.yaml", "chain.yaml"))
            accelerator.write_text(machine(case["buffer_words"], case["main_words_per_cycle"]), encoding="utf-8")
            sizes = [int(size) for size in case["sizes"].split("x")]
            workload.write_text(chain(case["chain"], sizes), encoding="utf-8")
            words = [pliant, "map", "--accelerator", str(accelerator), "--workload", str(workload)]
            words += ["--objective", case["objective"], "--fusion", "tiles", "--json"]
            best = float("inf")
            for _ in range(rounds):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["network"]
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            times.append(1e3 * best)
            tool = float(case["fused_pj"]) * (float(case["fused_cycles"]) if case["objective"] == "edp" else 1)
            proven = "" if told["certified"] else " (not certified)"
            print(
                f"| {case['chain']} {case['sizes']} | {case['buffer_words']} | {tool:.10g} "
                f"| {told['value']:.10g}{proven} | {times[-1]:.0f} |",
                flush=True,
            )
    print(f"\nmedian {statistics.median(times):.0f} ms, worst {max(times):.0f} ms")


if __name__ == "__main__":
    main()
