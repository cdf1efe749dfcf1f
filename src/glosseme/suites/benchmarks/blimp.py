"""BLiMP: sentences that differ in one point of grammar.

Warstadt et al. (TACL 2020): 67 paradigms of 1,000 pairs, in 12 phenomena and 4 fields. Their figure is the mean over
paradigms. The files' own labels have 13 phenomena: `s-selection` stands under argument structure in the paper, as here;
and one paradigm's field is written `syntax/semantics`.

Pairs are made from a paradigm's template by drawing words, each pair anew, and the paradigms are all there are, no
sample of paradigms: a pair is its own cluster, and paradigms are strata.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl

from glosseme.hub import Repository
from glosseme.measures import Kind
from glosseme.suites.benchmarks.read import FILE, rows_of
from glosseme.suites.benchmarks.rows import REDUCTIONS, VARIANTS, asked, duplicates, empty, identical, usable
from glosseme.suites.benchmarks.source import HUB, Benchmark, files_of, name_on_hub, sha256_of_files
from glosseme.suites.suite import Items, Options, Suite

__all__ = ["BLIMP", "FACTORS", "PARADIGMS", "build"]

PARADIGMS: Final = 67
"""How many paradigms the whole of it has."""

FACTORS: Final = ("field", "phenomenon", "paradigm", "lexically_identical")

_BENCHMARK: Final = Benchmark(
    "BLiMP",
    Repository("nyu-mll/blimp", kind="dataset", instead="give --data PATH, your own copy of the authors' files"),
    ("*.parquet", "*.jsonl"),
)
_TEXTS: Final = ("sentence_good", "sentence_bad")


def build(kind: Kind, data: str, options: Options) -> Items:
    """Return the items of `blimp`: pairs of sentences, by paradigm."""
    rows = rows_of(
        files_of(_BENCHMARK, data),
        _TEXTS,
        optional=("UID", "field", "linguistics_term", "pairID", "lexically_identical"),
    )
    named = _named(rows)
    kept, notes = usable(named, [empty(_TEXTS)])
    notes += identical(kept, _TEXTS[:1], _TEXTS[1:])
    notes += duplicates(kept, ("paradigm", *_TEXTS))
    roles = {"good": (None, pl.col("sentence_good")), "bad": (None, pl.col("sentence_bad"))}
    requests = asked(kept, roles, "sentence" if kind == "causal" else "pll", FACTORS)
    return Items(requests, (*_paradigms(kept), *notes))


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with names of items and the factors."""
    # The authors name a file after its paradigm.
    stem = pl.col(FILE).str.extract(r"([^/]+)\.[^.]+$").str.strip_prefix("blimp_")
    paradigm = pl.coalesce(pl.col("UID").replace("", None), stem)
    number = pl.int_range(pl.len()).over("paradigm").cast(pl.String)
    unique = pl.struct("paradigm", "pairID").is_unique().all() & pl.col("pairID").is_not_null().all()
    return rows.with_columns(
        paradigm=paradigm,
        field=pl.col("field").str.replace("/", "_", literal=True),
        phenomenon=pl.col("linguistics_term").replace({"s-selection": "argument_structure"}),
    ).with_columns(item=pl.format("{}/{}", "paradigm", pl.when(unique).then("pairID").otherwise(number)))


def _paradigms(rows: pl.DataFrame) -> list[str]:
    n = rows["paradigm"].n_unique()
    return [] if n == PARADIGMS else [f"{n} of BLiMP's {PARADIGMS} paradigms {'is' if n == 1 else 'are'} there"]


BLIMP: Final = Suite(
    name="blimp",
    title="Which of two sentences that differ in one point of grammar is the more probable? (BLiMP)",
    version="1",
    design="pair",
    factors=FACTORS,
    cluster="item",
    unit="item",
    balance=("paradigm",),
    by=("phenomenon",),
    kinds=("causal", "masked"),
    build=build,
    sets=(HUB,),
    source="Warstadt, Parrish, Liu, Mohananey, Peng, Wang and Bowman (TACL 2020)",
    reads_files=True,
    options={"reduction": REDUCTIONS, "pll": VARIANTS},
    also=(("field",), ()),
    data_sha256=partial(sha256_of_files, _BENCHMARK),
    named=partial(name_on_hub, _BENCHMARK),
    macro="paradigm",
)
