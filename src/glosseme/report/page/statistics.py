"""Statistics over runs, where they allow any, and a sentence where they don't."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import polars as pl

from glosseme.analysis.differences import FEWEST, differences
from glosseme.analysis.finals import final_runs, of_same_items
from glosseme.analysis.mixed import MixedFit, mixed_fits, observations
from glosseme.analysis.pairs import paired_runs
from glosseme.errors import GlossemeError
from glosseme.report.analyse import without_trajectories
from glosseme.report.cells import INTERVAL, counted
from glosseme.report.checkpoints import own_curves
from glosseme.report.compare import comparison_of_runs
from glosseme.report.page.blocks import Keys, Row, Table, columns_of, said_once
from glosseme.report.page.choose import about, design_of_run
from glosseme.report.page.text import Anchors, visible
from glosseme.runs.folder import Run

__all__ = ["Part", "statistics"]

_HEADS: Final = {
    **{INTERVAL: "95% interval", "n_clusters": "clusters", "p_holm": "p (Holm)"},
    **{"published": "theirs", "left_out": "left out", "only_a": "only in a", "only_b": "only in b"},
}
_BY: Final = "construction"
"""The factor whose levels are a model's observations in the papers' mixed models."""
_MOST_PAIRS: Final = 120
"""So many pairs of one suite at most; of more, those of the best model."""
_ONCE: Final = frozenset({"model", "revision", "metric", "n", "clusters", "left out", "reason", "df"})
"""Heads of columns that aren't shown where they are the same in every row."""
_LINEAR: Final = ("term", "estimate", "se", INTERVAL, "statistic", "df", "p")


@dataclass(frozen=True, slots=True)
class Part:
    """One analysis: what it is and its tables, or why there is none."""

    id: str
    title: str
    text: str
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Page:
    """What every analysis needs."""

    runs: Sequence[Run]
    keys: Keys
    anchors: Anchors

    def table(self, frame: pl.DataFrame, names: Sequence[str], caption: str, models: Sequence[str]) -> Table:
        """Return a frame as a table; `models` are its columns that name models."""
        columns, made = columns_of(frame, names, _HEADS)
        suites = frame["suite"] if "suite" in frame.columns else [None] * frame.height
        named = list(zip(*(frame[name] for name in models), strict=True)) if models else [()] * frame.height
        keys = [
            (self.keys.of_suites([s] if s else []), self.keys.of_models(m)) for s, m in zip(suites, named, strict=True)
        ]
        rows = [Row(cells, *key) for cells, key in zip(zip(*made, strict=True), keys, strict=True)]
        of = self.keys.of_suites(s for s in suites if s), self.keys.of_models(m for pair in named for m in pair)
        made_table = Table(self.anchors("table", caption), visible(caption), columns, rows, (), *of)
        return said_once(made_table, _ONCE)


def statistics(runs: Sequence[Run], keys: Keys, anchors: Anchors) -> tuple[list[Part], list[str]]:
    """Return the analyses that the runs allow, each with its tables, and why the others are left out."""
    page = _Page(runs, keys, anchors)
    made: list[tuple[str, str, Callable[[_Page], Part]]] = [
        ("published", "Beside published figures", _published),
        ("pairs", "Models on the same items", _pairs),
        ("mixed", "Size, data and objective", _mixed),
        ("differences", "First differences of learning curves", _differences),
    ]
    parts, absent = [], []
    for name, title, make in made:
        try:
            part = make(page)
        except GlossemeError as error:
            absent.append(visible(f"{title}: {error.what}."))
            continue
        notes = [visible(note) for note in part.notes]
        if part.tables:
            parts.append(Part(anchors("statistics", name), title, part.text, part.tables, notes))
        else:
            absent.append(f"{title}: {' '.join([visible(part.text), *notes])}")
    return parts, absent


def _published(page: _Page) -> Part:
    table = comparison_of_runs(page.runs)
    if not table.height:
        return Part("", "", "nothing is published here of these models on these suites.")
    tables = []
    for part in table.partition_by("suite", maintain_order=True):
        numbers = ("published", "estimate", INTERVAL, "n", "difference", "within")
        known = {"suite", "source", "low", "high", *numbers}
        facts = [name for name in part.columns if name not in known and _tells(part, name)]
        caption = f"{part['suite'][0]} beside published figures"
        made = page.table(part, [*facts, *numbers], caption, ["model"])
        tables.append(_noted(made, part["source"].drop_nulls().unique(maintain_order=True).to_list()))
    text = (
        "Theirs is what was published, estimate is of these runs, difference is ours minus theirs; within says whether "
        "our 95% interval contains theirs. All figures are shares."
    )
    return Part("", "", text, tables)


def _tells(table: pl.DataFrame, name: str) -> bool:
    """Return whether a column tells rows apart, or names what they are of."""
    return name in {"model", "metric"} or (table[name].count() > 0 and table[name].n_unique() > 1)


