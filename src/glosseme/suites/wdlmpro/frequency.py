"""How frequent words are, and the bands of the paper: rare, medium, frequent (section 3.5).

| band | occurrences in about one billion tokens |
|---|---|
| rare | under 10, and words of more than three tokens, which are not counted |
| medium | 10 to under 100 |
| frequent | 100 and more |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.suites.wdlmpro.counts import read_counts

__all__ = ["BANDS", "LONGEST_COUNTED", "TOKENS", "Tokens", "band", "counts_used", "frequencies"]

BANDS: Final = ("rare", "medium", "frequent")
LONGEST_COUNTED: Final = 3
"""Tokens of the longest words that are counted."""

Tokens = Literal["spaces", "nltk"]
TOKENS: Final[tuple[Tokens, ...]] = ("spaces", "nltk")
"""How the tokens of a word are counted: parts between spaces, or NLTK's, which part `bird's` in two."""

_MEDIUM: Final = 10
_FREQUENT: Final = 100
_PER: Final = 1e9


def frequencies(
    words: pl.Series, counts: str | Path | None = None, *, language: str = "en", tokens: Tokens = "spaces"
) -> pl.DataFrame:
    """Return how frequent words are, one row for each different word: word, n_tokens, occurrences, band.

    `occurrences` (Float64) is the count of the file `counts` (a word that is not in it occurs 0 times), or wordfreq's
    estimate per billion tokens where no file is given; it is null for words of more than `LONGEST_COUNTED` tokens.
    Raises `GlossemeError` for a file that is no table of counts, and for a language that wordfreq does not know.

    >>> frequencies(pl.Series(["dog", "cattalo", "jack of all trades"])).select("word", "band").rows()
    [('dog', 'frequent'), ('cattalo', 'rare'), ('jack of all trades', 'rare')]
    """
    table = pl.DataFrame({"word": words.unique(maintain_order=True).cast(pl.String)}).drop_nulls()
    table = table.with_columns(n_tokens=_n_tokens(table["word"], tokens))
    counted = table.filter(pl.col("n_tokens") <= LONGEST_COUNTED)["word"].to_list()
    if counts is None:
        found = _wordfreq(counted, language)
    else:
        in_file = read_counts(Path(counts).expanduser(), counted)
        found = [in_file.get(word, 0.0) for word in counted]
    occurrences = pl.DataFrame({"word": counted, "occurrences": found}, schema_overrides={"occurrences": pl.Float64})
    joined = table.join(occurrences, on="word", how="left", maintain_order="left")
    return joined.with_columns(band=band(pl.col("occurrences")))


def band(occurrences: pl.Expr) -> pl.Expr:
    """Return the bands of numbers of occurrences; what was not counted (null) is rare.

    >>> pl.DataFrame({"n": [9.99, 10, 99, 100, None]}).select(band(pl.col("n"))).to_series().to_list()
    ['rare', 'medium', 'medium', 'frequent', 'rare']
    """
    frequent = pl.when(occurrences >= _FREQUENT).then(pl.lit(BANDS[2]))
    return frequent.when(occurrences >= _MEDIUM).then(pl.lit(BANDS[1])).otherwise(pl.lit(BANDS[0]))


def counts_used(counts: str | Path | None = None, *, language: str = "en") -> str:
    """Return which counts these are, for a table's note."""
    if counts is not None:
        return f"counts of {Path(counts).name}"
    from importlib.metadata import version

    return f"wordfreq {version('wordfreq')} ({language}), per billion tokens"


def _n_tokens(words: pl.Series, tokens: Tokens) -> pl.Series:
    if tokens == "spaces":
        return words.str.count_matches(r"\S+").cast(pl.Int64)
    from nltk.tokenize import NLTKWordTokenizer

    tokenize: Callable[[str], Sequence[str]] = NLTKWordTokenizer().tokenize
    return pl.Series([len(tokenize(word)) for word in words.to_list()], dtype=pl.Int64)


def _wordfreq(words: list[str], language: str) -> list[float]:
    from wordfreq import available_languages, word_frequency

    base = language.split("-")[0].lower()
    # Asked for a language that it lacks, wordfreq would take another, English even, for it.
    if base not in available_languages():
        what = f"wordfreq has no frequencies of the language {language!r}"
        raise GlossemeError(what, todo="give counts of a corpus (--counts FILE)")
    # `best` is the large list where the language has one, as English has; rounding makes 1e-8 exactly 10.
    try:
        return [round(_PER * word_frequency(word, base, wordlist="best", minimum=0.0), 6) for word in words]
    except ImportError as error:
        what = f"wordfreq needs a package to read the language {language!r}: {error}"
        raise GlossemeError(what, todo="pip install 'wordfreq[cjk]', or give counts (--counts FILE)") from error
