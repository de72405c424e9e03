#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a proof takes on designs a user would write: time per layer over many random accelerators.

    bench/natural_designs.py [--pliant build/release/bin/pliant] [--designs 100] [--seed 1] [--factorization pfm]
                             [--budget 0] [--csv FILE] [--stop-after SECONDS] [--wider]

A design is drawn from the choices in DESIGN_CHOICES with the given seed; with --wider from WIDER_CHOICES as well:
clusters of units with a memory of their own, ports for reading and writing, limits on the bandwidth of the units'
buffers, networks that do not multicast or reduce, an SRAM that keeps some tensors only. Each layer of ResNet-50,
MobileNetV2, BERT and a decode step of Llama-3.2-1B is mapped with one thread. Times are CPU seconds of the search. The
script prints the median, the 90th and 99th percentile, the longest, and every layer that took over a second or was not
proven.
"""

import argparse
import csv
import json
import math
import pathlib
import random
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

DESIGN_CHOICES = {
    "array": [(16, 16), (32, 32), (64, 64), (128, 128), (8, 32), (12, 14), (20, 24), (16, 64)],
    "dram_bandwidth": [8, 16, 25.6, 64],  # bytes per cycle
    "sram": ["128 KiB", "512 KiB", "2 MiB", "8 MiB"],
    "sram_bandwidth": [32, 64, 128, 256],
    "storage": ["split", "shared", "accumulator", "split_small", "registers"],
    "dims": ["any", "one_a_side", "two_a_side"],
}

WIDER_CHOICES = {
    "clusters": ["none", "2x2", "2x4", "4x4"],
    "cluster_memory": ["8 KiB", "64 KiB"],
    "cluster_bandwidth": [0, 16, 64],  # 0: unlimited
    "sram_ports": ["one", "read_and_write"],
    "sram_keeps": ["all", "all", "inputs, outputs", "inputs, weights"],
    "network": ["all", "all", "multicast: false", "reduction: false"],
    "buffer_bandwidth": [0, 0, 4],
}

# What lies inside the array, outermost first.
STORAGE = {
    "split": [("WBuf", "512 B", "weights"), ("IBuf", "256 B", "inputs"), ("OBuf", "256 B", "outputs")],
    "split_small": [("WBuf", "64 B", "weights"), ("IBuf", "32 B", "inputs"), ("OBuf", "32 B", "outputs")],
    "shared": [("PEBuf", "1 KiB", "inputs, weights, outputs")],
    "accumulator": [("Acc", "256 B", "outputs")],
    "registers": [("PEBuf", "512 B", "inputs, weights, outputs"), ("WReg", "1 B", "weights")],
}

# One token of Llama-3.2-1B with 4096 tokens in the cache: name, M, N, K, B, count.
DECODE = [
    ("q_proj", 1, 2048, 2048, 1, 16),
    ("kv_proj", 1, 512, 2048, 1, 32),
    ("score", 4, 4096, 64, 8, 16),
    ("context", 4, 64, 4096, 8, 16),
    ("o_proj", 1, 2048, 2048, 1, 16),
    ("gate_up", 1, 8192, 2048, 1, 32),
    ("down", 1, 2048, 8192, 1, 16),
    ("lm_head", 1, 128256, 2048, 1, 1),
]


def accelerator(design):
    rows, cols = design["array"]
    parallel = {"any": "any", "one_a_side": "{max_dims_per_side: 1}", "two_a_side": "{max_dims_per_side: 2}"}
    lines = [
        "pliant: accelerator",
        "name: natural",
        "word_bits: 8",
        "technology: cmos_7nm",
        "levels:",
        "  - memory: DRAM",
        "    capacity: unbounded",
        "    read_pj: 40",
        "    write_pj: 40",
        f"    bandwidth: {design['dram_bandwidth']} B/cycle",
        "  - memory: SRAM",
        f"    capacity: {design['sram']}",
    ]
    ports = ["read_bandwidth", "write_bandwidth"] if design.get("sram_ports") == "read_and_write" else ["bandwidth"]
    lines += [f"    {port}: {design['sram_bandwidth']} B/cycle" for port in ports]
    if design.get("sram_keeps", "all") != "all":
        lines.append(f"    keeps: [{design['sram_keeps']}]")
    clusters = design.get("clusters", "none")
    if clusters != "none":
        high, wide = clusters.split("x")
        lines += ["  - fanout: Clusters", f"    rows: {high}", f"    cols: {wide}", "  - memory: L1"]
        lines.append(f"    capacity: {design['cluster_memory']}")
        if design["cluster_bandwidth"]:
            lines.append(f"    bandwidth: {design['cluster_bandwidth']} B/cycle")
    lines += ["  - fanout: PEs", f"    rows: {rows}", f"    cols: {cols}"]
    if design.get("network", "all") != "all":
        lines.append(f"    {design['network']}")
    for name, capacity, keeps in STORAGE[design["storage"]]:
        lines += [f"  - memory: {name}", f"    capacity: {capacity}", f"    keeps: [{keeps}]"]
        if design.get("buffer_bandwidth"):
            lines.append(f"    bandwidth: {design['buffer_bandwidth']} B/cycle")
    lines += ["  - compute: MAC", "    mac_pj: 0.1"]
    lines += ["flexibility:", "  parallel:", f"    PEs: {parallel[design['dims']]}"]
    if clusters != "none":
        lines.append(f"    Clusters: {parallel[design['dims']]}")
    return "\n".join(lines) + "\n"


def choices(options):
    return DESIGN_CHOICES | (WIDER_CHOICES if options.wider else {})


def draw(options):
    """Distinct designs, the same for a seed."""
    generator, seen, designs = random.Random(options.seed), set(), []
    while len(designs) < options.designs:
        design = {key: generator.choice(values) for key, values in choices(options).items()}
        key = json.dumps(design)
        if key not in seen:
            seen.add(key)
            designs.append(design)
    return designs


def percentile(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, math.ceil(share * len(sorted_values)) - 1)]


def solve(pliant, file, workload, options):
    """Rows of all layers of one workload on one design."""
    command = [pliant, "map", "--json", "--threads", "1", "--accelerator", str(file), "--layers"]
    command += ["--workload", workload]
    command += ["--factorization", options.factorization, "--objective", options.objective]
    if options.budget > 0:
        command += ["--budget", f"{options.budget}s"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if run.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}: {run.stderr}")
    for layer in json.loads(run.stdout)["layers"]:
        if layer["feasible"]:
            yield {
                "workload": pathlib.Path(workload).stem,
                "layer": layer["layer"],
                "seconds": layer["solve_cpu_seconds"],
                "certified": layer["certified"],
                "gap": layer["gap"],
                "priced": layer["evaluations"],
            }


def known_rows(path):
    """What an earlier run has kept."""
    if not path or not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return [
            row | {key: float(row[key]) for key in ["seconds", "gap"]} | {"certified": row["certified"] == "True"}
            for row in csv.DictReader(file)
        ]


def keep(path, rows):
    if not path:
        return
    fresh = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        if fresh:
            writer.writeheader()
        writer.writerows(rows)


def report(rows, heading, tell, most=40):
    """`heading` says what ran, `tell` a row that took long or is open."""
    times = sorted(row["seconds"] for row in rows)
    open_rows = [row for row in rows if not row["certified"]]
    print(f"{heading}: {len(rows)} layers in {sum(times):.1f} CPU s")
    print(
        f"median {percentile(times, .5) * 1e3:.2f} ms, p90 {percentile(times, .9) * 1e3:.1f} ms, "
        f"p99 {percentile(times, .99) * 1e3:.0f} ms, longest {times[-1]:.2f} s, "
        f"{sum(t > 1 for t in times)} over 1 s, {len(open_rows)} not proven ({len(open_rows) / len(rows):.2%})"
        + (f", largest gap {max(row['gap'] for row in open_rows):.2%}" if open_rows else "")
    )
    for row in sorted(rows, key=lambda row: (row["certified"], -row["seconds"]))[:most]:
        if row["seconds"] > 1 or not row["certified"]:
            print(f"  {row['seconds']:7.2f} s  gap {row['gap']:.3%}  {row['workload']} {row['layer']} on {tell(row)}")


def parser_of(description, factorization, one):
    """With the options of every such script; `one` is what is run at a time."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pliant", default=str(ROOT / "build/release/bin/pliant"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--factorization", default=factorization)
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--csv", type=pathlib.Path, help=f"every layer that ran; a {one} in it is not run again")
    parser.add_argument("--stop-after", type=float, default=math.inf, help=f"begin no {one} after so many seconds")
    return parser


def main():
    parser = parser_of(__doc__, "pfm", "design")
    parser.add_argument("--designs", type=int, default=100)
    parser.add_argument("--budget", type=float, default=0, help="seconds a layer may take; 0: it ends by itself")
    parser.add_argument("--wider", action="store_true", help="designs beyond the usual, too")
    options = parser.parse_args()

    rows = known_rows(options.csv)
    done, started = {int(row["design"]) for row in rows}, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        decode = pathlib.Path(folder) / "decode.csv"
        decode.write_text("name,M,N,K,B,count\n" + "".join(",".join(map(str, layer)) + "\n" for layer in DECODE))
        for number, design in enumerate(draw(options)):
            if number in done or time.monotonic() - started > options.stop_after:
                continue
            file = pathlib.Path(folder) / "natural.yaml"
            file.write_text(accelerator(design))
            found = [
                {"design": number, **design} | row
                for workload in ["resnet50", "mobilenet_v2", "bert_base_seq512", str(decode)]
                for row in solve(options.pliant, file, workload, options)
            ]
            keep(options.csv, found)
            rows += found
    report(
        rows,
        f"{len({row['design'] for row in rows})} {'wider ' if options.wider else ''}designs (seed {options.seed}), "
        f"{options.factorization}, {options.objective}",
        lambda row: f"design {row['design']}: " + ", ".join(f"{key} {row[key]}" for key in choices(options)),
    )


if __name__ == "__main__":
    main()
