# SPDX-License-Identifier: Apache-2.0
"""The notebooks run from top to bottom and show pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
HANGS_SECONDS = 3600  # of a cell; nothing takes so long on any machine


def pictures(notebook: Any) -> int:
    outputs = [one for cell in notebook.cells for one in cell.get("outputs", [])]
    return sum(any(kind.startswith("application/vnd.vegalite") for kind in one.get("data", {})) for one in outputs)


@pytest.mark.parametrize("file", sorted((ROOT / "examples/notebooks").glob("*.ipynb")), ids=lambda file: file.stem)
def test_notebook(file: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(file, as_version=4)
    NotebookClient(notebook, timeout=HANGS_SECONDS, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert pictures(notebook) >= 2


def test_there_are_six() -> None:
    assert len(list((ROOT / "examples/notebooks").glob("*.ipynb"))) == 6
