"""Statistics over runs, in a format: first differences of learning curves, pairs of models, mixed models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from glosseme.analysis.curves import read_published_curves
from glosseme.analysis.differences import FEWEST, differences
from glosseme.analysis.finals import final_runs
from glosseme.analysis.pairs import paired_runs
from glosseme.errors import WORK_FAILED, GlossemeError, nearest
from glosseme.report.cells import INTERVAL, counted, plain
from glosseme.report.checkpoints import grouped, own_curves, without_seeds
from glosseme.report.mixed import mixed_of_runs
from glosseme.report.runs import choose_runs, left_out
from glosseme.report.statistics import HOLM_NOTE, MARK, block, check_format, flat
from glosseme.report.units import unit_notes
from glosseme.runs.folder import Run

__all__ = [
    "curves_from",
    "differences_of",
    "mixed_of_runs",
    "pairs_of_runs",
    "without_trajectories",
]

_VISIBLE: Final = 0.005
"""What a correlation has to change by for a note to say so."""
_DIFFERENCES: Final = ("a", "b", "rho", INTERVAL, "p", "n", "p_holm")
_PAIRS: Final = ("a", "b", "estimate_a", "estimate_b", "difference", INTERVAL, "p", "n", "n_clusters")


def differences_of(
    root: Path | None, published: Sequence[Path], *, convention: str, model: str | None, format_: str
) -> str:
    """Return the correlations of first differences of a model's curves, from runs or from published tables.

    Raises `GlossemeError` for an unknown format, convention or model, and where no model has four checkpoints.
    """
    check_format(format_)
    curves, notes = curves_from(root, published, model)
    table = differences(curves, convention)
    if root is None and table["model"].n_unique() < 2:
        table = table.drop("model")
    if format_ != "text":
        columns = [name for name in ("model", *_DIFFERENCES) if name in table.columns or name == INTERVAL]
        return flat(table, format_, columns)
    parts = table.partition_by("model", maintain_order=True) if "model" in table.columns else [table]
    heads = curves["model"].unique(maintain_order=True).to_list() if len(parts) == 1 else [p["model"][0] for p in parts]
    shown = [block(head, part, [*_DIFFERENCES, MARK]) for head, part in zip(heads, parts, strict=False)]
    return "\n\n".join([*shown, "\n".join(map(plain, [*_difference_notes(table, convention), *notes]))])


def curves_from(
    root: Path | None, published: Sequence[Path] = (), model: str | None = None
) -> tuple[pl.DataFrame, list[str]]:
    """Return learning curves as `analysis.curves` has them, from runs or from published tables, and notes on them.

    Raises `GlossemeError` for both or neither, an unknown model, and where no model has four checkpoints.
    """
    if (root is None) == (not published):
        raise GlossemeError(
            "give a folder of runs, or --published with a table" if root is None else "--published takes no runs",
            todo="either of the two",
        )
    return _published(published, model) if root is None else _of_trajectories(root, model)


def pairs_of_runs(root: Path, *, suite: str | None, format_: str) -> str:
    """Return the differences between models on the same items.

    Of a model with four checkpoints or more only the last is compared. Raises `GlossemeError` for an unknown format and
    where no two runs have the same suite, data, options and sample.
    """
    check_format(format_)
    chosen = choose_runs(root, suite)
    runs, notes = without_trajectories(chosen.finished)
    table = paired_runs(runs)
    if not table.height:
        todo = "run another model on the same suite, data, options and sample"
        raise GlossemeError("no two runs are of the same items", where=str(root), todo=todo, exit_code=WORK_FAILED)
    if format_ != "text":
        kept = [name for name in ("suite", "of", *_PAIRS, "p_holm") if name == INTERVAL or table[name].count()]
        return flat(table, format_, kept)
    shown = []
    for part in table.partition_by("suite", "data", "metric", maintain_order=True):
        extra = [name for name in ("only_a", "only_b") if part[name].sum()]
        of = ["of"] if part["of"].count() else []
        head = f"{part['suite'][0]}  ({part['metric'][0]}; data {part['data'][0]})"
        shown.append(block(head, part, [*of, *_PAIRS, *extra, "p_holm", MARK]))
    below = [
        "difference is a minus b, item by item, over the n items that both models have; accuracies are shares.",
        "[low, high] is a 95% interval that takes the items of one cluster as dependent (Bonett and Price 2012).",
        HOLM_NOTE.replace("all rows", "all rows of a suite"),
    ]
    means = [run for run in runs if run.record["suite"].get("design") == "value"]
    below += [*unit_notes(means), *notes, *left_out(chosen)]
    return "\n\n".join([*shown, "\n".join(map(plain, below))])


def _published(paths: Sequence[Path], model: str | None) -> tuple[pl.DataFrame, list[str]]:
    curves = read_published_curves(paths)
    models = curves["model"].unique(maintain_order=True).to_list()
    if model is not None and model not in models:
        raise GlossemeError(f"no table is of model {model!r}", todo=nearest(model, models))
    kept = curves if model is None else curves.filter(pl.col("model") == model)
    return kept, [f"from published accuracies: {', '.join(path.name for path in paths)}"]


def _of_trajectories(root: Path, model: str | None) -> tuple[pl.DataFrame, list[str]]:
    """Return the curves of models with enough checkpoints, each of its own weights, and notes on what is left out."""
    chosen = choose_runs(root, model=model)
    enough, notes = own_curves(chosen.finished)
    notes += left_out(chosen)
    if not enough.height:
        what = f"no model here has {FEWEST} checkpoints or more that can be compared"
        raise GlossemeError(
            f"{what} ({'; '.join(notes)})" if notes else what,
            where=str(root),
            todo="run `glosseme trajectory`, or give --published",
            exit_code=WORK_FAILED,
        )
    return enough, notes


def without_trajectories(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """Return the runs without those of a trajectory's earlier checkpoints, and notes on which stands for which."""
    notes: dict[str, None] = {}
    stepped, kept = without_seeds(runs)
    for group in grouped(stepped, "model", "suite"):
        revisions = {str(run.record["identity"]["revision"]) for run in group}
        last, said = final_runs(group) if len(revisions) >= FEWEST else (group, [])
        kept += last
        notes |= dict.fromkeys(said)
    return kept, list(notes)


