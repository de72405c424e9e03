#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Certificates of the networks of docs/networks.md: their sizes, and CPU seconds of search and audit.

    bench/network_audits.py build/ci/bin/pliant [--fusion tiles] [--only TEXT]

The exit code is 0 if all claims are audited and clean.
"""

import argparse
import json
import os
import sys
import tempfile

from residency_table import ACCELERATORS, NETWORKS, cpu_seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pliant")
    parser.add_argument("--fusion", default="whole")
    parser.add_argument("--only", default="", help="rows whose accelerator and network contain this")
    arguments = parser.parse_args()
    print("| accelerator | network | kB | proofs | choices | CPU s, search | CPU s, audit | verdict |")
    print("|---|---|---|---|---|---|---|---|")
    rows = clean = 0
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "network.json")
        for accelerator in ACCELERATORS:
            for network in NETWORKS:
                if arguments.only not in f"{accelerator} {network}":
                    continue
                _, search = cpu_seconds([arguments.pliant, "map", "--accelerator", accelerator, "--workload", network,
                                         "--fusion", arguments.fusion, "--threads", "1", "--certificate", file])
                text, audit = cpu_seconds([arguments.pliant, "audit", file, "--threads", "1", "--json"], {0, 1, 4})
                report = json.loads(text)
                rows += 1
                clean += report["verdict"] == "clean"
                print(f"| {accelerator} | {network} | {os.path.getsize(file) / 1e3:.0f} | {report['proofs']} "
                      f"| {report['choices']} | {search:.2f} | {audit:.2f} | {report['verdict']} |", flush=True)
    print(f"\n{clean} of {rows} are clean")
    return 0 if clean == rows else 4


if __name__ == "__main__":
    sys.exit(main())
