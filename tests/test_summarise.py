"""Tables of outcomes: what is counted, and in which order it stands."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glosseme.analysis.intervals import mean, proportion
from glosseme.analysis.summarise import ALL, METRICS, SUMMARY_COLUMNS, design_of, factors_of, summarise
from glosseme.designs import DESIGNS, ROLES, Design, judge
from glosseme.errors import GlossemeError

LADDER = {"construction": ["never mind", "let alone"], "plausibility": ["plausible", "implausible"]}


def outcomes(design: Design, values: list[list[float | None]], **factors: list[object]) -> pl.DataFrame:
    """The outcomes of items with values in the order of the roles, and a factor's value for each item."""
    rows = [
        {"suite": "s", "item": f"i{number}", "role": role, "value": value}
        | {name: column[number] for name, column in factors.items()}
        for number, answers in enumerate(values)
        for role, value in zip(ROLES[design], answers, strict=True)
    ]
    return judge(pl.DataFrame(rows, schema_overrides={"value": pl.Float64}), design)


RIGHT, WRONG, TIE, DROPPED = [-1.0, -2.0], [-2.0, -1.0], [-1.0, -1.0], [-1.0, None]


def test_accuracy_counts_halves_and_leaves_out_what_was_not_judged():
    table = summarise(outcomes("pair", [RIGHT, RIGHT, WRONG, TIE, DROPPED]))
    assert table.columns == list(SUMMARY_COLUMNS)
    row = table.row(0, named=True)
    assert (row["metric"], row["estimate"], row["n"], row["dropped"], row["ties"]) == ("accuracy", 0.625, 4, 1, 1)
    assert (row["chance"], row["n_clusters"]) == (0.5, 4)
    delta = table.row(1, named=True)
    assert (delta["metric"], delta["estimate"], delta["n"], delta["dropped"]) == ("delta", 0.25, 4, 1)
    assert (delta["ties"], delta["chance"]) == (None, None)


@pytest.mark.parametrize(
    ("design", "metrics"),
    [
        ("pair", ["accuracy", "delta"]),
        ("cross", ["accuracy", "delta"]),
        ("contrast", ["accuracy", "delta_treated", "delta_control"]),
        ("rank", ["accuracy", "rank_score"]),
        ("value", ["mean"]),
    ],
)
def test_metrics_of_each_design(design, metrics):
    values = [-1.0 - place for place in range(len(ROLES[design]))]
    judged = outcomes(design, [values, values])
    assert design_of(judged) == design
    assert summarise(judged)["metric"].to_list() == metrics == list(METRICS[design])


def test_contrast_metrics_are_of_the_same_items():
    table = summarise(outcomes("contrast", [[-1.0, -3.0, -1.0, -2.0], [-1.0, -9.0, -1.0, None]]))
    assert table["estimate"].to_list() == [1.0, 2.0, 1.0]
    assert set(table["n"]) == set(table["dropped"]) == {1}


def test_chance_of_rank_is_the_mean_of_the_judged_items():
    rows = [("a", 2, None), ("b", 4, -1.0), ("c", 5, -1.0)]
    frame = pl.DataFrame(
        [
            {"suite": "s", "item": name, "role": "candidate" if i else "gold", "value": -1.0 if i else gold}
            for name, size, gold in rows
            for i in range(size)
        ],
        schema_overrides={"value": pl.Float64},
    )
    table = summarise(judge(frame, "rank"))
    accuracy, score = table.iter_rows(named=True)
    assert accuracy["chance"] == accuracy["estimate"] == pytest.approx((1 / 4 + 1 / 5) / 2)
    assert score["chance"] == score["estimate"] == 0.5
    assert (accuracy["n"], accuracy["dropped"], accuracy["ties"]) == (2, 1, 2)


def test_a_group_without_a_judged_item_has_no_estimate():
    table = summarise(outcomes("pair", [DROPPED, DROPPED]))
    for row in table.iter_rows(named=True):
        assert [row[c] for c in ("estimate", "low", "high", "chance")] == [None] * 4
        assert (row["n"], row["dropped"], row["n_clusters"]) == (0, 2, 0)


def test_values_are_averaged():
    row = summarise(outcomes("value", [[-1.0], [-3.0], [None]])).row(0, named=True)
    assert (row["estimate"], row["n"], row["dropped"], row["chance"], row["ties"]) == (-2.0, 2, 1, None, None)


