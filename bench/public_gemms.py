#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws measured GEMMs of a public table, as rows that `pliant validate --measured` reads.

    bench/public_gemms.py gemm_perf.parquet --l2-mib 40 --rows 2000 > rows.csv
    pliant validate --measured rows.csv --accelerator a100

The table is one of ai-dynamo/aiconfigurator's (aic-core/src/aiconfigurator_core/systems/data); docs/silicon.md says
which were used. BF16 with aligned sizes alone.
"""
import argparse
import csv
import random
import sys

import pyarrow.parquet


def aligned(row):
    m, n, k = row["m"], row["n"], row["k"]
    return row["gemm_dtype"] == "bfloat16" and (m % 16 == 0 or m in (1, 2, 4, 8)) and n % 8 == 0 and k % 8 == 0


def warm_bytes(m, n, k, l2):
    """What a run may have left in the L2: inputs and outputs stay in place, weights come from six copies in turn."""
    stays = min(2 * (m * k + m * n), l2)
    return int(stays + min(2 * k * n, (l2 - stays) / 6))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("table")
    parser.add_argument("--l2-mib", type=float, required=True, help="of the chip: a100 40, h100 50, b200 126.5")
    parser.add_argument("--rows", type=int, default=120)
    parser.add_argument("--seed", type=int, default=41)
    asked = parser.parse_args()
    rows = sorted((r["m"], r["n"], r["k"], r["latency"]) for r in pyarrow.parquet.read_table(asked.table).to_pylist()
                  if aligned(r))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["kind", "M", "N", "K", "seconds", "warm_bytes"])
    for m, n, k, milliseconds in random.Random(asked.seed).sample(rows, min(asked.rows, len(rows))):
        out.writerow(["gemm", m, n, k, repr(milliseconds / 1e3), warm_bytes(m, n, k, asked.l2_mib * 2**20)])


if __name__ == "__main__":
    main()
