"""First differences of curves: the published correlations, undefined ones, copies of checkpoints."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from glosseme.analysis.curves import read_published_curves
from glosseme.analysis.differences import correlation, differences, steps_apart
from glosseme.analysis.multiple import holm
from glosseme.cli import main
from glosseme.errors import GlossemeError
from glosseme.report.analyse import differences_of, pairs_of_runs
from glosseme.runs.trajectory_file import Step, write_trajectory
from test_curves import SEMANTICS, SYNTAX, items, run_of

PUBLISHED = {
    "ewok physical-relations": 0.472,
    "ewok": 0.261,
    "blimp": -0.185,
    "comps": 0.079,
    "semantics implausible": 0.436,
}


def curves(n: int | None = None, **values: list[float | None]) -> pl.DataFrame:
    rows = [
        {"curve": name.replace("_", " "), "model": "m", "step": step, "estimate": value, "n": n}
        for name, points in values.items()
        for step, value in enumerate(points)
    ]
    return pl.DataFrame(rows, schema_overrides={"n": pl.Int64, "estimate": pl.Float64})


def row_of(table: pl.DataFrame, a: str, b: str) -> dict[str, object]:
    return table.row(by_predicate=(pl.col("a") == a) & (pl.col("b") == b), named=True)


@pytest.mark.parametrize(("other", "rho"), PUBLISHED.items())
def test_the_published_correlations(other, rho):
    found = row_of(differences(read_published_curves([SEMANTICS, SYNTAX])), "semantics plausible", other)
    assert found["rho"] == pytest.approx(rho, abs=5e-4)
    assert found["n"] == 18
    assert found["low"] < found["rho"] < found["high"]


def test_the_papers_convention_keeps_a_row_for_the_first_checkpoint():
    table = differences(read_published_curves([SEMANTICS]), "scivetti2026")
    found = row_of(table, "semantics plausible", "ewok physical-relations")
    assert found["rho"] == pytest.approx(0.479, abs=5e-4)
    assert found["n"] == 19


def test_shares_that_differ_by_the_same_are_ties_where_counts_are_known():
    """Two pairs of EWoK's differences are equal as fractions, and floating point tells them apart."""
    published = read_published_curves([SEMANTICS])
    as_printed = row_of(differences(published), "semantics plausible", "ewok physical-relations")
    counted = differences(published.with_columns(n=pl.lit(400, pl.Int64)))
    with_ties = row_of(counted, "semantics plausible", "ewok physical-relations")
    assert as_printed["rho_ties"] == with_ties["rho"] == with_ties["rho_ties"]
    assert with_ties["rho"] == pytest.approx(0.4545, abs=5e-5)


def test_the_interval_is_bonett_and_wrights():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 18))
    rho, low, high, p = correlation(x, y)
    exact = stats.spearmanr(x, y)
    assert (rho, p) == pytest.approx((exact.statistic, exact.pvalue))
    half = 1.959964 * ((1 + rho**2 / 2) / 15) ** 0.5
    assert (np.arctanh(low), np.arctanh(high)) == pytest.approx((np.arctanh(rho) - half, np.arctanh(rho) + half))


def test_p_of_few_values_is_that_of_all_permutations():
    assert correlation(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 4])) == (1.0, None, None, pytest.approx(2 / 24))
    x, y = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.0, 3, 2, 4, 6, 5])
    every = stats.permutation_test((x,), lambda v: stats.spearmanr(v, y).statistic, permutation_type="pairings")
    assert correlation(x, y)[3] == pytest.approx(every.pvalue)


def test_p_of_more_values_is_near_that_of_permutations():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, 10))
    y += x
    ranks = stats.rankdata(x)
    drawn = np.array([np.corrcoef(ranks, rng.permutation(stats.rankdata(y)))[0, 1] for _ in range(4000)])
    rho, _, _, p = correlation(x, y)
    assert p == pytest.approx((np.abs(drawn) >= abs(rho) - 1e-9).mean(), abs=0.015)


