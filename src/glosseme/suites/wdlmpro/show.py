"""Groups as a reader would look at them: the members, and what a model is asked of the target."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from glosseme.measures import SLOT, Kind
from glosseme.suites.suite import Drawing, Options
from glosseme.suites.wdlmpro.choose import choose, groups_of
from glosseme.suites.wdlmpro.templates import TEMPLATES, asked
from glosseme.suites.wdlmpro.wordnet import Wordnet

__all__ = ["show_groups"]


def show_groups(kind: Kind, data: str, options: Options, n: int, seed: int) -> list[str]:
    """Return a heading and `n` groups as text, drawn like those of a limit.

    A group is its target with word and definition, its members in their order, the target marked with `>`, and the
    target's own pair in each template. Raises `GlossemeError` where there is no such wordnet.
    """
    wordnet, found = groups_of(data)
    pos = options.get("pos", "both")
    chosen = choose(wordnet, found, pos, Drawing(limit=n, seed=seed))
    counts = dict(found.groups.group_by("pos").len().iter_rows())
    numbers = " and ".join(f"{counts.get(p, 0):,} {p}s" for p in ("noun", "verb") if pos in ("both", p))
    return [f"wdlmpro: groups of {numbers} ({wordnet.source})"] + [
        "\n".join(_group(kind, wordnet, options, target, found.members.filter(pl.col("target") == target)))
        for target in chosen["target"]
    ]


def _group(kind: Kind, wordnet: Wordnet, options: Options, target: int, members: pl.DataFrame) -> Iterator[str]:
    synset, pos, word, definition = wordnet.synsets.select("synset", "pos", "word", "definition").row(target)
    yield f"{synset} ({pos}, {members.height} members)"
    yield f"  word:       {word}"
    yield f"  definition: {definition}"
    yield "  members:"
    named = members.join(wordnet.synsets, left_on="candidate", right_on="id", maintain_order="left")
    for candidate, its_word, its_definition in named.select("candidate", "word", "definition").iter_rows():
        yield f"  {'>' if candidate == target else ' '} {its_word}: {its_definition}"
    templates = TEMPLATES.get((kind, pos), ())
    if templates:
        yield f"  asked of a {kind} model:"
    pair = wordnet.synsets.slice(target, 1)
    for template in templates:
        yield f"    {_filled(pair, kind, template, authors_case=options.get('case') == 'authors')}"


def _filled(pair: pl.DataFrame, kind: Kind, template: str, *, authors_case: bool) -> str:
    """Return a template with word and definition, what is scored in brackets or after a bar."""
    _, context, text = pair.select(asked(kind, template, authors_case=authors_case)).row(0)
    return context.replace(SLOT, f"[{text}]", 1) if SLOT in context else f"{context} | {text}"
