#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a search has found and how long it took when its budget is short.

    bench/anytime.py --pliant build/release/bin/pliant --budgets 0.2s,1s [chip.yaml ...]
    bench/anytime.py --csv docs/img/anytime.csv --plot docs/img/anytime.svg

Every row is one `pliant map` of a layer that takes long on large chips, each on one of bench/chips, or all on those
that are named: the value, the gap, and the seconds on the wall and of the processor. A budget is kept where both are at
most 10 % and 50 ms above it. --csv keeps the rows, and --plot draws the gap over the budgets (docs/growth.md).
"""
import argparse
import csv
import json
import pathlib
import resource
import subprocess
import time

CHIPS = pathlib.Path(__file__).resolve().parent / "chips"
LAYERS = [
    ("gpu132", "gemm:M=8192,N=8192,K=8192", "ruby-s", "runtime"),
    ("gpu132", "gemm:M=2048,N=50257,K=768", "ruby-s", "edp"),
    ("gpu132", "conv:M=512,C=512,P=56,Q=56,R=3,S=3,B=32", "ruby-s", "edp"),
    ("gpu132", "conv:M=256,C=256,P=28,Q=28,R=3,S=3,B=64,stride=2", "pfm", "runtime"),
    ("mcm36", "conv:M=128,C=128,P=28,Q=28,R=3,S=3", "ruby-s", "edp"),
    ("cube32", "conv:M=64,C=3,P=112,Q=112,R=7,S=7,stride=2", "ruby-s", "edp"),
    ("quad128", "gemm:M=4096,N=4096,K=4096,B=32", "ruby", "energy"),
    ("sm114", "conv:M=256,C=64,P=56,Q=56,R=1,S=1", "ruby", "edp"),
]
LEAST_GAP = 1e-4  # drawn where there is none


def run(pliant: str, accelerator: str, layer: str, factorization: str, objective: str, budget: str) -> dict:
    command = [pliant, "map", "--accelerator", accelerator, "--layer", layer, "--factorization", factorization,
               "--objective", objective, "--budget", budget, "--json"]
    cpu, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(done.stdout) if done.returncode == 0 else {"value": float("inf"), "gap": 1.0}
    return {"chip": pathlib.Path(accelerator).stem, "layer": layer, "factors": factorization, "objective": objective,
            "budget": budget, "value": answer["value"], "gap": answer["gap"],
            "wall": round(time.monotonic() - wall, 3),
            "cpu": round(used.ru_utime + used.ru_stime - cpu.ru_utime - cpu.ru_stime, 3)}


def plot(rows: list[dict], file: pathlib.Path) -> None:
    import vl_convert  # in the project's .venv

    values = [{"layer": f"{row['chip']}, {row['layer']}, {row['factors']}, {row['objective']}",
               "seconds": float(row["budget"].removesuffix("s")), "gap": 100 * max(LEAST_GAP, float(row["gap"]))}
              for row in rows]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": values},
        "width": 420,
        "height": 260,
        "mark": {"type": "line", "interpolate": "step-after", "point": True},
        "encoding": {
            "x": {"field": "seconds", "type": "quantitative", "scale": {"type": "log", "domain": [0.04, 12]},
                  "title": "budget (s)"},
            "y": {"field": "gap", "type": "quantitative", "scale": {"type": "log"},
                  "title": "gap (%); at the bottom: proven"},
            "color": {"field": "layer", "type": "nominal", "scale": {"scheme": "tableau10"},
                      "sort": list(dict.fromkeys(value["layer"] for value in values)),
                      "legend": {"orient": "bottom", "columns": 1, "labelLimit": 420, "title": None}},
        },
    }
    file.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pliant", default="build/release/bin/pliant")
    parser.add_argument("--budgets", default="0.05s,0.1s,0.2s,0.5s,1s,2s,5s,10s")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    parser.add_argument("accelerators", nargs="*", help="all layers on each; otherwise each on its own of bench/chips")
    options = parser.parse_args()
    print(f"{'accelerator':16} {'layer':50} {'factors':7} {'goal':8} {'budget':6} {'value':>12} {'gap':>8} "
          f"{'wall s':>7} {'CPU s':>7}")
    rows = []
    for chip, layer, factorization, objective in LAYERS:
        for accelerator in options.accelerators or [str(CHIPS / f"{chip}.yaml")]:
            for budget in options.budgets.split(","):
                row = run(options.pliant, accelerator, layer, factorization, objective, budget)
                rows.append(row)
                print(f"{row['chip']:16} {layer:50} {factorization:7} {objective:8} {budget:6} {row['value']:12.5g} "
                      f"{100 * row['gap']:7.2f}% {row['wall']:7.2f} {row['cpu']:7.2f}", flush=True)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    if options.plot:
        plot(rows, options.plot)


if __name__ == "__main__":
    main()
