# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as exceptions. The core raises the first four by name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong with an input, and where.

    >>> try:
    ...     pliant.load_accelerator({"name": "mine", "levles": []})
    ... except pliant.InputError as error:
    ...     {one.key: one.suggestion for one in error.diagnostics}["levles"]
    'levels'
    """

    file: str
    line: int  #: from 1; 0 without a position
    column: int
    key: str  #: ``levels[2].capacity``, or the argument's name
    message: str  #: what is wrong
    expected: str  #: what would be right; may be empty
    suggestion: str  #: did you mean; may be empty
    text: str  #: all of it on one line, as the command line prints it

    def __str__(self) -> str:
        return self.text


class InputError(ValueError):
    """Bad input, located and explained. The attributes are those of the first diagnostic; there may be several.

    >>> try:
    ...     pliant.load_accelerator("eyeris")
    ... except pliant.InputError as error:
    ...     error.suggestions
    ['eyeriss']
    """

    def __init__(self, diagnostics: list[tuple[Any, ...]]) -> None:
        self.diagnostics: list[Diagnostic] = []
        for file, line, column, key, message, expected, suggestion, text in diagnostics:
            if key.startswith("--"):  # an option of the command line is an argument here
                text = text.replace(f"{file}: {key}", f"{key[2:]}=", 1)
                file, key = "", key[2:]
            self.diagnostics.append(Diagnostic(file, line, column, key, message, expected, suggestion, text))
        super().__init__("\n".join(one.text for one in self.diagnostics))

    def __reduce__(self) -> tuple[Any, ...]:
        fields = [
            (d.file, d.line, d.column, d.key, d.message, d.expected, d.suggestion, d.text) for d in self.diagnostics
        ]
        return InputError, (fields,)

    @property
    def file(self) -> str:
        """The file, or ``<dict>``; empty for an argument."""
        return self.diagnostics[0].file

    @property
    def line(self) -> int:
        """From 1; 0 without a position."""
        return self.diagnostics[0].line

    @property
    def column(self) -> int:
        """From 1; 0 without a position."""
        return self.diagnostics[0].column

    @property
    def key(self) -> str:
        """The key or the argument it is about."""
        return self.diagnostics[0].key

    @property
    def message(self) -> str:
        """What is wrong."""
        return self.diagnostics[0].message

    @property
    def suggestions(self) -> list[str]:
        """What may have been meant, one for each diagnostic that has a guess."""
        return [one.suggestion for one in self.diagnostics if one.suggestion]


class IllegalMapping(ValueError):
    """A mapping that breaks limits of the accelerator or of its flexibility.

    >>> mapping = pliant.map("gemm:M=8,N=8,K=8", "eyeriss").mapping.to_dict()
    >>> del mapping["layer"]
    >>> try:
    ...     pliant.evaluate("gemm:M=16,N=8,K=8", "eyeriss", mapping)  # its loops cover half of M
    ... except pliant.IllegalMapping as error:
    ...     {one["dim"] for one in error.violations}
    {'M'}
    """

    def __init__(self, violations: str) -> None:
        #: each with ``rule``, ``level``, ``tensor``, ``dim``, ``needed``, ``available``, ``message``
        self.violations: list[dict[str, Any]] = json.loads(violations)
        super().__init__("\n".join(f"{one['rule']}: {one['message']}" for one in self.violations))

    def __reduce__(self) -> tuple[Any, ...]:
        return IllegalMapping, (json.dumps(self.violations),)


class StorageError(OSError):
    """A disk that refuses, or a file that is damaged."""


class ChangedInputs(RuntimeError):
    """A dataset was made from other inputs; another folder, or ``update=True``, is the way out."""


class CommandFailed(RuntimeError):
    """A command that ended with a complaint.

    >>> try:
    ...     pliant.ask("show", "accelerator", "eyeris")
    ... except pliant.CommandFailed as error:
    ...     error.code
    2
    """

    def __init__(self, code: int, complaints: str) -> None:
        super().__init__(complaints.strip() or f"exit code {code}")
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return CommandFailed, (self.code, str(self))


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C during a sweep. What is finished is in ``dataset``; the same call continues."""

    def __init__(self, message: str, dataset: Any) -> None:
        super().__init__(message)
        self.dataset = dataset
