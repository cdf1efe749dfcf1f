"""Values to scores: one row a request, with what the model said."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from glosseme.measures import REQUEST_COLUMNS, Reduction
from glosseme.scoring.reads import Lowered, first_tokens, firsts, sums

__all__ = ["scores_of"]


def scores_of(
    requests: pl.DataFrame,
    lowered: Lowered,
    values: npt.NDArray[np.float32],
    suite: str,
    reduction: Reduction,
    *,
    first: bool = False,
) -> pl.DataFrame:
    """Return the scores of `requests`, from the values of reads (nats, shape (reads,)).

    `logprob` is the sum over tokens, null for a divergence; `value` is what designs compare: the sum, the mean per
    token or the probability, and for a divergence the mean over the word's tokens, in nats. Both are null where a
    text has no token that could be scored. With `first`, columns `first_logprob` and `first_token` have
    the value and the id of the first token.
    """
    of = lowered.question_of_request
    factors = [name for name in requests.columns if name not in REQUEST_COLUMNS]
    total, tokens = pl.col("__sum"), pl.col("n_tokens")
    divergence = pl.col("measure") == "divergence"
    reduced = {"sum": total, "mean": total / tokens, "probability": total.exp()}[reduction]
    extra = {}
    if first:
        extra["first_logprob"] = pl.Series(firsts(lowered, values)[of]).fill_nan(None)
        extra["first_token"] = pl.Series(first_tokens(lowered)[of])
    return (
        requests.with_columns(
            suite=pl.lit(suite),
            __sum=pl.Series(sums(lowered, values)[of]).fill_nan(None),
            n_tokens=pl.Series(lowered.n_tokens[of]),
            spanning=pl.Series(lowered.spanning[of]),
            mismatch=pl.Series(lowered.mismatch[of]),
            **extra,
        )
        .with_columns(
            logprob=pl.when(~divergence).then(total),
            value=pl.when(divergence).then(total / tokens).otherwise(reduced),
        )
        .select("suite", *REQUEST_COLUMNS, "logprob", "value", "n_tokens", "spanning", "mismatch", *extra, *factors)
    )
