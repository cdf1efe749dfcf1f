"""Checks of a set of frames, as a table of codes and functions.

Each check takes the frames and returns what is wrong, a sentence for each fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import polars as pl

from glosseme.suites.paired_focus.frames import CONSTRUCTIONS
from glosseme.suites.paired_focus.gerunds import regular_gerund
from glosseme.suites.paired_focus.semantics import cells_of
from glosseme.suites.paired_focus.syntax import TESTS, form

__all__ = ["CHECKS", "CORE_SCALES", "Check", "audit", "audit_sets"]

Check = Callable[[pl.DataFrame], list[str]]

CORE_SCALES: Final = ("size", "quality", "beauty", "brightness")
"""The scales of Scivetti et al. (CoNLL 2026)."""

_LEAST: Final = {"templates": 198, "frames": 1773, "verb-noun-scale combinations": 22}
"""How many the paper has; a set has no fewer."""

# By letter alone, so that it does not repeat the rule that wrote the articles.
_ODD_ARTICLE: Final = r"(?i)\b(?:a [aeiou]\w*|an [^aeiou]\w*)"
_SOUND_EXCEPTIONS: Final = frozenset({"an hour", "an honest", "a unique", "a useful", "a uniform", "a usual"})

_MORE_NOUNS: Final = 10
_MORE_SCALES: Final = 4


def _duplicates(frames: pl.DataFrame) -> list[str]:
    """Return the frames that occur twice, by name or by content."""
    content = ["verb", "noun", "pronoun", "modal", "x", "y"]
    return [
        f"frame {frame!r} occurs more than once"
        for columns in (["frame"], content)
        for frame in frames.filter(pl.struct(columns).is_duplicated())["frame"].unique(maintain_order=True)
    ]


def _articles(frames: pl.DataFrame) -> list[str]:
    """Return the phrases whose article does not suit the letter, and are no known exception."""
    texts = [form("base", pl.lit("or")).alias("base"), form("pseudocleft", pl.lit("or")).alias("pseudocleft")]
    found = frames.select(pl.concat_list(texts).alias("text")).explode("text")
    odd = found.select(pl.col("text").str.extract_all(_ODD_ARTICLE)).explode("text", empty_as_null=True)
    phrases = odd["text"].drop_nulls().str.to_lowercase().unique().sort().to_list()
    return [f"the article of {phrase!r}" for phrase in phrases if phrase not in _SOUND_EXCEPTIONS]


def _balance(frames: pl.DataFrame) -> list[str]:
    """Return where an entailed word, a mention order or a plausibility is not half of a scale's items."""
    items = cells_of(frames, CONSTRUCTIONS).filter(pl.col("role") == "treated-expected")
    faults = []
    for factor in ("entailed", "mention", "plausibility"):
        share = items.group_by("scale", "construction", factor).len()
        share = share.with_columns(half=pl.col("len").sum().over("scale", "construction") / 2)
        uneven = share.filter(pl.col("len") != pl.col("half")).sort("scale", "construction", factor)
        faults += [
            f"{factor} {row[factor]!r} is {row['len']} of {row['half'] * 2:.0f} items of scale"
            f" {row['scale']!r} with {row['construction']!r}"
            for row in uneven.to_dicts()
        ]
    return faults


def _adjectives(frames: pl.DataFrame) -> list[str]:
    """Return the adjectives that stand at both ends of a scale or on two scales."""
    ends = pl.concat([frames.select("scale", end=pl.lit(end), word=pl.col(end)) for end in ("x", "y")]).unique()
    twice = ends.group_by("word").len().filter(pl.col("len") > 1)["word"].sort()
    return [f"the adjective {word!r} stands in two places" for word in twice]


def _gerunds(frames: pl.DataFrame) -> list[str]:
    """Return the gerunds that are not the regular ones of their verbs."""
    pairs = frames.select("verb", "gerund").unique(maintain_order=True).rows()
    return [f"{gerund!r} of {verb!r}" for verb, gerund in pairs if gerund != regular_gerund(verb)]


def _letters(frames: pl.DataFrame) -> list[str]:
    """Return the words that are not small letters with single spaces or hyphens between."""
    words = pl.concat([frames[c] for c in ("verb", "gerund", "noun", "x", "y")]).unique().sort()
    return [f"the word {word!r}" for word in words.filter(~words.str.contains(r"^[a-z]+(?:[ -][a-z]+)*$"))]


def _counts(frames: pl.DataFrame) -> list[str]:
    """Return which counts fall short of the paper's, and which of its scales are missing."""
    found = {
        "templates": frames["template"].n_unique(),
        "frames": frames.height,
        "verb-noun-scale combinations": frames.select("verb", "noun", "scale").n_unique(),
    }
    short = [f"{found[name]} {name}, at least {least}" for name, least in _LEAST.items() if found[name] < least]
    there = set(frames["scale"])
    return short + [f"scale {scale!r} is missing" for scale in CORE_SCALES if scale not in there]


def _forms(frames: pl.DataFrame) -> list[str]:
    """Return the syntactic forms that are the same text for two frames."""
    return [
        f"form {name!r} gives one text for two frames"
        for name in ("base", *TESTS)
        if frames.select(form(name, pl.lit("or"))).to_series().is_duplicated().any()
    ]


CHECKS: Final[Mapping[str, Check]] = {
    "duplicates": _duplicates,
    "articles": _articles,
    "balance": _balance,
    "adjectives": _adjectives,
    "gerunds": _gerunds,
    "letters": _letters,
    "counts": _counts,
    "forms": _forms,
}
"""Every check by its code."""


def audit(frames: pl.DataFrame, checks: Mapping[str, Check] = CHECKS) -> list[str]:
    """Return what is wrong with a set of frames, each fault with its check's code; empty when all is right.

    `frames` has the columns of `frames.FRAME_COLUMNS`.
    """
    return [f"{code}: {fault}" for code, check in checks.items() for fault in check(frames)]


def audit_sets(core: pl.DataFrame, extended: pl.DataFrame) -> list[str]:
    """Return where `extended` falls short of holding `core`, ten times its nouns and four more scales."""
    nouns = [frames["noun"].n_unique() for frames in (core, extended)]
    more = set(extended["scale"]) - set(core["scale"])
    lost = core.join(extended, on=core.columns, how="anti")
    faults = []
    if nouns[1] < _MORE_NOUNS * nouns[0]:
        faults.append(f"nouns: {nouns[1]} in extended, at least {_MORE_NOUNS} times {nouns[0]}")
    if len(more) < _MORE_SCALES:
        faults.append(f"scales: {len(more)} more in extended, at least {_MORE_SCALES}")
    if lost.height:
        faults.append(f"sets: {lost.height} frames of core are not in extended")
    return faults
