# SPDX-License-Identifier: Apache-2.0
"""What a language model costs to serve."""

from __future__ import annotations

import json
from typing import Any

from pliant._answer import ask


def _listed(values: list[int] | str | None) -> str | None:
    return ",".join(map(str, values)) or None if isinstance(values, list) else values


def _seconds(value: float | None) -> str | None:
    return None if value is None else f"{value}s"


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
    return ask(
        "serve", model, accelerator=accelerator, prompt=prompt, output=output, batch=batch, chunk=chunk,
        contexts=_listed(contexts), weight_bits=weight_bits, kv_bits=kv_bits, skew=skew, memory=memory,
        objective=objective, factorization=factorization, flexibility=flexibility,
        set=[f"{key}={value}" for key, value in (settings or {}).items()], gap=gap,
        tp=tp if tp != 1 else None, pp=pp if pp != 1 else None, ep=ep if ep != 1 else None, chips=chips,
        batches=_listed(batches), ttft=_seconds(ttft), tpot=_seconds(tpot),
        links=json.dumps(links) if links else None, vector=json.dumps(vector) if vector else None,
    )  # fmt: skip