def _noted(table: Table, notes: Sequence[str]) -> Table:
    said = [visible(note) for note in notes]
    return replace(table, notes=said)


def _pairs(page: _Page) -> Part:
    runs, notes = without_trajectories(page.runs)
    table = paired_runs(runs)
    if not table.height:
        return Part("", "", "no two models were run on the same items of a suite.")
    tables = []
    for part in table.partition_by("suite", "metric", maintain_order=True):
        kept, said = _fewer(part)
        metric, of = part["metric"][0], ["of"] if kept["of"].count() else []
        kept = kept.rename({f"estimate_{x}": f"{metric} {x}" for x in "ab"})
        extra = [name for name in ("only_a", "only_b") if kept[name].sum()]
        names = ["a", "b", *of, f"{metric} a", f"{metric} b", "difference", INTERVAL, "p", "p_holm", "n", *extra]
        caption = f"Pairs of models on {part['suite'][0]}"
        tables.append(_noted(page.table(kept, names, caption, ["a", "b"]), said))
    text = (
        "The difference is a minus b, item by item, over the n items that both have, in shares; its 95% interval takes "
        "the items of one cluster as dependent. p (Holm) is adjusted for all pairs of a suite."
    )
    return Part("", "", text, tables, notes)


def _fewer(pairs: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return the pairs of the best model where there are too many."""
    if pairs.height <= _MOST_PAIRS:
        return pairs, []
    either = [pairs.select(pl.col(x).alias("model"), pl.col(f"estimate_{x}").alias("estimate")) for x in "ab"]
    best = pl.concat(either).sort("estimate", "model", descending=[True, False], nulls_last=True)["model"][0]
    said = f"Of {counted(pairs.height, 'pair')} those with the best model; glosseme analyse pairs has all of them."
    return pairs.filter((pl.col("a") == best) | (pl.col("b") == best)), [said]


def _mixed(page: _Page) -> Part:
    suites = {about(run).suite for run in page.runs if _BY in run.record["suite"]["by"] and _is_judged(run)}
    if not suites:
        return Part("", "", f"no suite here has observations by {_BY}.")
    tables, notes = [], []
    for suite in sorted(suites):
        same, said = of_same_items([run for run in page.runs if about(run).suite == suite])
        runs, also = final_runs(same)
        for fit in mixed_fits(observations(runs, _BY)):
            if fit.fit is None:
                notes.append(f"{suite}, {fit.formula}: not fitted: {'; '.join(fit.notes)}")
                continue
            frame = pl.DataFrame([asdict(term) for term in fit.fit.terms]).with_columns(suite=pl.lit(suite))
            tables.append(_noted(page.table(frame, _LINEAR, f"{suite}: {fit.formula}", []), list(_about_fit(fit))))
        notes += [*said, *also]
    if not tables:
        return Part("", "", f"{'; '.join(dict.fromkeys(notes))}.")
    text = (
        f"Accuracy in percentage points, one observation for each model and {_BY}, with a random intercept for each "
        "model, fitted by REML: estimates are for a factor of ten of tokens or parameters, or for the other objective; "
        "t tests have Satterthwaite's degrees of freedom."
    )
    return Part("", "", text, tables, notes)


def _is_judged(run: Run) -> bool:
    return design_of_run(run) not in {"", "value"}


def _about_fit(found: MixedFit) -> Iterator[str]:
    fit: Any = found.fit
    yield (
        f"Standard deviation of the models' intercepts {fit.sd_group:.3f}, residual {fit.sd_residual:.3f}; "
        f"{counted(fit.n, 'observation')} of {counted(fit.n_groups, 'model')}; "
        f"{'converged' if fit.converged else 'NOT CONVERGED'}{'; SINGULAR' if fit.singular else ''}."
    )
    yield from found.notes
    if found.left_out:
        yield f"Left out, a predictor isn't known: {', '.join(found.left_out)}."


def _differences(page: _Page) -> Part:
    curves, notes = own_curves(page.runs)
    if not curves.height:
        return Part("", "", f"no model here has {FEWEST} checkpoints or more.")
    found = differences(curves)
    tables = []
    for part in found.partition_by("model", maintain_order=True):
        extra = [*(["left_out"] if part["left_out"].sum() else []), *(["reason"] if part["reason"].count() else [])]
        names = ["a", "b", "rho", INTERVAL, "p", "p_holm", "n", *extra]
        tables.append(page.table(part, names, f"First differences of {part['model'][0]}", ["model"]))
    if not tables:
        return Part("", "", "no model here has two curves to compare.", (), notes)
    text = (
        "Rho is Spearman's correlation of the differences of two accuracies from one checkpoint to the next, n of "
        "them, with a 95% interval (Bonett and Wright 2000); noise in the accuracies makes successive differences "
        "correlated, and by that alone intervals cover about .92. p (Holm) is adjusted for all pairs of a model."
    )
    return Part("", "", text, tables, notes)
