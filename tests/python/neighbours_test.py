# SPDX-License-Identifier: Apache-2.0
"""Other modules with C libraries of their own live in the same process, whoever comes first."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest

USES = {
    "pliant": "assert pliant.map('gemm:M=8,N=8,K=8', 'eyeriss').certified",
    "hashlib": "assert hashlib.sha256(b'').hexdigest().startswith('e3b0c442')",
    "ssl": "assert ssl.create_default_context().get_ciphers()",
    "duckdb": "assert duckdb.sql('select 1').fetchall() == [(1,)]",
    "polars": "assert polars.Series([1, 2]).sum() == 3",
}
ORDERS = [order for order in itertools.permutations(["pliant", "hashlib", "ssl"])]
ORDERS += [("pliant", "duckdb", "polars"), ("duckdb", "polars", "pliant")]


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_imports_in_any_order(order: tuple[str, ...]) -> None:
    lines = [f"import {name}" for name in order] + [USES[name] for name in order] + [USES[name] for name in order[::-1]]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
