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
from pathlib import Path
from typing import Any, Final

import torch
from torch.nn import functional

__all__ = ["EQUAL", "LinearMaps", "Map", "Room", "is_ordinary", "is_plain", "linear_map"]

Map = Callable[[torch.Tensor], torch.Tensor]
"""From inputs, shape (..., width), to outputs, shape (..., outputs)."""

_SHARE: Final = 8
"""Copies of weights take at most one part in so many of the machine's memory."""
EQUAL: Final = {torch.float32: 1e-5, torch.bfloat16: 1e-2}
"""Relative to the largest output: two products of the same numbers differ by rounding."""
_GROUP_LIMITS: Final = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_LARGEST: Final = 4096
"""Outputs and inputs of the largest map that is made up for a trial."""
_TRIAL: Final = 72
"""Rows of a trial."""
_PROCESSORS: Final = ("x86_64", "amd64")


# A kernel is made for each shape of input, and batches are of many shapes: the thousand that are kept otherwise take
# some hundred megabytes, and one that was let go is made again in a millisecond. oneDNN reads this when first used.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")


class Room:
    """Bytes that are left for copies of weights; without room, weights are laid out each time they are used."""

    def __init__(self, n_bytes: int | None = None) -> None:
        """As much as the machine (or the group of processes that this one may use memory with) allows when None."""
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
        limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return 0
    for path in _GROUP_LIMITS:
        try:
            limits.append(int(path.read_text(encoding="ascii")))
        except (OSError, ValueError):  # there is none, or it says "max"
            continue
    return min(limits)


@torch.inference_mode()
def linear_map(weight: torch.Tensor, bias: torch.Tensor | None, room: Room) -> Map:
    """Return `x @ weight.T + bias`, by oneDNN where it is there and comes to the same.

    >>> weight = torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
    >>> linear_map(weight, None, Room(1000))(torch.tensor([[1.0, 1.0]])).tolist()
    [[3.0, -1.0, 3.5]]
    """
    return _by_onednn(weight, bias, room) or (lambda x: functional.linear(x, weight, bias))


def _by_onednn(weight: torch.Tensor, bias: torch.Tensor | None, room: Room) -> Map | None:
    return _onednn(weight, bias, lay_out=room.take(weight)) if _usable(weight, bias) else None


def is_ordinary(weight: torch.Tensor) -> bool:
    """Whether a weight is numbers of a known precision on a CPU, not quantised or otherwise special."""
    return type(weight) in (torch.Tensor, torch.nn.Parameter) and weight.device.type == "cpu" and weight.dtype in EQUAL


def _usable(weight: torch.Tensor, bias: torch.Tensor | None, *, turned: bool = False) -> bool:
    """Whether oneDNN can take a weight (the transpose of it where `turned`)."""
    if not is_ordinary(weight):
        return False
    outputs, width = reversed(weight.shape) if turned else weight.shape
    return _is_right(min(_LARGEST, outputs), min(_LARGEST, width), bias is not None, weight.dtype)


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
    if platform.machine().lower() not in _PROCESSORS:
        return False
    weight, bias, x = (_made_up(*shape, dtype=dtype) for shape in ((outputs, width), (outputs,), (_TRIAL, width)))
    plain = functional.linear(x, weight, bias if biased else None).float()
    try:
        maps = [_onednn(weight, bias if biased else None, lay_out=laid) for laid in (True, False)]
        # Kernels for few and for many rows are not the same.
        both = [torch.cat([own(x[:8]), own(x[8:])]).float() for own in maps]
    except (AttributeError, RuntimeError, TypeError, NotImplementedError):
        return False
    near = EQUAL[dtype] * plain.abs().max()
    return all(bool((own - plain).abs().max() <= near) for own in both)


def _made_up(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(1, math.prod(shape) + 1, dtype=torch.float32).sin().reshape(shape).to(dtype)


class LinearMaps:
    """The linear layers of a network, in oneDNN's form."""

    def __init__(self, network: torch.nn.Module, room: Room, known: Mapping[torch.nn.Module, Map]) -> None:
        """`known` has maps of some modules that are there already."""
        modules = [module for module in network.modules() if is_plain(module)]
        found = [(module, known.get(module) or _of(module, room)) for module in modules]
        self._maps = [(module, _guarded(own, module)) for module, own in found if own is not None]

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the network's layers compute by these maps for a while."""
        free = [(module, own) for module, own in self._maps if "forward" not in module.__dict__]
        try:
            for module, own in free:
                module.__dict__["forward"] = own
            yield
        finally:
            for module, _ in free:
                module.__dict__.pop("forward", None)


def is_plain(module: torch.nn.Module) -> bool:
    """Whether a module is a linear layer in which nobody has put a forward of their own."""
    from transformers.pytorch_utils import Conv1D

    return type(module) in (torch.nn.Linear, Conv1D) and "forward" not in module.__dict__


def _of(module: Any, room: Room) -> Map | None:
    turned = type(module) is not torch.nn.Linear  # GPT-2's layers hold the transpose
    weight, bias = module.weight.detach(), None if module.bias is None else module.bias.detach()
    if not turned:
        return _by_onednn(weight, bias, room)
    # Without room for it there would be a copy all the same.
    fits = _usable(weight, bias, turned=True) and room.take(weight)
    return _onednn(weight.T.contiguous(), bias, lay_out=True) if fits else None


def _guarded(own: Map, module: Any) -> Map:
    """Return a map that leaves inputs of another dtype or without rows to the layer itself."""
    plain, dtype = type(module).forward, module.weight.dtype

    def forward(*args: torch.Tensor, **named: torch.Tensor) -> torch.Tensor:
        (x,) = (*args, *named.values())
        return own(x) if x.dtype == dtype and x.numel() else plain(module, x)

    return forward
