"""Summaries as text, JSON, CSV, Markdown and LaTeX.

A table has one row a group and metric: the columns of `KEYS`, those of `CONDITIONS`, factors (every column that is
not named here), and `analysis.summarise.SUMMARY_COLUMNS`, in any order; columns that are lacking are left out. Several
suites may stand in one table: a factor that a suite does not have is null in its rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import polars as pl

from glosseme.analysis.summarise import METRICS, SUMMARY_COLUMNS
from glosseme.errors import GlossemeError, nearest
from glosseme.report.cells import INTERVAL, cells, finite, plain
from glosseme.report.grid import latex_grid, markdown_grid, text_grid

__all__ = [
    "CONDITIONS",
    "FORMATS",
    "KEYS",
    "as_csv",
    "as_json",
    "as_latex",
    "as_markdown",
    "as_text",
    "render",
]

KEYS: Final = ("model", "revision", "suite", "data")
"""What a row is about."""

CONDITIONS: Final = ("dtype", "options")
"""How it was run; in tables for readers only where it is not `_USUAL`."""

_METRICS: Final = frozenset(metric for metrics in METRICS.values() for metric in metrics)
_USUAL: Final = {"dtype": "float32", "options": ""}
_HEADERS: Final = {INTERVAL: "95%", "n_clusters": "clusters"}
_INTERVAL_NOTE: Final = "[low, high] is a 95% interval that takes the items of one cluster as dependent."


def render(table: pl.DataFrame, format_: str, *, notes: Sequence[str] = ()) -> str:
    """Return the table in one of `FORMATS`; the notes, one a line, follow where the format is text.

    Raises `GlossemeError` for an unknown format.
    """
    if format_ not in FORMATS:
        raise GlossemeError(f"there is no format {format_!r}", todo=nearest(format_, FORMATS))
    return as_text(table, notes=notes) if format_ == "text" else FORMATS[format_](table)


def as_text(table: pl.DataFrame, *, notes: Sequence[str] = ()) -> str:
    """Return aligned plain text: a block for each model, revision and suite, the notes below.

    >>> rows = {"model": "m", "suite": "s", "metric": "accuracy", "estimate": [0.635], "low": 0.58, "high": 0.69}
    >>> print(as_text(pl.DataFrame(rows)))
    m  s
      accuracy         95%
          .635  [.58, .69]
    <BLANKLINE>
    [low, high] is a 95% interval that takes the items of one cluster as dependent.
    """
    keys = [name for name in KEYS[:3] if name in table.columns]
    blocks = table.partition_by(keys, maintain_order=True) if keys and table.height else [table]
    blocks = [_for_readers(block) for block in blocks]
    below = [_INTERVAL_NOTE] if "low" in table.columns else []
    return "\n\n".join([*map(_block, blocks), "\n".join([*below, *map(plain, notes)])]).rstrip()


def as_json(table: pl.DataFrame) -> str:
    r"""Return a strict JSON list of objects, one a row; what is undefined is null.

    >>> as_json(pl.DataFrame({"model": "m", "scale": "size", "metric": "accuracy", "estimate": [float("nan")]}))
    '[\n  {"model": "m", "metric": "accuracy", "scale": "size", "estimate": null}\n]'
    """
    rows = (json.dumps(o, ensure_ascii=False, allow_nan=False) for o in _objects(table))
    return "[\n  " + ",\n  ".join(rows) + "\n]" if table.height else "[]"


def as_csv(table: pl.DataFrame) -> str:
    r"""Return comma-separated values in full precision; what is undefined is empty.

    >>> as_csv(pl.DataFrame({"metric": "accuracy", "estimate": [0.635], "scale": "size"}))
    'scale,metric,estimate\nsize,accuracy,0.635\n'
    """
    after = [name for name in (*SUMMARY_COLUMNS, *CONDITIONS) if name in table.columns]
    before = [name for name in KEYS if name in table.columns]
    return finite(table).select(*before, *_factors(table), *after).write_csv()


def as_markdown(table: pl.DataFrame) -> str:
    r"""Return a pipe table with rounded numbers.

    >>> print(as_markdown(pl.DataFrame({"verb": "a|b", "metric": "accuracy", "estimate": [0.635]})))
    | verb | accuracy |
    |---|---:|
    | a\|b | .635 |
    """
    return markdown_grid(*_grid(_for_readers(table)))


def as_latex(table: pl.DataFrame) -> str:
    r"""Return a tabular with rounded numbers for the package booktabs.

    >>> print(as_latex(pl.DataFrame({"verb": "a_b", "metric": "delta", "estimate": [-0.5]})))
    \begin{tabular}{lr}
    \toprule
    verb & delta \\
    \midrule
    a\_b & $-$.500 \\
    \bottomrule
    \end{tabular}
    """
    return latex_grid(*_grid(_for_readers(table)))


FORMATS: Final[dict[str, Callable[[pl.DataFrame], str]]] = {
    "text": as_text,
    "json": as_json,
    "csv": as_csv,
    "markdown": as_markdown,
    "latex": as_latex,
}
"""The formats of a table and what writes them."""


def _grid(table: pl.DataFrame, columns: Sequence[str] | None = None) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return the heads, the cells, and which columns are numbers."""
    if columns is None:
        columns = [name for name in KEYS if name in table.columns] + _shown(table)
    return [_HEADERS.get(name, name) for name in columns], cells(table, columns), [_is_number(c) for c in columns]


