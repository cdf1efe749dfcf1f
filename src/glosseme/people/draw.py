"""Which groups people are asked: for each task its own, none of which gives another away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import polars as pl

from glosseme.errors import GlossemeError
from glosseme.suites.wdlmpro.choose import groups_of
from glosseme.suites.wdlmpro.groups import MINIMUM

__all__ = ["TASKS", "draw_groups"]

TASKS: Final = ("W2D", "D2W")


def draw_groups(data: str, n_groups: int, n_candidates: int, seed: int) -> pl.DataFrame:
    """Return groups of at most `n_candidates` for each task, in random order: one row a member.

    Columns: task, number (Int64, of the group within its task), target and candidate (synsets), question (the word in
    W2D, the definition in D2W), answer (what is to be ranked). Groups are drawn as in the paper, whole and at random;
    no synset is in two of them, so that no sheet answers another. Raises `GlossemeError` where there are too few.
    """
    if n_groups < 1 or n_candidates < MINIMUM:
        what = f"{n_groups} groups of at most {n_candidates} candidates leave nothing to rank"
        raise GlossemeError(what, todo=f"give --groups 1 or more and --candidates {MINIMUM} or more")
    wordnet, found = groups_of(data)
    random = np.random.default_rng(seed)
    small = found.groups.filter(pl.col("size") <= n_candidates)
    members = dict(
        found.members.join(small, on="target", how="semi")
        .group_by("target", maintain_order=True)
        .agg("candidate")
        .iter_rows()
    )
    apart = _apart(random.permutation(small["target"].to_numpy()).tolist(), members)
    rows = []
    for place, target in zip(range(n_groups * len(TASKS)), apart, strict=False):
        order = random.permutation(members[target]).tolist()
        rows += [(TASKS[place // n_groups], place % n_groups + 1, target, candidate) for candidate in order]
    if len({row[:2] for row in rows}) < n_groups * len(TASKS):
        what = f"{data} has not {n_groups * len(TASKS)} groups of at most {n_candidates} that share no synset"
        raise GlossemeError(what, todo="give fewer --groups or more --candidates")
    return _written(pl.DataFrame(rows, schema=["task", "number", "target", "candidate"], orient="row"), wordnet.synsets)


def _apart(targets: list[int], members: dict[int, list[int]]) -> Iterator[int]:
    """Yield targets whose groups share no synset with those before."""
    seen: set[int] = set()
    for target in targets:
        if seen.isdisjoint(members[target]):
            seen.update(members[target])
            yield target


def _written(rows: pl.DataFrame, synsets: pl.DataFrame) -> pl.DataFrame:
    of_target, of_candidate = (
        synsets.select(pl.col("id").cast(pl.Int64).alias(name), *(pl.col(c).alias(f"{name}_{c}") for c in _COLUMNS))
        for name in ("target", "candidate")
    )
    full = rows.join(of_target, on="target", maintain_order="left").join(
        of_candidate, on="candidate", maintain_order="left"
    )
    w2d = pl.col("task") == "W2D"
    return full.select(
        "task",
        "number",
        pl.col("target_synset").alias("target"),
        pl.col("candidate_synset").alias("candidate"),
        question=pl.when(w2d).then("target_word").otherwise("target_definition"),
        answer=pl.when(w2d).then("candidate_definition").otherwise("candidate_word"),
    )


_COLUMNS: Final = ("synset", "word", "definition")