def grid() -> pl.DataFrame:
    """Items over two factors whose levels are in no alphabetical order, and a template each two of them share."""
    cells = [(c, p) for c in LADDER["construction"] for p in LADDER["plausibility"]] * 3
    return outcomes(
        "pair",
        [RIGHT if i % 3 else WRONG for i in range(len(cells))],
        construction=[c for c, _ in cells],
        plausibility=[p for _, p in cells],
        template=[i // 2 for i in range(len(cells))],
    )


def test_groups_stand_in_the_order_of_first_appearance():
    table = summarise(grid(), ["construction", "plausibility"], metrics=["accuracy"])
    wanted = [(c, p) for c in LADDER["construction"] for p in LADDER["plausibility"]]
    assert table["construction", "plausibility"].rows() == wanted
    turned = summarise(grid(), ["plausibility", "construction"], metrics=["accuracy"])
    assert turned["plausibility"].to_list() == ["plausible", "plausible", "implausible", "implausible"]


def test_coarser_groupings_follow_with_all_for_what_they_leave_out():
    table = summarise(
        grid(), ["construction", "plausibility"], also=[["plausibility"], []], cluster="template", metrics=["accuracy"]
    )
    coarse = table.tail(3)["construction", "plausibility", "n"].rows()
    assert coarse == [(ALL, "plausible", 6), (ALL, "implausible", 6), (ALL, ALL, 12)]
    assert table.tail(1)["n_clusters"].item() == 6


def test_coarser_groupings_may_have_factors_of_their_own():
    table = summarise(grid(), ["construction"], also=[["plausibility"]], metrics=["accuracy"])
    assert table.columns[:2] == ["construction", "plausibility"]
    assert table["plausibility"].to_list() == [ALL, ALL, "plausible", "implausible"]


def test_a_factor_named_twice_is_taken_once():
    once = summarise(grid(), ["construction"], also=[["plausibility"]])
    assert summarise(grid(), ["construction", "construction"], also=[["plausibility"] * 2]).equals(once)


def test_intervals_are_those_of_the_items_and_their_clusters():
    judged = grid()
    table = summarise(judged, ["construction"], cluster="template")
    accuracy = proportion(judged, "correct", "template", ["construction"])
    delta = mean(judged, "delta", "template", ["construction"])
    for metric, wanted in (("accuracy", accuracy), ("delta", delta)):
        assert table.filter(pl.col("metric") == metric).select(wanted.columns).equals(wanted)


def test_factors_that_are_no_strings_become_strings_and_null_stays():
    table = summarise(outcomes("pair", [RIGHT, WRONG, TIE], depth=[10, None, 2]), ["depth"], metrics=["accuracy"])
    assert table["depth"].to_list() == ["2", "10", None]


@given(st.permutations(list(range(12))))
@settings(max_examples=25, deadline=None)
def test_the_order_of_outcomes_changes_no_number(order):
    keys = ["construction", "plausibility", "metric"]
    by = keys[:2]
    table = summarise(grid(), by, cluster="template").sort(keys)
    shuffled = summarise(grid()[order], by, cluster="template").sort(keys)
    assert shuffled.drop("estimate", "low", "high").equals(table.drop("estimate", "low", "high"))
    for column in ("estimate", "low", "high"):
        assert shuffled[column].to_list() == pytest.approx(table[column].to_list(), nan_ok=True)


@pytest.mark.parametrize("design", DESIGNS)
def test_no_outcomes_give_no_rows(design):
    empty = outcomes(design, [[-1.0] * len(ROLES[design])], scale=["x"]).clear()
    for by in ([], ["scale"]):
        table = summarise(empty, by)
        assert (table.columns, table.height) == ([*by, *SUMMARY_COLUMNS], 0)


def test_a_factor_that_there_is_not_is_answered_with_those_there_are():
    assert factors_of(grid()) == ["construction", "plausibility", "template"]
    with pytest.raises(GlossemeError, match=r"'verb'.*construction, plausibility, template"):
        summarise(grid(), ["verb"])
    with pytest.raises(GlossemeError, match="'verb'"):
        summarise(grid(), also=[["verb"]])


def test_a_cluster_or_metric_that_there_is_not_is_refused():
    with pytest.raises(GlossemeError, match=r"'templat'.*did you mean 'template'"):
        summarise(grid(), cluster="templat")
    with pytest.raises(GlossemeError, match=r"'acuracy'.*did you mean 'accuracy'"):
        summarise(grid(), metrics=["acuracy"])


def test_a_factor_with_the_name_of_a_column_of_the_table_is_refused():
    with pytest.raises(GlossemeError, match="'n'"):
        summarise(outcomes("pair", [RIGHT], n=["x"]), ["n"])
