# SPDX-License-Identifier: Apache-2.0
"""Examples in docstrings say what happens, and whatever people call has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import pliant

#: Raised when a disk refuses, inputs change between two runs, or somebody presses Ctrl-C.
WITHOUT_EXAMPLE = {"StorageError", "ChangedInputs", "SweepInterrupted"}
#: Compiled ones say nothing of their own.
COMPILED = ("_core", "libpliant_")
FOUND = [one.name for one in pkgutil.iter_modules(pliant.__path__) if not one.name.startswith(COMPILED)]
MODULES = ["pliant", *(f"pliant.{name}" for name in FOUND)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    assert doctest.testmod(module, extraglobs={"pliant": pliant}).failed == 0
    assert list(tmp_path.iterdir()) == []  # an example leaves nothing behind


def test_everything_public_has_an_example() -> None:
    named = {name: getattr(pliant, name) for name in pliant.__all__}
    charts = {
        f"charts.{name}": one
        for name, one in vars(pliant.charts).items()
        if inspect.getmodule(one) is pliant.charts and name[0] != "_"
    }
    called = {name: one for name, one in {**named, **charts}.items() if callable(one) and name not in WITHOUT_EXAMPLE}
    assert len(called) > 40
    assert [name for name, one in called.items() if ">>>" not in (one.__doc__ or "")] == []
