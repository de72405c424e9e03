# SPDX-License-Identifier: Apache-2.0
"""Tables enter polars, pyarrow, duckdb and pandas through the Arrow C stream interface."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest

import pliant


@pytest.fixture(scope="module", params=["designs", "layers", "dataset", "frontier", "breakdown", "workload"])
def shown(request: pytest.FixtureRequest, dataset: Any) -> Any:
    if request.param == "dataset":
        return dataset
    if request.param == "frontier":
        return pliant.frontier(dataset, ["area_um2", "edp_pj_cycles"])
    if request.param == "breakdown":
        return pliant.map("gemm:M=64,N=64,K=64", "eyeriss")
    if request.param == "workload":
        return pliant.map_workload("alexnet", "eyeriss", progress=False)
    return getattr(dataset, request.param)


def test_every_library_reads_the_same(shown: Any) -> None:
    by_polars = polars.DataFrame(shown)
    by_pyarrow = pyarrow.table(shown)
    by_duckdb = duckdb.sql("from shown").fetchall()
    by_pandas = pandas.DataFrame.from_arrow(shown)
    assert by_polars.columns == by_pyarrow.column_names == list(by_pandas.columns)
    assert len(by_polars) == by_pyarrow.num_rows == len(by_duckdb) == len(by_pandas) > 0
    first = by_polars.columns[0]
    assert by_polars[first].to_list() == by_pyarrow[first].to_pylist() == [row[0] for row in by_duckdb]
    assert by_pandas[first].tolist() == by_polars[first].to_list()


def test_values_are_those_of_the_dataset(dataset: Any) -> None:
    frame = polars.DataFrame(dataset)
    assert len(frame) == 8
    assert frame["edp_pj_cycles"].to_list() == dataset.designs["edp_pj_cycles"]
    rigid = frame.filter(polars.col("class") == "0000")["edp_pj_cycles"].min()
    free = frame.filter(polars.col("class") == "1111")["edp_pj_cycles"].min()
    assert rigid > free  # type: ignore[operator]


def test_nothing_is_copied(dataset: Any) -> None:
    """Two readers of one table see the same buffers."""
    table = dataset.designs
    first, second = pyarrow.table(table), pyarrow.table(table)
    addresses = [
        [buffer.address for chunk in one["edp_pj_cycles"].chunks for buffer in chunk.buffers() if buffer is not None]
        for one in (first, second)
    ]
    assert addresses[0] == addresses[1] and addresses[0]


def test_nested_columns_arrive(dataset: Any) -> None:
    layers = pyarrow.table(dataset.layers)
    nested = [field.name for field in layers.schema if pyarrow.types.is_nested(field.type)]
    assert nested
    for name in nested:
        assert layers[name].to_pylist() == dataset.layers[name]


def test_a_table_outlives_its_source() -> None:
    frame = polars.DataFrame(pliant.map("gemm:M=64,N=64,K=64", "eyeriss"))
    assert frame["energy_pj"].sum() > 0


def test_a_table_is_read_without_other_libraries(dataset: Any) -> None:
    table = dataset.designs.select("design_id", "edp_pj_cycles")
    assert table.columns == ["design_id", "edp_pj_cycles"]
    assert table.rows()[0]["design_id"] == 0
    with pytest.raises(KeyError):
        table["no_such_column"]
