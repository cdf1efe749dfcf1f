"""The vectors that the package wordllama carries: of the subwords of Llama 2, made smaller (32,000 x 256).

They are read from the installed files, without importing the package, whose own loader asks the model hub for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from glosseme.errors import GlossemeError
from glosseme.models.identity import file_sha256
from glosseme.models.static.embed import Embedded, Floats, mean_vectors

__all__ = ["WordLlamaVectors"]

_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_TOKENIZER: Final = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR: Final = "embedding.weight"
_WHERE: Final = "static:wordllama"
_TODO: Final = "pip install 'glosseme[static]'"


class WordLlamaVectors:
    """Vectors of subwords, with the tokenizer that belongs to them."""

    packages = ("wordllama", "safetensors", "tokenizers")

    @cached_property
    def _folder(self) -> Path:
        spec = find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise GlossemeError("the package that holds these vectors is missing", where=_WHERE, todo=_TODO)
        return Path(next(iter(spec.submodule_search_locations)))

    @property
    def files(self) -> dict[str, Path]:
        """The file of vectors."""
        return {Path(_WEIGHTS).name: self._folder / _WEIGHTS}

    @cached_property
    def tokens(self) -> dict[str, str]:
        """The hash of the tokenizer's file."""
        return {Path(_TOKENIZER).name: file_sha256(self._folder / _TOKENIZER)}

    def check(self) -> None:
        """Raise `GlossemeError` where the package, or a version of it that carries the vectors, is not installed."""
        missing = [name for name in (_WEIGHTS, _TOKENIZER) if not (self._folder / name).is_file()]
        if missing:
            raise GlossemeError(f"the installed wordllama has no {missing[0]}", where=_WHERE, todo=_TODO)

    @cached_property
    def _read(self) -> tuple[Floats, Any]:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        try:
            table = np.asarray(load_file(self._folder / _WEIGHTS)[_TENSOR], np.float32)
            tokenizer = Tokenizer.from_file(str(self._folder / _TOKENIZER))
        except Exception as error:  # the readers raise classes of their own, tokenizers a plain `Exception`
            raise GlossemeError(f"the installed vectors can't be read ({error})", where=_WHERE, todo=_TODO) from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return table, tokenizer

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the mean vectors of the subwords of texts; the unknown token has no vector."""
        table, tokenizer = self._read
        encoded = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        counts = np.array([len(e.ids) for e in encoded], np.int64)
        ids = np.fromiter(chain.from_iterable(e.ids for e in encoded), np.int64)
        unknown = tokenizer.token_to_id("<unk>")
        known = (ids != unknown) & (ids < len(table))
        text_of = np.repeat(np.arange(len(texts)), counts)
        return mean_vectors(table, ids[known], np.bincount(text_of[known], minlength=len(texts)))

    def close(self) -> None:
        """Let go of the vectors."""
        self.__dict__.pop("_read", None)
