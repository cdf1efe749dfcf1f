"""How the answers of one item are compared: five designs judge every suite there is.

| design | an item's answers | correct when | delta (nats) | chance |
|---|---|---|---|---|
| `pair` | good, bad | good > bad | good - bad | 1/2 |
| `cross` | two targets x two contexts | each target prefers its own context | the smaller margin | 1/4 |
| `contrast` | (treated, control) x (expected, unexpected) | treated > control margin | between them | 1/2 |
| `rank` | one gold among L candidates | nothing is above the gold (P@1) | gold - best other | 1/L |
| `value` | one | nothing is judged | null | null |

A tie gets what chance gives, so that a scorer that gives one constant gets exactly chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, get_args

import polars as pl

from glosseme.errors import GlossemeError, nearest

__all__ = ["DESIGNS", "OUTCOME_COLUMNS", "OWN_COLUMNS", "ROLES", "SCORE_COLUMNS", "TIE", "Design", "judge"]

Design = Literal["pair", "cross", "contrast", "rank", "value"]

DESIGNS: Final[tuple[Design, ...]] = get_args(Design)

ROLES: Final[dict[Design, tuple[str, ...]]] = {
    "pair": ("good", "bad"),
    "cross": ("target1-context1", "target1-context2", "target2-context1", "target2-context2"),
    "contrast": ("treated-expected", "treated-unexpected", "control-expected", "control-unexpected"),
    "rank": ("gold", "candidate"),
    "value": ("value",),
}
"""The roles that each item of a design has, each once; only `candidate` may occur more than once."""

SCORE_COLUMNS: Final[tuple[str, ...]] = (
    *("suite", "item", "role", "measure", "context", "text"),
    *("logprob", "value", "n_tokens", "spanning", "mismatch"),
)
"""What a scores frame has of its own; further columns are factors where they are constant over each item."""

OUTCOME_COLUMNS: Final[tuple[str, ...]] = ("suite", "item", "correct", "delta", "tie", "chance")
"""What every outcomes frame starts with."""

OWN_COLUMNS: Final[dict[Design, tuple[str, ...]]] = {
    "pair": (),
    "cross": ("delta1", "delta2"),
    "contrast": ("delta_treated", "delta_control"),
    "rank": ("rank", "n_candidates", "rank_score"),
    "value": ("value",),
}
"""What the outcomes of a design have besides, before the factors."""

TIE: Final = 1e-9
"""Differences up to this count as none (nats).

