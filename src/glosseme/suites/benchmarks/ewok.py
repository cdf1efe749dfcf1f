"""EWoK: two targets in two contexts.

Ivanova et al. (TACL 2025): 11 domains of world knowledge. An item is right when both targets prefer their own context,
log p(T1|C1) > log p(T1|C2) and log p(T2|C2) > log p(T2|C1); chance is a quarter.

The authors ask that no text be published where models could be trained on it, and give the data to those who accept
their terms. So no word of a file gets into the name of an item, a factor or a message. Domains and types of contrast
are kept where they are the authors' labels or what many items share, and numbered otherwise; concept pairs and
templates are numbers. Numbers are in the order of the alphabet, those of pairs and templates within their domain.

An item whose contexts are the same, or whose targets are, has no right answer and is left out.

The items of a concept pair share their targets and are filled from the same templates: they are one cluster.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.hub import Repository
from glosseme.measures import Kind
from glosseme.suites.benchmarks.read import FILE, LINE, rows_of
from glosseme.suites.benchmarks.rows import REDUCTIONS, VARIANTS, alike, asked, duplicates, empty, label, usable
from glosseme.suites.benchmarks.source import HUB, Benchmark, files_of, name_on_hub, sha256_of_files
from glosseme.suites.suite import Items, Options, Suite
from glosseme.words import counted

__all__ = ["EWOK", "FACTORS", "build"]

FACTORS: Final = ("domain", "concepts", "template", "context_type", "context_contrast", "target_contrast", "version")

_BENCHMARK: Final = Benchmark(
    "EWoK",
    Repository(
        "ewok-core/ewok-core-1.0",
        kind="dataset",
        instead="give --data PATH, your own copy of the authors' files",
        gated=True,
    ),
    ("*.parquet", "*.jsonl", "*.csv"),
    private=True,
)
_TEXTS: Final = ("Context1", "Context2", "Target1", "Target2")
_LABELS: Final = {
    "domain": "Domain",
    "context_type": "ContextType",
    "context_contrast": "ContextDiff",
    "target_contrast": "TargetDiff",
    "version": "Version",
}
_OTHERS: Final = ("ConceptA", "ConceptB", "MetaTemplateID", "TemplateID")
_KNOWN: Final = {
    "domain": (
        *("agent-properties", "material-dynamics", "material-properties", "physical-dynamics", "physical-interactions"),
        *("physical-relations", "quantitative-properties", "social-interactions", "social-properties"),
        *("social-relations", "spatial-relations"),
    ),
    "context_type": ("direct", "indirect"),
    "context_contrast": ("antonym", "negation", "filler-swap", "variable-swap"),
    "target_contrast": ("concept-swap", "variable-swap"),
}
"""The labels of the authors' data."""
_LABEL: Final = r"^[a-z0-9]{1,24}(-[a-z0-9]{1,24}){0,2}$"
"""Up to three words without a mark of punctuation: what a sentence isn't."""
_VERSION: Final = r"^v?[0-9]+(\.[0-9]+)*$"
_SHARED: Final = 100
"""Items that share a label which isn't the authors': no pair of concepts and no template has so many."""
_FEW: Final = 20
"""Values of a column of labels, at most: names of concepts are more."""


def build(kind: Kind, data: str, options: Options) -> Items:
    """Return the items of `ewok`: two targets in two contexts each.

    Raises `GlossemeError`, without a word of the data, for a column of labels that holds texts.
    """
    optional = (*(name for name in _LABELS.values() if name != "Domain"), *_OTHERS)
    rows = rows_of(files_of(_BENCHMARK, data), _TEXTS, ("Domain",), optional, private=True)
    labelled, unlabelled = _labelled(rows)
    reasons = [empty(_TEXTS), alike("Context1", "Context2", "contexts"), alike("Target1", "Target2", "targets")]
    kept, left_out = usable(_named(labelled), reasons)
    notes = [*unlabelled, *left_out, *duplicates(kept, ("domain", *_TEXTS))]
    roles = {
        f"target{t}-context{c}": (pl.col(f"Context{c}"), pl.col(f"Target{t}")) for t in ("1", "2") for c in ("1", "2")
    }
    requests = asked(kept, roles, "conditional" if kind == "causal" else "pll", FACTORS)
    return Items(requests, tuple(notes))


