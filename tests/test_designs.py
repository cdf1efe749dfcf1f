"""How answers become outcomes, against references in plain Python."""

from __future__ import annotations

import random
import time
from itertools import permutations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glosseme.designs import DESIGNS, OUTCOME_COLUMNS, OWN_COLUMNS, ROLES, Design, judge
from glosseme.errors import GlossemeError

CHANCE = {"pair": 0.5, "cross": 0.25, "contrast": 0.5}


def scores(items: dict[str, list[tuple[str, float | None]]], **factors: object) -> pl.DataFrame:
    """Scores of items, each a list of (role, value)."""
    rows = [("s", item, role, value) for item, answers in items.items() for role, value in answers]
    schema = {"suite": pl.String, "item": pl.String, "role": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(**{k: pl.lit(v) for k, v in factors.items()})


def item(design: Design, *values: float | None) -> list[tuple[str, float | None]]:
    """An item's answers: values in the order of the roles, in rank the gold and any number of candidates."""
    roles = ROLES[design] if design != "rank" else ("gold", *["candidate"] * (len(values) - 1))
    return list(zip(roles, values, strict=True))


def one(design: Design, *values: float | None) -> dict[str, object]:
    """The outcome of a single item."""
    return judge(scores({"a": item(design, *values)}), design).row(0, named=True)


# Multiples of a quarter of moderate size: their sums and differences are exact.
value = st.integers(-80, 0).map(lambda i: i / 4)


@st.composite
def judged_scores(draw: st.DrawFn, designs: tuple[Design, ...] = DESIGNS, nulls: bool = True):
    design = draw(st.sampled_from(designs))
    answer = st.one_of(value, st.none()) if nulls else value
    items = {}
    for number in range(draw(st.integers(1, 6))):
        length = draw(st.integers(2, 6)) if design == "rank" else len(ROLES[design])
        items[f"i{number}"] = item(design, *draw(st.lists(answer, min_size=length, max_size=length)))
    return design, scores(items)


@pytest.mark.parametrize(
    ("values", "correct", "delta", "tie"),
    [((-1.0, -2.0), 1.0, 1.0, False), ((-2.0, -1.0), 0.0, -1.0, False), ((-1.0, -1.0), 0.5, 0.0, True)],
)
def test_pair_prefers_the_good(values, correct, delta, tie):
    outcome = one("pair", *values)
    assert (outcome["correct"], outcome["delta"], outcome["tie"], outcome["chance"]) == (correct, delta, tie, 0.5)


def test_contrast_compares_the_margins():
    outcome = one("contrast", -1.0, -4.0, -2.0, -3.0)
    assert (outcome["delta_treated"], outcome["delta_control"]) == (3.0, 1.0)
    assert (outcome["correct"], outcome["delta"]) == (1.0, 2.0)


def test_contrast_can_be_right_where_both_margins_are_negative():
    assert one("contrast", -3.0, -2.0, -5.0, -1.0)["correct"] == 1.0


@pytest.mark.parametrize(
    ("margins", "correct"),
    [((1, 1), 1.0), ((1, 0), 0.5), ((0, 0), 0.25), ((1, -1), 0.0), ((0, -1), 0.0), ((-1, -1), 0.0)],
)
def test_cross_needs_both_targets_and_halves_each_tie(margins, correct):
    one_margin, other = margins
    outcome = one("cross", -5.0 + one_margin, -5.0, -5.0, -5.0 + other)
    assert outcome["correct"] == correct
    assert (outcome["delta1"], outcome["delta2"], outcome["delta"]) == (one_margin, other, min(margins))
    assert outcome["tie"] == (0 in margins)


def rank_by_permutations(gold: float, others: list[float], order: list[int]) -> int:
    """The rank of the gold when equal values are sorted by `order`."""
    ranked = sorted(zip([gold, *others], order, range(len(order)), strict=True), key=lambda t: (-t[0], t[1]))
    return [place for _, _, place in ranked].index(0) + 1


@given(st.lists(st.integers(-2, 0).map(float), min_size=2, max_size=5))
@settings(max_examples=40, deadline=None)
def test_rank_is_the_mean_over_all_orders_of_the_ties(values):
    gold, *others = values
    size = len(values)
    ranks = [rank_by_permutations(gold, others, list(order)) for order in permutations(range(size))]
    outcome = one("rank", *values)
    assert outcome["correct"] == pytest.approx(np.mean([r == 1 for r in ranks]))
    assert outcome["rank"] == pytest.approx(np.mean(ranks))
    assert outcome["rank_score"] == pytest.approx(np.mean([(size - r) / (size - 1) for r in ranks]))
    assert outcome["delta"] == gold - max(others)
    assert outcome["tie"] == (gold in others)
    assert outcome["n_candidates"] == size
    assert outcome["chance"] == 1 / size


def test_value_judges_nothing():
    outcome = one("value", -3.5)
    assert outcome["value"] == -3.5
    assert [outcome[c] for c in ("correct", "delta", "tie", "chance")] == [None] * 4


@given(st.sampled_from([d for d in DESIGNS if d != "value"]), value, st.lists(st.integers(2, 9), min_size=1))
@settings(max_examples=40, deadline=None)
def test_a_constant_scorer_gets_exactly_chance(design, constant, sizes):
    lengths = sizes if design == "rank" else [len(ROLES[design])] * len(sizes)
    items = {f"i{n}": item(design, *[constant] * length) for n, length in enumerate(lengths)}
    outcomes = judge(scores(items), design)
    assert outcomes["correct"].to_list() == outcomes["chance"].to_list()
    assert outcomes["chance"].to_list() == [CHANCE.get(design, 1 / length) for length in lengths]
    assert outcomes["tie"].all()
    if design == "rank":
        assert set(outcomes["rank_score"]) == {0.5}


@given(judged_scores(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_rows_changes_no_outcome(drawn, rng: random.Random):
    design, frame = drawn
    order = list(range(frame.height))
    rng.shuffle(order)
    shuffled = judge(frame[order], design)
    assert shuffled.sort("item").equals(judge(frame, design).sort("item"))
    assert shuffled["item"].to_list() == list(dict.fromkeys(frame[order]["item"]))


@given(judged_scores(("pair", "cross", "contrast", "rank")), st.integers(-400, 400).map(lambda i: i / 4))
@settings(max_examples=60, deadline=None)
def test_adding_a_constant_to_all_scores_changes_no_outcome(drawn, constant):
    design, frame = drawn
    assert judge(frame.with_columns(pl.col("value") + constant), design).equals(judge(frame, design))


@given(judged_scores(("rank",), nulls=False))
@settings(max_examples=60, deadline=None)
def test_rank_bounds(drawn):
    outcomes = judge(drawn[1], "rank")
    rank, size, score = outcomes["rank"], outcomes["n_candidates"], outcomes["rank_score"]
    assert ((rank >= 1) & (rank <= size)).all()
    assert ((score >= 0) & (score <= 1)).all()
    assert ((outcomes["correct"] == 1) == (rank == 1)).all()
    assert ((outcomes["correct"] == 0) == (outcomes["delta"] < 0)).all()


@given(judged_scores())
@settings(max_examples=60, deadline=None)
def test_an_item_without_all_values_is_kept_and_not_judged(drawn):
    design, frame = drawn
    outcomes = judge(frame, design)
    whole = frame.group_by("item", maintain_order=True).agg(pl.col("value").is_not_null().all())["value"]
    assert outcomes.height == frame["item"].n_unique()
    assert tuple(outcomes.columns) == (*OUTCOME_COLUMNS, *OWN_COLUMNS[design])
    if design != "value":
        for column in ("correct", "delta", "tie"):
            assert (outcomes[column].is_not_null() == whole).all()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf"), None])
@pytest.mark.parametrize("design", ["pair", "cross", "contrast", "rank"])
def test_no_number_is_not_wrong_but_unjudged(design, bad):
    length = len(ROLES[design])
    for place in range(length):
        outcome = one(design, *[bad if i == place else -1.0 - i for i in range(length)])
        assert (outcome["correct"], outcome["delta"], outcome["tie"]) == (None, None, None)
        assert outcome["chance"] is not None


@pytest.mark.parametrize("design", ["pair", "contrast"])
def test_rounding_of_sums_is_a_tie_and_float32_differences_are_not(design):
    rest = () if design == "pair" else (-2.0, -2.0)
    total = 0.1 + 0.2 + 0.3
    assert total != 0.3 + 0.2 + 0.1
    assert one(design, total, 0.3 + 0.2 + 0.1, *rest)["tie"]
    next_float32 = float(np.nextafter(np.float32(-1.0), np.float32(0.0)))
    assert one(design, next_float32, -1.0, *rest)["correct"] == 1.0


def test_factors_are_the_further_columns_that_are_constant_over_each_item():
    frame = scores({"a": item("pair", -1.0, -2.0), "b": item("pair", -1.0, -2.0)}, kind="x").with_columns(
        text=pl.Series(["p", "q", "r", "s"]),
        n_tokens=pl.Series([1, 1, 2, 2]),
        depth=pl.Series([3, 3, None, None]),
        masks=pl.Series([1, 2, 3, 3]),
    )
    outcomes = judge(frame, "pair")
    assert outcomes.columns[len(OUTCOME_COLUMNS) :] == ["kind", "depth"]
    assert outcomes["depth"].to_list() == [3, None]


def test_items_of_two_suites_with_one_name_are_two():
    both = [
        scores({"a": item("pair", -1.0, good)}).with_columns(suite=pl.lit(name))
        for name, good in (("s", -2.0), ("t", 0.0))
    ]
    outcomes = judge(pl.concat(both), "pair")
    assert outcomes["suite", "correct"].rows() == [("s", 1.0), ("t", 0.0)]


@pytest.mark.parametrize("design", DESIGNS)
def test_no_scores_give_no_outcomes(design):
    frame = scores({"a": item(design, *[-1.0] * len(ROLES[design]))}, scale="x")
    assert judge(frame.clear(), design).schema == judge(frame, design).schema


@pytest.mark.parametrize(("design", "place"), [(d, i) for d in DESIGNS[:-1] for i in range(len(ROLES[d]))])
def test_a_missing_role_is_named_with_suite_and_item(design, place):
    whole, part = item(design, *[-1.0] * len(ROLES[design])), item(design, *[-1.0] * len(ROLES[design]))
    missing = part.pop(place)[0]
    with pytest.raises(GlossemeError, match=f"s, item 'b'.*{missing}"):
        judge(scores({"a": whole, "b": part}), design)


@pytest.mark.parametrize(("design", "role"), [(d, r) for d in DESIGNS for r in ROLES[d] if r != "candidate"])
def test_a_doubled_role_is_named_with_suite_and_item(design, role):
    whole = item(design, *[-1.0] * len(ROLES[design]))
    with pytest.raises(GlossemeError, match=f"s, item 'b'.*{role}.* 2 times"):
        judge(scores({"a": whole, "b": [*whole, (role, -1.0)]}), design)


@pytest.mark.parametrize("role", ["gud", None])
def test_an_unknown_role_is_named(role):
    frame = scores({"a": [*item("pair", -1.0, -2.0), (role, -1.0)]})
    with pytest.raises(GlossemeError, match=f"s, item 'a'.*no role {role!r}"):
        judge(frame, "pair")


def test_an_unknown_design_is_answered_with_the_nearest():
    with pytest.raises(GlossemeError, match=r"'pairs'.*did you mean 'pair'"):
        judge(scores({"a": item("pair", -1.0, -2.0)}), "pairs")  # type: ignore[arg-type]


def test_a_factor_with_the_name_of_an_outcome_is_refused():
    with pytest.raises(GlossemeError, match="'delta'"):
        judge(scores({"a": item("pair", -1.0, -2.0)}, delta="x"), "pair")


def test_all_16_orders_of_a_contrast_agree_with_its_definition():
    for values in product((-2.0, -1.0), repeat=4):
        treated, control = values[0] - values[1], values[2] - values[3]
        wanted = 0.5 if treated == control else float(treated > control)
        assert one("contrast", *values)["correct"] == wanted


def test_sixty_thousand_groups_of_fifty_take_seconds():
    items, size = 60_000, 50
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "suite": "w2d",
            "item": np.repeat(np.arange(items).astype(str), size),
            "role": np.tile(["gold", *["candidate"] * (size - 1)], items),
            "value": rng.normal(size=items * size),
        }
    )
    start = time.perf_counter()
    outcomes = judge(frame, "rank")
    assert time.perf_counter() - start < 20
    # The exact expectations of random order, with five standard errors of room.
    assert outcomes["correct"].mean() == pytest.approx(0.02, abs=5 * (0.02 * 0.98 / items) ** 0.5)
    assert outcomes["rank_score"].mean() == pytest.approx(0.5, abs=5 * (1 / 12 / items) ** 0.5)