Values are sums of float64 numbers, and equal numbers summed in another order differ by 1e-13; one unit in
the last place of a float32 log-probability beyond a nat is 1e-7.
"""

_REPEATABLE: Final = "candidate"
_ROW: Final = "__item__"


def judge(scores: pl.DataFrame, design: Design, within: Sequence[str] = ()) -> pl.DataFrame:
    """Return the outcomes of the items in `scores`: one row an item, in the order of first appearance.

    `scores` has at least the columns suite, item, role and value (Float64 or null). The outcomes have the
    columns of `OUTCOME_COLUMNS`, those of `OWN_COLUMNS[design]`, and the factors: the columns of `scores`
    besides `SCORE_COLUMNS` that are constant over every item. `correct` lies in [0, 1]: a tie is a half in
    `pair` and `contrast`, the product of the halves in `cross`; in `rank`, `correct` is P@1 and `rank` the
    rank, both expected under random order of the ties, and `rank_score` is (L - rank) / (L - 1) (Senel and
    Schuetze 2021). An item with an answer that is null or not finite cannot be judged: its `correct`,
    `delta` and `tie` are null.

    Raises `GlossemeError` for an unknown design or role, and for an item that lacks a role or has it twice.

    >>> rows = {"suite": "s", "item": ["a", "a"], "role": ["bad", "good"], "value": [-2.0, -1.5]}
    >>> judge(pl.DataFrame(rows), "pair").row(0)
    ('s', 'a', 1.0, 0.5, False, 0.5)
    """
    if design not in ROLES:
        raise GlossemeError(f"there is no design {design!r}", todo=nearest(design, DESIGNS))
    names = ["suite", "item", *within]
    items = scores.select(names).unique(maintain_order=True).with_row_index(_ROW)
    rows = scores.join(items, on=names, how="left", nulls_equal=True, maintain_order="left")
    _check_roles(rows, design)
    value = pl.col("value").cast(pl.Float64)
    # Polars puts NaN above every number: it must not reach a comparison.
    answers = rows.select(_ROW, "role", value=pl.when(value.is_finite()).then(value))
    judged = _JUDGES[design](answers)
    factors = _factors(rows, items.height)
    _check_names(factors, design)
    return pl.concat([items.select("suite", "item"), judged, factors], how="horizontal")


def _check_roles(rows: pl.DataFrame, design: Design) -> None:
    roles = ROLES[design]
    known = pl.col("role").is_in(list(roles)).fill_null(value=False)
    counts = rows.group_by(_ROW, "suite", "item", "role").agg(n=pl.len()).sort(_ROW, "role")
    unknown = counts.filter(~known)
    if unknown.height:
        role = unknown["role"][0]
        _refuse(unknown, f"design {design!r} has no role {role!r}", nearest(str(role), roles))
    doubled = counts.filter((pl.col("n") > 1) & (pl.col("role") != _REPEATABLE))
    if doubled.height:
        role, n = doubled["role"][0], doubled["n"][0]
        _refuse(doubled, f"role {role!r} occurs {n} times", "each item has it once")
    present = counts.group_by(_ROW, "suite", "item").agg("role").sort(_ROW)
    lacking = present.filter(pl.col("role").list.len() < len(roles))
    if lacking.height:
        missing = [role for role in roles if role not in lacking["role"][0].to_list()]
        _refuse(lacking, f"no row has role {missing[0]!r}", f"design {design!r} needs {', '.join(roles)}")


def _refuse(faults: pl.DataFrame, what: str, todo: str) -> None:
    items = faults[_ROW].n_unique()
    more = f" (and {items - 1} more items)" if items > 1 else ""
    raise GlossemeError(what, where=f"{faults['suite'][0]}, item {faults['item'][0]!r}{more}", todo=todo)


def _factors(rows: pl.DataFrame, n_items: int) -> pl.DataFrame:
    """Return the columns that are constant over every item, one row an item."""
    names = [name for name in rows.columns if name not in SCORE_COLUMNS and name != _ROW]
    first = rows.unique(_ROW, keep="first", maintain_order=True).select(names)
    where = rows[_ROW]
    constant = [n for n in names if not rows[n].ne_missing(first[n].gather(where)).any()]
    return first.select(constant) if constant else pl.DataFrame(height=n_items)


def _check_names(factors: pl.DataFrame, design: Design) -> None:
    taken = [name for name in factors.columns if name in (*OUTCOME_COLUMNS, *OWN_COLUMNS[design])]
    if taken:
        todo = "give the column another name"
        raise GlossemeError(f"a factor is named {taken[0]!r}, which the outcomes use themselves", todo=todo)


def _wide(answers: pl.DataFrame, design: Design) -> pl.DataFrame:
    """Return one column a role, one row an item."""
    value = pl.col("value")
    columns = [value.filter(pl.col("role") == role).first().alias(role) for role in ROLES[design]]
    return answers.group_by(_ROW).agg(columns).sort(_ROW)


def _points(delta: pl.Expr) -> pl.Expr:
    """Return 1 where the difference is positive, a half where it is none, 0 where it is negative."""
    half = pl.when(_tied(delta)).then(0.5).otherwise((delta > 0).cast(pl.Float64))
    return pl.when(delta.is_not_null()).then(half)


def _tied(delta: pl.Expr) -> pl.Expr:
    return delta.abs() <= TIE


def _outcome(correct: pl.Expr, delta: pl.Expr, tie: pl.Expr, chance: pl.Expr) -> list[pl.Expr]:
    return [correct.alias("correct"), delta.alias("delta"), tie.alias("tie"), chance.alias("chance")]


def _pair(answers: pl.DataFrame) -> pl.DataFrame:
    delta = pl.col("good") - pl.col("bad")
    return _wide(answers, "pair").select(_outcome(_points(delta), delta, _tied(delta), pl.lit(0.5)))


def _contrast(answers: pl.DataFrame) -> pl.DataFrame:
    treated, control = (pl.col(f"{c}-expected") - pl.col(f"{c}-unexpected") for c in ("treated", "control"))
    margins = _wide(answers, "contrast").select(delta_treated=treated, delta_control=control)
    delta = pl.col("delta_treated") - pl.col("delta_control")
    return margins.select(*_outcome(_points(delta), delta, _tied(delta), pl.lit(0.5)), *margins.columns)


def _cross(answers: pl.DataFrame) -> pl.DataFrame:
    margins = _wide(answers, "cross").select(
        delta1=pl.col("target1-context1") - pl.col("target1-context2"),
        delta2=pl.col("target2-context2") - pl.col("target2-context1"),
    )
    one, two = pl.col("delta1"), pl.col("delta2")
    # min_horizontal and a logical or would overlook a null.
    judged = one.is_not_null() & two.is_not_null()
    delta = pl.when(judged).then(pl.min_horizontal(one, two))
    tie = pl.when(judged).then(_tied(one) | _tied(two))
    return margins.select(*_outcome(_points(one) * _points(two), delta, tie, pl.lit(0.25)), *margins.columns)


def _rank(answers: pl.DataFrame) -> pl.DataFrame:
    is_gold = pl.col("role") == "gold"
    gold = answers.filter(is_gold).sort(_ROW)["value"]
    lead = pl.col("gold") - pl.col("value")
    size, above, tied = pl.col("n_candidates"), pl.col("above"), pl.col("tied")
    counts = (
        answers.with_columns(gold=gold.gather(answers[_ROW]))
        .filter(~is_gold)
        .select(_ROW, lead=lead)
        .group_by(_ROW)
        .agg(
            n_candidates=pl.len().cast(pl.Int64) + 1,
            judged=pl.col("lead").is_not_null().all(),
            delta=pl.col("lead").min(),
            above=(pl.col("lead") < -TIE).sum(),
            tied=_tied(pl.col("lead")).sum(),
        )
        .sort(_ROW)
    )
    # Among t tied others the gold is first with probability 1 / (t + 1), and t / 2 places below the top.
    judged = pl.when(pl.col("judged"))
    first = judged.then(pl.when(above == 0).then(1 / (tied + 1)).otherwise(0.0))
    rank = judged.then(1 + above + tied / 2)
    return counts.select(
        *_outcome(first, judged.then(pl.col("delta")), judged.then(tied > 0), 1 / size),
        rank.alias("rank"),
        size,
        ((size - rank) / (size - 1)).alias("rank_score"),
    )


def _value(answers: pl.DataFrame) -> pl.DataFrame:
    none = pl.lit(None, dtype=pl.Float64)
    outcome = _outcome(none, none, pl.lit(None, dtype=pl.Boolean), none)
    return answers.sort(_ROW).select(*outcome, "value")


_JUDGES: Final[dict[Design, Callable[[pl.DataFrame], pl.DataFrame]]] = {
    "pair": _pair,
    "cross": _cross,
    "contrast": _contrast,
    "rank": _rank,
    "value": _value,
}
