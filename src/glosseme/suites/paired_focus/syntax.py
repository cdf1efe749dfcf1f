"""Whether models know where a paired-focus construction may stand.

Scivetti et al. (CoNLL 2026), Equation 2:

| form | with a paired-focus construction |
|---|---|
| `base` | You couldn't sing an ugly song, let alone a beautiful one. |
| `no-npi` | *You could sing an ugly song, let alone a beautiful one. |
| `pseudocleft` | *An ugly song, let alone a beautiful one, you couldn't sing. |
| `cp-conjunction` | *You couldn't sing an ugly song, let alone you couldn't sing a beautiful one. |
| `vp-conjunction` | You couldn't sing an ugly song, let alone sing a beautiful one. |
| `vp-gap` | ?You couldn't sing an ugly song, let alone me a beautiful one. |
"""

from __future__ import annotations

from typing import Final

import polars as pl

from glosseme.measures import Kind
from glosseme.suites.paired_focus.articles import with_article
from glosseme.suites.paired_focus.frames import MODALS, capitalised, first_sentence, lowered
from glosseme.suites.paired_focus.sources import choice, source
from glosseme.suites.suite import Items, Options, Suite

__all__ = ["FACTORS", "SYNTAX", "TESTS", "form"]

TESTS: Final = {
    "no-npi": "test",
    "pseudocleft": "test",
    "cp-conjunction": "test",
    "vp-conjunction": "control",
    "vp-gap": "control",
}
"""The manipulated forms: a `test` spoils the construction, a `control` does not or spoils any connective."""

FACTORS: Final = ("construction", "test", "group", "scale", "verb", "noun", "template", "frame")

_CONTROLS: Final = ("and", "or")


def form(name: str, connective: pl.Expr) -> pl.Expr:
    """Return the expression of a form of the plausible sentence of a frame, `base` or one of `TESTS`."""
    pronoun, modal, verb, noun = (pl.col(c) for c in ("pronoun", "modal", "verb", "noun"))
    x, y, inside = with_article(pl.col("x")), with_article(pl.col("y")), lowered(pronoun)
    if name == "base":
        return first_sentence(pl.lit("xy"), connective)
    if name == "no-npi":
        can = modal.replace_strict(MODALS)
        return pl.format("{} {} {} {} {}, {} {} one.", pronoun, can, verb, x, noun, connective, y)
    if name == "pseudocleft":
        return pl.format("{} {}, {} {} one, {} {} {}.", capitalised(x), noun, connective, y, inside, modal, verb)
    before = pl.format("{} {} {} {} {}, {}", pronoun, modal, verb, x, noun, connective)
    if name == "cp-conjunction":
        return pl.format("{} {} {} {} {} one.", before, inside, modal, verb, y)
    if name == "vp-conjunction":
        return pl.format("{} {} {} one.", before, verb, y)
    return pl.format("{} me {} one.", before, y)


def _plan(constructions: tuple[str, ...], control: str) -> pl.DataFrame:
    """Return the requests of one frame without its words, tests and constructions in turn."""
    rows = []
    tests, n = list(TESTS), len(constructions)
    for turn in range(n):
        for place, test in enumerate(tests):
            construction = constructions[(place + turn) % n]
            for group, connective in (("treated", construction), ("control", control)):
                for expectation, name in (("expected", "base"), ("unexpected", test)):
                    rows.append((construction, test, TESTS[test], f"{group}-{expectation}", connective, name))
    return pl.DataFrame(rows, schema=[*FACTORS[:3], "role", "connective", "form"], orient="row")


def build_syntax(kind: Kind, data: str, options: Options) -> Items:
    """Return the items of `paired-focus/syntax`: the base sentence against a form that spoils it."""
    found = source(data)
    wanted = _plan(found.constructions, choice(options, "control", _CONTROLS))
    table = found.frames.join(wanted, how="cross", maintain_order="left_right")
    # Each form is written once for each frame and connective, then looked up by the rows that want it.
    connectives = wanted.select("connective").unique(maintain_order=True)
    texts = found.frames.join(connectives, how="cross", maintain_order="left_right").select(
        "frame", "connective", *(form(name, pl.col("connective")).alias(name) for name in ("base", *TESTS))
    )
    texts = texts.unpivot(index=["frame", "connective"], variable_name="form", value_name="text")
    measure = "sentence" if kind == "causal" else "pll"
    requests = table.join(texts, on=["frame", "connective", "form"], how="left", maintain_order="left").select(
        pl.format("{}/{}/{}", "frame", "construction", "test").alias("item"),
        "role",
        pl.lit(measure).alias("measure"),
        pl.lit(None, dtype=pl.String).alias("context"),
        "text",
        *FACTORS,
    )
    return Items(requests, found.notes)


SYNTAX: Final = Suite(
    name="paired-focus/syntax",
    title="Is a paired-focus construction kept from places where a plain conjunction may stand?",
    version="1",
    design="contrast",
    factors=FACTORS,
    cluster="template",
    unit="frame",
    balance=("scale",),
    by=("group", "test"),
    kinds=("causal", "masked"),
    build=build_syntax,
    sets=("core", "extended"),
    source="Scivetti, Wilcox, Schneider, Misra and Weissweiler (CoNLL 2026)",
    reads_files=True,
    options={
        "reduction": ("mean", "sum"),
        "control": _CONTROLS,
        "pll": ("original", "within_word_l2r"),
    },
    also=(("group",),),
    default_reduction="mean",
)
