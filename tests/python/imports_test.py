# SPDX-License-Identifier: Apache-2.0
"""The modules of the package stand on each other: none needs, when it is imported, one that needs it."""

from __future__ import annotations

import ast
from pathlib import Path

import pliant

FOLDER = Path(pliant.__file__).parent


def needed_at_once(module: Path) -> set[str]:
    """What its own lines import; not its functions', and not what is for type checkers alone."""
    names: set[str] = set()
    for line in ast.parse(module.read_text()).body:
        if isinstance(line, ast.ImportFrom) and line.module == "pliant":
            names |= {alias.name for alias in line.names}
        elif isinstance(line, ast.ImportFrom) and (line.module or "").startswith("pliant."):
            names.add(line.module.split(".")[1])  # type: ignore[union-attr]
    return {name for name in names if (FOLDER / f"{name}.py").exists()}


def test_no_circle() -> None:
    needs = {module.stem: needed_at_once(module) for module in FOLDER.glob("*.py") if module.stem != "__init__"}
    assert sum(map(len, needs.values())) > 20
    while needs:
        free = {name for name, others in needs.items() if not others & needs.keys()}
        assert free, f"these need each other: {needs}"
        needs = {name: others for name, others in needs.items() if name not in free}
