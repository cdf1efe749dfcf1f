"""Memory: when it ran out, and giving back what isn't used."""

from __future__ import annotations

import ctypes
from typing import Final

__all__ = ["give_back", "ran_out"]

_NO_MEMORY: Final = ("memoryerror", "out of memory", "not enough memory", "allocate memory", "alloc_failed")
"""What Python, CUDA, torch's allocators and cuBLAS say, in lower case."""


def ran_out(error: BaseException) -> bool:
    """Whether an error says that there was no memory left.

    >>> ran_out(RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")), ran_out(RuntimeError("shapes differ"))
    (True, False)
    """
    text = f"{type(error).__name__}: {error}".lower()
    return any(words in text for words in _NO_MEMORY)


def give_back(*, device: bool = False) -> None:
    """Give unused memory back to the system, that of a GPU too if `device`.

    Batches of many shapes leave holes in the heap of the C library, which otherwise keeps them.
    """
    if device:
        import torch  # only here: a run without a network needs none of it

        if torch.cuda.is_available():
            torch.cuda.empty_cache()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # only glibc has it
        return