@pytest.mark.parametrize(
    ("dependence", "least", "most"),
    [(0.0, 0.94, 0.97), (-1.0, 0.90, 0.95)],
    ids=["independent differences", "differences of noise"],
)
def test_coverage_of_the_interval(dependence, least, most):
    """Differences of noise are correlated with the next ones, which the interval does not know."""
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(1200, 2, 19))
    values = noise[..., 1:] + dependence * noise[..., :-1]
    bounds = np.array([correlation(x, y)[1:3] for x, y in values], dtype=float)
    assert least <= ((bounds[:, 0] <= 0) & (bounds[:, 1] >= 0)).mean() <= most


def test_what_is_undefined_is_null_with_a_reason():
    table = differences(
        curves(syntax=[0.5, 0.6, 0.7, 0.8, 0.9, 1.0], blimp=[0.5, 0.7, 0.6, 0.8, 0.7, 0.9], comps=[0.5, 0.6, None] * 2)
    )
    constant = row_of(table, "syntax", "blimp")
    few = row_of(table, "blimp", "comps")
    assert constant["rho"] is constant["p"] is constant["p_holm"] is few["rho"] is None
    assert constant["reason"] == "the differences of syntax are all equal"
    assert (few["reason"], few["n"], few["left_out"]) == ("fewer than 4 differences", 3, 2)


def test_perfect_agreement_has_no_interval():
    points = [0.1, 0.2, 0.5, 0.55, 0.9, 0.95]
    found = row_of(differences(curves(syntax=points, blimp=points)), "syntax", "blimp")
    assert (found["rho"], found["low"], found["high"]) == (1.0, None, None)
    assert found["p"] == pytest.approx(2 / 120)
    assert "no interval" in found["reason"]


def test_pairs_come_in_one_order_and_are_adjusted_together():
    table = differences(read_published_curves([SEMANTICS, SYNTAX]))
    pairs = table.select("a", "b").rows()
    assert len(pairs) == len(set(pairs)) == 4 + 15 + 3 + 6 + 6 + 4
    assert pairs[4] == ("semantics plausible", "semantics implausible")
    assert ("semantics let alone", "syntax let alone") in pairs
    assert table["p_holm"].to_list() == holm(table["p"].to_list())
    assert table["p_holm"].min() == pytest.approx(table["p"].min() * 38)


def test_holm_by_hand():
    assert holm([0.01, 0.02, 0.03, 0.005]) == pytest.approx([0.03, 0.04, 0.04, 0.02])
    assert holm([0.9, 0.8, None]) == [1.0, 1.0, None]
    assert holm([]) == []


def test_the_convention_has_a_name():
    with pytest.raises(GlossemeError, match="did you mean 'scivetti2026'"):
        differences(curves(), "scivetti")
    x, y = steps_apart([0.5, 0.6, 0.8], [0.1, 0.1, 0.3], "scivetti2026")
    assert list(x) == pytest.approx([15, 10, 20])
    assert list(y) == pytest.approx([10, 0, 20])


