# SPDX-License-Identifier: Apache-2.0
"""The types are right and complete: mypy, strictly, over the package, its stubs, the tests and the examples."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pliant
from pliant import _core


def mypy(root: Path, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(root / "pyproject.toml"), *words],
        capture_output=True,
        text=True,
        cwd=root,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_installed_package_is_typed() -> None:
    folder = Path(pliant.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()


def test_the_package(root: Path) -> None:
    mypy(root, "-p", "pliant")


def test_programs_that_use_it(root: Path) -> None:
    mypy(root, "tests/python/inputs_test.py", "tests/python/map_test.py", "tests/python/sweep_test.py")
    mypy(root, *(str(file) for file in sorted((root / "examples/python").glob("*.py"))))


def test_stubs_say_what_the_module_has() -> None:
    """Every class with its members and every function, no more and no less."""
    stub = ast.parse((Path(pliant.__file__).parent / "_core.pyi").read_text())

    def names(body: list[ast.stmt]) -> set[str]:
        known = {one.name for one in body if isinstance(one, (ast.ClassDef, ast.FunctionDef))}
        annotated = {
            one.target.id for one in body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        }
        return {name for name in known | annotated if not name.startswith("__")}

    def members(owner: object) -> set[str]:
        return {name for name in vars(owner) if not name.startswith("__")}

    assert names(stub.body) == members(_core)
    classes = [one for one in stub.body if isinstance(one, ast.ClassDef)]
    assert len(classes) > 5
    for one in classes:
        assert names(one.body) == members(getattr(_core, one.name)), one.name


def test_everything_public_has_a_docstring() -> None:
    missing = []
    for name in pliant.__all__:
        one = getattr(pliant, name)
        if callable(one) and not one.__doc__:
            missing.append(name)
        if isinstance(one, type):
            missing += [f"{name}.{n}" for n, m in vars(one).items() if n[0] != "_" and callable(m) and not m.__doc__]
    assert missing == []
