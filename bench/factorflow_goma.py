#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""FactorFlow on the GEMMs and templates of the GOMA evaluation: results/goma_factorflow.csv.

    bench/factorflow_goma.py CHECKOUT WORK [--templates a100,...] [--pliant build/release/bin/pliant]

CHECKOUT is a clone of github.com/EMJzero/FactorFlow (needs prettytable). Each template goma_*.yaml of
configs/accelerators is described to it as it is: three memories, a line of PEs over which all three dims may be spread,
no limit of bandwidth. FactorFlow does not choose what passes a memory by; here that is fixed (the paper does not print
its rules): everything stays everywhere, and register files of fewer than three words hold the weights. Searches run one
after another, with the settings that come with the tool but for the number of processes (one). What is found stands in
WORK, one line for each GEMM; an interrupted call goes on from there. The table has each mapping (loops of a memory, the
outermost first, and what the PEs share), its EDP by `pliant eval`, the proven optimum, and the proven optimum of
mappings that keep what FactorFlow's must keep.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "results" / "goma_factorflow.csv"
TEMPLATES = {
    "eyeriss": ("qwen3_0_6b", "llama3_2_1b"),
    "gemmini": ("qwen3_0_6b", "llama3_2_1b"),
    "a100": ("qwen3_32b", "llama3_3_70b"),
    "tpuv1": ("qwen3_32b", "llama3_3_70b"),
}
TOKENS = {"qwen3_0_6b": ("1k", "8k", "32k"), "llama3_2_1b": ("1k", "8k", "32k")}
TOKENS |= {"qwen3_32b": ("2k", "32k", "128k"), "llama3_3_70b": ("2k", "32k", "128k")}
# Ours of theirs: Out[M, N] += W[M, K] * In[K, N] there, Outputs[M, N] += Inputs[M, K] * Weights[K, N] here.
DIMS = {"M": "N", "K": "K", "N": "M"}
COLUMNS = ["template", "M", "N", "K", "DRAM", "SRAM", "PEs", "RegFile", "cpu_s"]
PRICED = ["edp_pj_cycles", "optimum", "optimum_of_what_it_may_keep"]


def sizes_of(template):
    """The GEMMs of a template, each once, those of the shortest prompts first."""
    sizes = {}
    for at in range(3):
        for model in TEMPLATES[template]:
            name = f"goma_{model}_{TOKENS[model][at]}.csv"
            with open(ROOT / "configs" / "workloads" / name, encoding="utf-8") as file:
                for row in csv.DictReader(line for line in file if not line.startswith("#")):
                    sizes[tuple(int(row[dim]) for dim in "MNK")] = None
    return list(sizes)


def figures_of(template):
    """Of configs/accelerators/goma_TEMPLATE.yaml: energies, words and units, in the order of the file."""
    text = (ROOT / "configs" / "accelerators" / f"goma_{template}.yaml").read_text(encoding="utf-8")
    one = lambda pattern: [float(value) for value in re.findall(pattern, text, re.M)]  # noqa: E731
    reads, writes = one(r"^ +read_pj: (\S+)"), one(r"^ +write_pj: (\S+)")
    sram, registers = one(r"^ +capacity: (\d+)")
    return {
        "DRAM": (2**62, reads[0], writes[0]),
        "SRAM": (int(sram) * 1024, reads[1], writes[1]),
        "RegFile": (int(registers), reads[2], writes[2]),
        "PEs": int(one(r"^ +cols: (\d+)")[0]),
        "mac_pj": one(r"^ +mac_pj: (\S+)")[0],
    }


def search(template, size):
    """One GEMM; the tool's modules are on the path."""
    from arch import Arch  # noqa: PLC0415
    from engine import run_engine  # noqa: PLC0415
    from factors import Shape  # noqa: PLC0415
    from levels import ComputeLevel, FanoutLevel, MemLevel  # noqa: PLC0415
    from settings import Settings  # noqa: PLC0415

    Settings.VERBOSE, Settings.MULTITHREADED = False, False
    figures = figures_of(template)

    def memory(name, passes_by=()):
        words, read, write = figures[name]
        return MemLevel(name=name, size=words, read_value_access_energy=read, write_value_access_energy=write,
                        bandwidth=1e15, bypasses=list(passes_by))  # fmt: skip

    small = figures["RegFile"][0] < 3
    arch = Arch([memory("DRAM"), memory("SRAM"), FanoutLevel(name="PEs", dims=["M", "K", "N"], mesh=figures["PEs"]),
                 memory("RegFile", ["in", "out"] if small else []),
                 ComputeLevel(name="MAC", dim="N", mesh=1, compute_energy=figures["mac_pj"], cycles=1)])  # fmt: skip
    m, n, k = size
    shape = Shape(n, k, m)
    Settings.forcedSettingsUpdate(arch, verbose=False)
    arch.fitConstraintsToComp(shape, enforce=True)
    start = time.process_time()
    arch = run_engine(arch, shape, False)[-1]
    row = {"template": f"goma_{template}", "M": m, "N": n, "K": k, "cpu_s": f"{time.process_time() - start:.1f}"}
    for level in arch:
        loops = [(DIMS[dim], level.factors.dimProduct(dim)) for dim in level.dataflow]
        row[level.name] = " ".join(f"{dim}{count}" for dim, count in loops if count > 1)
    return {column: row[column] for column in COLUMNS}


def priced(pliant, row):
    """A line of the table: the mapping's EDP beside two proven optima."""
    small = figures_of(row["template"].removeprefix("goma_"))["RegFile"][0] < 3
    fixed = ["--set", "SRAM.may_bypass=[]", "--set", "RegFile.may_bypass=[]"]
    fixed += ["--set", "RegFile.keeps=[weights]"] if small else []
    levels = []
    for level in ("DRAM", "SRAM", "PEs", "RegFile"):
        loops = [{word[0]: int(word[1:])} for word in row[level].split()]
        levels.append({"level": level, "cols" if level == "PEs" else "temporal": loops})

    def answer(*words):
        words = [pliant, *words, "--accelerator", row["template"], "--json", "--layer",
                 f"gemm:M={row['M']},N={row['N']},K={row['K']}"]  # fmt: skip
        return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

    def optimum(*words):
        best = answer("map", "--objective", "edp", "--threads", "1", *words)
        if not best["certified"]:
            raise SystemExit(f"not proven: {row}")
        return best["value"]

    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(json.dumps({"pliant": "mapping", "factorization": "pfm", "levels": levels}))
        file.flush()
        totals = answer("eval", "--mapping", file.name, *fixed)
    values = (totals["edp_pj_cycles"], optimum(), optimum(*fixed))
    return row | dict(zip(PRICED, (f"{value:.9g}" for value in values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--templates", default=",".join(TEMPLATES))
    parser.add_argument("--pliant", default=str(ROOT / "build/release/bin/pliant"))
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.checkout))
    arguments.work.mkdir(parents=True, exist_ok=True)
    rows = []
    for template in arguments.templates.split(","):
        file = arguments.work / f"{template}.jsonl"
        done = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        known = {(row["M"], row["N"], row["K"]) for row in done}
        for size in sizes_of(template):
            if size not in known:
                done.append(search(template, size))
                with open(file, "a", encoding="utf-8") as out:
                    out.write(json.dumps(done[-1]) + "\n")
        rows += [priced(arguments.pliant, row) for row in done]
    with open(KEPT, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, *PRICED], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
