"""The groups of WDLMPro: a target synset among its sisters (Senel and Schuetze, EACL 2021, section 2).

G(t) holds all hyponyms of the direct hypernyms of t, so t itself. The relation is symmetric: c is in G(t) exactly
when t is in G(c).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from glosseme.suites.wdlmpro.tables import Wordnet

__all__ = ["MINIMUM", "Groups", "distinct", "groups", "sisters"]

MINIMUM: Final = 5
"""Members that a group has at least."""

_PAIR: Final = ("target", "candidate")
_ID: Final = 2**32


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of synsets, by ids of a wordnet's synsets."""

    groups: pl.DataFrame
    """One row a group, in the order of targets: target (UInt32), pos, size."""
    members: pl.DataFrame
    """One row a member, in the order of targets and candidates: target and candidate (UInt32); t is in G(t)."""


def groups(wordnet: Wordnet, minimum: int = MINIMUM) -> Groups:
    """Return the groups of a wordnet: sisters, of which no two share a word or a definition.

    Groups with fewer than `minimum` members are left out, before and after members are dropped.

    >>> from glosseme.suites.wdlmpro.wordnet import load
    >>> groups(load()).groups.group_by("pos").len().sort("pos").rows()
    [('noun', 51260), ('verb', 8487)]
    """
    members = distinct(wordnet, sisters(wordnet, minimum), minimum)
    sizes = members.group_by("target", maintain_order=True).agg(pl.len().alias("size"))
    pos = wordnet.synsets.select(pl.col("id").alias("target"), "pos")
    return Groups(sizes.join(pos, on="target", maintain_order="left").select("target", "pos", "size"), members)


def sisters(wordnet: Wordnet, minimum: int = MINIMUM) -> pl.DataFrame:
    """Return the members of all groups of at least `minimum` synsets: target, candidate, in the order of their ids.

    Instances of a hypernym are no hyponyms, and a synset without a word or a definition is in no group.
    """
    usable = wordnet.synsets.filter(pl.col("word") != "", pl.col("definition") != "")
    links = wordnet.hypernyms.filter(~pl.col("instance")).join(
        usable.select("id"), left_on="child", right_on="id", how="semi"
    )
    pairs = links.select(pl.col("child").alias("target"), "parent").join(
        links.select(pl.col("child").alias("candidate"), "parent"), on="parent"
    )
    # Two synsets with two hypernyms in common would be sisters twice. A pair as one number sorts five times as fast.
    numbers = pairs.select(pair=pl.col("target").cast(pl.UInt64) * _ID + pl.col("candidate")).unique().sort("pair")
    both = numbers.select(target=pl.col("pair") // _ID, candidate=pl.col("pair") % _ID).cast(pl.UInt32)
    return _large(both, minimum)


def distinct(wordnet: Wordnet, members: pl.DataFrame, minimum: int = MINIMUM) -> pl.DataFrame:
    """Return the members that are left when no two of a group may share a word or a definition.

    The target stays; of the others, in the order of their names, each stays that shares nothing with one that
    stays. Groups of fewer than `minimum` are then left out. `members` and the result are as `sisters` returns them.
    """
    dropped = _dropped(_contested(wordnet, members))
    return _large(members.join(dropped, on=_PAIR, how="anti", maintain_order="left"), minimum)


def _large(members: pl.DataFrame, minimum: int) -> pl.DataFrame:
    return members.filter(pl.len().over("target") >= minimum)


def _contested(wordnet: Wordnet, members: pl.DataFrame) -> pl.DataFrame:
    """Return the members that share something with another of their group.

    Columns: target, candidate, and numbers for word, definition and turn (the target first, then by name).
    """
    synsets = wordnet.synsets.select(
        pl.col("id").alias("candidate"), *(pl.col(name).rank("dense") for name in ("word", "definition"))
    )
    # Most synsets have a word and a definition of their own, so few members need to be compared at all.
    common = synsets.filter(pl.col("word").is_duplicated() | pl.col("definition").is_duplicated())
    return (
        members.join(common, on="candidate")
        .filter(pl.struct("target", "word").is_duplicated() | pl.struct("target", "definition").is_duplicated())
        .with_columns(turn=pl.when(pl.col("candidate") == pl.col("target")).then(-1).otherwise(pl.col("candidate")))
    )


def _dropped(contested: pl.DataFrame) -> pl.DataFrame:
    """Return the members that must go, of all groups at once.

    A member stays that is the first with its word and the first with its definition, since nothing before it can
    take its place; then those go that share something with it; and so on with the rest, until none is left.
    """
    gone, left = [contested.select(_PAIR).clear()], contested
    while left.height:
        firsts = [pl.col("turn") == pl.col("turn").min().over("target", shared) for shared in ("word", "definition")]
        stays = left.filter(firsts[0] & firsts[1])
        left = left.join(stays, on=_PAIR, how="anti")
        beaten = pl.concat(
            left.join(stays, on=["target", shared], how="semi").select(_PAIR) for shared in ("word", "definition")
        )
        gone.append(beaten.unique())
        left = left.join(gone[-1], on=_PAIR, how="anti")
    return pl.concat(gone)
