#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""AccelForge's unfused and fused figures beside ours without and with residency: the table of docs/networks.md.

    bench/fused_pairs.py build/ci/bin/pliant FOLDER

FOLDER is `examples` of an AccelForge checkout; results/accelforge_fused.csv has AccelForge's own figures. Architectures
and workloads are imported; both sides minimize energy x latency. Where a file leaves energies or bandwidths to
AccelForge's component models, only the quotients of both sides can be compared.
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

FIGURES = pathlib.Path(__file__).resolve().parent.parent / "results/accelforge_fused.csv"


def imported(pliant, files, folder, variables):
    """Accelerator and workload; read together, because the workload says how wide the words are."""
    command = [pliant, "import", "accelforge", *map(str, files), "-o", str(folder)]
    for variable in variables:
        command += ["--set", variable]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().splitlines()[0])
    return next(folder.glob("*.accelerator.yaml")), next(folder.glob("*.workload.yaml"))


def network(pliant, accelerator, workload, residency):
    command = [pliant, "map", "--accelerator", str(accelerator), "--workload", str(workload), "--network",
               "--residency", residency, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0])
    return json.loads(done.stdout)["network"]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pliant, examples = sys.argv[1], pathlib.Path(sys.argv[2])
    workloads = {file.stem: file for file in (examples / "workloads").rglob("*.yaml")}
    print("| architecture | workload | theirs: energy /, latency / | ours: energy /, cycles / | energy: ours with "
          "residency over theirs unfused, fused | certified |")
    print("|---|---|---|---|---|---|")
    with open(FIGURES, encoding="utf-8") as figures:
        for row in csv.DictReader(figures):
            name = f"| {row['architecture']} | {row['workload']} {row['parameters']} "
            unfused, fused = float(row["unfused_energy"]), float(row["fused_energy"])
            theirs = f"| {unfused / fused:.3f}, {float(row['unfused_latency']) / float(row['fused_latency']):.3f} "
            try:
                with tempfile.TemporaryDirectory() as place:
                    folder = pathlib.Path(place)
                    arch = examples / "arches" / f"{row['architecture']}.yaml"
                    accelerator, workload = imported(pliant, [arch, workloads[row["workload"]]], folder,
                                                     row["parameters"].split())
                    off = network(pliant, accelerator, workload, "off")
                    on = network(pliant, accelerator, workload, "on")
            except (KeyError, ValueError) as error:
                print(f"{name}{theirs}| not read: {error} | | |", flush=True)
                continue
            joules = on["energy_pj"] * 1e-12
            print(f"{name}{theirs}| {off['energy_pj'] / on['energy_pj']:.3f}, "
                  f"{off['runtime_cycles'] / on['runtime_cycles']:.3f} | {joules / unfused:.4f}, {joules / fused:.4f} "
                  f"| {'both' if on['certified'] and off['certified'] else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
