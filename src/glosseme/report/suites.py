"""What `glosseme suites` and `glosseme show` print."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from glosseme.errors import GlossemeError, nearest
from glosseme.measures import KINDS, REQUEST_COLUMNS, SLOT, Kind
from glosseme.runs.options import asked_of
from glosseme.suites import Suite, all_suites, suites_for
from glosseme.suites.sample import sample

__all__ = ["list_suites", "show_items"]


def list_suites() -> str:
    """Return the suites as text: what each asks, of which models, with which sets and options."""
    return "\n\n".join(_described(suite) for suite in all_suites().values())


def _described(suite: Suite) -> str:
    lines = [suite.name, f"  {suite.title}"]
    lines.append(f"  models: {', '.join(suite.kinds)}; design: {suite.design}; version {suite.version}")
    other = " or a file (--data)" if suite.reads_files else " or data of another source (--data)"
    sets = ", ".join(suite.sets) + (other if suite.reads_files or suite.data_sha256 is not None else "")
    lines.append(f"  items: {sets}")
    if suite.files:
        lines.append("  files of yours: " + ", ".join(f"--{name} FILE" for name in suite.files))
    for name, choices in suite.options.items():
        lines.append(f"  --option {name}={'|'.join(choices)} (default {choices[0]})")
    if not suite.in_group:
        lines.append("  run by its own name only")
    lines.append(f"  source: {suite.source}")
    return "\n".join(lines)


def show_items(name: str, kind: str, data: str | None, n: int, seed: int, options: Mapping[str, str]) -> str:
    """Return `n` items of each suite of a name as text, drawn like those of `--limit`.

    Raises `GlossemeError` for an unknown suite, kind, set, file or option.
    """
    suites = suites_for((name,), _kind(kind))
    shown = []
    for suite in suites:
        asked = asked_of(suite, data, {k: v for k, v in options.items() if k in suite.options})
        if suite.show is not None:
            shown.append("\n\n".join(suite.show(_kind(kind), asked.data, asked.options, n, seed)))
            continue
        items = suite.build(_kind(kind), asked.data, asked.options)
        n_items = items.requests["item"].n_unique()
        drawn = sample(items.requests, suite, n, seed)
        head = f"{suite.name}: {n_items:,} items ({asked.data_name}), asked of a {kind} model"
        parts = [_item(part, suite) for part in drawn.partition_by("item", maintain_order=True)]
        shown.append("\n\n".join([head, *(f"note: {note}" for note in items.notes), *parts]))
    return "\n\n".join(shown)


def _kind(kind: str) -> Kind:
    for known in KINDS:
        if known == kind:
            return known
    raise GlossemeError(f"there is no kind of model {kind!r}", todo=nearest(kind, KINDS))


def _item(requests: pl.DataFrame, suite: Suite) -> str:
    first = requests.row(0, named=True)
    factors = ", ".join(f"{f} {first[f]}" for f in suite.factors if f not in {suite.unit, suite.cluster})
    lines = [first["item"], f"  {factors}"]
    width = max(len(role) for role in requests["role"])
    for row in requests.select(*REQUEST_COLUMNS).iter_rows(named=True):
        lines.append(f"  {row['role']:<{width}}  {row['measure']}: {_asked(row)}")
    return "\n".join(lines)


def _asked(row: Mapping[str, str | None]) -> str:
    context, text = row["context"], row["text"]
    if context is None:
        return f"{text}"
    # A slot is shown filled, with the filler marked; otherwise a bar stands before what is scored.
    return context.replace(SLOT, f"[{text}]", 1) if SLOT in context else f"{context} | {text}"
