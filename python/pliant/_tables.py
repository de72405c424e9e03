# SPDX-License-Identifier: Apache-2.0
"""Tables that leave through the Arrow C stream interface: polars, pyarrow, duckdb and pandas take them as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pliant import _core
from pliant._html import rows_html

_SHOWN = 20


class Table:
    """Named columns of equal length. Nothing is copied on the way into a data frame:

    ``polars.DataFrame(table)``, ``pyarrow.table(table)``, ``duckdb.sql("from table")``,
    ``pandas.DataFrame.from_arrow(table)``.

    >>> table = pliant.Table.from_rows([{"name": "a", "size": 1}, {"name": "b"}], texts=["name"], whole=["size"])
    >>> table["size"], table.select("name").rows()
    ([1, None], [{'name': 'a'}, {'name': 'b'}])
    """

    def __init__(self, core: _core.ArrowTable) -> None:
        self._core = core

    @staticmethod
    def from_rows(
        rows: Iterable[dict[str, Any]],
        *,
        texts: Sequence[str] = (),
        whole: Sequence[str] = (),
        numbers: Sequence[str] = (),
        flags: Sequence[str] = (),
    ) -> Table:
        """A table of rows that are dicts; a name that a row lacks is an empty cell."""
        rows = list(rows)
        kinds = [("t", texts), ("w", whole), ("n", numbers), ("f", flags)]
        columns = [(f"{kind}:{name}", [row.get(name) for row in rows]) for kind, names in kinds for name in names]
        return Table(_core.table_from_columns(columns))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._core.names

    def __len__(self) -> int:
        return self._core.rows

    def __getitem__(self, column: str) -> list[Any]:
        """The cells of a column as Python values."""
        return list(self._core.column(column))

    def select(self, *columns: str) -> Table:
        """Only these columns, in this order."""
        return Table(self._core.select(list(columns)))

    def rows(self) -> list[dict[str, Any]]:
        """Every row as a dict; for tables that are small."""
        columns = [(name, self[name]) for name in self.columns]
        return [{name: cells[row] for name, cells in columns} for row in range(len(self))]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._core.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<pliant.Table {len(self)} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        more = f", the first {_SHOWN} shown" if len(self) > _SHOWN else ""
        return rows_html(Table(self._core.slice(0, _SHOWN)).rows(), caption=f"{len(self)} rows{more}")
