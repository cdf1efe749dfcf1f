"""From the scores of pairs to the rows of both tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import polars as pl

from glosseme.measures import Kind
from glosseme.suites.wdlmpro.frequency import BANDS
from glosseme.suites.wdlmpro.templates import AVERAGE

__all__ = ["FACTORS", "expander"]

FACTORS: Final = ("task", "pos", "template", "band", "depth", "word_tokens", "size")
"""What describes an item, besides its name."""

_WORD_TOKENS: Final = pl.Enum(["0", "1", "2", "3", "more"])
"""The tokens that a model's tokenizer needs for the word; static embeddings may have a vector for none of them."""

_BANDS: Final = pl.Enum(BANDS)

_SIZES: Final = (5, 10, 20, 50, 100)
_SIZE_NAMES: Final = ("under 5", "5-9", "10-19", "20-49", "50-99", "100 and more")
"""Ranges of the size of groups; the size itself is the outcomes' `n_candidates`."""


def expander(
    kind: Kind, members: pl.DataFrame, facts: pl.DataFrame, names: pl.DataFrame
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return what makes the rows of the tasks from the scores of pairs.

    `members` has target and candidate, `facts` one row a target: target, item, pos, band, depth, size; `names` has the
    synset of each id. W2D compares the sums over the word's tokens; D2W the means per token of masked models and the
    first token of causal ones, whose candidates of one first token tie. Of static embeddings both compare the cosine.
    Where there are several templates, a further row has their average: of the probabilities in W2D, of the mean
    log-probabilities in D2W.
    """

    def expand(scores: pl.DataFrame) -> pl.DataFrame:
        tasks = [_rows(kind, task, scores, members) for task in ("W2D", "D2W")]
        named = names.select(pl.col("id").alias("candidate_id"), pl.col("synset").alias("candidate"))
        rows = pl.concat([_with_average(part) for part in tasks]).join(
            named, on="candidate_id", how="left", maintain_order="left"
        )
        return _finished(rows, facts, scores["suite"][0])

    return expand


def _rows(kind: Kind, task: str, scores: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of one task for each template."""
    definition, word = ("candidate", "target") if task == "W2D" else ("target", "candidate")
    pairs = members.with_columns(definition_id=pl.col(definition), word_id=pl.col(word))
    asked = scores.filter(pl.col("task").is_in(["both", task])).drop("task")
    rows = pairs.join(asked, on=["definition_id", "word_id"], how="inner", maintain_order="left_right")
    value = pl.col("logprob") if task == "W2D" else pl.col("logprob") / pl.col("n_tokens")
    if kind == "static":
        value = pl.col("value")
    if task == "D2W" and kind == "causal":
        # One token after one context has one probability, whatever rounding its batches brought: ties are exact.
        value = pl.col("first_logprob").first().over("target", "template", "first_token")
        rows = rows.with_columns(word_size=pl.col("n_tokens"), logprob=value, n_tokens=pl.lit(1, pl.Int64))
    else:
        rows = rows.with_columns(word_size=pl.col("n_tokens"))
    return rows.select(
        pl.lit(task).alias("task"),
        "target",
        pl.col("candidate").alias("candidate_id"),
        *("template", "measure", "context", "text", "logprob", value.alias("value")),
        *("n_tokens", "word_size", "spanning", "mismatch"),
    )


def _with_average(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with those of the average over templates; one template is its own average."""
    several = rows.group_by("target").agg(n=pl.col("template").n_unique()).filter(pl.col("n") > 1)
    single = rows.join(several, on="target", how="anti", maintain_order="left")
    own = single.with_columns(template=pl.lit(AVERAGE))
    if not several.height:
        return own
    many = rows.join(several, on="target", how="semi", maintain_order="left")
    value = pl.col("value")
    mean = _log_mean_exp(value) if rows["task"][0] == "W2D" else value.mean()
    average = many.group_by("task", "target", "candidate_id", maintain_order=True).agg(
        template=pl.lit(AVERAGE),
        measure=pl.col("measure").first(),
        context=pl.lit(None, pl.String),
        text=pl.col("text").first(),
        logprob=pl.lit(None, pl.Float64),
        value=pl.when(value.null_count() == 0).then(mean),
        n_tokens=pl.col("n_tokens").first(),
        word_size=pl.col("word_size").first(),
        spanning=pl.col("spanning").any(),
        mismatch=pl.col("mismatch").any(),
    )
    return pl.concat([own, many, average.select(many.columns)])


def _log_mean_exp(value: pl.Expr) -> pl.Expr:
    top = value.max()
    return top + (value - top).exp().mean().log()


def _finished(rows: pl.DataFrame, facts: pl.DataFrame, suite: str) -> pl.DataFrame:
    gold = pl.col("candidate_id") == pl.col("target")
    sizes = rows.filter(gold).select("task", "target", "template", word_tokens=_capped(pl.col("word_size")))
    described = rows.join(sizes, on=["task", "target", "template"], how="left", maintain_order="left").join(
        facts, on="target", how="left", maintain_order="left"
    )
    return described.select(
        pl.lit(suite).alias("suite"),
        "item",
        pl.when(gold).then(pl.lit("gold")).otherwise(pl.lit("candidate")).alias("role"),
        *("measure", "context", "text", "logprob", "value", "n_tokens", "spanning", "mismatch"),
        "candidate",
        *(_TYPED.get(name, pl.col(name)) for name in FACTORS),
    )


def _capped(n_tokens: pl.Expr) -> pl.Expr:
    """Return numbers of tokens as words: 0, 1, 2, 3, more."""
    names = dict(enumerate(_WORD_TOKENS.categories))
    return n_tokens.clip(0, len(names) - 1).replace_strict(names, return_dtype=_WORD_TOKENS)


def _sized(size: pl.Expr) -> pl.Expr:
    """Return the range that a group's size is in."""
    place = pl.sum_horizontal((size >= bound).cast(pl.Int64) for bound in _SIZES)
    return place.replace_strict(dict(enumerate(_SIZE_NAMES)), return_dtype=pl.Enum(_SIZE_NAMES))


_TYPED: Final = {"band": pl.col("band").cast(_BANDS), "size": _sized(pl.col("size")).alias("size")}
"""Factors whose values have an order."""
