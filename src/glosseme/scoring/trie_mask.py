"""The attention mask of a packed trie: a token sees its ancestors, by the model's own rule (causal, sliding, chunked).

transformers has no public call for this. Every `create_*_mask` of its models looks the mask function up in one
registry, by the attention implementation; overriding the two entries for the length of a forward pass gives one form
of mask for all of them. Whether a model respects it is never assumed: the self-check finds out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

__all__ = ["ancestors", "trie_masks"]

_LOCK = RLock()  # the registry belongs to the process


def ancestors(parent: npt.NDArray[np.int64]) -> torch.Tensor:
    """Return which columns each column may see: itself and its ancestors.

    `parent` has shape (B, N) with the column before each token, -1 for none and for padding; a parent stands left of
    its children. The answer has shape (B, N, N), [b, query, key].

    >>> import numpy as np
    >>> ancestors(np.array([[-1, 0, 0]])).int().tolist()
    [[[1, 0, 0], [1, 1, 0], [1, 0, 1]]]
    """
    batch, width = parent.shape
    seen = np.zeros((batch, width, width), bool)
    rows = np.arange(batch)
    for column in range(width):
        above = parent[:, column]
        has = above >= 0
        seen[rows[has], column] = seen[rows[has], above[has]]
        seen[:, column, column] = True
    return torch.from_numpy(seen)


@contextmanager
def trie_masks(seen: torch.Tensor, depth: torch.Tensor) -> Iterator[None]:
    """Make every mask that a transformers model asks for in this thread the mask of the trie.

    `seen` has shape (B, N, N) as `ancestors` gives it, `depth` (B, N): a token's position in its own sequence, at
    which the model's rule is evaluated.
    """
    from transformers import masking_utils

    query, key = depth[:, None, :, None], depth[:, None, None, :]
    zero = torch.zeros(1, 1, 1, 1, dtype=torch.long, device=depth.device)
    causal = masking_utils.causal_mask_function

    registry, here = masking_utils.ALL_MASK_ATTENTION_FUNCTIONS, get_ident()

    def boolean(*_: Any, mask_function: Any = causal, **__: Any) -> torch.Tensor:
        mask: torch.Tensor = mask_function(zero, zero, query, key) & seen[:, None]
        return mask

    def additive(*_: Any, dtype: torch.dtype = torch.float32, mask_function: Any = causal, **__: Any) -> torch.Tensor:
        allowed = boolean(mask_function=mask_function)
        empty = torch.zeros(allowed.shape, dtype=dtype, device=allowed.device)
        return empty.masked_fill(~allowed, torch.finfo(dtype).min)

    def in_this_thread(own: Any, usual: Any) -> Any:
        return lambda *args, **named: (own if get_ident() == here else usual)(*args, **named)

    with _LOCK:
        masks = {"sdpa": boolean, "eager": additive}
        overrides = {name: in_this_thread(own, registry[name]) for name, own in masks.items()}
        try:
            for name, override in overrides.items():
                registry[name] = override
            yield
        finally:
            for name in overrides:
                del registry[name]
