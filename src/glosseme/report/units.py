"""Units of what a table averages: which there are in a run, and which values they can have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import polars as pl

from glosseme.runs.folder import Run
from glosseme.suites import all_suites

__all__ = ["clipped", "declared", "unit_notes"]

_BY_REDUCTION: Final = {"sum": "nats", "mean": "nats per token", "probability": "probabilities"}
_BY_MEASURE: Final = {"divergence": "Jensen-Shannon divergences in nats", "similarity": "cosines"}
_LEAST: Final = {"probability": 0.0, "divergence": 0.0}
_MOST: Final = {"probability": 1.0, "divergence": math.log(2)}


def declared(run: Run, key: str, default: Any) -> Any:
    """Return what a run's record says of its suite; for a record older than the key, what the suite says now."""
    said = run.record["suite"].get(key)
    if said is not None:
        return said
    suite = all_suites().get(run.record["identity"]["suite"])
    now = None if suite is None else suite.defaults() if key == "options" else getattr(suite, key)
    return default if now is None else now


def clipped(table: pl.DataFrame, run: Run) -> pl.DataFrame:
    """Return a summary whose intervals hold no value that the unit can't have.

    Probabilities are in [0, 1], Jensen-Shannon divergences in [0, ln 2] nats (Lin 1991); other means have no bounds.
    """
    if declared(run, "design", None) != "value":
        return table
    apart = _apart(run, table)
    said = _measures(run, apart).with_columns(
        _least=pl.col("_kind").replace_strict(_LEAST, default=None, return_dtype=pl.Float64),
        _most=pl.col("_kind").replace_strict(_MOST, default=None, return_dtype=pl.Float64),
    )
    # Values of several units averaged in one row have only the bounds that all of them have.
    bounds = said.group_by(*apart, pl.lit(0).alias("_all")).agg(
        *(
            pl.when(pl.col(name).null_count() == 0).then(pl.col(name).min() if name == "_least" else pl.col(name).max())
            for name in ("_least", "_most")
        )
    )
    joined = table.with_columns(_all=pl.lit(0)).join(
        bounds, on=[*apart, "_all"], how="left", nulls_equal=True, maintain_order="left"
    )
    ends = [pl.col(name).clip(pl.col("_least"), pl.col("_most")) for name in ("low", "high")]
    return joined.with_columns(*ends).select(table.columns)


def unit_notes(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the units of the metrics of each suite and reduction that are no shares."""
    said: dict[str, list[str]] = {}
    for run in runs:
        for unit in _units(run):
            suites = said.setdefault(unit, [])
            if run.record["identity"]["suite"] not in suites:
                suites.append(run.record["identity"]["suite"])
    for unit, suites in said.items():
        yield f"{', '.join(suites)}: {unit}."


def _units(run: Run) -> list[str]:
    design = declared(run, "design", None)
    if design == "rank":
        return []
    if design == "value":
        apart = [name for name in declared(run, "apart", ()) if name in run.outcomes().columns]
        rows = _measures(run, apart).iter_rows(named=True)
        named = [(", ".join(f"{f} {row[f]}" for f in apart if row[f] is not None), row["_unit"]) for row in rows]
        return [f"the mean of {of} is of {unit}" if of else f"the mean is of {unit}" for of, unit in named]
    static = run.record.get("model", {}).get("kind") == "static"
    return [f"deltas are in {_BY_MEASURE['similarity'] if static else _BY_REDUCTION.get(_reduction(run), 'nats')}"]


def _apart(run: Run, table: pl.DataFrame) -> list[str]:
    return [name for name in declared(run, "apart", ()) if name in table.columns]


def _reduction(run: Run) -> str:
    return str(run.record["suite"].get("reduction", "sum"))


def _measures(run: Run, apart: Sequence[str]) -> pl.DataFrame:
    """Return the levels of the factors that are kept apart, with what was measured (`_kind`) and its `_unit`."""
    reduction = _reduction(run)
    asked = run.scores(["measure", *apart]).unique(maintain_order=True)
    measure = pl.col("measure")
    unit = measure.replace_strict(_BY_MEASURE, default=_BY_REDUCTION.get(reduction, "nats"), return_dtype=pl.String)
    kind = pl.when(measure.is_in(list(_BY_MEASURE))).then(measure).otherwise(pl.lit(reduction))
    return asked.select(*(pl.col(name).cast(pl.String) for name in apart), unit.alias("_unit"), kind.alias("_kind"))
