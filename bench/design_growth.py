#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the work of a design search grows with the space: the same ranges, ever finer, from 10^4 to 10^8 designs.

    bench/design_growth.py [--pliant build/release/bin/pliant] [--gaps 0,1%] [--most 1e8] [--limit 600]
                           [--csv docs/img/design_growth.csv] [--plot docs/img/design_growth.svg]

flexref with DRAM at 16 words per cycle, all 16 classes, least area and EDP of one network. Seconds are processor time
of the whole command on one thread, without a cache. A run over the limit ends its gap's row of spaces.
"""

import argparse
import csv
import json
import pathlib
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Heights, widths and buffers; each space has about ten times the designs of the one before.
SPACES = [(8, 8, 10), (16, 16, 25), (32, 32, 64), (64, 64, 160), (128, 128, 400)]
ROWS, COLS, BUFFER = 128, 256, 1600


def space(heights, widths, buffers, workload):
    return f"""pliant: sweep
name: growth
accelerator: flexref
set: {{DRAM.bandwidth: 16}}
workloads: [{workload}]
network: false
flexion: false
vary:
  rows: {{from: {ROWS // heights}, to: {ROWS}, step: {ROWS // heights}}}
  cols: {{from: {COLS // widths}, to: {COLS}, step: {COLS // widths}}}
  Buffer.capacity: {{from: {BUFFER // buffers}KiB, to: {BUFFER}KiB, step: {BUFFER // buffers}KiB}}
flexibility: all-16
minimize: [area_um2, edp_pj_cycles]
"""


def run(pliant, text, gap, limit):
    """The answer of `pliant design` and its processor seconds; None when it took too long."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "growth.yaml"
        file.write_text(text, encoding="utf-8")
        command = [pliant, "design", file, "-o", f"{folder}/out", "--threads", "1", "--json"]
        command += ["--gap", gap] if gap != "0" else []
        before = resource.getrusage(resource.RUSAGE_CHILDREN)

        def stop_after():
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))

        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=stop_after, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return (json.loads(done.stdout), seconds) if done.returncode == 0 else None


def plot(rows, file):
    import vl_convert

    log = {"type": "quantitative", "scale": {"type": "log"}}

    def panel(field, title):
        return {
            "width": 260,
            "height": 220,
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "designs", **log, "title": "designs of the space"},
                "y": {"field": field, **log, "title": title},
                "color": {"field": "gap", "type": "nominal", "title": "gap"},
            },
        }

    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": [{**row, "gap": "0" if row["gap"] == "0" else f"within {row['gap']}"} for row in rows]},
        "hconcat": [
            panel("mapped", "designs mapped"),
            panel("searches", "searches of layers"),
            panel("seconds", "CPU seconds"),
        ],
    }
    file.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pliant", default=str(ROOT / "build/release/bin/pliant"))
    parser.add_argument("--workload", default="bert_base_seq512")
    parser.add_argument("--gaps", default="0,1%")
    parser.add_argument("--most", type=float, default=2e8)
    parser.add_argument("--limit", type=int, default=600, help="CPU seconds of one search")
    parser.add_argument("--csv", type=pathlib.Path, default=ROOT / "docs/img/design_growth.csv")
    parser.add_argument("--plot", type=pathlib.Path, default=ROOT / "docs/img/design_growth.svg")
    args = parser.parse_args()
    rows = []
    for gap in args.gaps.split(","):
        for sizes in SPACES:
            if sizes[0] * sizes[1] * sizes[2] * 16 > args.most:
                break
            answer = run(args.pliant, space(*sizes, args.workload), gap, args.limit)
            if answer is None:
                print(f"gap {gap}: {sizes} took over {args.limit} s")
                break
            found, seconds = answer
            rows.append(
                {
                    "gap": gap,
                    "designs": found["designs"],
                    "mapped": found["opened"],
                    "boxes": found["boxes"],
                    "frontier": len(found["frontier"]),
                    "searches": found["searches"],
                    "seconds": round(seconds, 2),
                }
            )
            print(rows[-1], flush=True)
            with args.csv.open("w", newline="", encoding="utf-8") as out:
                writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
    plot(rows, args.plot)


if __name__ == "__main__":
    main()
