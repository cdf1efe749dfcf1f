"""Models compared on the same items."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from glosseme.analysis.pairs import PAIR_COLUMNS, paired_runs, paired_shares
from glosseme.errors import GlossemeError
from glosseme.report.analyse import pairs_of_runs
from test_curves import items, run_of


def two(folder, a: list[float | None], b: list[float | None], **more: object):
    factors = {"construction": ["let alone"] * len(a)}
    return [
        run_of(folder, items(values, **factors), model=name, revision="main", **more)
        for name, values in (("a", a), ("b", b))
    ]


def test_items_on_their_own_get_the_interval_of_bonett_and_price():
    difference = [1.0] * 12 + [-1.0] * 5 + [0.0] * 63
    found = paired_shares(pl.DataFrame({"difference": difference}))
    # Bonett and Price (2012), eq. 3: one item more in each kind of disagreement.
    p12, p21, n = 13 / 82, 6 / 82, 82
    half = 1.959964 * ((p12 + p21 - (p12 - p21) ** 2) / n) ** 0.5
    assert (found["low"], found["high"]) == pytest.approx((p12 - p21 - half, p12 - p21 + half), abs=1e-6)
    assert (found["estimate"], found["n"], found["n_clusters"]) == (7 / 80, 80, 80)


def test_p_agrees_with_the_interval_and_is_near_mcnemars():
    found = paired_shares(pl.DataFrame({"difference": [1.0] * 40 + [-1.0] * 20 + [0.0] * 200}))
    assert (found["p"] < 0.05) == (found["low"] > 0)
    assert found["p"] == pytest.approx(stats.binomtest(40, 60).pvalue, abs=0.01)


def test_models_that_never_disagree_have_an_interval_around_no_difference():
    found = paired_shares(pl.DataFrame({"difference": [0.0] * 30, "c": [i // 3 for i in range(30)]}), "c")
    assert (found["estimate"], found["p"]) == (0.0, 1.0)
    assert found["low"] == -found["high"] < 0


def test_items_of_one_cluster_are_no_independent_evidence():
    alone = pl.DataFrame({"difference": [1.0, 0.0, -1.0, 1.0, 0.0] * 4, "c": range(20)})
    copied = pl.concat([alone] * 10)
    narrow, wide = (paired_shares(copied, cluster) for cluster in (None, "c"))
    once = paired_shares(alone, "c")
    assert wide["high"] - wide["low"] > 2 * (narrow["high"] - narrow["low"])
    assert wide["high"] - wide["low"] == pytest.approx(once["high"] - once["low"], rel=0.15)


@pytest.mark.parametrize(("clusters", "size"), [(40, 5), (100, 10)])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.9, 0.9), (0.95, 0.85)])
def test_coverage_of_simulated_pairs(clusters, size, p, q):
    """Right answers of both models depend on the item and its template."""
    rng = np.random.default_rng(7)
    draws = 300
    template, item = rng.normal(size=(draws, clusters, 1)), rng.normal(size=(draws, clusters, size))
    own = rng.normal(size=(2, draws, clusters, size))
    latent = 0.1**0.5 * template + 0.4**0.5 * item + 0.5**0.5 * own
    right = latent < np.array([stats.norm.ppf(p), stats.norm.ppf(q)])[:, None, None, None]
    cluster = np.repeat(np.arange(clusters), size)
    covered = 0
    for a, b in zip(*right.astype(float), strict=True):
        found = paired_shares(pl.DataFrame({"difference": (a - b).ravel(), "c": cluster}), "c")
        covered += found["low"] <= p - q <= found["high"]
    # Three standard errors of 300 draws beside .95.
    assert covered / draws >= 0.912


def test_only_common_items_count_and_the_others_are_counted(tmp_path):
    a, b = two(tmp_path, [1.0, 1.0, None, 1.0, 0.0], [0.0, 1.0, 1.0, None, None])
    row = paired_runs([a, b]).row(0, named=True)
    assert (row["n"], row["only_a"], row["only_b"]) == (2, 2, 1)
    assert (row["estimate_a"], row["estimate_b"], row["difference"]) == (1.0, 0.5, 0.5)
    assert (row["a"], row["b"], row["metric"]) == ("a@main", "b@main", "accuracy")


def test_many_runs_in_one_go_are_as_each_two_alone(tmp_path):
    """Items that one of the runs lacks, clusters, and the order of items change nothing for other pairs."""
    rng = np.random.default_rng(1)
    tables = []
    for _ in range(4):
        values = [None if rng.random() < 0.1 else float(x) for x in rng.integers(0, 3, 60) / 2]
        table = items(values, construction=["let alone"] * 60).with_columns(template=pl.Series(range(60)) // 4)
        tables.append(table.sample(55, shuffle=True, seed=int(rng.integers(99))))
    runs = [run_of(tmp_path, t, model=name, revision="main") for name, t in zip("abcd", tables, strict=True)]
    found = {(row["a"][0], row["b"][0]): row for row in paired_runs(runs).iter_rows(named=True)}
    assert list(found) == [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    for (a, b), row in found.items():
        first, second = tables["abcd".index(a)], tables["abcd".index(b)].select("item", other="correct")
        both = first.join(second, on="item").drop_nulls(["correct", "other"])
        alone = paired_shares(both.with_columns(difference=pl.col("correct") - pl.col("other")), "template")
        assert [row[name] for name in ("difference", "low", "high", "p", "n", "n_clusters")] == pytest.approx(
            [alone[name] for name in ("estimate", "low", "high", "p", "n", "n_clusters")]
        )
        assert row["only_a"] == first["correct"].count() - both.height
        assert row["estimate_a"] == pytest.approx(both["correct"].mean())


def test_runs_of_other_items_are_not_paired(tmp_path):
    [a, _] = two(tmp_path / "1", [1.0, 0.0], [0.0, 0.0])
    [_, b] = two(tmp_path / "2", [1.0, 0.0], [0.0, 0.0], identity={"limit": 2, "seed": 0})
    table = paired_runs([a, b])
    assert table.height == 0
    assert table.columns == list(PAIR_COLUMNS)
    with pytest.raises(GlossemeError, match="no two runs are of the same items"):
        pairs_of_runs(tmp_path / "1" / "a", suite=None, format_="text")


def test_values_are_compared_by_their_mean_where_nothing_is_judged(tmp_path):
    rng = np.random.default_rng(0)
    tables = [
        items([None] * 30, affinity=["global"] * 15 + ["local"] * 15).with_columns(value=rng.normal(size=30) + shift)
        for shift in (3.0, 0.0)
    ]
    said = {"design": "value", "apart": ["affinity"]}
    runs = [
        run_of(tmp_path, t, "paired-focus/affinity", model=name, said=said)
        for name, t in zip("ab", tables, strict=True)
    ]
    table = paired_runs(runs)
    assert table["of"].to_list() == ["global", "local"]
    assert set(table["metric"]) == {"mean"}
    first = table.row(0, named=True)
    exact = stats.ttest_rel(tables[0]["value"][:15], tables[1]["value"][:15])
    assert first["p"] == pytest.approx(exact.pvalue)
    assert (first["low"], first["high"]) == pytest.approx(tuple(exact.confidence_interval()))


def test_the_last_checkpoint_stands_for_a_trajectory_and_stars_mark_what_is_left(tmp_path):
    for step in range(5):
        run_of(tmp_path, items([1.0] * 200, construction=["let alone"] * 200), model="m", revision=f"step{step}")
    two(tmp_path, [0.0] * 100 + [1.0] * 100, [1.0] * 200)
    rows = json.loads(pairs_of_runs(tmp_path, suite="paired-focus/semantics", format_="json"))
    assert [(r["a"], r["b"]) for r in rows] == [("a@main", "b@main"), ("a@main", "m@step4"), ("b@main", "m@step4")]
    assert rows[0]["p_holm"] >= rows[0]["p"]
    text = pairs_of_runs(tmp_path, suite=None, format_="text").splitlines()
    assert [line.endswith("*") for line in text[2:5]] == [True, True, False]
    assert "m@step4 stands for 5 revisions of the model" in text
    for format_ in ("csv", "markdown", "latex"):
        assert "m@step4" in pairs_of_runs(tmp_path, suite=None, format_=format_)
