"""Vectors of words: tokens by NLTK's word tokeniser, each looked up in its own case, then lower-cased."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import chain
from typing import Final

import numpy as np

from glosseme.models.static.embed import Embedded, Floats, Ints, mean_vectors

__all__ = ["TOKENS", "Find", "embed_words", "tokenize"]

Find = Callable[[Sequence[str]], tuple[Floats, Ints]]
"""From words to a table of vectors, shape (rows, dimensions), and each word's row in it, -1 for an unknown word."""

TOKENS: Final = {"words": sha256(b"NLTKWordTokenizer; own case, else lower case").hexdigest()}
"""What the tokens of word vectors are, as a model's identity has it."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9]+(?:[ -][A-Za-z0-9]+)*")


def tokenize(texts: Sequence[str]) -> list[list[str]]:
    """Return the tokens that `nltk.tokenize.NLTKWordTokenizer`, which needs no data, makes of each text.

    >>> tokenize(["the dog's bone, chewed", "warm up"])
    [['the', 'dog', "'s", 'bone', ',', 'chewed'], ['warm', 'up']]
    """
    from nltk.tokenize import NLTKWordTokenizer

    nltk = NLTKWordTokenizer()

    def tokens(text: str) -> list[str]:
        # Letters, digits, hyphens and spaces are parted at spaces, but for words such as `cannot`: most definitions
        # need none of the other rules, which take fifty times as long.
        if _PLAIN.fullmatch(text) and not any(rule.search(f" {text} ") for rule in nltk.CONTRACTIONS2):
            return text.split(" ")
        return list(nltk.tokenize(text))

    return [tokens(text) for text in texts]


def embed_words(texts: Sequence[str], find: Find) -> Embedded:
    """Return the mean vectors of the words of texts, each different word looked up once."""
    tokens = tokenize(texts)
    words = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(tokens)))}
    table, row_of = find(list(words))
    number_of = np.fromiter((words[w] for w in chain.from_iterable(tokens)), np.int64)
    rows = row_of[number_of]
    known = rows >= 0
    text_of = np.repeat(np.arange(len(texts)), [len(t) for t in tokens])
    return mean_vectors(table, rows[known], np.bincount(text_of[known], minlength=len(texts)))
