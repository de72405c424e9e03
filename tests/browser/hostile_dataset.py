# SPDX-License-Identifier: Apache-2.0
"""A dataset whose names try to become scripts or elements of the page, made by a real sweep of 128 designs."""

import json

import reported

HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2> \"quotes\" 'and' {{x_title}} ünïcödé "
    "网络 @script@ "
    + "long " * 60
)
SWEEP_NAME = "hostile </title><script>window.hacked=4</script>"
LAYER = '<b onmouseover=window.hacked=3>conv</b> & "co"'

SWEEP = """pliant: sweep
name: plain
accelerator: flexref
set: {DRAM.read_bandwidth: 2, DRAM.write_bandwidth: 2}
workloads:
  - net.yaml
  - {name: gemms, layers: ["gemm:M=12,N=20,K=16", "gemm:M=48,N=20,K=9"]}
vary:
  - rows: [4, 8]
    cols: [8, 16]
  - Buffer.capacity: [2Ki, 64Ki]
flexibility: all-16
objective: edp
"""
NET = """pliant: workload
name: net
layers:
  - {layer: first, count: 3, conv: {M: 16, C: 8, P: 7, Q: 7, R: 3, S: 3}}
  - {layer: fc, gemm: {M: 1, N: 40, K: 64}}
"""
# What Pliant's own files may not be called, a dataset may hold all the same: names in it are replaced by these.
NAMES = {
    "net": HOSTILE,
    "first": LAYER,
    "Buffer": "<i onclick=window.hacked=5>Buf</i>",
    "Weights": "</svg><script>window.hacked=6</script>",
    "plain": SWEEP_NAME,
}


def renamed(value):
    if isinstance(value, dict):
        return {key: renamed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item) for item in value]
    return NAMES.get(value, value) if isinstance(value, str) else value


def make(pliant, folder):
    """Writes the dataset folder/data."""
    import pyarrow
    import pyarrow.parquet

    (folder / "net.yaml").write_text(NET, encoding="utf-8")
    reported.make_dataset(pliant, folder, SWEEP)
    for file in (folder / "data").glob("*/*.parquet"):
        table = pyarrow.parquet.read_table(file)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(renamed(table.to_pylist()), schema=table.schema), file)
    for file in (folder / "data/checksums").iterdir():
        file.unlink()
    manifest = folder / "data/manifest.json"
    said = renamed(json.loads(manifest.read_text(encoding="utf-8")))
    said.pop("manifest_sha256", None)
    manifest.write_text(json.dumps(said), encoding="utf-8")