def _labelled(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return rows with the columns of labels, and sentences on values that aren't kept as they are.

    A text is null; a label that isn't the authors' and that few items share is a number.
    """
    found = rows.with_columns(label(column).alias(name) for name, column in _LABELS.items())
    wrong = found.filter(~pl.col("domain").str.contains(_LABEL).fill_null(value=False))
    _check_domain(wrong)
    notes: list[str] = []
    for name, column in _LABELS.items():
        value = pl.col(name)
        texts = ~value.str.contains(_LABEL) & ~value.str.contains(_VERSION)
        notes += _unkept(found.filter(texts), column, ("is no label and not kept", "are no labels and not kept"))
        found = found.with_columns(pl.when(~texts).then(value).alias(name))
        found = found.with_columns(__rare=~_kept(found, name))
        rare = pl.col("__rare")
        verbs = ("is a label of few items, and numbered", "are labels of few items, and numbered")
        notes += _unkept(found.filter(rare), column, verbs)
        numbered = pl.format("{}-{}", pl.lit(name.replace("_", "-")), value.rank("dense").over(rare))
        found = found.with_columns(pl.when(rare).then(numbered).otherwise(value).alias(name)).drop("__rare")
    return found, notes


def _kept(rows: pl.DataFrame, name: str) -> pl.Expr:
    """Return which labels are kept as they are: the authors', numbers of versions, and what many items share."""
    value = pl.col(name)
    if name == "version":
        return value.str.contains(_VERSION)
    known = value.is_in(list(_KNOWN[name]))
    return known | (pl.len().over(name) >= _SHARED) if rows[name].n_unique() <= _FEW else known


def _unkept(rows: pl.DataFrame, column: str, verbs: tuple[str, str]) -> list[str]:
    if not rows.height:
        return []
    return [f"{counted(rows.height, f'value of {column}', verbs)} (first: {rows[FILE][0]}:{rows[LINE][0]})"]


def _check_domain(wrong: pl.DataFrame) -> None:
    if wrong.height:
        raise GlossemeError(
            "the domain is no label",
            where=f"{wrong[FILE][0]}:{wrong[LINE][0]}",
            todo="a label has one to three words, such as physical-relations, and no punctuation",
        )


def _named(labelled: pl.DataFrame) -> pl.DataFrame:
    """Return rows with numbers in the place of names, and numbered items."""
    # A pair of concepts is the same whichever comes first.
    one, other = (pl.col(name).str.strip_chars() for name in _OTHERS[:2])
    pair = pl.concat_str(pl.min_horizontal(one, other), pl.max_horizontal(one, other), separator="\n")
    template = pl.concat_str(pl.col("MetaTemplateID").fill_null(""), pl.coalesce("TemplateID", "MetaTemplateID"))
    return labelled.with_columns(
        item=_numbered(pl.int_range(1, pl.len() + 1).over("domain")),
        template=_numbered(template.rank("dense").over("domain")),
        __pair=pair,
    ).with_columns(
        concepts=pl.coalesce(_numbered(pl.col("__pair").rank("dense").over("domain")), "template", "item"),
    )


def _numbered(number: pl.Expr) -> pl.Expr:
    return pl.format("{}/{}", "domain", number)


EWOK: Final = Suite(
    name="ewok",
    title="Does each of two targets fit its own context better than the other's? (EWoK)",
    version="1",
    design="cross",
    factors=FACTORS,
    cluster="concepts",
    unit="item",
    balance=("domain",),
    by=("domain",),
    kinds=("causal", "masked"),
    build=build,
    sets=(HUB,),
    source="Ivanova, Sathe, Lipkin et al. (TACL 2025)",
    reads_files=True,
    options={"reduction": REDUCTIONS, "pll": VARIANTS},
    also=((),),
    data_sha256=partial(sha256_of_files, _BENCHMARK),
    named=partial(name_on_hub, _BENCHMARK),
    private=True,
)
