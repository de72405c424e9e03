#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured collectives over the time that docs/serving.md says they take at least: collectives.py TABLE...

TABLE is GPU=FILE, GPU one of a100, h100, h200, b200; FILE an `nccl_perf.parquet` of ai-dynamo/aiconfigurator
(`aic-core/.../systems/data/<gpu>_sxm/comm/nccl/<version>`; sizes are elements of two bytes; needs pyarrow) or an
`all_reduce.csv` of microsoft/vidur (`data/profiling/network/<gpu>_dgx`; sizes are bytes). Prints the ratio at the
largest message of 2, 4 and 8 chips, the least ratio of all messages, and the time of the smallest.
"""

import csv
import sys

BYTES_PER_S = {"a100": 300e9, "h100": 450e9, "h200": 450e9, "b200": 900e9}


def rows_of(file):
    """(collective, chips, bytes, seconds)"""
    if file.endswith(".csv"):
        with open(file, newline="", encoding="utf-8") as table:
            for row in csv.DictReader(table):
                if row["num_workers"] == row["devices_per_node"]:
                    seconds = float(row["time_stats.all_reduce.median"]) * 1e-3
                    yield "all_reduce", int(row["num_workers"]), int(row["size"]), seconds
        return
    import pyarrow.parquet

    for row in pyarrow.parquet.read_table(file).to_pylist():
        if row["nccl_dtype"] == "half":
            yield row["op_name"], row["num_gpus"], 2 * row["message_size"], row["latency"] * 1e-3


def least(what, chips, size, rate):
    return (2 if what == "all_reduce" else 1) * size * (chips - 1) / chips / rate


def main():
    for argument in sys.argv[1:]:
        gpu, _, file = argument.partition("=")
        rows = list(rows_of(file))
        for what in sorted({row[0] for row in rows}):
            for chips in (2, 4, 8):
                own = sorted((size, seconds) for name, n, size, seconds in rows if (name, n) == (what, chips))
                if not own:
                    continue
                ratios = [seconds / least(what, chips, size, BYTES_PER_S[gpu]) for size, seconds in own]
                print(
                    f"{gpu} {what} {chips} chips: {ratios[-1]:.2f} at {own[-1][0] / 1e6:.0f} MB, "
                    f"least {min(ratios):.2f}, smallest message {own[0][1] * 1e6:.0f} us"
                )


if __name__ == "__main__":
    main()
