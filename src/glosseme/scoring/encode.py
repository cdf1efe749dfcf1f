"""Texts to token ids with character offsets, and the special tokens around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np

from glosseme.errors import GlossemeError
from glosseme.measures import Kind
from glosseme.scoring.reads import Ids

__all__ = ["BOS_CHOICES", "BosChoice", "Encoder", "Tokens", "frame_of"]

BosChoice = Literal["auto", "always", "never"]
BOS_CHOICES: tuple[BosChoice, ...] = get_args(BosChoice)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text, without special tokens around it."""

    ids: Ids
    """Token ids, shape (n,)."""
    starts: Ids
    """First character of each token, shape (n,)."""
    ends: Ids
    """One past the last character of each token, shape (n,)."""
    words: Ids
    """The tokenizer's own word of each token, -1 where it has none, shape (n,)."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """A tokenizer, and the special tokens that stand before and after every text."""

    tokenizer: Any
    """A fast tokenizer of transformers (or anything called like one)."""
    prefix: tuple[int, ...]
    """Ids before each text (BOS, CLS)."""
    suffix: tuple[int, ...]
    """Ids after each text (SEP), none for causal models."""
    unscored: frozenset[int]
    """Ids of special tokens, which carry no value wherever they stand."""
    mask_id: int | None
    """The mask token, if there is one."""

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of each text, none added."""
        if not texts:
            return []
        batch = self.tokenizer(list(texts), add_special_tokens=False, truncation=False, verbose=False)
        return [_tokens(e) for e in batch.encodings]

    def cut(self, texts: Sequence[str], n_tokens: int) -> list[str]:
        """Return each text up to the end of its token number `n_tokens`."""
        encoded = self.encode(texts)
        pairs = zip(texts, encoded, strict=True)
        return [t if len(e.ids) <= n_tokens else t[: e.ends[n_tokens - 1]] for t, e in pairs]

    def framed(self, ids: Ids) -> tuple[Ids, int]:
        """Return `ids` between prefix and suffix, and how many ids stand before the text.

        A text that already begins with the whole prefix gets no second one.
        """
        n = len(self.prefix)
        doubled = n > 0 and len(ids) >= n and tuple(ids[:n].tolist()) == self.prefix
        prefix = () if doubled else self.prefix
        framed = np.concatenate([np.asarray(prefix, np.int32), ids, np.asarray(self.suffix, np.int32)])
        return framed, len(prefix)


def _tokens(encoding: Any) -> Tokens:
    offsets = np.asarray(encoding.offsets, np.int32).reshape(-1, 2)
    words = [-1 if w is None else w for w in encoding.word_ids]
    return Tokens(np.asarray(encoding.ids, np.int32), offsets[:, 0], offsets[:, 1], np.asarray(words, np.int32))


def frame_of(tokenizer: Any, kind: Kind, bos: BosChoice = "auto") -> Encoder:
    """Return the encoder of a tokenizer for a kind of model.

    A masked model reads its tokenizer's own frame (CLS and SEP). A causal model reads what its tokenizer puts in
    front (`auto`), that or else a BOS or EOS token (`always`), or nothing (`never`); what a tokenizer puts behind a
    text can't change the probability of the text, so it is left out.
    """
    template = tokenizer(["a"], add_special_tokens=True, verbose=False).encodings[0]
    special = np.asarray(template.special_tokens_mask, bool)
    ids = cast("list[int]", template.ids)
    text = np.flatnonzero(~special)
    first, last = (int(text[0]), int(text[-1])) if text.size else (len(ids), len(ids))
    prefix, suffix = tuple(ids[:first]), tuple(ids[last + 1 :])
    if kind == "causal":
        prefix, suffix = _causal_prefix(tokenizer, prefix, bos), ()
    return Encoder(tokenizer, prefix, suffix, _unscored(tokenizer), tokenizer.mask_token_id)


def _causal_prefix(tokenizer: Any, own: tuple[int, ...], bos: BosChoice) -> tuple[int, ...]:
    if bos == "never":
        return ()
    if own or bos == "auto":
        return own
    for token_id in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        if token_id is not None:
            return (int(token_id),)
    raise GlossemeError(
        "bos 'always' was asked for, and the tokenizer has neither a BOS nor an EOS token",
        todo="use --bos auto",
    )


def _unscored(tokenizer: Any) -> frozenset[int]:
    # The unknown token is special to transformers, but it stands for text: it is scored, unless it is also
    # the end of text (GPT-2).
    names = ("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "pad_token_id", "mask_token_id")
    ids = {getattr(tokenizer, name, None) for name in names}
    return frozenset(int(i) for i in ids if i is not None)
