"""`--limit N`: a seeded sample of whole items, balanced over a suite's main factors."""

from __future__ import annotations

import numpy as np
import polars as pl

from glosseme.errors import GlossemeError
from glosseme.suites.suite import Suite

__all__ = ["sample"]


def sample(requests: pl.DataFrame, suite: Suite, limit: int, seed: int = 0) -> pl.DataFrame:
    """Return the requests of `limit` items, in their own order.

    Units (frames, groups) are drawn in turn from each combination of the suite's balance factors, and there no cluster
    twice before every one of it has been drawn once; the items of a unit are taken together, in the order of the suite.
    A larger limit with the same seed contains a smaller one. Raises `GlossemeError` for a limit below 1.
    """
    if limit < 1:
        raise GlossemeError(f"a limit of {limit} items leaves nothing to score", todo="give --limit 1 or more")
    columns = list(dict.fromkeys(["item", suite.unit, suite.cluster, *suite.balance]))
    items = requests.select(columns).unique("item", keep="first", maintain_order=True)
    if limit >= items.height:
        return requests
    ranked = items.join(_ranks(items, suite, seed), on=suite.unit, how="left", nulls_equal=True)
    chosen = ranked.with_row_index("__order").sort("__rank", "__order").head(limit)["item"]
    return requests.filter(pl.col("item").is_in(chosen.implode()))


def _ranks(items: pl.DataFrame, suite: Suite, seed: int) -> pl.DataFrame:
    """Return the units of a suite with the place of each in the draw."""
    columns = list(dict.fromkeys([suite.unit, suite.cluster, *suite.balance]))
    units = items.select(columns).unique(suite.unit, keep="first", maintain_order=True)
    random = np.random.default_rng(seed)
    stratum: list[pl.Expr] = [pl.col(name) for name in suite.balance] or [pl.lit(0)]
    return (
        units.with_columns(__draw=pl.Series(random.permutation(units.height)))
        .sort("__draw")
        .with_columns(__turn=pl.int_range(pl.len()).over(suite.cluster))
        .sort("__turn", "__draw")
        .with_columns(__round=pl.int_range(pl.len()).over(stratum))
        .sort("__round", "__draw")
        .select(suite.unit, __rank=pl.int_range(pl.len()))
    )
