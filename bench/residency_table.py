#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks with and without residency: the table of docs/networks.md.

    bench/residency_table.py build/ci/bin/pliant [--objective edp]

For each accelerator and network: by how much residency divides energy, cycles and EDP, whether both optima are
certified, tensors that stay on chip, and CPU seconds of `map --network` with residency (which also finds the optimum
without) over those of `--residency off`.
"""

import argparse
import json
import resource
import subprocess

ACCELERATORS = ["npu", "eyeriss", "simba", "tpuv1", "flexref"]
NETWORKS = ["mobilenet_v2", "resnet50", "bert_base_seq512", "llm_llama3_2_1b_decode_1k"]


def cpu_seconds(command, codes=frozenset({0})):
    """What a command prints and its CPU seconds; exit codes other than these end the script."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in codes:
        raise SystemExit(f"{' '.join(command)}: {run.stderr}")
    text = run.stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return text, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pliant")
    parser.add_argument("--objective", default="edp")
    arguments = parser.parse_args()
    print("| accelerator | network | energy / | cycles / | EDP / | certified | tensors that stay | CPU s, off -> on |")
    print("|---|---|---|---|---|---|---|---|")
    for accelerator in ACCELERATORS:
        for network in NETWORKS:
            command = [arguments.pliant, "map", "--accelerator", accelerator, "--workload", network, "--network",
                       "--objective", arguments.objective, "--json"]
            _, off = cpu_seconds([*command, "--residency", "off"])
            text, on = cpu_seconds(command)
            found = json.loads(text)["network"]
            without = found["without_residency"]
            divided = [without[key] / found[key] for key in ("energy_pj", "runtime_cycles", "edp_pj_cycles")]
            stays = [tensor for tensor in found["tensors"] if tensor["lives_in"] != "outside"]
            certified = "both" if found["certified"] and without["certified"] else "no"
            print(f"| {accelerator} | {network} | {divided[0]:.3f} | {divided[1]:.3f} | {divided[2]:.3f} | {certified} "
                  f"| {len(stays)} of {len(found['tensors'])} | {off:.2f} -> {on:.2f} |", flush=True)


if __name__ == "__main__":
    main()
