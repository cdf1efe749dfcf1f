"""What a user should know of a table of requests before a model is loaded."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from glosseme.measures import SLOT
from glosseme.words import counted

__all__ = ["warnings_of"]

_MASKS = ["[MASK]", "<mask>"]


def warnings_of(
    requests: pl.DataFrame, *, first_token_scored: bool, spaces: bool = True, special: Sequence[str] = ()
) -> list[str]:
    """Return sentences on requests that are allowed and yet may not mean what they seem to.

    Stray spaces sink or lift one member of a pair; another model's mask token is text to this one; a difference in
    the first word isn't seen when nothing stands before it (`first_token_scored` false). `spaces` is false for
    texts that a user can't mend; `special` are the tokenizer's own special tokens, which carry no value.
    """
    found = []
    for column in ("context", "text") if spaces else ():
        value = pl.col(column)
        stray = value.str.contains(r"^\s|\s$|\s\s")
        rows = requests.filter(stray.fill_null(value=False))
        if rows.height:
            found.append(
                f"{_requests(rows)} a {column} with stray spaces, scored as they are (first: item {rows['item'][0]!r})"
            )
    written = pl.any_horizontal(pl.col("context", "text").str.contains_any(list(special)).fill_null(value=False))
    rows = requests.filter(written) if special else requests.clear()
    if rows.height:
        found.append(
            f"{_requests(rows)} a special token of the tokenizer in the text, which carries no value"
            f" (first: item {rows['item'][0]!r})"
        )
    masks = pl.any_horizontal(pl.col("context", "text").str.contains_any(_MASKS).fill_null(value=False))
    rows = requests.filter(masks)
    if rows.height:
        found.append(
            f"{_requests(rows)} {' or '.join(_MASKS)} in the text, read letter by letter;"
            f" a slot is written {SLOT} (first: item {rows['item'][0]!r})"
        )
    if not first_token_scored:
        first = pl.col("text").str.extract(r"^\s*(\S+)")
        differ = (
            requests.filter(pl.col("measure") == "sentence")
            .group_by("item", maintain_order=True)
            .agg(n=first.n_unique())
            .filter(pl.col("n") > 1)
        )
        if differ.height:
            found.append(
                f"in {counted(differ.height, 'item')} the sentences differ in their first word, whose first token has"
                " no probability because the tokenizer adds no BOS (--bos always puts one in front)"
            )
    return found


def _requests(rows: pl.DataFrame) -> str:
    return counted(rows.height, "request", ("has", "have"))
