#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long proofs take on large chips, and what they leave open.

    bench/chips.py --pliant build/release/bin/pliant --factorizations pfm,ruby-s [chip.yaml ...]

Every layer of every workload is one `pliant map` of one thread. A row of the table is one accelerator and one
factorization: layers, those that stay open (without a proof), the largest gap, CPU seconds of a layer (median, 99th
percentile, longest) and the largest memory. --each prints every layer as well; --budget gives each a budget; --csv
keeps the layers and --plot draws those of a CSV (docs/growth.md). --against CSV says how many of the values are within
1, 3 and 5 % of those that an earlier run without a budget found.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys

NAMES = {"pfm": "perfect factors", "ruby-s": "Ruby-S", "ruby": "Ruby"}
WORKLOADS = "resnet50,bert_base_seq512,llm_llama3_3_70b_2k,llm_llama3_3_70b_decode_8k"


def layers_of(folder: pathlib.Path, workload: str) -> list[str]:
    with open(folder / f"{workload}.csv", newline="", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [row["name"] for row in rows]


def run(command: list[str]) -> tuple[dict | None, float, float]:
    """The answer, CPU seconds, MiB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    answer = json.loads(out) if process.returncode == 0 else None
    return answer, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def plot(rows: list[dict], file: pathlib.Path) -> None:
    """The share of layers that are proven after so many CPU seconds, a panel for each kind of factors."""
    import vl_convert  # in the project's .venv

    values = []
    for factors in sorted({row["factors"] for row in rows}):
        for chip in sorted({row["chip"] for row in rows}):
            here = [row for row in rows if row["factors"] == factors and row["chip"] == chip]
            proven = sorted(float(row["seconds"]) for row in here if float(row["gap"]) == 0)
            values += [{"factors": NAMES.get(factors, factors), "chip": chip, "seconds": max(used, 0.01),
                        "share": 100 * (i + 1) / len(here)} for i, used in enumerate(proven)]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": values},
        "facet": {"field": "factors", "type": "nominal", "title": None},
        "spec": {
            "width": 300,
            "height": 220,
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {
                "x": {"field": "seconds", "type": "quantitative", "scale": {"type": "log"},
                      "title": "CPU seconds of a layer"},
                "y": {"field": "share", "type": "quantitative", "title": "layers proven (%)"},
                "color": {"field": "chip", "type": "nominal", "scale": {"scheme": "tableau10"}},
            },
        },
    }
    file.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def compare(rows: list[dict], file: pathlib.Path) -> None:
    """How many values are near the bounds of an earlier run: the optimum where it was proven."""
    key = ("chip", "factors", "workload", "layer")
    with open(file, newline="", encoding="utf-8") as kept:
        bounds = {tuple(row[k] for k in key): float(row["value"]) * (1 - float(row["gap"]))
                  for row in csv.DictReader(kept)}
    for factors in dict.fromkeys(row["factors"] for row in rows):
        above = [row["value"] / bounds[name] - 1 for row in rows if row["factors"] == factors
                 and (name := tuple(row[k] for k in key)) in bounds]
        shares = ", ".join(f"{100 * sum(a <= limit for a in above) / len(above):.1f} % within {100 * limit:.0f} %"
                           for limit in (0.01, 0.03, 0.05))
        print(f"{factors:7} {len(above):6} layers: {shares} of the bound")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pliant", default="build/release/bin/pliant")
    parser.add_argument("--workloads", default=WORKLOADS)
    parser.add_argument("--factorizations", default="pfm,ruby-s")
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--budget")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--csv", type=pathlib.Path, help="keep the layers here; with --plot: draw these, map nothing")
    parser.add_argument("--plot", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("accelerators", nargs="*", default=sorted(map(str, (here / "chips").glob("*.yaml"))),
                        help="those in bench/chips by default")
    options = parser.parse_args()
    folder = here.parent / "configs" / "workloads"
    if options.plot:
        with open(options.csv, newline="", encoding="utf-8") as file:
            return plot(list(csv.DictReader(file)), options.plot)
    rows = []
    print(f"{'accelerator':16} {'factors':7} {'layers':>6} {'open':>5} {'gap':>7} {'median s':>9} {'p99 s':>7} "
          f"{'longest':>8} {'MiB':>6}")
    for accelerator in options.accelerators:
        name = pathlib.Path(accelerator).stem
        for factorization in options.factorizations.split(","):
            seconds, gaps, memory = [], [], 0.0
            for workload in options.workloads.split(","):
                for layer in layers_of(folder, workload):
                    command = [options.pliant, "map", "--accelerator", accelerator, "--workload", workload, "--layer",
                               layer, "--factorization", factorization, "--objective", options.objective, "--threads",
                               "1", "--json"]
                    answer, used, mib = run(command + (["--budget", options.budget] if options.budget else []))
                    gap = answer["gap"] if answer else float("inf")
                    seconds.append(used)
                    gaps.append(gap)
                    memory = max(memory, mib)
                    rows.append({"chip": name, "factors": factorization, "workload": workload, "layer": layer,
                                 "gap": round(gap, 6), "seconds": round(used, 3),
                                 "value": answer["value"] if answer else float("inf")})
                    if options.each:
                        value = f"{answer['value']:.6g}" if answer else "nothing"
                        print(f"  {name} {factorization} {workload} {layer}: {value}, gap {100 * gap:.2f} %, "
                              f"{used:.2f} s, {mib:.0f} MiB", flush=True)
            still_open = sum(gap > 0 for gap in gaps)
            print(f"{name:16} {factorization:7} {len(gaps):6} {still_open:5} {100 * max(gaps):6.1f}% "
                  f"{percentile(seconds, 0.5):9.3f} {percentile(seconds, 0.99):7.2f} {max(seconds):8.2f} {memory:6.0f}",
                  flush=True)
    if options.against:
        compare(rows, options.against)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
