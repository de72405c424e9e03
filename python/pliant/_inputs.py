# SPDX-License-Identifier: Apache-2.0
"""Accelerators, workloads and layers: by name, by path or as a dict in the form of their files."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Union

from pliant import _core

#: A shipped name, a path, or the content of the file as a dict.
Source = Union[str, "os.PathLike[str]", Mapping[str, Any]]
#: What a setting may be: a number, a text such as ``"64KiB"``, a flag, a list.
Setting = Union[str, int, float, bool, list[Any]]


def words_of(source: Source) -> tuple[str, bool]:
    """The words for the core, and whether they are a whole file."""
    if isinstance(source, Mapping):
        return json.dumps(source, indent=1), True
    return os.fspath(source), False


def _setting(value: Setting) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def preformatted(text: str) -> str:
    return f"<pre style='line-height:1.25'>{html.escape(text)}</pre>"


class _Input:
    """What all inputs have in common. ``str()`` prints what was understood, every default filled in."""

    _core: Any

    @property
    def name(self) -> str:
        name: str = self._core.name
        return name

    def to_dict(self) -> dict[str, Any]:
        """What was understood, as ``pliant show --json`` has it."""
        shown: dict[str, Any] = json.loads(self._core.json())
        return shown

    def to_yaml(self) -> str:
        """An input file with everything resolved."""
        text: str = self._core.yaml()
        return text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ``to_yaml()``."""
        Path(path).write_text(self.to_yaml(), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<pliant.{type(self).__name__} {self.name}>"

    def __str__(self) -> str:
        text: str = self._core.text()
        return text

    def _repr_html_(self) -> str:
        return preformatted(str(self))


class Accelerator(_Input):
    """A chain of memories, fanouts and compute units, with its flexibility. Made by :func:`load_accelerator`.

    >>> pliant.load_accelerator("flexref").set(rows=8, cols=4).mac_units
    32
    """

    def __init__(self, core: _core.Accelerator, words: tuple[Any, ...]) -> None:
        self._core = core
        self._words = words

    @property
    def description(self) -> str:
        return str(self._core.description)

    @property
    def mac_units(self) -> int:
        """Compute units: the product of all fanouts."""
        return int(self._core.mac_units)

    def set(self, settings: Mapping[str, Setting] | None = None, /, **more: Setting) -> Accelerator:
        """Another accelerator with these settings: parameters or keys of levels.

        >>> pliant.load_accelerator("flexref").set({"Buffer.capacity": "64KiB"}, rows=8)
        <pliant.Accelerator flexref>
        """
        pairs = [(key, _setting(value)) for key, value in {**(settings or {}), **more}.items()]
        source, in_memory, before, flexibility, conventions = self._words
        return Accelerator(
            self._core.set(pairs, None, None), (source, in_memory, [*before, *pairs], flexibility, conventions)
        )

    def with_rules(self, flexibility: str | None = None, conventions: str | None = None) -> Accelerator:
        """Another accelerator with a flexibility (a class such as ``PartFlex-1011``, a shipped name, a file) or the
        conventions of another model (``physical``, ``timeloop``, ``quickflow``) instead of its own.

        >>> rigid = pliant.load_accelerator("flexref").with_rules(flexibility="0000")
        >>> layer = "gemm:M=60,N=60,K=60"
        >>> pliant.map(layer, rigid).value >= pliant.map(layer, "flexref", flexibility="1111").value
        True
        """
        source, in_memory, settings, own_flexibility, own_conventions = self._words
        return Accelerator(
            self._core.set([], flexibility, conventions),
            (source, in_memory, settings, flexibility or own_flexibility, conventions or own_conventions),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _accelerator_from_words, self._words


def _accelerator_from_words(
    source: str,
    in_memory: bool,
    settings: list[tuple[str, str]],
    flexibility: str | None,
    conventions: str | None,
) -> Accelerator:
    words = (source, in_memory, settings, flexibility, conventions)
    return Accelerator(_core.load_accelerator(*words), words)


def load_accelerator(
    source: Source | Accelerator,
    *,
    flexibility: str | None = None,
    conventions: str | None = None,
    settings: Mapping[str, Setting] | None = None,
) -> Accelerator:
    """An accelerator by its shipped name, from a file (also of Timeloop and other tools), or from a dict.

    Args:
        source: ``"eyeriss"``, ``"my.yaml"``, or a dict in the form of such a file.
        flexibility: a class (``"1011"``, ``"PartFlex-1011"``), a shipped name or a file, instead of its own rules.
        conventions: ``"physical"``, ``"timeloop"`` or ``"quickflow"`` instead of its own.
        settings: parameters or keys of levels, as :meth:`Accelerator.set` takes them.

    >>> pliant.load_accelerator("eyeriss").name
    'eyeriss'
    """
    if isinstance(source, Accelerator):
        changed = source.set(settings) if settings else source
        return changed.with_rules(flexibility, conventions) if flexibility or conventions else changed
    pairs = [(key, _setting(value)) for key, value in (settings or {}).items()]
    return _accelerator_from_words(*words_of(source), pairs, flexibility, conventions)


class Layer(_Input):
    """One tensor operation: dims with sizes, and tensors. Made by :func:`load_layer` or taken from a workload.

    >>> pliant.load_layer("gemm:M=2,N=3,K=4").dims
    {'M': 2, 'N': 3, 'K': 4}
    """

    def __init__(self, core: _core.Layer, words: tuple[Any, ...]) -> None:
        self._core = core
        self._words = words

    @property
    def macs(self) -> int:
        return int(self._core.macs)

    @property
    def dims(self) -> dict[str, int]:
        """Sizes by name, in the layer's order."""
        return dict(self._core.dims)

    def __reduce__(self) -> tuple[Any, ...]:
        return _layer_from_words, self._words


def _layer_from_words(source: str, in_memory: bool, workload: tuple[str, bool] | None) -> Layer:
    beside = None if workload is None else _core.load_workload(*workload)
    return Layer(_core.load_layer(source, in_memory, beside), (source, in_memory, workload))


class Workload(_Input):
    """A network: layers in order, each with how often it is repeated. Iterating gives the layers.

    >>> network = pliant.load_workload("alexnet")
    >>> len(network) == len(network.layer_names) == len([layer.macs for layer in network])
    True
    """

    def __init__(self, core: _core.Workload, words: tuple[str, bool]) -> None:
        self._core = core
        self._words = words
        self._counts: list[tuple[str, int]] = core.layer_counts()

    @property
    def description(self) -> str:
        return str(self._core.description)

    @property
    def counts(self) -> list[int]:
        """How often each layer is repeated, in order."""
        return [count for _, count in self._counts]

    @property
    def layer_names(self) -> list[str]:
        return [name for name, _ in self._counts]

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[Layer]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, layer: int | str) -> Layer:
        """By position or by name; an unknown name is an :class:`InputError` with the nearest one."""
        if isinstance(layer, str):
            return Layer(_core.load_layer(layer, False, self._core), (layer, False, self._words))
        index = range(len(self))[layer]
        return Layer(self._core.layer_at(index), (self._counts[index][0], False, self._words))

    def __reduce__(self) -> tuple[Any, ...]:
        return load_workload_words, self._words


def load_workload_words(source: str, in_memory: bool) -> Workload:
    return Workload(_core.load_workload(source, in_memory), (source, in_memory))


def load_workload(source: Source | Workload) -> Workload:
    """A network by its shipped name, from a file (YAML, CSV, ONNX, a model's ``config.json:prefill=4096``), or a dict.

    >>> pliant.load_workload("resnet50")["conv1"].macs
    118013952
    """
    return source if isinstance(source, Workload) else load_workload_words(*words_of(source))


def load_layer(source: Source | Layer, workload: Source | Workload | None = None) -> Layer:
    """A layer written in place, from a file, from a dict, or by its name in a workload.

    >>> pliant.load_layer("gemm:M=512,N=512,K=512").macs
    134217728
    """
    if isinstance(source, Layer):
        return source
    text, in_memory = words_of(source)
    if workload is None:
        return _layer_from_words(text, in_memory, None)
    return load_workload(workload)[text]


def accelerators() -> list[str]:
    """The names of the shipped accelerators.

    >>> "eyeriss" in pliant.accelerators()
    True
    """
    return _core.shipped_accelerators()


def workloads() -> list[str]:
    """The names of the shipped workloads.

    >>> "resnet50" in pliant.workloads()
    True
    """
    return _core.shipped_workloads()
