"""Which groups are asked for: all of a wordnet, those that a file names, or a sample."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from glosseme.errors import GlossemeError, nearest
from glosseme.suites.suite import Drawing
from glosseme.suites.wdlmpro.groups import Groups, groups
from glosseme.suites.wdlmpro.wordnet import Wordnet, load
from glosseme.words import quoted

__all__ = ["choose", "groups_of"]

_SHOWN: Final = 20
"""Names that an error lists at most."""


@cache
def groups_of(source: str) -> tuple[Wordnet, Groups]:
    """Return a wordnet and its groups, made once; raise `GlossemeError` where there is no such wordnet."""
    wordnet = load(source)
    return wordnet, groups(wordnet)


def choose(wordnet: Wordnet, found: Groups, pos: str, drawing: Drawing) -> pl.DataFrame:
    """Return the groups that are asked for, in the order of targets: target, pos, size.

    A limit takes whole groups, nouns and verbs in turn as far as there are both; a larger one contains a smaller one.
    Raises `GlossemeError` with file and line for a file of targets that names a synset without a group.
    """
    table = found.groups if pos == "both" else found.groups.filter(pl.col("pos") == pos)
    targets = drawing.files.get("targets")
    if targets is not None:
        table = table.join(_named(wordnet, table, targets), on="target", how="semi", maintain_order="left")
    if not table.height:
        raise GlossemeError("no item can be asked: the wordnet has no group", todo="choose another with --data")
    if drawing.limit is None or drawing.limit >= table.height:
        return table
    draw = pl.Series(np.random.default_rng(drawing.seed).permutation(table.height))
    turn = pl.int_range(pl.len()).over("pos")
    ordered = table.with_columns(__draw=draw).sort("__draw").with_columns(__turn=turn).sort("__turn", "pos")
    return ordered.head(drawing.limit).select(table.columns).sort("target")


def _named(wordnet: Wordnet, table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return the targets whose synsets are named in a file, one a line."""
    try:
        lines = path.expanduser().read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise GlossemeError(f"the file of targets can't be read ({error})", where=str(path)) from None
    ids = dict(wordnet.synsets.select("synset", "id").iter_rows())
    grouped = set(table["target"].to_list())
    chosen = []
    for number, line in enumerate(lines, 1):
        name = line.strip()
        if not name:
            continue
        if name not in ids:
            todo = _similar(name, ids)
            raise GlossemeError(f"the wordnet has no synset {quoted(name)}", where=f"{path}:{number}", todo=todo)
        if ids[name] not in grouped:
            todo = "leave it out: a synset needs four sisters with words and definitions of their own"
            raise GlossemeError(f"{name} has no group here", where=f"{path}:{number}", todo=todo)
        chosen.append(ids[name])
    if not chosen:
        raise GlossemeError("the file names no synset", where=str(path), todo="write one a line, such as dog.n.01")
    return pl.DataFrame({"target": pl.Series(chosen, dtype=table["target"].dtype)})


def _similar(name: str, names: Iterable[str]) -> str:
    """Return what to do about an unknown synset: the others of its word, or one with a name like it."""
    word = name.lower().partition(".")[0].replace(" ", "_")
    near = [known for known in names if known.startswith(word[:3])] if word else []
    same = [known for known in near if known.startswith(f"{word}.")]
    if 0 < len(same) <= _SHOWN:
        return nearest(name, same)
    todo = nearest(name, near)
    return todo if todo.startswith("did you mean") else "write it as word.pos.number, such as dog.n.01 or warm_up.v.04"
