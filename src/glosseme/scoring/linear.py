"""Linear maps on a CPU by oneDNN, their weights laid out once as its kernels want them.

PyTorch gives a float32 product to the BLAS library that it was built with, and a bfloat16 one to oneDNN with weights
that are laid out anew each time. oneDNN with weights laid out beforehand is faster for both, twice as fast for short
inputs. The operator is the one that PyTorch's own compiler puts in the place of a linear layer; it has no public name,
so that a map of each shape is compared with the plain one before it is used.
"""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import torch
from torch.nn import functional

__all__ = ["LinearMaps", "Map", "Room", "linear_map"]

Map = Callable[[torch.Tensor], torch.Tensor]
"""From inputs, shape (..., width), to outputs, shape (..., outputs)."""

_SHARE: Final = 8
"""Copies of weights take at most one part in so many of the machine's memory."""
_EQUAL: Final = {torch.float32: 1e-5, torch.bfloat16: 1e-2}
"""Relative to the largest output: two products of the same numbers differ by rounding."""
_LARGEST: Final = 4096
_PROCESSORS: Final = ("x86_64", "amd64")


class Room:
    """Bytes that are left for copies of weights; without room, weights are laid out each time they are used."""

    def __init__(self, n_bytes: int | None = None) -> None:
        self.left = _memory() // _SHARE if n_bytes is None else n_bytes

    def take(self, tensor: torch.Tensor) -> bool:
        """Return whether a copy of a tensor may be kept, and take its room.

        >>> room = Room(100)
        >>> [room.take(torch.zeros(20)) for _ in range(2)]
        [True, False]
        """
        if tensor.nbytes > self.left:
            return False
        self.left -= tensor.nbytes
        return True


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return 0


@torch.inference_mode()
def linear_map(weight: torch.Tensor, bias: torch.Tensor | None, room: Room) -> Map:
    """Return `x @ weight.T + bias`, by oneDNN where it is there and comes to the same.

    >>> weight = torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
    >>> linear_map(weight, None, Room(1000))(torch.tensor([[1.0, 1.0]])).tolist()
    [[3.0, -1.0, 3.5]]
    """
    return _by_onednn(weight, bias, room) or (lambda x: functional.linear(x, weight, bias))


def _by_onednn(weight: torch.Tensor, bias: torch.Tensor | None, room: Room) -> Map | None:
    if weight.device.type != "cpu" or not _is_right(*_probed(weight), bias is not None, weight.dtype):
        return None
    return _onednn(weight, bias, lay_out=room.take(weight))


def _probed(weight: torch.Tensor) -> tuple[int, int]:
    """Return the shape that is tried in the place of a map's own, which may be too large to be made up for a test."""
    return min(_LARGEST, weight.shape[0]), min(_LARGEST, weight.shape[1])


def _onednn(weight: torch.Tensor, bias: torch.Tensor | None, *, lay_out: bool) -> Map:
    operator = torch.ops.mkldnn._linear_pointwise
    laid = torch.ops.mkldnn._reorder_linear_weight(weight) if lay_out else weight

    def found(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = operator(x, laid, bias, "none", [], "")
        return result

    return found


@cache
def _is_right(outputs: int, width: int, biased: bool, dtype: torch.dtype) -> bool:
    """Whether oneDNN's map of this shape is there and equals the plain one, tried on made-up numbers."""
    if dtype not in _EQUAL or platform.machine().lower() not in _PROCESSORS:
        return False
    weight, bias, x = (_made_up(*shape, dtype=dtype) for shape in ((outputs, width), (outputs,), (8, width)))
    plain = functional.linear(x, weight, bias if biased else None).float()
    try:
        both = [_onednn(weight, bias if biased else None, lay_out=laid)(x).float() for laid in (True, False)]
    except (AttributeError, RuntimeError, TypeError, NotImplementedError):
        return False
    near = _EQUAL[dtype] * plain.abs().max()
    return all(bool((own - plain).abs().max() <= near) for own in both)


def _made_up(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(math.prod(shape), dtype=torch.float32).sin().reshape(shape).to(dtype)


class LinearMaps:
    """The linear layers of a network, in oneDNN's form."""

    def __init__(
        self, network: torch.nn.Module, room: Room, known: Mapping[torch.nn.Module, Map] | None = None
    ) -> None:
        """`known` has maps of some modules that are there already."""
        known = known or {}
        found = [(module, known.get(module) or _of(module, room)) for module in network.modules()]
        self._maps = [(module, own) for module, own in found if own is not None]

    def drop(self) -> None:
        """Leave the layers as they are from now on."""
        self._maps = []

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the network's layers compute by these maps for a while."""
        try:
            for module, own in self._maps:
                module.__dict__["forward"] = own
            yield
        finally:
            for module, _ in self._maps:
                module.__dict__.pop("forward", None)


def _of(module: Any, room: Room) -> Map | None:
    from transformers.pytorch_utils import Conv1D

    if "forward" in module.__dict__ or type(module) not in (torch.nn.Linear, Conv1D):
        return None  # somebody else's layer, or one that somebody else has put a forward of their own in
    if module.weight.device.type != "cpu":
        return None
    weight = module.weight.T.contiguous() if type(module) is Conv1D else module.weight
    own = _by_onednn(weight.detach(), None if module.bias is None else module.bias.detach(), room)
    return None if own is None else _guarded(own, module, weight.dtype)


def _guarded(own: Map, module: Any, dtype: torch.dtype) -> Map:
    """Return a map that leaves inputs of another dtype or without rows to the layer itself."""
    plain = type(module).forward

    def forward(x: torch.Tensor) -> torch.Tensor:
        return own(x) if x.dtype == dtype and x.numel() else plain(module, x)

    return forward