def test_the_command_writes_the_pairs_as_json(capsys):
    arguments = ["--published", str(SEMANTICS), "--published", str(SYNTAX), "--format", "json"]
    assert main(["analyse", "differences", *arguments]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert list(rows[0])[:8] == ["a", "b", "rho", "low", "high", "p", "n", "p_holm"]
    found = next(r for r in rows if (r["a"], r["b"]) == ("semantics plausible", "ewok physical-relations"))
    assert round(found["rho"], 3) == 0.472


def trajectory(folder, steps: int, model: str = "m", copied: tuple[int, ...] = ()):
    rng = np.random.default_rng(2)
    for step in range(steps):
        constructions = ["let alone", "much less", "never mind", "not to mention"] * 10
        plausibility = ["plausible", "implausible"] * 20
        right = (rng.random(40) < 0.3 + 0.05 * step).astype(float).tolist()
        table = items(right, construction=constructions, plausibility=plausibility)
        weights = f"{step - 1 if step in copied else step}"
        run_of(folder, table, model=model, revision=f"step{step}", identity={"weights_sha256": weights})


def test_runs_have_a_model_column_and_copies_are_left_out(tmp_path):
    trajectory(tmp_path, 8, copied=(3,))
    trajectory(tmp_path, 2, model="short")
    steps = [Step(f"step{n}", n, "there", weights="w") for n in (4, 5)]
    write_trajectory(tmp_path / "m", "m", "series", steps)
    rows = json.loads(differences_of(tmp_path, [], convention="exact", model=None, format_="json"))
    assert {row["model"] for row in rows} == {"m"}
    assert {row["n"] for row in rows} == {5}
    text = differences_of(tmp_path, [], convention="exact", model=None, format_="text")
    assert "left out: m@step3 has the weights or the step of step2" in text
    assert "left out: m@step5 has the weights or the step of step4" in text
    assert "fewer than 4 checkpoints: short (2)" in text


def test_without_a_trajectory_there_is_an_error(tmp_path):
    trajectory(tmp_path, 3)
    with pytest.raises(GlossemeError, match="no model here has 4 checkpoints") as caught:
        differences_of(tmp_path, [], convention="exact", model=None, format_="text")
    assert caught.value.exit_code == 1
    with pytest.raises(GlossemeError, match="give a folder of runs"):
        differences_of(None, [], convention="exact", model=None, format_="text")
    with pytest.raises(GlossemeError, match="there is no format"):
        differences_of(tmp_path, [], convention="exact", model=None, format_="txt")
    with pytest.raises(GlossemeError, match="no table is of model"):
        differences_of(None, [SEMANTICS], convention="exact", model="pythia-1b", format_="text")


def test_what_was_left_out_is_said_where_too_little_is_left(tmp_path):
    """Six checkpoints: one is a copy, two were asked another sample."""
    trajectory(tmp_path, 4, copied=(3,))
    other = items([1.0, 0.0] * 4, construction=["let alone", "much less"] * 4, plausibility=["plausible"] * 8)
    run_of(tmp_path, other, revision="step4", identity={"weights_sha256": "4", "limit": 8, "seed": 0})
    run_of(tmp_path, other, revision="step9", identity={"weights_sha256": "9", "limit": 8, "seed": 0})
    with pytest.raises(GlossemeError) as caught:
        differences_of(tmp_path, [], convention="exact", model=None, format_="text")
    said = str(caught.value)
    assert "no model here has 4 checkpoints or more that can be compared" in said
    assert "other data, options or sample than the rest: m@step4, m@step9" in said
    assert "left out: m@step3 has the weights or the step of step2" in said
    assert "fewer than 4 checkpoints: m (3)" in said


def test_a_damaged_list_of_checkpoints_or_table_is_left_out_and_said(tmp_path):
    trajectory(tmp_path, 6)
    (tmp_path / "m" / "trajectory.json").write_text("{", encoding="utf-8")
    broken = run_of(tmp_path, items([1.0], construction=["let alone"]), model="m", revision="step7")
    (broken.folder / "outcomes.parquet").write_bytes(b"PAR1 and no more")
    text = differences_of(tmp_path, [], convention="exact", model=None, format_="text")
    assert "trajectory.json: the list of checkpoints can't be read" in text
    assert "outcomes.parquet: the table can't be read" in text
    assert "outcomes.parquet" in pairs_of_runs(twin(tmp_path), suite=None, format_="text")


def twin(folder):
    """Another model beside the first, on the same items."""
    trajectory(folder, 6, model="other")
    return folder


@pytest.mark.parametrize("format_", ["text", "csv", "markdown", "latex"])
def test_every_format_has_the_pairs(format_):
    shown = differences_of(None, [SEMANTICS], convention="exact", model=None, format_=format_)
    assert "physical-relations" in shown
    assert "nan" not in shown.lower().replace("domain", "")
