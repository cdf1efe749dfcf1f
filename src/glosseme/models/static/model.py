"""A model of static embeddings: known at once by its files, read when it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from glosseme.measures import Kind
from glosseme.models.identity import Identity, file_sha256, identity_of_hashes
from glosseme.models.record import record_of
from glosseme.models.reference import STATIC, Reference
from glosseme.models.static.binary import BinaryVectors
from glosseme.models.static.embed import Embedded, Vectors
from glosseme.models.static.text import TextVectors
from glosseme.models.static.wordllama import WordLlamaVectors

__all__ = ["StaticModel", "open_static"]

_BINARY: Final = (".bin", ".bin.gz")


class StaticModel:
    """Vectors and what is known of them; `embed` is what reads them."""

    kind: Final[Kind] = "static"
    dtype: Final = "float32"
    device: Final = "cpu"
    max_length: Final = None

    def __init__(self, reference: Reference, vectors: Vectors) -> None:
        self.reference = reference
        self._vectors = vectors

    def __repr__(self) -> str:
        return f"StaticModel({self.reference.display!r})"

    @cached_property
    def identity(self) -> Identity:
        """The hashes of the file of vectors and of what makes tokens."""
        files = {name: file_sha256(path) for name, path in self._vectors.files.items()}
        return identity_of_hashes(None, files, self._vectors.tokens)

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the mean vectors of texts; raises `GlossemeError` for a file that is broken."""
        return self._vectors.embed(texts)

    def close(self) -> None:
        """Let go of the vectors; they are read again when they are asked for."""
        self._vectors.close()

    def record(self) -> dict[str, Any]:
        """Return what run.json says of the model."""
        return record_of(self, attention=None, trust_remote_code=False, packages=self._vectors.packages)


def open_static(reference: Reference) -> StaticModel:
    """Return the model of a reference to vectors, without reading them.

    Raises `GlossemeError` for a file of another format, and where a package is missing.
    """
    vectors = _vectors(reference)
    vectors.check()
    return StaticModel(reference, vectors)


def _vectors(reference: Reference) -> Vectors:
    if reference.name in STATIC:
        return WordLlamaVectors()
    path = Path(reference.name)
    return BinaryVectors(path) if path.name.lower().endswith(_BINARY) else TextVectors(path)
