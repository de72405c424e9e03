# SPDX-License-Identifier: Apache-2.0
"""docs/json.md names every key that --json prints: json_keys.py PLIANT SOURCE.

Names that stand as keys (of levels, dims, tensors, columns) are no part of the contract.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Objects whose keys are names of levels, tensors, dims, columns or rules of factorization.
NAMED = {
    "as_published", "bypasses", "dims", "distinct", "distinct_within_pes", "factor_chains", "group", "indices",
    "orders", "reference", "reserved_words", "tensors",
}  # fmt: skip
# A mapping file (docs/formats.md), the words of a command line, rows of a dataset (results/README.md).
ELSEWHERE = {("mapping",), ("task",), ("rows",), ("groups", "frontier")}
LAYER = "--accelerator eyeriss --workload alexnet --layer conv3"
COMMANDS = [
    f"map {LAYER}",
    f"map {LAYER} --audit",
    f"map {LAYER} --objective runtime,energy",
    "map --accelerator npu --workload alexnet --layers",
    "map --accelerator npu --workload alexnet --network",
    "map --accelerator npu --workload mobilenet_v2 --inferences 4",
    "map --accelerator npu --workload alexnet --fusion tiles --gap 50% --budget 2s",
    f"count {LAYER}",
    f"count {LAYER} --orders",
    "count --accelerator eyeriss --layer gemm:M=4,N=4,K=4 --legal",
    "count --accelerator eyeriss --layer gemm:M=2,N=2,K=2 --enumerate",
    "count --table ruby",
    "flexion --accelerator flexref --workload alexnet --no-tuples",
    "flexion --accelerator flexref --workload alexnet --flexibility PartFlex-1111 --no-tuples",
    "validate tests/data/oracle_perfect.jsonl",
    "show accelerator",
    "show layer gemm:M=2,N=2,K=2",
    "show workload alexnet",
    "serve llama3_2_1b --accelerator npu",
    "sweep one.yaml --dry-run",
    "sweep one.yaml -o one --audit 10%",
    "sweep one.yaml -o one --status",
    "pareto one --minimize area_um2,edp_pj_cycles",
    "pareto one --minimize area_um2,edp_pj_cycles --uncertain 'DRAM.read_pj 30%'",
    "query one --limit 1",
    "report one",
    "verify one",
    "design space.yaml -o space --audit",
    "verify space",
    "study list",
]
SWEEP = """pliant: sweep
name: one
accelerator: npu
workloads: [alexnet]
vary: {rows: [8, 16]}
"""


def keys_of(value, path=()):
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item, path)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if (not path or path[-1] not in NAMED) and not key.startswith("set_"):
                yield key
            place = (*path, key)
            if not any(place[-len(end) :] == end for end in ELSEWHERE):
                yield from keys_of(inner, place)


if __name__ == "__main__":
    pliant, source = sys.argv[1], pathlib.Path(sys.argv[2])
    page = (source / "docs/json.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`([a-z_0-9]+)`", page)) | {"schema", "json"}
    environment = {**os.environ, "PATH": f"{pathlib.Path(pliant).resolve().parent}:{os.environ['PATH']}"}
    missing = {}
    with tempfile.TemporaryDirectory(prefix="pliant-json-") as folder:
        for link in ("configs", "tests"):
            (pathlib.Path(folder) / link).symlink_to((source / link).resolve())
        (pathlib.Path(folder) / "one.yaml").write_text(SWEEP, encoding="utf-8")
        (pathlib.Path(folder) / "space.yaml").write_text(
            SWEEP.replace("one", "space") + "minimize: [area_um2, edp_pj_cycles]\nnetwork: false\n", encoding="utf-8"
        )
        for command in COMMANDS:
            done = subprocess.run(
                ["bash", "-c", f"pliant {command} --json"],
                cwd=folder, env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stderr[-600:]}"
            for key in keys_of(json.loads(done.stdout)):
                if key not in told:
                    missing.setdefault(key, command)
    for key, command in sorted(missing.items()):
        print(f"docs/json.md says nothing of `{key}`, which pliant {command} --json prints")
    sys.exit(1 if missing else 0)
