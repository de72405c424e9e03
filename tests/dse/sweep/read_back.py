# SPDX-License-Identifier: Apache-2.0
"""Reads a dataset with pyarrow and with DuckDB and prints both as JSON: {"pyarrow": [rows], "duckdb": [rows], ...}."""

import json
import sys

import duckdb
import pyarrow.dataset

folder = sys.argv[1]
tables = {}
for name in ("layers", "designs"):
    table = pyarrow.dataset.dataset(f"{folder}/{name}").to_table()
    key = [("design_id", "ascending"), ("workload", "ascending")]
    if name == "layers":
        key.append(("layer_index", "ascending"))
    order = "design_id, workload" + (", layer_index" if name == "layers" else "")
    result = duckdb.sql(f"select * from '{folder}/{name}/*.parquet' order by {order}")
    tables[name] = {
        "pyarrow": table.sort_by(key).to_pylist(),
        "duckdb": [dict(zip(result.columns, row)) for row in result.fetchall()],
        "units": {f.name: f.metadata[b"unit"].decode() for f in table.schema},
        "metadata": {
            k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items() if k.startswith(b"pliant.")
        },
    }
json.dump(tables, sys.stdout)
