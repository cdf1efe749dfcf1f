"""Versions of the libraries that a value depends on, read without importing them."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

__all__ = ["installed", "versions"]

_LIBRARIES = (
    "glosseme",
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "huggingface_hub",
    "numpy",
    "polars",
)


def installed(package: str) -> str | None:
    """Return the version of an installed package, None where it is not installed.

    >>> installed("no-such-package") is None
    True
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def versions(more: Sequence[str] = ()) -> dict[str, str]:
    """Return the versions of Python and of the libraries that a run records, and of `more` packages."""
    found = {name: installed(name) for name in dict.fromkeys([*_LIBRARIES, *more])}
    return {"python": platform.python_version(), **{n: v for n, v in found.items() if v is not None}}
