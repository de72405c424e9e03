#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Peers on their own inputs, quality and time in one table: results/peers_table.csv, and a summary in Markdown.

    bench/peers_table.py [--pliant build/release/bin/pliant] [--work out/peers] [--kept]

AccelForge and ZigZag are installed from the registry below WORK and run on designs that come with them; where that
fails the reason is told and the rows of the kept table stay, as with --kept. Timeloop, FactorFlow and GAMMA cannot be
installed so: their figures are those of kept tables (results/*.csv, configs/studies/gamma_runs.csv). Times of the peers
are CPU seconds, the start of Python included, of those that were run here, else of the machine that the kept table
names; ours is solve_cpu_seconds of `pliant map`.
"""

import argparse
import csv
import json
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "results" / "peers_table.csv"
COLUMNS = ["tool", "from", "design", "layer", "value", "theirs", "ours", "theirs_over_ours"]
COLUMNS += ["their_cpu_s", "our_cpu_ms"]

# Programs that the peers' own Python runs; each prints one JSON object: energy in pJ, and cycles.
ACCELFORGE = """
import accelforge as af, json, sys
from accelforge.mapper.FFM.main import map_workload_to_arch
size, clock = int(sys.argv[1]), 1.05e9
spec = af.Spec.from_yaml(af.examples.arches.tpu_v4i, af.examples.workloads.matmuls,
                         jinja_parse_data=dict(N_EINSUMS=1, M=size, KN=size))
spec.mapper.metrics = af.Metrics.ENERGY | af.Metrics.LATENCY
best = map_workload_to_arch(spec, print_progress=False, eval_in_detail=False).data
total = {name.split("<SEP>")[-1]: best[name] for name in best.columns if name.startswith("Total<SEP>")}
edp = total["energy"] * total["latency"]
at = edp.astype(float).idxmin()
print(json.dumps(dict(pj=float(total["energy"][at]) * 1e12, cycles=float(total["latency"][at]) * clock)))
"""
ZIGZAG = """
import json, sys
from importlib.resources import files
from zigzag.api import get_hardware_performance_zigzag as run
design, workload, folder = sys.argv[1:]
inputs = files("zigzag") / "inputs"
pj, cycles, _ = run(workload, str(inputs / "hardware" / f"{design}.yaml"), str(inputs / "mapping" / f"{design}.yaml"),
                    opt="EDP", dump_folder=folder, loma_show_progress_bar=False)
print(json.dumps(dict(pj=pj, cycles=cycles)))
"""
ZIGZAG_LAYER = """- id: 0
  name: layer
  operator_type: Conv
  equation: O[b][g][k][oy][ox]+=W[g][k][c][fy][fx]*I[b][g][c][iy][ix]
  dimension_relations: [ix=1*ox+1*fx, iy=1*oy+1*fy]
  loop_dims: [B, K, G, OX, C, OY, FX, FY]
  loop_sizes: [1, {M}, 1, {Q}, {C}, {P}, {S}, {R}]
  operand_precision: {{O: 16, O_final: 8, W: 8, I: 8}}
  operand_source: {{W: 0, I: 0}}
"""
ZIGZAG_LAYERS = (
    "conv:M=64,C=64,P=56,Q=56,R=3,S=3",
    "conv:M=128,C=128,P=28,Q=28,R=3,S=3",
    "conv:M=256,C=64,P=56,Q=56,R=1,S=1",
)
ZIGZAG_CASES = [(design, layer) for design in ("tpu_like", "tesla_npu_like") for layer in ZIGZAG_LAYERS]


class CannotRun(Exception):
    pass


def told(words, why):
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, cwd=ROOT)
    if run.returncode != 0:
        lines = [line for line in run.stderr.splitlines() if line.strip()]
        raise CannotRun(f"{why}: {lines[-1] if lines else run.returncode}")
    return run.stdout


def answer_of(words, why):
    """What a peer's program prints last, with the CPU seconds of all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(told(words, why).splitlines()[-1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {**answer, "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def python_of(work, name, packages, least):
    """A Python of its own with these packages."""
    folder = work / name
    program = folder / "bin" / "python"
    if not program.exists():
        for candidate in (sys.executable, *(shutil.which(f"python3.{minor}") for minor in (12, 13, 14))):
            ask = f"import sys; sys.exit(sys.version_info < (3, {least}))"
            if candidate and subprocess.run([candidate, "-c", ask], capture_output=True, check=False).returncode == 0:
                told([candidate, "-m", "venv", folder], name)
                break
        else:
            raise CannotRun(f"{name}: no Python 3.{least} or newer")
        told([program, "-m", "pip", "install", "-q", *packages], name)
    return program


def ours(pliant, *arguments):
    return json.loads(told([pliant, "map", "--json", "--threads", "1", "--objective", "edp", *arguments], "pliant map"))


def row(tool, origin, design, layer, value, theirs, mine, their_s, our_s):
    cells = [tool, origin, design, layer, value, f"{theirs:.6g}", f"{mine:.6g}", f"{theirs / mine:.4f}"]
    return dict(zip(COLUMNS, [*cells, f"{their_s:.3g}" if their_s else "", f"{1e3 * our_s:.2f}" if our_s else ""]))


def accelforge(pliant, work):
    python = python_of(work, "accelforge", ["accelforge==1.0.467"], 12)
    for size in (512,):
        layer = f"gemm:M={size},N={size},K={size}"
        peer = answer_of([python, "-c", ACCELFORGE, size], "AccelForge")
        mine = ours(pliant, "--accelerator", "accelforge_tpu_v4i", "--layer", layer)
        yield row("AccelForge 1.0.467", "run", "TPU v4i", layer, "EDP", peer["pj"] * peer["cycles"], mine["value"],
                  peer["cpu_s"], mine["solve_cpu_seconds"])  # fmt: skip


def zigzag(pliant, work):
    python = python_of(work, "zigzag", ["zigzag-dse==3.9.1", "six"], 11)
    where = "from importlib.resources import files; print(files('zigzag') / 'inputs')"
    inputs = pathlib.Path(told([python, "-c", where], "ZigZag").strip())
    for design, layer in ZIGZAG_CASES:
        sizes = dict(part.split("=") for part in layer.split(":")[1].split(","))
        workload = work / "layer.yaml"
        workload.write_text(ZIGZAG_LAYER.format(**sizes), encoding="utf-8")
        words = [python, "-c", ZIGZAG, design, workload, work / "zigzag_out"]
        peer = answer_of(words, "ZigZag")
        folder = work / design
        shutil.rmtree(folder, ignore_errors=True)
        files = [inputs / kind / f"{design}.yaml" for kind in ("hardware", "mapping")]
        told([pliant, "import", "zigzag", *files, "-o", folder], "pliant import zigzag")
        mine = ours(pliant, "--accelerator", next(folder.glob("*.accelerator.yaml")), "--layer", layer)
        yield row("ZigZag 3.9.1 (LOMA)", "run", design, layer, "EDP", peer["pj"] * peer["cycles"], mine["value"],
                  peer["cpu_s"], mine["solve_cpu_seconds"])  # fmt: skip


def read(path):
    with open(ROOT / path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def kept_timeloop():
    for one in read("results/timeloop_baselines.csv"):
        yield row("Timeloop, random-pruned", "kept", one["accelerator"], f"{one['layer']} {one['mapspace']}", "EDP",
                  float(one["peer_edp_pj_cycles"]), float(one["edp_pj_cycles"]), float(one["peer_cpu_s"]),
                  float(one["solve_ms"]) / 1e3)  # fmt: skip


def kept_factorflow():
    for one in read("results/quickflow_60_quickflow.csv"):
        if not one["peer_edp_j_cycles"]:
            continue
        theirs, mine = float(one["peer_edp_j_cycles"]) * 1e12, float(one["edp_pj_cycles"])
        times = float(one["peer_native_port_cpu_s"] or 0), float(one["solve_ms"]) / 1e3
        yield row("FactorFlow", "kept", one["accelerator"], one["kernel"], "EDP", theirs, mine, *times)


def kept_gamma():
    """Cycles of its best mapping with the holes of its model closed, beside the optimum."""
    optima = {one["quantity"]: float(one["ours"]) for one in read("results/studies/ladder.csv") if one["ours"]}
    unit = "cycles over MACs / 1024"
    for name in (one["layer"] for one in read("configs/studies/gamma_runs.csv") if one["closed"]):
        theirs, mine = (optima[f"{name}: {what}, {unit}"] for what in ("their best, holes closed", "proven optimum"))
        yield row("GAMMA, its model's holes closed", "kept", "flexref", name, unit, theirs, mine, 0, 0)


def spread(rows, key):
    numbers = [float(one[key]) for one in rows if one[key]]
    return f"{min(numbers):.3g} to {max(numbers):.3g}" if numbers else ""


def summary(rows):
    lines = ["| tool | from | cases | theirs / ours: least, median, most | its CPU s | ours, ms |"]
    lines.append("|---|---|---|---|---|---|")
    for tool in dict.fromkeys(one["tool"] for one in rows):
        mine = [one for one in rows if one["tool"] == tool]
        ratios = [float(one["theirs_over_ours"]) for one in mine]
        five = ", ".join(f"{ratio:.2f}" for ratio in (min(ratios), statistics.median(ratios), max(ratios)))
        times = f"{spread(mine, 'their_cpu_s')} | {spread(mine, 'our_cpu_ms')}"
        lines.append(f"| {tool} | {mine[0]['from']} | {len(mine)} | {five} | {times} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pliant", default=str(ROOT / "build/release/bin/pliant"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "out" / "peers")
    parser.add_argument("--kept", action="store_true", help="install and run nothing")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    before = read(TABLE.relative_to(ROOT)) if TABLE.exists() else []
    rows = []
    for tool, run in (("AccelForge", accelforge), ("ZigZag", zigzag)):
        try:
            if arguments.kept:
                raise CannotRun(f"{tool}: not asked for")
            rows += list(run(arguments.pliant, work))
        except CannotRun as reason:
            print(f"{reason}; the kept rows stay", file=sys.stderr)
            rows += [{**one, "from": "kept"} for one in before if one["tool"].startswith(tool)]
    rows += [*kept_timeloop(), *kept_factorflow(), *kept_gamma()]
    with open(TABLE, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(summary(rows))


if __name__ == "__main__":
    main()
