# SPDX-License-Identifier: Apache-2.0
"""Questions of the command line, and what every answer has."""

from __future__ import annotations

import json
import threading
from typing import Any

from pliant import _core
from pliant._errors import CommandFailed
from pliant._html import rows_html
from pliant._tables import Table

_main_thread = threading.main_thread().ident


def on_main_thread() -> bool:
    """Only there Ctrl-C can be heard."""
    return threading.get_ident() == _main_thread


class Answer:
    """What results and frontiers have in common: a dict, a table, and how they look in a notebook.

    >>> found = pliant.map("gemm:M=8,N=8,K=8", "eyeriss")
    >>> isinstance(found, pliant.Answer), found.to_dict()["schema"], len(found.table.rows()) > 3
    (True, 3, True)
    """

    def to_dict(self) -> dict[str, Any]:
        """All of it, as ``--json`` prints it (docs/json.md)."""
        raise NotImplementedError

    @property
    def table(self) -> Table:
        """Its rows; data frames take the answer itself as well (``polars.DataFrame(answer)``)."""
        raise NotImplementedError

    def _shown(self) -> list[dict[str, Any]]:
        return self.table.rows()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return rows_html(self._shown(), caption=repr(self)[1:-1])


def _words(option: str, value: Any) -> list[str]:
    name = "--" + option.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    values = value if isinstance(value, (list, tuple)) else [value]
    return [word for one in values for word in (name, str(one))]


def ask(command: str, *words: str, **options: Any) -> dict[str, Any]:
    """Any question of the command line, in this process, answered as ``--json`` prints it.

    Options are named as on the command line, with ``_`` for ``-``: texts, numbers, a list for one that is given several
    times, True for one without a value; None and False are not given. They may also stand among the words, as there.

    >>> pliant.ask("show", "layer", "gemm:M=2,N=2,K=2")["macs"]
    8
    >>> pliant.ask("count", accelerator="eyeriss", layer="gemm:M=2,N=2,K=2", legal=True)["count"] > "0"
    True

    Raises:
        CommandFailed: when it complains; with its exit code and what it said.
    """
    line = [command, *words]
    for option, value in options.items():
        line += _words(option, value)
    code, said, complaints = _core.ask(line, on_main_thread())
    if code not in (0, 3) or not said:
        raise CommandFailed(code, complaints or said)
    answer: dict[str, Any] = json.loads(said)
    return answer
