#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our exact mapper beside the peers' published or measured results: quality and time, as CSV tables in results/.

    bench/peers.py [--pliant build/release/bin/pliant] [--only quickflow|timeloop|goma|accelforge] [--repeat 3]

The peers' figures come from tests/data. Times are solve_cpu_seconds of `pliant map --json`, one thread, without the
start of the program: the
shortest of several runs.
"""

import argparse
import csv
import itertools
import json
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read(name):
    with open(ROOT / "tests" / "data" / name, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


REPEAT = 3


def solve(pliant, *arguments):
    """The result of one `pliant map`, with the shortest time of several runs."""
    results = [solve_once(pliant, *arguments) for _ in range(REPEAT)]
    for layer, *again in zip(*(result.get("layers", [result]) for result in results)):
        layer["solve_cpu_seconds"] = min(other["solve_cpu_seconds"] for other in (layer, *again))
    return results[0]


def solve_once(pliant, *arguments):
    run = subprocess.run(
        [pliant, "map", "--json", "--threads", "1", *arguments], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if run.returncode != 0:
        raise SystemExit(f"pliant map {' '.join(arguments)}: {run.stderr}")
    return json.loads(run.stdout)


def write_rows(name, rows):
    with open(ROOT / "results" / name, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write(name, rows):
    write_rows(name, rows)
    times = [float(row["solve_ms"]) for row in rows]
    print(
        f"{name}: {len(rows)} rows, {sum(row['certified'] == 'yes' for row in rows)} certified; "
        f"{sum(times) / 1e3:.2f} s together, median {statistics.median(times):.1f} ms, longest {max(times):.0f} ms"
    )


def row_of(result, **extra):
    return {
        **extra,
        "edp_pj_cycles": f"{result['value']:.9g}",
        "certified": "yes" if result["certified"] else "no",
        "gap": f"{result['gap']:.3g}",
        "solve_ms": f"{result['solve_cpu_seconds'] * 1e3:.2f}",
    }


def quickflow(pliant):
    known = {(row["arch"].lower(), row["kernel"]): row for row in read("quickflow_optima.csv")}
    kernels = [
        line.split(",")[0]
        for line in open(ROOT / "configs/workloads/quickflow_kernels.csv", encoding="utf-8")
        if line.startswith("QF_")
    ]
    for conventions in ("quickflow", "physical"):
        rows = []
        for accelerator in ("eyeriss", "simba", "tpuv1"):
            for kernel in kernels:
                result = solve(
                    pliant,
                    "--accelerator",
                    accelerator,
                    "--workload",
                    "quickflow_kernels",
                    "--layer",
                    kernel,
                    "--conventions",
                    conventions,
                )
                peer = known.get((accelerator, kernel), {})
                ours = result["value"] * 1e-12
                row = row_of(result, accelerator=accelerator, kernel=kernel)
                if conventions == "quickflow":
                    for key, column in (
                        ("peer_edp", "peer_edp_j_cycles"),
                        ("optimum_true_capacity_edp", "known_optimum_edp_j_cycles"),
                    ):
                        row[column] = peer.get(key, "")
                    row["edp_over_known_optimum"] = (
                        f"{ours / float(peer['optimum_true_capacity_edp']):.7f}" if peer else ""
                    )
                    row["peer_native_port_cpu_s"] = peer.get("native_port_cpu_s", "")
                rows.append(row)
        write(f"quickflow_60_{conventions}.csv", rows)


def timeloop(pliant):
    best = {}
    for row in read("timeloop_baselines.csv"):
        key = (row["accelerator"], row["layer"], row["mapspace"])
        if key not in best or float(row["edp_pj_cycles"]) < float(best[key]["edp_pj_cycles"]):
            best[key] = row
    rows = []
    for (accelerator, layer, mapspace), peer in best.items():
        result = solve(pliant, "--accelerator", accelerator, "--layer", layer, "--factorization", mapspace)
        rows.append(
            {
                **row_of(result, accelerator=accelerator, layer=layer, mapspace=mapspace),
                "peer_edp_pj_cycles": peer["edp_pj_cycles"],
                "edp_over_peer": f"{result['value'] / float(peer['edp_pj_cycles']):.4f}",
                "peer_cpu_s": peer["cpu_s"],
            }
        )
    write("timeloop_baselines.csv", rows)


def goma(pliant):
    """Every GEMM by `exact`, and every case (eight GEMMs) by `exact` and by the mapper `goma`."""
    edge = ["goma_qwen3_0_6b", "goma_llama3_2_1b"], ["1k", "8k", "32k"], ["goma_eyeriss", "goma_gemmini"]
    centre = ["goma_qwen3_32b", "goma_llama3_3_70b"], ["2k", "32k", "128k"], ["goma_a100", "goma_tpuv1"]
    rows, cases, gemms = [], [], {"exact": [], "goma": []}
    for models, lengths, templates in (edge, centre):
        for template, model, length in itertools.product(templates, models, lengths):
            names = {"accelerator": template, "workload": f"{model}_{length}"}
            case = dict(names)
            for mapper, times in gemms.items():
                arguments = ["--accelerator", template, "--workload", names["workload"], "--layers", "--mapper", mapper]
                layers = solve(pliant, *arguments)["layers"]
                solved = [row_of(layer, **names, layer=layer["layer"]) for layer in layers]
                times += [float(row["solve_ms"]) for row in solved]
                case[f"{mapper}_ms"] = f"{sum(times[-len(solved):]):.2f}"
                if mapper == "exact":
                    rows += solved
            cases.append(case)
    write("goma_192.csv", rows)
    write_rows("goma_cases.csv", cases)
    for mapper, times in gemms.items():
        by_case = [float(case[f"{mapper}_ms"]) for case in cases]
        print(
            f"  {mapper}: {statistics.geometric_mean(by_case):.1f} ms a case (geometric mean), {max(by_case):.1f} at "
            f"most; {statistics.mean(times):.2f} ms a GEMM, {max(times):.1f} at most"
        )


def accelforge(pliant):
    """The Turbo-Charged Mapper. Its spaces are larger: each tensor of a memory may start to be held at a loop of its
    own."""
    best = {}
    for row in read("accelforge_baselines.csv"):
        key = (row["accelerator"], row["layer"], row["factorization"])
        finished = row["ended_by"] == "finished"
        if key not in best or (
            finished
            and (best[key]["ended_by"] != "finished" or float(row["edp_pj_cycles"]) < float(best[key]["edp_pj_cycles"]))
        ):
            best[key] = row
    rows = []
    for (accelerator, layer, factorization), peer in best.items():
        result = solve(pliant, "--accelerator", accelerator, "--layer", layer, "--factorization", factorization)
        known = peer["ended_by"] == "finished"
        rows.append(
            {
                **row_of(result, accelerator=accelerator, layer=layer, factorization=factorization),
                "peer_edp_pj_cycles": peer["edp_pj_cycles"],
                "edp_over_peer": f"{result['value'] / float(peer['edp_pj_cycles']):.4f}" if known else "",
                "peer_loop_orders": peer["loop_orders"],
                "peer_cpu_s": peer["cpu_s"],
                "peer_ended_by": peer["ended_by"],
            }
        )
    write("accelforge_baselines.csv", rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pliant", default=str(ROOT / "build/release/bin/pliant"))
    parser.add_argument("--only", choices=["quickflow", "timeloop", "goma", "accelforge"])
    parser.add_argument("--repeat", type=int, default=3, help="runs per case, of which the shortest counts")
    arguments = parser.parse_args()
    global REPEAT
    REPEAT = arguments.repeat
    for study in (quickflow, timeloop, goma, accelforge):
        if arguments.only in (None, study.__name__):
            study(arguments.pliant)


if __name__ == "__main__":
    main()
