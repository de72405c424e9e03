#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What fused tiles buy: least EDP of networks with every tensor outside, whole on chip, and in tiles.

    bench/fusion_table.py build/ci/bin/pliant [ACCELERATOR [NETWORK...]]
"""

import json
import resource
import subprocess
import sys

NETWORKS = [
    "mobilenet_v2",
    "resnet50",
    "bert_base_seq512",
    "llm_llama3_2_1b_prefill_1k",
    "llm_llama3_2_1b_decode_1k",
]


def main() -> None:
    pliant, *rest = sys.argv[1:]
    accelerator = rest[0] if rest else "npu"
    print("| network | whole tensors, EDP / | tiles, EDP / | tiles over whole | CPU s |\n|---|---|---|---|---|")
    for network in rest[1:] or NETWORKS:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        words = [pliant, "map", "--accelerator", accelerator, "--workload", network, "--fusion", "tiles", "--json"]
        told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["network"]
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        outside, whole, tiles = (
            one["edp_pj_cycles"] for one in (told["without_residency"], told["whole_tensors"], told)
        )
        proven = told["certified"] and told["whole_tensors"]["certified"]
        print(
            f"| {network} | {outside / whole:.3f} | {outside / tiles:.3f} | {whole / tiles:.3f} "
            f"| {seconds:.1f}{'' if proven else ' (not certified)'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
