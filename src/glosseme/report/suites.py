"""What `glosseme suites` and `glosseme show` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from glosseme.errors import GlossemeError, nearest
from glosseme.measures import KINDS, REQUEST_COLUMNS, SLOT, Kind
from glosseme.report.cells import counted, plain
from glosseme.runs.options import asked_of
from glosseme.suites import Suite, all_suites, suites_for
from glosseme.suites.sample import sample

__all__ = ["list_suites", "show_items"]

_PRIVATE: Final = "These texts are for your eyes: their authors ask that they be published nowhere in plain text."


def list_suites() -> str:
    """Return the suites as text: what each asks, of which models, with which sets and options."""
    return "\n\n".join(_described(suite) for suite in all_suites().values())


def _described(suite: Suite) -> str:
    lines = [suite.name, f"  {suite.title}"]
    lines.append(f"  models: {', '.join(suite.kinds)}; design: {suite.design}; version {suite.version}")
    sets = ", ".join(suite.sets) + _other_data(suite)
    lines.append(f"  items: {sets}")
    if suite.files:
        lines.append("  files of yours: " + ", ".join(f"--{name} FILE" for name in suite.files))
    for name, choices in suite.options.items():
        lines.append(f"  --option {name}={'|'.join(choices)} (default {choices[0]})")
    if not suite.in_group:
        lines.append("  run by its own name only")
    lines.append(f"  source: {suite.source}")
    return "\n".join(lines)


def _other_data(suite: Suite) -> str:
    if suite.reads_files:
        return " or a folder or file (--data)" if suite.data_sha256 is not None else " or a file (--data)"
    return " or data of another source (--data)" if suite.data_sha256 is not None else ""


def show_items(name: str, kind: str, data: str | None, n: int, seed: int, options: Mapping[str, str]) -> str:
    """Return `n` items of each suite of a name as text, drawn like those of `--limit`.

    Raises `GlossemeError` for an unknown suite, kind, set, file or option, for `n` below 1 and a seed below 0.
    """
    if n < 1:
        raise GlossemeError(f"{n} items are none to show", todo="give -n 1 or more")
    if seed < 0:
        raise GlossemeError(f"the seed {seed} is negative", todo="give --seed 0 or more")
    suites = suites_for((name,), _kind(kind))
    _check_options(options, suites)
    shown = []
    for suite in suites:
        asked = asked_of(suite, data, {k: v for k, v in options.items() if k in suite.options})
        if suite.show is not None:
            shown.append("\n\n".join(map(_lines, suite.show(_kind(kind), asked.data, asked.options, n, seed))))
            continue
        items = suite.build(_kind(kind), asked.data, asked.options)
        n_items = items.requests["item"].n_unique()
        drawn = sample(items.requests, suite, n, seed)
        head = f"{suite.name}: {counted(n_items, 'item')} ({plain(asked.data_name)}), asked of a {kind} model"
        if suite.private:
            head += f"\n{_PRIVATE}"
        parts = [_item(part, suite) for part in drawn.partition_by("item", maintain_order=True)]
        shown.append("\n\n".join([head, *(f"note: {plain(note)}" for note in items.notes), *parts]))
    return "\n\n".join(shown)


def _check_options(options: Mapping[str, str], suites: Sequence[Suite]) -> None:
    # As in a run: with a group of suites, an option goes to those that have it; one that none has is wrong.
    known = {option for suite in suites for option in suite.options}
    for name in options:
        if name not in known:
            raise GlossemeError(f"none of the suites has an option {name!r}", todo=nearest(name, known))


def _lines(text: str) -> str:
    """Return text without control characters, its lines and indents as they are."""
    return "\n".join("".join(char for char in line if char.isprintable()) for line in text.split("\n"))


def _kind(kind: str) -> Kind:
    for known in KINDS:
        if known == kind:
            return known
    raise GlossemeError(f"there is no kind of model {kind!r}", todo=nearest(kind, KINDS))


def _item(requests: pl.DataFrame, suite: Suite) -> str:
    first = requests.row(0, named=True)
    named = [f for f in suite.factors if f not in {suite.unit, suite.cluster} and first[f] is not None]
    lines = [plain(first["item"]), "  " + ", ".join(f"{f} {plain(first[f])}" for f in named)]
    width = max(len(role) for role in requests["role"])
    for row in requests.select(*REQUEST_COLUMNS).iter_rows(named=True):
        lines.append(f"  {row['role']:<{width}}  {row['measure']}: {plain(_asked(row))}")
    return "\n".join(lines)


def _asked(row: Mapping[str, str | None]) -> str:
    context, text = row["context"], row["text"]
    if context is None:
        return f"{text}"
    # A slot is shown filled, with the filler marked; otherwise a bar stands before what is scored.
    return context.replace(SLOT, f"[{text}]", 1) if SLOT in context else f"{context} | {text}"
