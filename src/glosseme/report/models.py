"""What `glosseme models` prints: the catalogue, filtered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

import polars as pl

from glosseme.errors import GlossemeError, nearest
from glosseme.measures import KINDS
from glosseme.models.catalogue import FAMILY_SIGN, catalogue, families, family
from glosseme.report.cells import cells, counted
from glosseme.report.grid import latex_grid, markdown_grid, text_grid

__all__ = ["list_models"]

_TRAINED: Final = ("causal", "masked")
_AMOUNTS: Final = ("parameters", "tokens", "words")
_SHOWN: Final = ("name", "kind", *_AMOUNTS, "checkpoints", "licence")
_MOST_SOURCES: Final = 3
_UNITS: Final = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k"))


def list_models(name: str | None = None, *, kind: str | None = None, format_: str = "text") -> str:
    """Return the models of the catalogue in a format.

    `name` is a family (`@pythia`) or a part of a name, in any case; `kind` keeps causal or masked models only. Raises
    `GlossemeError` for an unknown family, kind or format, and where no model is left.
    """
    if format_ not in _FORMATS:
        raise GlossemeError(f"there is no format {format_!r}", todo=nearest(format_, _FORMATS))
    return _FORMATS[format_](_chosen(name, kind))


def _chosen(name: str | None, kind: str | None) -> pl.DataFrame:
    if kind is not None and kind not in _TRAINED:
        known = " (the catalogue has language models only)" if kind in KINDS else ""
        raise GlossemeError(f"there is no kind of model {kind!r}{known}", todo=nearest(kind, _TRAINED))
    table = catalogue()
    asked = (name or "").strip()
    if asked.startswith(FAMILY_SIGN):
        table = table.filter(pl.col("name").is_in(family(asked)))
    elif asked:
        table = table.filter(pl.col("name").str.to_lowercase().str.contains(asked.lower(), literal=True))
        if not table.height:
            raise GlossemeError(f"the catalogue has no model with {name!r} in its name", todo=_closest(asked))
    if kind is not None:
        table = table.filter(kind=kind)
        if not table.height:
            raise GlossemeError(f"the catalogue has no {kind} model of {name!r}", todo="leave out --kind")
    return table


def _closest(asked: str) -> str:
    last_parts = {name.rsplit("/", 1)[-1] for name in catalogue()["name"]}
    close = nearest(asked, [*last_parts, *catalogue()["name"]])
    return close if close.startswith("did you mean") else "`glosseme models` lists them all"


def _people(amount: int | None) -> str | None:
    """Return an amount as people write it.

    >>> [_people(n) for n in (70_426_624, 1_414_647_808, 299_892_736_000, 999_999_999, 12, None)]
    ['70M', '1.4B', '300B', '1B', '12', None]
    """
    if amount is None:
        return None
    for unit, letter in _UNITS:
        # Rounding may reach the next unit: 999,999,999 is 1B, not 1000M.
        if amount >= unit * 0.9995:
            share = amount / unit
            return f"{share:.1f}".removesuffix(".0") + letter if share < 9.95 else f"{share:.0f}{letter}"
    return str(amount)


def _grid(table: pl.DataFrame) -> tuple[list[str], list[list[str]], list[bool]]:
    amounts = [pl.col(a).map_elements(_people, return_dtype=pl.String) for a in _AMOUNTS]
    columns = [c for c in _SHOWN if c != "words" or table[c].count()]
    return columns, cells(table.with_columns(amounts), columns), [c in _AMOUNTS for c in columns]


def _as_text(table: pl.DataFrame) -> str:
    return "\n".join([*text_grid(*_grid(table)), "", *_notes(table)])


def _notes(table: pl.DataFrame) -> Iterator[str]:
    shown = set(table["name"])
    named = [f"{FAMILY_SIGN}{name} ({len(models)})" for name, models in families().items() if shown & {*models}]
    first = f"{FAMILY_SIGN}{table['family'][0]}"
    yield f"{counted(table.height, 'model')}; a family runs by its name (run -m {first}): {', '.join(named)}"
    yield "parameters are all weights, tied ones once; tokens those seen in training, epochs included; - is not known."
    sources = table.select("family", "source").unique(maintain_order=True)
    if sources.height > _MOST_SOURCES:
        yield "--format json and csv say where the figures of each model are from, and give them in full."
        return
    for name, source in sources.iter_rows():
        yield f"{name}: {source}"


def _as_json(table: pl.DataFrame) -> str:
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in table.iter_rows(named=True))
    return "[\n  " + ",\n  ".join(lines) + "\n]"


_FORMATS: Final[dict[str, Callable[[pl.DataFrame], str]]] = {
    "text": _as_text,
    "json": _as_json,
    "csv": lambda table: table.write_csv().rstrip("\n"),
    "markdown": lambda table: markdown_grid(*_grid(table)),
    "latex": lambda table: latex_grid(*_grid(table)),
}
