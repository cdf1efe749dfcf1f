"""How deep synsets lie below a root of their wordnet."""

from __future__ import annotations

import polars as pl

from glosseme.suites.wdlmpro.tables import Wordnet

__all__ = ["depths"]


def depths(wordnet: Wordnet) -> pl.DataFrame:
    """Return the depth of each synset, in the order of ids: id (UInt32), depth (Int64).

    Depth is the number of links on the shortest path up to a synset without hypernyms, which is 0; links to what a
    synset is an instance of count too, as in NLTK's `min_depth`. It is null where no path ends (a circle).

    >>> from glosseme.suites.wdlmpro.wordnet import load
    >>> wordnet = load()
    >>> found = wordnet.synsets.join(depths(wordnet), on="id")
    >>> found.filter(pl.col("synset").is_in(["entity.n.01", "dog.n.01"])).select("synset", "depth").rows()
    [('dog.n.01', 8), ('entity.n.01', 0)]
    """
    links = wordnet.hypernyms.select("child", "parent")
    level = wordnet.synsets.select("id").join(links, left_on="id", right_on="child", how="anti")
    levels = [level.with_columns(depth=pl.lit(0, pl.Int64))]
    while level.height:
        # A link is done with once its child has been reached: the first path there is the shortest.
        links = links.join(level, left_on="child", right_on="id", how="anti")
        level = links.join(level, left_on="parent", right_on="id", how="semi").select(pl.col("child").alias("id"))
        level = level.unique()
        levels.append(level.with_columns(depth=pl.lit(len(levels), pl.Int64)))
    return wordnet.synsets.select("id").join(pl.concat(levels), on="id", how="left", maintain_order="left")