def _difference_notes(table: pl.DataFrame, convention: str) -> Iterator[str]:
    yield "rho is Spearman's correlation of two accuracies' differences from one checkpoint to the next, n of them."
    yield "[low, high] is a 95% interval (Bonett and Wright 2000). Noise in the accuracies makes successive differences"
    yield "correlated; by that alone intervals cover about .92, and p is under .05 in about 1 of 10 unrelated pairs."
    yield HOLM_NOTE.replace("all rows", "all pairs of a model")
    if convention == "scivetti2026":
        yield "scivetti2026: the first checkpoint counts as a difference of z = 0, so n is the number of checkpoints."
    apart = table.filter((pl.col("rho") - pl.col("rho_ties")).abs() >= _VISIBLE)
    if apart.height:
        yield f"{counted(apart.height, 'pair')} with differences that are equal but for rounding; as ties:"
        for row in apart.iter_rows(named=True):
            yield f"  {row['a']}, {row['b']}: rho {row['rho_ties']:.3f} instead of {row['rho']:.3f}"
    if table["left_out"].sum():
        most = int(table.select(pl.col("left_out").max()).item())
        yield f"checkpoints that one of two curves lacks are left out: up to {counted(most, 'checkpoint')} of a pair"
    for reason in table["reason"].drop_nulls().unique(maintain_order=True):
        yield f"{counted(table.filter(reason=reason).height, 'pair')} without rho or interval: {reason}"
