"""COMPS: properties of concepts that have them and of concepts that haven't.

Misra, Rayz and Ettinger (EACL 2023). `comps_base` pairs an acceptable concept with one that lacks the property, of four
types: taxonomically near, overlapping in properties, co-occurring, or at random. The `wugs` files ask whether a new
word inherits the property, with and without a distracting sentence.

Every concept with a property is paired with each type of negative sample, and a property's pairs share its phrase: they
are one cluster.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.hub import Repository
from glosseme.measures import Kind
from glosseme.suites.benchmarks.read import FILE, rows_of
from glosseme.suites.benchmarks.rows import REDUCTIONS, VARIANTS, asked, duplicates, empty, identical, usable
from glosseme.suites.benchmarks.source import HUB, Benchmark, files_of, name_on_hub, sha256_of_files
from glosseme.suites.suite import Items, Options, Suite

__all__ = ["COMPS", "FACTORS", "SUBSETS", "build"]

SUBSETS: Final = ("base", "wugs", "wugs-dist-before", "wugs-dist-in-between", "wugs-dist")
"""The files there are; on the hub both places of the distractor are one, `wugs-dist`."""

FACTORS: Final = ("subset", "negative_sample_type", "property", "acceptable_concept", "unacceptable_concept")

_BENCHMARK: Final = Benchmark(
    "COMPS",
    # The repository itself holds only a program that downloads; the hub keeps what came of it.
    Repository(
        "kanishka/comps",
        "refs/convert/parquet",
        kind="dataset",
        instead="give --data PATH, your own copy of the authors' files (data/comps of github.com/kanishkamisra/comps)",
    ),
    ("*.parquet",),
)
_TEXTS: Final = ("prefix_acceptable", "prefix_unacceptable", "property_phrase")
_ALL: Final = "all"


def build(kind: Kind, data: str, options: Options) -> Items:
    """Return the items of `comps`: a property of two concepts, as sentences or given the concept.

    Raises `GlossemeError` where the files have nothing of the chosen subset.
    """
    rows = rows_of(files_of(_BENCHMARK, data), _TEXTS, optional=("id", *FACTORS[1:]))
    chosen, notes = _of_subset(_named(rows), options.get("subset", SUBSETS[0]), data)
    kept, left_out = usable(chosen, [empty(_TEXTS)])
    notes += left_out
    notes += identical(kept, _TEXTS[:1], _TEXTS[1:2])
    notes += duplicates(kept, (*FACTORS[:2], *_TEXTS))
    phrase = pl.col("property_phrase")
    prefixes = {"good": pl.col("prefix_acceptable"), "bad": pl.col("prefix_unacceptable")}
    if options.get("measure") == "conditional":
        roles = {role: (prefix, phrase) for role, prefix in prefixes.items()}
        return Items(asked(kept, roles, "conditional" if kind == "causal" else "pll", FACTORS), tuple(notes))
    whole = {role: (None, pl.concat_str(prefix, phrase, separator=" ")) for role, prefix in prefixes.items()}
    return Items(asked(kept, whole, "sentence" if kind == "causal" else "pll", FACTORS), tuple(notes))


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with their subset, by the names of their files, and names of items."""
    name = pl.col(FILE).str.to_lowercase().str.replace_all(r"[_/]", "-")
    subset = (
        pl.when(~name.str.contains("wugs", literal=True))
        .then(pl.lit("base"))
        .when(name.str.contains("before", literal=True))
        .then(pl.lit("wugs-dist-before"))
        .when(name.str.contains("between", literal=True))
        .then(pl.lit("wugs-dist-in-between"))
        .when(name.str.contains("dist", literal=True))
        .then(pl.lit("wugs-dist"))
        .otherwise(pl.lit("wugs"))
    )
    number = pl.int_range(1, pl.len() + 1).over("subset").cast(pl.String)
    unique = pl.struct("subset", "id").is_unique().all() & pl.col("id").is_not_null().all()
    return rows.with_columns(subset=subset).with_columns(
        item=pl.format("{}/{}", "subset", pl.when(unique).then("id").otherwise(number)),
        # A pair without a property stands alone.
        property=pl.coalesce("property", pl.format("property of {}/{}", "subset", number)),
    )


def _of_subset(rows: pl.DataFrame, subset: str, data: str) -> tuple[pl.DataFrame, list[str]]:
    there = rows["subset"].unique(maintain_order=True).to_list()
    if subset == _ALL:
        return rows, []
    if subset not in there:
        todo = f"there is {', '.join(there)}: choose one with --option subset={there[0]}"
        raise GlossemeError(f"the data have nothing of the subset {subset!r}", where=data, todo=todo)
    others = [name for name in there if name != subset]
    left = f"the data have {', '.join(others)} besides {subset}, left out (--option subset={_ALL} takes all)"
    return rows.filter(pl.col("subset") == subset), [left] if others else []


COMPS: Final = Suite(
    name="comps",
    title="Is a property more probable of a concept that has it than of one that hasn't? (COMPS)",
    version="1",
    design="pair",
    factors=FACTORS,
    cluster="property",
    unit="item",
    balance=("subset", "negative_sample_type"),
    by=("negative_sample_type",),
    kinds=("causal", "masked"),
    build=build,
    sets=(HUB,),
    source="Misra, Rayz and Ettinger (EACL 2023)",
    reads_files=True,
    options={
        "subset": (*SUBSETS, _ALL),
        "measure": ("sentence", "conditional"),
        "reduction": REDUCTIONS,
        "pll": VARIANTS,
    },
    also=((),),
    data_sha256=partial(sha256_of_files, _BENCHMARK),
    named=partial(name_on_hub, _BENCHMARK),
)
