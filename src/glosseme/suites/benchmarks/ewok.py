"""EWoK: two targets in two contexts.

Ivanova et al. (TACL 2025): 11 domains of world knowledge. An item is right when both targets prefer their own context,
log p(T1|C1) > log p(T1|C2) and log p(T2|C2) > log p(T2|C1); chance is a quarter.

The authors ask that no text be published where models could be trained on it, and give the data to those who accept
their terms. So no word of a file gets into the name of an item, a factor or a message: domains and types of contrast
are labels, concept pairs and templates are numbers, in the order of the alphabet within their domain.

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
from glosseme.suites.benchmarks.rows import REDUCTIONS, VARIANTS, asked, duplicates, identical, label, usable
from glosseme.suites.benchmarks.source import HUB, Benchmark, files_of, name_on_hub, sha256_of_files
from glosseme.suites.suite import Items, Options, Suite

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
_LABEL: Final = r"^([a-z0-9]{1,24}(-[a-z0-9]{1,24}){0,2}|[0-9]+(\.[0-9]+)+)$"
"""Up to three words without a mark of punctuation, or a version: what a sentence isn't."""


def build(kind: Kind, data: str, options: Options) -> Items:
    """Return the items of `ewok`: two targets in two contexts each.

    Raises `GlossemeError`, without a word of the data, for a column of labels that holds texts.
    """
    optional = (*(name for name in _LABELS.values() if name != "Domain"), *_OTHERS)
    rows = rows_of(files_of(_BENCHMARK, data), (*_TEXTS, "Domain"), optional, private=True)
    labelled, unlabelled = _labelled(rows)
    kept, left_out = usable(_named(labelled), _TEXTS)
    notes = unlabelled + left_out
    notes += identical(kept, ("Context1",), ("Context2",)) + identical(kept, ("Target1",), ("Target2",))
    notes += duplicates(kept, ("domain", *_TEXTS))
    roles = {
        f"target{t}-context{c}": (pl.col(f"Context{c}"), pl.col(f"Target{t}")) for t in ("1", "2") for c in ("1", "2")
    }
    requests = asked(kept, roles, "conditional" if kind == "causal" else "pll", FACTORS)
    return Items(requests, tuple(notes))


def _labelled(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return rows with the columns of labels, null where a value is none, and sentences on these."""
    found = rows.with_columns(label(column).alias(name) for name, column in _LABELS.items())
    notes = []
    for name, column in _LABELS.items():
        wrong = found.filter(~pl.col(name).str.contains(_LABEL))
        if name == "domain":
            _check_domain(pl.concat([wrong, found.filter(pl.col(name).is_null())]))
        elif wrong.height:
            first = f"{wrong[FILE][0]}:{wrong[LINE][0]}"
            are = "values of {} are no labels" if wrong.height > 1 else "value of {} is no label"
            notes.append(f"{wrong.height:,} {are.format(column)} and not kept (first: {first})")
    kept = [pl.when(pl.col(name).str.contains(_LABEL)).then(pl.col(name)).alias(name) for name in _LABELS]
    return found.with_columns(kept), notes


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
