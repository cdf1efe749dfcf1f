"""The indefinite article, chosen by the sound of the word that follows it."""

from __future__ import annotations

import re
from typing import Final

import polars as pl

__all__ = ["article", "with_article"]

_VOWEL_LETTER: Final = r"(?i)^[aeiou]"
_SILENT_H: Final = r"(?i)^(?:hour|hono|honest|heir)"
# Vowel letters that sound as in `you` and `won`; un- as in `unimportant` is none of them.
_CONSONANT_SOUND: Final = (
    r"(?i)^(?:eu|ewe|one\b|once\b|ufo|ukulele|ubiq|unanim|uni(?:$|[cfltvq]|on|sex|son)|"
    r"ur(?:an|in)|us(?:[aeu]|ing)|ut[eio])"
)


def article(word: str) -> str:
    """Return the indefinite article that goes before `word`.

    >>> [f"{article(w)} {w}" for w in ("ugly", "huge", "hour", "university", "one-eyed")]
    ['an ugly', 'a huge', 'an hour', 'a university', 'a one-eyed']
    """
    if re.search(_SILENT_H, word):
        return "an"
    return "an" if re.search(_VOWEL_LETTER, word) and not re.search(_CONSONANT_SOUND, word) else "a"


def with_article(word: pl.Expr) -> pl.Expr:
    """Return the column of words, each with its indefinite article before it.

    >>> pl.DataFrame({"w": ["ugly", "huge"]}).select(with_article(pl.col("w"))).to_series().to_list()
    ['an ugly', 'a huge']
    """
    vowel = word.str.contains(_VOWEL_LETTER) & ~word.str.contains(_CONSONANT_SOUND)
    an = word.str.contains(_SILENT_H) | vowel
    return pl.when(an).then(pl.lit("an ")).otherwise(pl.lit("a ")) + word