def _factors(table: pl.DataFrame) -> list[str]:
    known = {*KEYS, *CONDITIONS, *SUMMARY_COLUMNS, *_METRICS}
    return [name for name in table.columns if name not in known]


def _objects(table: pl.DataFrame) -> Iterator[dict[str, Any]]:
    first = ("model", "revision", "suite", "metric")
    numbers = ("estimate", "low", "high", "n", "ties", "chance")
    suites = table["suite"] if "suite" in table.columns else pl.Series([None] * table.height)
    factors = {
        suite: [f for f in _factors(table) if table.filter(suites.eq_missing(suite))[f].count()]
        for suite in suites.unique().to_list()
    }
    for suite, row in zip(suites, finite(table).to_dicts(), strict=True):
        rest = [name for name in row if name not in (*first, *numbers, *_factors(table))]
        yield {name: row[name] for name in (*first, *factors[suite], *numbers, *rest) if name in row}


def _for_readers(table: pl.DataFrame) -> pl.DataFrame:
    """Return one row a group: its first metric with interval and counts, the estimates of the others as columns."""
    if "metric" not in table.columns or not table.height:
        return table
    keys = [name for name in table.columns if name not in {*SUMMARY_COLUMNS, *_METRICS}]
    # Two runs of the same are two rows, not one.
    numbered = table.with_columns(__copy=pl.int_range(pl.len()).over(*keys, "metric"))
    grouped = numbered.with_columns(__group=pl.struct(*keys, "__copy").rank("dense")).with_row_index("__row")
    first = grouped.unique("__group", keep="first", maintain_order=True)
    others = grouped.join(first.select("__row"), on="__row", how="anti", maintain_order="left")
    if others.height:
        wide = others.pivot("metric", index="__group", values="estimate", aggregate_function="first")
        first = first.join(wide, on="__group", how="left", maintain_order="left")
    named = first.drop("__group", "__row", "__copy")
    metric = named["metric"][0]
    if named["metric"].n_unique() > 1 or metric in named.columns or "estimate" not in named.columns:
        return named
    return named.drop("metric").rename({"estimate": metric})


def _shown(table: pl.DataFrame) -> list[str]:
    """Return the columns that readers need besides the keys, in their order."""
    factors = [name for name in _factors(table) if table[name].count()]
    unusual = [c for c in CONDITIONS if c in table.columns and (table[c] != _USUAL[c]).any()]
    numbers = [name for name in ("n", "ties", "chance") if name in table.columns]
    dropped = ["dropped"] if "dropped" in table.columns and (table["dropped"] > 0).any() else []
    clustered = {"n", "n_clusters"} <= set(table.columns) and (table["n"] != table["n_clusters"]).any()
    interval = [INTERVAL] if {"low", "high"} <= set(table.columns) else []
    clusters = ["n_clusters"] if clustered else []
    estimates = [name for name in table.columns if name in _METRICS or name in {"metric", "estimate"}]
    main, others = _main_and_others(estimates)
    return [*unusual, *factors, *main, *interval, *numbers, *dropped, *clusters, *others]


def _main_and_others(estimates: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns of the first metric, which has an interval, and those of the others."""
    if "estimate" in estimates:
        main = [name for name in ("metric", "estimate") if name in estimates]
    else:
        main = list(estimates[:1])
    return main, [name for name in estimates if name not in main]


def _is_number(column: str) -> bool:
    return column in {INTERVAL, *_METRICS} or (column in SUMMARY_COLUMNS and column != "metric")


def _block(table: pl.DataFrame) -> str:
    if not table.height:
        return "(no rows)"
    # What is the same in every row of the block is said once, above it.
    said = [c for c in ("data", *CONDITIONS) if c in table.columns and table[c].n_unique() == 1]
    facts = [f"{c} {plain(table[c][0])}" for c in said if table[c][0] not in (None, _USUAL.get(c))]
    columns = [name for name in _shown(table) if name not in said]
    if "data" in table.columns and "data" not in said:
        columns = ["data", *columns]
    name = "@".join(plain(table[k][0]) for k in ("model", "revision") if k in table.columns and table[k][0])
    suite = plain(table["suite"][0]) if "suite" in table.columns else ""
    head = "  ".join(part for part in (name, suite, f"({'; '.join(facts)})" if facts else "") if part)
    return "\n".join([*([head] if head else []), *text_grid(*_grid(table, columns))])
