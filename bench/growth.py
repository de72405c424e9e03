#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the time of a proof grows with the task: one family of tasks after the other, each varied in one way.

    bench/growth.py [--pliant build/release/bin/pliant] [--page docs/growth.md] [--plot docs/img/growth.svg]

Families: dims (a GEMM and a 3x3 convolution whose dims double; contractions of 3 to 12 dims of 4), levels (3 to 6
memories), array (2^4 to 2^16 units), ports (0 to 4 limits on bandwidth), class (0000 to 1111) and factorization.
Times are CPU seconds of the search on one thread, the least of three runs. Without a budget a search ends by itself;
the gap says what was left.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONV = "conv:M=64,C=64,P=28,Q=28,R=3,S=3"
RUNS = 3


def accelerator(units=256, memories=3, ports=0):
    """DRAM, on-chip buffers, a square array on which any dims may be spread, buffers in its units."""
    side = 1 << (units.bit_length() - 1) // 2
    bandwidth = [f"    {key}: {value} B/cycle" for key, value in [("read_bandwidth", 32), ("write_bandwidth", 16)]]
    chain = [("DRAM", "unbounded", 40), ("SRAM", "512 KiB", 4), ("PEBuf", "1 KiB", 0.2)]
    if memories >= 4:
        chain.insert(1, ("L2", "4 MiB", 12))
    if memories >= 5:
        chain.append(("RegFile", "128 B", 0.1))
    if memories >= 6:
        chain.insert(3, ("L1", "64 KiB", 1))
    lines = ["pliant: accelerator", "name: growth", "word_bits: 8", "technology: cmos_7nm", "levels:"]
    for name, capacity, energy in chain:
        if name == "PEBuf":
            lines += ["  - fanout: PEs", f"    rows: {side}", f"    cols: {units // side}"]
        lines += [f"  - memory: {name}", f"    capacity: {capacity}"]
        lines += [f"    read_pj: {energy}", f"    write_pj: {energy}"]
        if name in ("DRAM", "SRAM"):
            lines += bandwidth[: max(0, min(2, ports - (2 if name == "SRAM" else 0)))]
    return "\n".join(lines + ["  - compute: MAC", "    mac_pj: 0.1"]) + "\n"


def contraction(dims, size=4):
    """A third of the dims in inputs and outputs, a third in weights and outputs, a third summed; as text of a layer."""
    names = [chr(ord("A") + i) for i in range(dims)]
    rows, cols, summed = names[: dims // 3], names[dims // 3 : 2 * dims // 3], names[2 * dims // 3 :]
    tensors = [("X", "inputs", rows + summed), ("W", "weights", cols + summed), ("O", "outputs", rows + cols)]
    lines = ["pliant: layer", "layer: contraction", "einsum:"]
    lines += ["  dims: {" + ", ".join(f"{name}: {size}" for name in names) + "}", "  tensors:"]
    lines += [f"    - {{name: {x}, role: {role}, projection: [{', '.join(used)}]}}" for x, role, used in tensors]
    return "\n".join(lines) + "\n"


def families():
    """(family, size, accelerator or None where the options name one, options of pliant map)"""
    for power in range(4, 14):
        yield "dims of a GEMM", 2**power, accelerator(), ["--layer", f"gemm:M={2**power},N={2**power},K={2**power}"]
    for power in range(0, 5):
        layer = f"conv:M={16 << power},C={16 << power},P={7 << power},Q={7 << power},R=3,S=3"
        yield "dims of a convolution", 2**power, accelerator(), ["--layer", layer]
    for dims in [3, 6, 9, 12]:
        yield "dims of an einsum", dims, accelerator(), ["--layer", contraction(dims)]
    for memories in range(3, 7):
        yield "memories", memories, accelerator(memories=memories), ["--layer", CONV]
    for power in range(4, 17, 2):
        yield "units of the array", 2**power, accelerator(units=2**power), ["--layer", CONV]
    for ports in range(5):
        yield "limits on bandwidth", ports, accelerator(ports=ports), ["--layer", CONV]
    for bits in ["0000", "0001", "0010", "0100", "1000", "0011", "1100", "1111"]:
        yield "class (of flexref)", bits, None, ["--accelerator", "flexref", "--layer", CONV, "--flexibility", bits]
    for rule in ["pfm", "ruby-s", "ruby-t", "ruby", "padding"]:
        yield "factorization", rule, accelerator(), ["--layer", "gemm:M=96,N=100,K=120", "--factorization", rule]


def measure(pliant, options):
    best = None
    for _ in range(RUNS):
        run = subprocess.run(
            [pliant, "map", "--json", "--threads", "1", *options],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        )
        if run.returncode not in (0, 3):
            raise SystemExit(f"{options}: {run.stderr}")
        found = json.loads(run.stdout)
        if best is None or found["solve_cpu_seconds"] < best["solve_cpu_seconds"]:
            best = found
        if best["solve_cpu_seconds"] > 1:
            break
    return best


def plot(rows, file):
    """Milliseconds against size, a panel for each family; drawn by Vega-Lite."""
    import vl_convert  # in the project's .venv

    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "columns": 3,
        "data": {"values": rows},
        "facet": {"field": "family", "type": "nominal", "sort": None, "title": None},
        "resolve": {"scale": {"x": "independent"}},
        "spec": {
            "width": 180,
            "height": 120,
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "size", "type": "ordinal", "sort": None, "title": None},
                "y": {"field": "ms", "type": "quantitative", "scale": {"type": "log"}, "title": "CPU ms"},
            },
        },
    }
    file.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pliant", default=str(ROOT / "build/release/bin/pliant"))
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/growth.md")
    parser.add_argument("--plot", type=pathlib.Path, default=ROOT / "docs/img/growth.svg")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file, layer = pathlib.Path(folder) / "growth.yaml", pathlib.Path(folder) / "layer.yaml"
        for family, size, text, task in families():
            if text:
                file.write_text(text, encoding="utf-8")
                task = ["--accelerator", str(file), *task]
            if task[-1].startswith("pliant: layer"):
                layer.write_text(task[-1], encoding="utf-8")
                task = [*task[:-1], str(layer)]
            found = measure(options.pliant, task)
            rows.append(
                {
                    "family": family,
                    "size": size,
                    "ms": found["solve_cpu_seconds"] * 1e3,
                    "mappings": found["mappings_covered"],
                    "proof": "nothing fits"
                    if not found["feasible"]
                    else "optimal"
                    if found["certified"]
                    else f"gap {found['gap']:.2%}",
                }
            )
            print(*rows[-1].values(), flush=True)
    lines = ["| family | size | CPU ms | mappings | proof |", "|---|---|---|---|---|"]
    for row in rows:
        mappings = f"{float(row['mappings']):.2g}" if row["mappings"] else ""
        lines.append(f"| {row['family']} | {row['size']} | {row['ms']:.3g} | {mappings} | {row['proof']} |")
    page = options.page.read_text(encoding="utf-8") if options.page.exists() else "# Growth\n\n| family |\n"
    head = page[: page.index("| family |")]
    options.page.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    plot(rows, options.plot)


if __name__ == "__main__":
    main()
