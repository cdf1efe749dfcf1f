"""The items that a model gets most wrong, with what was asked and what it said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from glosseme.analysis.summarise import factors_of
from glosseme.designs import ROLES
from glosseme.errors import GlossemeError
from glosseme.report.cells import cells
from glosseme.report.page.blocks import UNDEFINED, Keys, printed
from glosseme.report.page.choose import about, design_of_run, last_of_each, private
from glosseme.report.page.text import Anchors, visible
from glosseme.report.units import declared
from glosseme.runs.folder import SCORES, Run

__all__ = ["Answer", "ItemList", "Worst", "item_lists", "items_shown"]

_MOST, _LEAST = 10, 3
_ALL_LISTS: Final = 240
"""So many items on a page, about: many runs have shorter lists."""
_RIVALS: Final = 3
"""Of the candidates above the gold one, so many are shown."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One request of an item and its value."""

    role: str
    context: str
    text: str
    value: str
    raw: str
    n_tokens: str


@dataclass(frozen=True, slots=True)
class Worst:
    """An item, how wrong it is, and its answers."""

    name: str
    facts: Sequence[tuple[str, str]]
    delta: str
    rank: str
    answers: Sequence[Answer]


@dataclass(frozen=True, slots=True)
class ItemList:
    """The items that one run has most wrong, the worst first."""

    id: str
    suite: str
    name: str
    n_wrong: int
    n: int
    why_no_texts: str
    items: Sequence[Worst]
    suites: str
    models: str


def items_shown(n_lists: int) -> int:
    """Return how many items of each list are shown.

    >>> items_shown(3), items_shown(40), items_shown(500)
    (10, 6, 3)
    """
    return max(_LEAST, min(_MOST, _ALL_LISTS // max(1, n_lists)))


def item_lists(runs: Sequence[Run], keys: Keys, anchors: Anchors) -> list[ItemList]:
    """Return a list for each run that is judged, by suite; of a trajectory only for its last checkpoint."""
    judged = [run for run in last_of_each(runs) if design_of_run(run) in ROLES and design_of_run(run) != "value"]
    by_suite = sorted(judged, key=lambda run: about(run).suite)
    return [_list(run, items_shown(len(judged)), keys, anchors) for run in by_suite]


def _list(run: Run, k: int, keys: Keys, anchors: Anchors) -> ItemList:
    of, outcomes = about(run), _of_tables(run)
    is_rank = design_of_run(run) == "rank"
    wrong = outcomes.filter(pl.col("delta") < 0)
    order = ["rank_score", "delta", "item"] if is_rank else ["delta", "item"]
    worst = wrong.sort(order, maintain_order=True, nulls_last=True).head(k)
    named = ["item", *(name for name in declared(run, "within", ()) if name in outcomes.columns)]
    answers = _answers(run, worst.select(named).unique(maintain_order=True), named)
    why = _why_no_texts(run, answers)
    shown = {} if why else {key: _shown(rows, design_of_run(run)) for key, rows in answers.items()}
    items = [_worst(row, named, factors_of(outcomes), shown, is_rank) for row in worst.to_dicts()]
    judged = outcomes["correct"].count()
    list_id = anchors("items", of.suite, of.model, of.revision)
    name = visible(f"{of.model}@{of.revision}")
    places = keys.of_suites([of.suite]), keys.of_models([of.model])
    return ItemList(list_id, visible(of.suite), name, wrong.height, judged, why, items, *places)


def _of_tables(run: Run) -> pl.DataFrame:
    """Return the outcomes that the suite's tables are of."""
    kept = (pl.col(factor) == value for factor, value in declared(run, "where", {}).items())
    return run.outcomes().filter(*kept)


def _answers(run: Run, wanted: pl.DataFrame, named: Sequence[str]) -> dict[tuple[Any, ...], pl.DataFrame]:
    """Return the rows of scores of the items wanted, by item."""
    if private(run) or not wanted.height:
        return {}
    columns = list(dict.fromkeys([*named, "role", "context", "text", "value", "n_tokens"]))
    path = run.folder / SCORES
    try:
        rows = pl.scan_parquet(path).filter(pl.col("item").is_in(wanted["item"].to_list())).select(columns).collect()
    except (OSError, pl.exceptions.PolarsError) as error:
        what = f"the table can't be read ({(str(error).splitlines() or ['no reason given'])[0]})"
        raise GlossemeError(what, where=str(path), todo="run the suite again with --overwrite") from None
    same = rows.with_columns(pl.col(name).cast(wanted[name].dtype) for name in named)
    joined = wanted.join(same, on=list(named), how="inner", nulls_equal=True, maintain_order="left_right")
    return joined.partition_by(named, as_dict=True, maintain_order=True)


def _why_no_texts(run: Run, answers: dict[tuple[Any, ...], pl.DataFrame]) -> str:
    if private(run):
        return "The texts of this suite are kept out of runs and reports: items are named only."
    if answers and all(rows["text"].is_null().all() for rows in answers.values()):
        return "The run holds no texts: items are named only."
    return ""


def _shown(rows: pl.DataFrame, design: str) -> list[Answer]:
    """Return the answers in the order of their roles; of candidates those most above the gold one."""
    place = {role: n for n, role in enumerate(ROLES[design])}  # type: ignore[index]
    ordered = rows.with_columns(__place=pl.col("role").replace_strict(place, default=len(place), return_dtype=pl.Int64))
    ordered = ordered.sort("__place", "value", descending=[False, True], nulls_last=True, maintain_order=True)
    if design == "rank":
        ordered = ordered.head(1 + _RIVALS)
    texts = cells(ordered, ["value"])
    return [_answer(row, text) for row, (text,) in zip(ordered.to_dicts(), texts, strict=True)]


def _answer(row: dict[str, Any], text: str) -> Answer:
    said = {name: "" if row[name] is None else visible(row[name]) for name in ("context", "text")}
    n = UNDEFINED if row["n_tokens"] is None else str(row["n_tokens"])
    return Answer(visible(row["role"]), said["context"], said["text"], printed(text), repr(row["value"]), n)


def _worst(
    row: dict[str, Any],
    named: Sequence[str],
    factors: Sequence[str],
    answers: dict[tuple[Any, ...], list[Answer]],
    is_rank: bool,
) -> Worst:
    facts = [(visible(name), visible(row[name])) for name in factors if row[name] is not None]
    ((delta,),) = cells(pl.DataFrame({"delta": [row["delta"]]}), ["delta"])
    rank = f"{row['rank']:g} of {row['n_candidates']}" if is_rank and row["rank"] is not None else ""
    key = tuple(row[name] for name in named)
    return Worst(visible(row["item"]), facts, printed(delta), rank, answers.get(key, []))
