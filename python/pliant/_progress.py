# SPDX-License-Identifier: Apache-2.0
"""Progress bars by tqdm, which knows terminals from notebooks."""

from __future__ import annotations

import time
import warnings
from types import TracebackType
from typing import Any

_QUICK_SECONDS = 0.5


class Bar:
    """A bar that appears only when the work takes longer than a moment. Use it in a ``with`` statement."""

    def __init__(self, title: str, total: int, unit: str, wanted: bool) -> None:
        self._title, self._total, self._unit = title, total, unit
        self._wanted = wanted
        self._started = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Bar:
        return self

    def show(self, done: int, total: int | None = None, note: str = "") -> None:
        if not self._wanted or (self._bar is None and time.monotonic() - self._started < _QUICK_SECONDS):
            return
        if self._bar is None:
            with warnings.catch_warnings():  # a notebook without widgets gets a bar of text, and no lecture
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm

            self._bar = tqdm(total=total or self._total, desc=self._title, unit=f" {self._unit}", leave=False)
        if total is not None and total != self._bar.total:
            self._bar.total = total
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
