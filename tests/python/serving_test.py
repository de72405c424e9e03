# SPDX-License-Identifier: Apache-2.0
"""Serving: the command line's answers."""

from __future__ import annotations

from typing import Any, Callable

import pliant
import pytest


def test_it_is_that_of_the_command_line(cli: Callable[..., Any]) -> None:
    words = ["serve", "llama3_2_1b", "--accelerator", "npu", "--prompt", "256", "--output", "8", "--kv-bits", "4"]
    assert pliant.serve("llama3_2_1b", "npu", prompt=256, output=8, kv_bits=4) == cli(*words)


def test_what_does_not_fit_says_what_would() -> None:
    answer = pliant.serve("llama3_2_1b", "npu", memory="1 GB")
    assert not answer["memory"]["fits"] and "chips" in answer["would_fit"]


def test_several_chips_need_links() -> None:
    with pytest.raises(pliant.CommandFailed, match="no links"):
        pliant.serve("llama3_2_1b", "npu", tp=2)
