# SPDX-License-Identifier: Apache-2.0
"""What a language model costs to serve."""

from __future__ import annotations

import json
from typing import Any

from pliant._analysis import command


def serve(
    model: str,
    accelerator: str,
    *,
    prompt: int = 1024,
    output: int = 128,
    batch: int = 1,
    chunk: int = 0,
    contexts: list[int] | None = None,
    weight_bits: int | None = None,
    kv_bits: int | None = None,
    skew: float = 0,
    memory: str | None = None,
    objective: str = "runtime",
    factorization: str = "pfm",
    flexibility: str | None = None,
    settings: dict[str, Any] | None = None,
    gap: float = 0.01,
    tp: int = 1,
    pp: int = 1,
    ep: int = 1,
    chips: int | None = None,
    batches: list[int] | str | None = None,
    ttft: float | None = None,
    tpot: float | None = None,
    links: dict[str, Any] | None = None,
    vector: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Time to the first token, time for each further one, tokens per second and per joule, memory.

    The answer is that of ``pliant serve --json`` (docs/serving.md); of a request that does not fit into the memory it
    has ``memory`` and ``would_fit`` alone.

    Args:
        model: A shipped name or a ``config.json``.
        chips: Find and prove the best division of so many chips, among ``batches`` (a list, or ``"all"``), with at most
            ``ttft`` and ``tpot`` seconds.

    >>> pliant.serve("llama3_2_1b", "npu", output=16)["memory"]["weights_bytes"]
    1235814400.0
    """
    words = ["serve", model, "--accelerator", accelerator]

    def say(option: str, value: Any) -> None:
        if value is not None:
            words.extend([f"--{option}", str(value)])

    say("prompt", prompt)
    say("output", output)
    say("batch", batch)
    say("chunk", chunk)
    say("contexts", ",".join(map(str, contexts)) if contexts else None)
    say("weight-bits", weight_bits)
    say("kv-bits", kv_bits)
    say("skew", skew)
    say("memory", memory)
    say("objective", objective)
    say("factorization", factorization)
    say("flexibility", flexibility)
    for key, value in (settings or {}).items():
        say("set", f"{key}={value}")
    say("gap", gap)
    for option, number in (("tp", tp), ("pp", pp), ("ep", ep)):
        say(option, number if number != 1 else None)
    say("chips", chips)
    say("batches", ",".join(map(str, batches)) if isinstance(batches, list) else batches)
    say("ttft", f"{ttft}s" if ttft is not None else None)
    say("tpot", f"{tpot}s" if tpot is not None else None)
    say("links", json.dumps(links) if links else None)
    say("vector", json.dumps(vector) if vector else None)
    return command(*words)
